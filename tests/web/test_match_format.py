"""Texts of a match and its goals, and positions on the timeline."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.fixtures.models import PHASES
from found_footy.fixtures.read_models import PolledFixture
from found_footy.web.pages import match_format as time_line
from found_footy.web.pages.match_format import (
    MatchPhase,
    StatusBadge,
    clock_text,
    freshness_of,
    match_phase,
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
def test_clock_texts_are_readable(
    status: str, stage: str, elapsed: int | None, extra: int | None, said: str | None
) -> None:
    assert clock_text(status, stage, elapsed, extra) == said


def test_every_status_has_a_text_and_a_phase() -> None:
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
def test_the_phase_reveals_no_result(status: str, stage: str, told: str) -> None:
    assert match_phase(status, stage) == told


def a_match(stage: str, status: str, silent_seconds: float | None, kickoff_hours: float = 1) -> PolledFixture:
    heard = None if silent_seconds is None else NOW - timedelta(seconds=silent_seconds)
    kickoff = NOW - timedelta(hours=kickoff_hours)
    return PolledFixture(1, "Home", "Away", "football", stage, status, kickoff, heard)


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
def test_a_polled_match_shows_the_age_of_its_data(
    stage: str, status: str, silent_seconds: int | None, said: str
) -> None:
    news = freshness_of(a_match(stage, status, silent_seconds), NOW, stale_seconds=45)
    assert (news.text, news.stale) == (said, bool(said))


def test_a_match_before_kickoff_is_not_stale() -> None:
    news = freshness_of(a_match("active", "NS", None, kickoff_hours=-0.2), NOW, stale_seconds=45)
    assert (news.text, news.age_seconds, news.since) == ("", None, None)


def test_an_update_from_the_future_is_fresh() -> None:
    assert freshness_of(a_match("active", "2H", -30), NOW, stale_seconds=45).age_seconds == 0


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
def test_a_badge_shows_the_status_of_a_goal(
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
def test_each_minute_has_a_position_on_the_timeline(
    elapsed: int, extra: int | None, long: bool, percent: float
) -> None:
    assert time_line.timeline_percent(elapsed, extra, extra_time=long) == percent


def test_css_and_script_agree_with_the_timeline() -> None:
    sheet = (STATIC / "matchday.css").read_text()
    for mark in (
        time_line.half_time_percent(),
        time_line.half_time_percent(extra_time=True),
        time_line.full_time_percent(extra_time=True),
    ):
        assert f"var(--mark) {mark}% /" in sheet
    script = (STATIC / "matchday.js").read_text()
    parts = re.search(r"const PERIODS = \[(.*)\];", script)
    assert parts is not None
    numbers = [int(number) for number in re.findall(r"\d+", parts[1])]
    assert numbers == [number for part in time_line.PARTS for number in part]
