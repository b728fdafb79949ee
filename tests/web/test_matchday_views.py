"""Selection, order and views of matches on the matchday page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from found_footy.fixtures.read_models import BestClip, MatchdayFixture, MatchdayGoal
from found_footy.web.pages.matchday import (
    MatchCardView,
    Show,
    day_tabs,
    filter_matches,
    group_by_competition,
    match_card_view,
    nearest_day,
    relative_day,
)
from found_footy.web.services import WebRules

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
DAY = date(2026, 8, 22)


def row(fixture_id: int, status: str = "FT", **more: Any) -> MatchdayFixture:
    made = MatchdayFixture(
        id=fixture_id, stage="active", status=status, elapsed=60, extra=None, kickoff=NOW - timedelta(hours=2),
        league_id=39, league_name="Premier League", country="England", round="Round 1",
        home_name=f"Home {fixture_id}", away_name=f"Away {fixture_id}", home_goals=0, away_goals=0,
        home_penalties=None, away_penalties=None, last_poll_at=NOW, error_kind=None, error_message=None, goals=(),
        sport="football", innings=(), toss=None, venue=None, last_event=None, details={},
    )  # fmt: skip
    return replace(made, **more)


def goal(**more: Any) -> MatchdayGoal:
    made = MatchdayGoal(
        id="1_2_3_Goal_1", status="complete", side="home", player="Scorer", assist=None, kind="Normal Goal",
        elapsed=60, extra=None, innings=None, home=1, away=0, seen=3, searches=10, clips=1,
        best=BestClip("0123456789abcdef", True, 72.4),
    )  # fmt: skip
    return replace(made, **more)


def view(given: MatchdayFixture, *, hidden: bool = False) -> MatchCardView:
    return match_card_view(given, hidden=hidden, now=NOW, rules=WebRules())


def test_live_matches_come_first_then_by_kickoff() -> None:
    early, late = NOW - timedelta(hours=5), NOW + timedelta(hours=3)
    matches = [
        view(row(1, "FT", kickoff=early)),
        view(row(2, "NS", kickoff=late)),
        view(row(3, "2H", kickoff=NOW - timedelta(hours=1))),
        view(row(4, "HT", kickoff=NOW - timedelta(hours=2))),
        view(row(5, "FT", league_id=1, league_name="A League")),
        view(row(6, "1H", league_id=2, league_name="Z League")),
    ]
    assert [(group.league, [match.id for match in group.matches]) for group in group_by_competition(matches)] == [
        ("Premier League", [4, 3, 1, 2]),
        ("Z League", [6]),
        ("A League", [5]),
    ]


def test_competitions_of_the_same_name_stay_separate() -> None:
    matches = [view(row(1, league_id=1, country="Italy")), view(row(2, league_id=2, country="Brazil"))]
    assert [(group.country, len(group.matches)) for group in group_by_competition(matches)] == [
        ("Brazil", 1),
        ("Italy", 1),
    ]


def test_a_shared_round_is_named() -> None:
    assert group_by_competition([view(row(1)), view(row(2))])[0].round == "Round 1"
    assert group_by_competition([view(row(1)), view(row(2, round="Round 2"))])[0].round is None


def test_the_order_does_not_depend_on_hidden_scores() -> None:
    rows = [row(number, status) for number, status in enumerate(["FT", "2H", "PEN", "AET", "HT", "NS"])]
    rows[2] = replace(rows[2], goals=(goal(),))
    shown, hidden = (
        group_by_competition([view(each) for each in rows]),
        group_by_competition([view(each, hidden=True) for each in rows]),
    )
    assert [match.id for match in shown[0].matches] == [match.id for match in hidden[0].matches]


@pytest.mark.parametrize(("show", "ids"), [("all", [1, 2, 3, 4]), ("live", [2, 4]), ("clips", [3])])
def test_filters_reveal_nothing_hidden(show: Show, ids: list[int]) -> None:
    matches = [
        view(row(1)),
        view(row(2, "2H")),
        view(row(3, goals=(goal(),))),
        view(row(4, "2H", goals=(goal(),)), hidden=True),
    ]
    assert [match.id for match in filter_matches(matches, show)] == ids


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(None, None, 22), (20, None, 20), (None, 30, 30), (20, 23, 23), (21, 30, 21), (21, 23, 23)],
)
def test_the_nearest_day_with_matches_is_shown(before: int | None, after: int | None, expected: int) -> None:
    days = [date(2026, 8, day) if day else None for day in (before, after)]
    assert nearest_day(DAY, *days) == date(2026, 8, expected)


def test_the_day_tabs_cover_three_days_on_each_side() -> None:
    made = day_tabs(DAY, {DAY: 5, date(2026, 8, 25): 2})
    assert [(tab.day.day, tab.matches) for tab in made] == [
        (19, 0), (20, 0), (21, 0), (22, 5), (23, 0), (24, 0), (25, 2),
    ]  # fmt: skip
    assert [tab.day for tab in made if tab.shown] == [DAY]


@pytest.mark.parametrize(("days", "word"), [(-2, None), (-1, "Yesterday"), (0, "Today"), (1, "Tomorrow"), (2, None)])
def test_days_near_today_have_names(days: int, word: str | None) -> None:
    assert relative_day(DAY + timedelta(days=days), DAY) == word


def test_a_goal_card_shows_the_best_clip() -> None:
    (seen,) = view(row(1, goals=(goal(kind="Own Goal", elapsed=45, extra=2, player=None),))).goals
    assert (seen.minute, seen.note, seen.player, seen.video) == ("45+2'", "o.g.", None, "0123456789abcdef")
    assert (seen.length, seen.verified, seen.badge.text) == ("1:12", True, "1 clip")


def test_extra_time_extends_the_timeline() -> None:
    assert view(row(1, "AET")).timeline == "long"
    assert view(row(1, "FT", goals=(goal(elapsed=112),))).timeline == "long"
    assert view(row(1, "FT", goals=(goal(elapsed=90, extra=9),))).timeline == ""


def test_half_time_is_at_the_mark() -> None:
    assert view(row(1, "HT", elapsed=45)).progress == 48.5
    assert view(row(1, "FT", elapsed=90)).progress is None


def test_a_hidden_card_shows_only_teams_and_kickoff() -> None:
    told = row(1, "PEN", goals=(goal(),), home_goals=3, home_penalties=4, away_penalties=3, error_kind="FeedRejected",
               error_message="score 3-2 is odd")  # fmt: skip
    hidden = view(told, hidden=True)
    assert hidden.hidden
    assert (hidden.clock, hidden.home_goals, hidden.penalties, hidden.goals, hidden.progress) == (
        None, None, None, (), None,
    )  # fmt: skip
    assert hidden.note == "feed error"


def test_a_match_back_in_staging_keeps_its_goals_hidden() -> None:
    hidden = view(row(1, "PST", goals=(goal(),)), hidden=True)
    assert (hidden.hidden, hidden.goals, hidden.clock) == (False, (), "Postponed")
