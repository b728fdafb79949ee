"""A wrong setting stops the start, and the message says which, what was given and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.config import Settings, environment_names, load_settings
from found_footy.errors import SettingsError

SECRET = "s3cr3t-value"


def refusal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert raised.value.__cause__ is None, "the library's own error holds every value that was given"
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "given", "allowed"),
    [
        ("FOOTY_PROFILE", "fast", "default or demo"),
        ("FOOTY_FEED", "crystal_ball", "api_football or espn"),
        ("LOG_FORMAT", "xml", "json or pretty"),
        ("FOOTY_LOG_FORMAT", "xml", "json or pretty"),
        ("LOG_LEVEL", "loud", "DEBUG, INFO, WARNING or ERROR"),
        ("FOOTY_LOG_LEVEL", "info", "DEBUG, INFO, WARNING or ERROR"),
        ("TEMPORAL_ADDRESS", "localhost", "host:port, such as 127.0.0.1:7233"),
        ("TEMPORAL_ADDRESS", "http://localhost:7233", "host:port, such as 127.0.0.1:7233"),
        ("FOOTY_TEMPORAL_UI_PORT", "0", "a whole number from 1 to 65535"),
        ("FOOTY_TEMPORAL_UI_PORT", "65536", "a whole number from 1 to 65535"),
        ("FOOTY_TASK_QUEUE", "", "a non-empty text"),
        ("FOOTY_WORKERS", "0", "a whole number from 1 to 64"),
        ("FOOTY_WORKERS", "65", "a whole number from 1 to 64"),
        ("FOOTY_WORKERS", "2.5", "a whole number from 1 to 64"),
        ("FOOTY_WORKERS", "two", "a whole number from 1 to 64"),
        ("FOOTY_API_FOOTBALL_URL", "ftp://example.invalid", "a URL that starts with http:// or https://"),
        ("FOOTY_ESPN_URL", "example.invalid", "a URL that starts with http:// or https://"),
        ("FOOTY_ESPN_URL", "https://", "a URL that starts with http:// or https://"),
        ("FOOTY_FEED_TIMEOUT_SECONDS", "0", "a number above 0 and up to 60"),
        ("FOOTY_FEED_TIMEOUT_SECONDS", "61", "a number above 0 and up to 60"),
        ("FOOTY_POLL_SECONDS", "0.5", "a number from 1 to 3600"),
        ("FOOTY_POLL_SECONDS", "soon", "a number from 1 to 3600"),
        ("FOOTY_POLL_SECONDS", "nan", "a number from 1 to 3600"),
        ("FOOTY_POLL_SECONDS", "inf", "a number from 1 to 3600"),
        ("FOOTY_STAGING_POLL_SECONDS", "0", "a number from 1 to 86400"),
        ("FOOTY_PRE_ACTIVATION_MINUTES", "-1", "a number from 0 to 1440"),
        ("FOOTY_INGEST_DAYS", "8", "a whole number from 1 to 7"),
        ("FOOTY_LOOK_AHEAD_DAYS", "0", "a whole number from 1 to 60"),
        ("FOOTY_RETENTION_DAYS", "-3650", "a number above 0 and up to 3650"),
        ("FOOTY_RETENTION_DAYS", "0", "a number above 0 and up to 3650"),
        ("FOOTY_RETENTION_DAYS", "1e300", "a number above 0 and up to 3650"),
        ("FOOTY_DEBOUNCE_POLLS", "0", "a whole number from 1 to 20"),
        ("FOOTY_DROP_POLLS", "21", "a whole number from 1 to 20"),
        ("FOOTY_SAME_GOAL_MINUTES", "11", "a whole number from 0 to 10"),
        ("FOOTY_OVER_POLLS", "", "a whole number from 1 to 20"),
        ("FOOTY_PATIENCE_SECONDS", "inf", "a number from 0 to 86400"),
        ("FOOTY_INTERRUPTION_HOURS", "0", "a number from 1 to 168"),
    ],
)
def test_an_invalid_setting_is_reported_with_its_value_and_the_allowed_ones(
    monkeypatch: pytest.MonkeyPatch, name: str, given: str, allowed: str
) -> None:
    assert refusal(monkeypatch, **{name: given}) == f"{name}: got {given!r}, expected {allowed}"


@pytest.mark.parametrize(
    ("name", "given", "part", "allowed"),
    [
        ("FOOTY_TRACKED_TEAMS", "40,fifty", "fifty", "whole numbers, separated by commas"),
        ("FOOTY_TRACKED_LEAGUES", "39;140", "39;140", "whole numbers, separated by commas"),
        (
            "FOOTY_SOURCES",
            "x,twitter",
            "twitter",
            "one or more of fxtwitter, reddit, bluesky, x, folder, separated by commas",
        ),
    ],
)
def test_the_wrong_part_of_a_list_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, given: str, part: str, allowed: str
) -> None:
    assert refusal(monkeypatch, **{name: given}) == f"{name}: got {part!r}, expected {allowed}"


NUMBERS = [name for name, field in Settings.model_fields.items() if field.annotation in (int, float)]


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_a_lower_and_an_upper_limit(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A limit that is missing shows as an overflow hours later."""
    for given in ("-1e9", "1e9") if Settings.model_fields[name].annotation is float else ("-1000000", "1000000"):
        message = refusal(monkeypatch, **{environment_names()[name]: given})
        assert "expected a" in message
        assert " from " in message or " above 0 and up to " in message


