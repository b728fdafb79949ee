"""Words of a match and of its goals, and where a minute stands on its line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from found_footy.fixtures.models import PHASES
from found_footy.web.pages import match_format as time_line
from found_footy.web.pages.match_format import (
    MatchPhase,
    StatusBadge,
    clock_text,
    freshness_of,
    match_phase,
    short_duration,
    status_badge,
)
from found_footy.web.rendering import STATIC

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "stage", "elapsed", "extra", "said"),
    [
        ("NS", "staging", None, None, None),
        ("TBD", "staging", None, None, "Time open"),
        ("PST", "staging", None, None, "Postponed"),
        ("1H", "active", 31, None, "31'"),
        ("1H", "active", 45, 2, "45+2'"),
        ("1H", "active", None, None, "1st half"),
        ("HT", "active", 45, None, "HT"),
        ("2H", "active", 67, 0, "67'"),
        ("ET", "active", 101, None, "101'"),
        ("P", "active", 120, None, "Pens"),
        ("FT", "completed", 90, None, "FT"),
        ("AET", "completed", 120, None, "AET"),
        ("PEN", "completed", 120, None, "Pens"),
        ("SUSP", "active", 40, None, "Suspended"),
        ("ABD", "completed", 40, None, "Abandoned"),
        ("2H", "completed", 70, None, "Unfinished"),
        ("NEW?", "active", 3, None, "NEW?"),
    ],
)
def test_the_clock_speaks_as_people_do(
    status: str, stage: str, elapsed: int | None, extra: int | None, said: str | None
) -> None:
    assert clock_text(status, stage, elapsed, extra) == said


def test_every_status_has_words_and_a_standing() -> None:
    for status in PHASES:
        assert status == "NS" or clock_text(status, "active", None, None) not in (None, "")
        assert match_phase(status, "active") in MatchPhase


@pytest.mark.parametrize(
    ("status", "stage", "told"),
    [
        ("NS", "staging", "not started"),
        ("PST", "staging", "not started"),
        ("HT", "active", "under way"),
        ("P", "active", "under way"),
        ("INT", "active", "under way"),
        ("AET", "active", "finished"),
        ("PEN", "completed", "finished"),
        ("ABD", "completed", "finished"),
        ("2H", "completed", "finished"),
    ],
)
def test_the_standing_tells_no_result(status: str, stage: str, told: str) -> None:
    assert match_phase(status, stage) == told


def a_match(stage: str, status: str, silent_seconds: float | None, kickoff_hours: float = 1) -> dict[str, Any]:
    heard = None if silent_seconds is None else NOW - timedelta(seconds=silent_seconds)
    kickoff = NOW - timedelta(hours=kickoff_hours)
    return {"stage": stage, "status": status, "kickoff": kickoff, "last_poll_at": heard}


@pytest.mark.parametrize(
    ("stage", "status", "silent_seconds", "said"),
    [
        ("active", "2H", 45, ""),
        ("active", "2H", 46, "stale · 46 s"),
        ("active", "HT", 260, "stale · 4 min"),
        ("active", "NS", 260, "stale · 4 min"),
        ("active", "STUMPS", 7200, "stale · 2 h"),
        ("active", "2H", None, "no feed data yet"),
        ("active", "FT", 9000, ""),
        ("completed", "2H", 9000, ""),
        ("staging", "NS", None, ""),
    ],
)
def test_a_match_that_should_be_followed_says_how_old_its_news_are(
    stage: str, status: str, silent_seconds: int | None, said: str
) -> None:
    news = freshness_of(a_match(stage, status, silent_seconds), NOW, stale_seconds=45)
    assert (news.words, news.stale) == (said, bool(said))


def test_a_match_that_has_not_begun_is_not_missed() -> None:
    news = freshness_of(a_match("active", "NS", None, kickoff_hours=-0.2), NOW, stale_seconds=45)
    assert (news.words, news.age_seconds, news.since) == ("", None, None)


def test_a_word_from_the_future_is_new() -> None:
    assert freshness_of(a_match("active", "2H", -30), NOW, stale_seconds=45).age_seconds == 0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 days")],
)
def test_spans_are_never_said_longer_than_they_are(seconds: int, said: str) -> None:
    assert short_duration(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("status", "seen", "searches", "clips", "expected"),
    [
        ("validating", 2, 0, 0, StatusBadge("validating", "seen 2/3")),
        ("validating", 9, 0, 0, StatusBadge("validating", "seen 3/3")),
        ("watching", 3, 4, 0, StatusBadge("watching", "searching 4/10")),
        ("watching", 3, 12, 0, StatusBadge("watching", "searching 12/12")),
        ("watching", 3, 4, 2, StatusBadge("complete", "2 clips", "searching 4/10")),
        ("extracting", 3, 1, 0, StatusBadge("extracting", "checking clips", "searching 1/10")),
        ("extracting", 3, 1, 1, StatusBadge("complete", "1 clip", "searching 1/10")),
        ("complete", 3, 10, 3, StatusBadge("complete", "3 clips")),
        ("complete", 3, 10, 0, StatusBadge("none", "no clip")),
        ("withdrawn", 3, 2, 0, StatusBadge("withdrawn", "withdrawn")),
    ],
)
def test_a_chip_says_where_a_goal_stands(
    status: str, seen: int, searches: int, clips: int, expected: StatusBadge
) -> None:
    assert status_badge(status, seen=seen, debounce=3, searches=searches, attempts=10, clips=clips) == expected


@pytest.mark.parametrize(
    ("elapsed", "extra", "long", "percent"),
    [
        (0, None, False, 0.0),
        (45, None, False, 43.7),  # 45 of 103
        (45, 2, False, 45.6),
        (45, 9, False, 48.5),
        (46, None, False, 49.5),
        (90, None, False, 92.2),
        (90, 8, False, 100.0),
        (90, 20, False, 100.0),
        (112, None, False, 100.0),
        (112, None, True, 91.4),  # 128 of 140
        (120, 4, True, 100.0),
        (-1, None, False, 0.0),
    ],
)
def test_each_minute_has_its_place_on_the_line(elapsed: int, extra: int | None, long: bool, percent: float) -> None:
    assert time_line.timeline_percent(elapsed, extra, long=long) == percent


def test_the_sheet_and_the_script_count_as_the_line_does() -> None:
    sheet = (STATIC / "matchday.css").read_text()
    for mark in (
        time_line.half_time_percent(),
        time_line.half_time_percent(long=True),
        time_line.full_time_percent(long=True),
    ):
        assert f"var(--mark) {mark}% /" in sheet
    script = (STATIC / "matchday.js").read_text()
    parts = re.search(r"const PARTS = \[(.*)\];", script)
    assert parts is not None
    numbers = [int(number) for number in re.findall(r"\d+", parts[1])]
    assert numbers == [number for part in time_line.PARTS for number in part]
