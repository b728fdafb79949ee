"""X as our browser service tells it: ids that cannot be true are refused, and never in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from found_footy.discovery.models import Post
from found_footy.discovery.x import id_error, time_of_id
from found_footy.errors import SourceChanged, SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from tests.discovery.shared import RawServer, Reply, json_reply, recorded
from tests.discovery.social_answers import SALAH, answer, answering, entry, spoilt
from tests.discovery.source_sites import NOW, QUERY, SINCE, ScriptedPost, snowflake, source_at

POST = entry("x")
GOOD = snowflake(NOW)


async def found(*listed: Any) -> list[Post]:
    async with answering("x", answer("x", list(listed))) as server:
        source = source_at("x", server.url)
        try:
            return list(await source.search(QUERY, SINCE))
        finally:
            await source.aclose()


async def test_the_browser_receives_the_whole_query() -> None:
    async with answering("x", answer("x", [POST])) as server:
        source = source_at("x", server.url)
        (post,) = await source.search(QUERY, SINCE)
        await source.aclose()
    (asked,) = server.requests
    assert asked.path == "/search"
    assert asked.params == {
        "q": '(Salah OR "Mohamed Salah") (Liverpool OR LFC)',
        "since": "2026-08-22T14:57:00+00:00",
        "limit": "100",
    }
    address = f"https://x.com/goalsdaily/status/{snowflake(SALAH.at, 0)}"
    assert post == Post(
        source="x",
        id=snowflake(SALAH.at, 0),
        url=address,
        media_url=address,
        posted_at=SALAH.at,
        author="goalsdaily",
        text=SALAH.text,
        duration=12.5,
    )


# --- ids


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        ("2074976613713031490", "2026-07-08 21:59:10"),
        ("1000000000000000000", "2018-05-25 13:05:53"),
        ("100000000000000", "2010-11-04 08:20:16"),
    ],
)
def test_an_id_contains_its_creation_time(id_: str, expected: str) -> None:
    made = time_of_id(id_)
    assert made is not None
    assert f"{made:%Y-%m-%d %H:%M:%S}" == expected


@pytest.mark.parametrize(
    ("id_", "shown", "words"),
    [
        (GOOD, NOW, None),
        (GOOD, NOW - timedelta(minutes=4), None),
        (GOOD, NOW + timedelta(minutes=4), None),
        (snowflake(NOW + timedelta(minutes=4)), NOW, None),
        (GOOD, NOW - timedelta(minutes=6), "the post is from"),
        (snowflake(NOW + timedelta(minutes=6)), NOW + timedelta(minutes=6), "future"),
        (GOOD[:-1], NOW, "the post is from"),
        (GOOD[:-2], NOW, "the post is from"),
        (GOOD[:-5], NOW, "digits"),
        (GOOD[1:], NOW, "digits"),
        (GOOD + "0", NOW, "future"),
        ("99999999999999999999", NOW, "future"),
        ("12345678901234", NOW, "digits"),
        (GOOD + "00", NOW, "digits"),
        ("0" + GOOD, NOW, "digits"),
        ("-" + GOOD[1:], NOW, "digits"),
        (GOOD + "\n", NOW, "digits"),
        (" " + GOOD, NOW, "digits"),
        (GOOD.translate({ord(str(n)): 0x660 + n for n in range(10)}), NOW, "digits"),
        ("20749766137130e14", NOW, "digits"),
        ("", NOW, "digits"),
        ("9" * 5000, NOW, "digits"),
    ],
)
def test_an_impossible_id_is_rejected(id_: str, shown: datetime, words: str | None) -> None:
    fault = id_error(id_, shown, NOW)
    assert (fault is None) is (words is None)
    assert (words or "") in (fault or "")
    assert len(fault or "") < 200


def tweets(value: Any) -> Iterator[tuple[str, datetime]]:
    if isinstance(value, dict):
        legacy = value.get("legacy")
        if isinstance(value.get("rest_id"), str) and isinstance(legacy, dict) and "full_text" in legacy:
            yield value["rest_id"], datetime.strptime(legacy["created_at"], "%a %b %d %H:%M:%S %z %Y")
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from tweets(each)


def test_the_ids_of_recorded_posts_are_all_true_and_each_of_them_cut_is_not() -> None:
    seen = list(tweets(json.loads(recorded("social", "x-graphql-search.json").read_bytes())))
    assert len(seen) >= 20
    later = datetime(2026, 7, 9, tzinfo=UTC)
    for id_, shown in seen:
        assert id_error(id_, shown, later) is None
        for cut in range(1, 5):
            assert id_error(id_[:-cut], shown, later) is not None


async def test_a_post_with_a_cut_id_is_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    (post,) = await found(spoilt(POST, "id", to=POST["id"][:-2]), POST)
    assert post.id == POST["id"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "1 of 2 posts cannot be parsed" in record.message
    assert vars(record)["count"] == 1
    assert POST["id"][:-2] in vars(record)["reason"]


async def test_where_all_ids_are_cut_the_source_has_changed() -> None:
    with pytest.raises(SourceChanged, match="none of 2 posts"):
        await found(spoilt(POST, "id", to=POST["id"][:-2]), spoilt(POST, "id", to=POST["id"][:-1]))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 2074976613713031490),
        ("id", None),
        ("author", "../../evil"),
        ("author", ""),
        ("author", None),
        ("author", "a" * 30),
        ("posted_at", None),
        ("posted_at", "2026-08-22T14:59:00"),
        ("posted_at", 1787410740),
        ("posted_at", "x" * 5000),
    ],
)
async def test_a_post_with_a_wrong_field_does_not_cost_the_others(
    field: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(await found(spoilt(POST, field, to=value), POST)) == 1
    assert "1 of 2 posts cannot be parsed" in caplog.text


@pytest.mark.parametrize(
    ("duration", "expected"),
    [(30, 30.0), (7.5, 7.5), (None, None), ("30", None), (-1, None), (float("nan"), None), (float("inf"), None)],
)
async def test_only_a_valid_duration_is_used(duration: Any, expected: float | None) -> None:
    (post,) = await found(spoilt(POST, "duration", to=duration))
    assert post.duration == expected


async def test_urls_are_built_locally() -> None:
    (post,) = await found(spoilt(spoilt(POST, "url", to="http://169.254.169.254/"), "author", to="@goalsdaily"))
    assert post.media_url == post.url == f"https://x.com/goalsdaily/status/{POST['id']}"


# --- what the browser service saw


def refusal(kind: Any, status: int, message: Any = "what it saw") -> Reply:
    return json_reply({"error": {"class": kind, "message": message}}, status)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (refusal("SourceLoggedOut", 401), SourceLoggedOut, "what it saw"),
        (refusal("SourceRateLimited", 429), SourceRateLimited, "what it saw"),
        (refusal("SourceChanged", 502), SourceChanged, "what it saw"),
        (refusal("SourceUnavailable", 503), SourceUnavailable, "what it saw"),
        (refusal("SourceChanged", 502, None), SourceChanged, "502"),
        (refusal("SystemExit", 503), SourceUnavailable, "what it saw"),
        (refusal(["SourceChanged"], 503), SourceUnavailable, "what it saw"),
        (json_reply({"error": "broken"}, 500), SourceUnavailable, "500"),
        (Reply(b"Internal Server Error", 500), SourceUnavailable, "500"),
        (Reply(b"<html>Bad Gateway</html>", 502), SourceUnavailable, "502"),
        (
            refusal("SourceLoggedOut", 401, "\x1b[31mred\u202e " + "x" * 5000),
            SourceLoggedOut,
            r"^ \[31mred xx|^\[31mred",
        ),
    ],
)
async def test_the_browsers_own_reason_has_its_class(reply: Reply, kind: type[SourceError], words: str) -> None:
    async with RawServer(reply) as server:
        source = source_at("x", server.url)
        for call in (source.search(QUERY, SINCE), source.check()):
            with pytest.raises(SourceError, match=words) as raised:
                await call
            assert type(raised.value) is kind
            assert len(str(raised.value)) < 400
        await source.aclose()


async def test_a_check_reports_the_result_of_the_browsers_own_search() -> None:
    async with RawServer(json_reply({"word": "goal", "posts": 5, "cached": True})) as server:
        source = source_at("x", server.url)
        assert await source.check() == "a search for 'goal' found 5 posts"
        await source.aclose()
    assert server.requests[0].path == "/canary"


async def test_a_check_without_a_result_fails() -> None:
    async with RawServer(json_reply({"healthy": True})) as server:
        source = source_at("x", server.url)
        with pytest.raises(SourceChanged):
            await source.check()
        await source.aclose()


async def test_a_post_shown_as_of_the_future_is_not_younger_than_now() -> None:
    (post,) = await found(entry("x", ScriptedPost(SALAH.text, ago=-60)))
    assert post.posted_at == NOW