def test_all_invalid_settings_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = refusal(monkeypatch, FOOTY_WORKERS="0", FOOTY_POLL_SECONDS="0", LOG_FORMAT="xml").splitlines()
    assert sorted(line.split(":")[0] for line in told) == ["FOOTY_POLL_SECONDS", "FOOTY_WORKERS", "LOG_FORMAT"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("FOOTY_POL_SECONDS", "; did you mean FOOTY_POLL_SECONDS?"),
        ("footy_pol_seconds", "; did you mean FOOTY_POLL_SECONDS?"),
        ("FOOTY_TRACKED_TEAM", "; did you mean FOOTY_TRACKED_TEAMS?"),
        ("FOOTY_API_FOOTBAL_KEY", "; did you mean FOOTY_API_FOOTBALL_KEY?"),
        ("FOOTY_XQZ", ""),
    ],
)
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_an_unknown_setting_is_rejected_with_a_suggestion(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, meant: str, place: str
) -> None:
    if place == ".env":
        (folder / ".env").write_text(f"{name}={SECRET}\n")
        told = refusal(monkeypatch)
    else:
        told = refusal(monkeypatch, **{name: SECRET})
    assert told == f"{name} is not a setting{meant}"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("DATABASE_URL", f"postgres//footy:{SECRET}@db/footy"),
        ("DATABASE_URL", f"mysql://footy:{SECRET}@db/footy"),
        ("DATABASE_URL", f"postgresql://footy:{SECRET}%zz@db/footy"),
        ("DATABASE_URL", f"postgresql://footy:p@{SECRET}@db/footy"),
        ("DATABASE_URL", f"postgresql://footy:{SECRET}\n@db/footy"),
        ("DATABASE_URL", f"postgresql://footy:{SECRET}@[db/footy"),
        ("DATABASE_URL", f"host=db password={SECRET}"),
        ("FOOTY_DATABASE_URL", f"mysql://footy:{SECRET}@db/footy"),
        ("API_FOOTBALL_KEY", f"{SECRET} "),
        ("API_FOOTBALL_KEY", f"{SECRET}\n"),
        ("API_FOOTBALL_KEY", f"schlüssel-{SECRET}"),
        ("FOOTY_API_FOOTBALL_KEY", f"{SECRET}\t"),
        ("FOOTY_TEMPORAL_API_KEY", f"{SECRET} {SECRET}"),
        ("FOOTY_API_FOOTBALL_URL", f"ftp://user:{SECRET}@example.invalid"),
        ("FOOTY_ESPN_URL", f"ftp://user:{SECRET}@{SECRET}@example.invalid/path"),
    ],
)
def test_a_wrong_secret_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, name: str, given: str) -> None:
    told = refusal(monkeypatch, **{name: given})
    assert SECRET not in told
    assert told.startswith(f"{name}: got ")
    assert ", expected " in told


def test_a_wrong_setting_beside_a_right_secret_does_not_show_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    told = refusal(monkeypatch, API_FOOTBALL_KEY=SECRET, FOOTY_WORKERS="0")
    assert SECRET not in told


def test_an_env_file_with_invalid_utf8_is_rejected_by_name(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / ".env").write_bytes("FOOTY_TASK_QUEUE=größer\n".encode("latin-1"))
    assert refusal(monkeypatch) == ".env: invalid UTF-8 at byte 19"
