"""The overview's texts: what is on, what is off and why, and when the next match starts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from found_footy.fixtures.follow_list import NextMatch
from found_footy.operations.overview import SetupOverview, SwitchState, joined, next_match_text

NOW = datetime(2026, 11, 18, 17, 55, tzinfo=UTC)
ON, OFF = SwitchState("espn", True), SwitchState("api_football", False, "API_FOOTBALL_KEY is not set")


def match(kickoff: datetime) -> NextMatch:
    return NextMatch(1, kickoff, "Arsenal", "Tottenham", "Premier League")


def test_enabled_entries_come_first_and_disabled_ones_have_a_reason() -> None:
    assert joined([OFF, ON]) == "espn on · api_football off (API_FOOTBALL_KEY is not set)"
    assert joined([]) == "none"


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (timedelta(hours=2, minutes=5), "today 20:00, in 2 h 5 min"),
        (timedelta(minutes=-1), "today 17:54, in 0 s"),
        (timedelta(hours=8), "tomorrow 01:55, in 8 h"),
        (timedelta(days=3), "Sat 21 Nov 17:55, in 3 d"),
    ],
)
def test_the_next_match_is_shown_with_its_day_and_the_wait(after: timedelta, text: str) -> None:
    assert next_match_text(match(NOW + after), NOW, UTC) == f"Arsenal – Tottenham (Premier League), {text}"


def test_days_are_those_of_the_readers_time_zone() -> None:
    east = timezone(timedelta(hours=9))
    assert "tomorrow 05:00" not in next_match_text(match(NOW + timedelta(hours=2, minutes=5)), NOW, east)
    assert "today 05:00" in next_match_text(match(NOW + timedelta(hours=2, minutes=5)), NOW, east)


@pytest.mark.parametrize(
    ("overview", "words"),
    [
        (SetupOverview("5 leagues", (ON,), (ON,)), []),
        (SetupOverview("5 leagues", (OFF,), (ON,)), ["FOOTY_FEED=espn"]),
        (SetupOverview("5 leagues", (ON,), (OFF,)), ["FOOTY_SOURCES"]),
        (SetupOverview("nothing", (ON,), (ON,)), ["footy follow add"]),
        (SetupOverview("nothing", (), ()), ["FOOTY_FEED=espn", "FOOTY_SOURCES", "footy follow add"]),
    ],
)
def test_blocking_problems_have_a_hint(overview: SetupOverview, words: list[str]) -> None:
    assert len(overview.problems) == len(words)
    assert all(word in problem for word, problem in zip(words, overview.problems, strict=True))
