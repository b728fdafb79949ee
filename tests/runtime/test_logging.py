"""Log lines: what is in them, and what must never be."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from found_footy.runtime.logging import configure, hide_secrets, hide_values

SECRET = "s3cr3t-value"
log = logging.getLogger("found_footy.feeds.test")


@pytest.fixture(autouse=True)
def _loggers_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    clients = {name: logging.getLogger(name).level for name in ("httpx", "httpcore")}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in clients.items():
        logging.getLogger(name).setLevel(before)


def logs(log_format: str, level: str = "DEBUG") -> io.StringIO:
    stream = io.StringIO()
    configure(log_format, level, stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_json_line_has_its_time_level_module_action_message_and_ids() -> None:
    stream = logs("json")
    log.warning("goal %s seen", "1-0", extra={"action": "goal_seen", "event_id": "1_40_306_Goal_1", "fixture_id": 1})
    (line,) = lines(stream)
    ts = datetime.fromisoformat(line.pop("ts"))
    assert ts.utcoffset() is not None
    assert line == {
        "level": "WARNING",
        "module": "feeds.test",
        "action": "goal_seen",
        "msg": "goal 1-0 seen",
        "event_id": "1_40_306_Goal_1",
        "fixture_id": 1,
    }


def test_the_default_action_is_the_function_name() -> None:
    stream = logs("json")
    log.info("hello")
    (line,) = lines(stream)
    assert line["action"] == "test_the_default_action_is_the_function_name"


def test_values_unknown_to_json_are_logged_as_text() -> None:
    stream = logs("json")
    log.info("x", extra={"kept": {1: (2.5, True, None), "at": datetime(2026, 8, 22)}, "gone": None, "odd": {3}})  # noqa: DTZ001
    (line,) = lines(stream)
    assert line["kept"] == {"1": [2.5, True, None], "at": "2026-08-22 00:00:00"}
    assert line["odd"] == [3]
    assert "gone" not in line


@pytest.mark.parametrize("text", ["Kylian Mbappé – 1. FC Köln", "ソン・フンミン", "محمد صلاح", "⚽"])
@pytest.mark.parametrize("log_format", ["json", "pretty"])
def test_other_letters_stay_as_they_are(log_format: str, text: str) -> None:
    stream = logs(log_format)
    log.info(text, extra={"player": text})
    assert stream.getvalue().count(text) == 2


def test_a_line_end_in_a_message_makes_no_second_json_line() -> None:
    stream = logs("json")
    log.info('one\ntwo "quoted"\x1b[31m', extra={"team": "a\nb"})
    (line,) = lines(stream)
    assert (line["msg"], line["team"]) == ('one\ntwo "quoted"\x1b[31m', "a\nb")


def test_secrets_of_the_settings_are_hidden_without_their_names() -> None:
    stream = logs("json")
    hide_values([SECRET, "abc"])
    try:
        log.info("the server said %s to abc", SECRET)
        assert lines(stream)[0]["msg"] == "the server said *** to abc"
    finally:
        hide_values([])


FORGED = "sent\r\n14:03:00 ERROR runtime forged\x1b[2K\x9b1m\u2028\u202eabc"


@pytest.mark.parametrize("log_format", ["json", "pretty"])
def test_a_log_line_cannot_be_forged_by_newlines_or_escapes(log_format: str) -> None:
    stream = logs(log_format)
    log.info(FORGED, extra={"team": FORGED, "action": FORGED})
    text = stream.getvalue()
    assert text.count("\n") == len(text.splitlines()) == 1
    ours = [f"\x1b[{code}m" for code in (0, 1, 2, 32)]
    for sequence in ours:
        text = text.replace(sequence, "")
    assert not set("\r\x1b\x9b\u2028\u202e") & set(text)


def test_an_errors_message_cannot_pass_for_a_line_of_the_log() -> None:
    stream = logs("pretty")
    try:
        raise ValueError(FORGED)
    except ValueError:
        log.exception("failed")
    _, *rest = stream.getvalue().splitlines()
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_pretty_lines_contain_the_same_fields() -> None:
    stream = logs("pretty")
    log.error("goal seen", extra={"action": "goal_seen", "event_id": "1_40_306_Goal_1"})
    (line,) = stream.getvalue().splitlines()
    for part in ("ERROR", "feeds.test", "goal_seen", "goal seen", "event_id=1_40_306_Goal_1"):
        assert part in line


@pytest.mark.parametrize("log_format", ["json", "pretty"])
def test_an_exception_carries_its_traceback(log_format: str) -> None:
    stream = logs(log_format)
    try:
        raise ZeroDivisionError("the reason")
    except ZeroDivisionError:
        log.exception("it failed")
    text = lines(stream)[0]["traceback"] if log_format == "json" else stream.getvalue()
    assert "Traceback (most recent call last)" in text
    assert "test_an_exception_carries_its_traceback" in text
    assert "ZeroDivisionError: the reason" in text


@pytest.mark.parametrize(("level", "expected"), [("DEBUG", 4), ("INFO", 3), ("WARNING", 2), ("ERROR", 1)])
def test_the_level_decides_what_is_logged(level: str, expected: int) -> None:
    stream = logs("json", level)
    for write in (log.debug, log.info, log.warning, log.error):
        write("x")
    assert len(lines(stream)) == expected


def test_a_library_with_its_own_level_does_not_log_below_ours() -> None:
    stream = logs("json", "ERROR")
    library = logging.getLogger("a.library.with.its.own.level")
    library.setLevel(logging.WARNING)
    library.warning("trying again")
    library.error("gave up")
    assert [line["msg"] for line in lines(stream)] == ["gave up"]


def test_requests_of_the_client_library_are_not_logged_line_by_line() -> None:
    stream = logs("json")
    logging.getLogger("httpx").info("HTTP Request: GET …")
    logging.getLogger("httpx").warning("odd")
    assert [line["msg"] for line in lines(stream)] == ["odd"]


def test_configuring_twice_logs_once() -> None:
    logs("json")
    stream = logs("json")
    log.info("x")
    assert len(lines(stream)) == 1


HIDDEN = [
    (f"postgresql://footy:{SECRET}@db:5432/footy", "postgresql://footy:***@db:5432/footy"),
    (f"redis://:{SECRET}@cache", "redis://:***@cache"),
    (f"postgresql://footy:p@{SECRET}@db/footy", "postgresql://footy:***@db/footy"),
    (f"to 'https://u:{SECRET}@h/p' and back", "to 'https://u:***@h/p' and back"),
    (f"x-apisports-key: {SECRET}", "x-apisports-key: ***"),
    (f"{{'x-apisports-key': '{SECRET}', 'accept': '*/*'}}", "{'x-apisports-key': ***, 'accept': '*/*'}"),
    (f"[(b'X-Apisports-Key', b'{SECRET}'), (b'a', b'b')]", "[(b'X-Apisports-Key', b***), (b'a', b'b')]"),
    (f"GET /fixtures?apikey={SECRET}&ids=1-2", "GET /fixtures?apikey=***&ids=1-2"),
    (f"API_FOOTBALL_KEY={SECRET}", "API_FOOTBALL_KEY=***"),
    (f"Authorization: Bearer {SECRET} was sent", "Authorization: *** was sent"),
    (f'"authorization": "Basic {SECRET}"', '"authorization": ***'),
    (f"host=db password={SECRET} user=footy", "host=db password=*** user=footy"),
    (f"with footy_ab12cd34_{'0a' * 32}, sent", "with footy_ab12cd34_***, sent"),
    (f"Bearer {SECRET * 3}", "Bearer ***"),
    (
        f"https://s3.example/b/k?X-Amz-Date=1&X-Amz-Signature={SECRET}&x=1",
        "https://s3.example/b/k?X-Amz-Date=1&X-Amz-Signature=***&x=1",
    ),
    (f"GET https://host/x.mp4?token={SECRET}#t", "GET https://host/x.mp4?token=***#t"),
    (f"Cookie: footy_session={SECRET}; a=b", "Cookie: ***"),
    (f"host=db password='two {SECRET}' user=footy", "host=db password=*** user=footy"),
]


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_passwords_and_keys_are_hidden_and_the_rest_stays(text: str, shown: str) -> None:
    assert hide_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        'password authentication failed for user "footy"',
        "token: Error/Missing application key. Go to https://www.api-football.com/documentation-v3",
        "the authorization failed",
        "http://127.0.0.1:8080/fixtures?ids=1-2",
        "goal at 45+2: 1-0, mail to fan@example.invalid",
        "monitor-2026-08-22T14:00:00Z@3",
    ],
)
def test_other_values_are_not_redacted(text: str) -> None:
    assert hide_secrets(text) == text


@pytest.mark.parametrize("log_format", ["json", "pretty"])
@pytest.mark.parametrize("text", [text for text, _ in HIDDEN])
def test_no_secret_reaches_the_log_wherever_it_was(log_format: str, text: str) -> None:
    stream = logs(log_format)
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("failed with %s", text, extra={"where": text, "more": {"deep": [text]}, "api_key": SECRET})
    assert SECRET not in stream.getvalue()
    if log_format == "json":
        assert set(lines(stream)[0]) == {
            "ts",
            "level",
            "module",
            "action",
            "msg",
            "where",
            "more",
            "api_key",
            "traceback",
        }
