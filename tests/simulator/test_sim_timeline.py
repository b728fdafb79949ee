"""Each scripted case, at the moments that matter."""

from __future__ import annotations

import copy

import pytest
from sim_helpers import FODEN, SALAH, at, events, goal, match, pair, status

FULL = match(stoppage=[2, 4], goals=[goal("45+1"), goal("90+3", "away", player=FODEN)])
CUP = match(
    stoppage=[1, 2, 1, 0],
    ends="PEN",
    break_length=2,
    goals=[goal(10), goal(80, "away"), goal("105+1"), goal(120, "away")],
    shootout=[
        {"side": "home", "player": SALAH, "scored": True},
        {"side": "away", "player": FODEN, "scored": False},
        {"side": "home", "player": SALAH, "scored": True},
    ],
)
"""1H 0-46, HT -49, 2H -96, BT -98, ET -114, BT -116, ET -131, P -135, PEN."""


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (-1, ("NS", None, None)),
        (0, ("1H", 0, None)),
        (23.5, ("1H", 23, None)),
        (45, ("1H", 45, None)),
        (46, ("1H", 45, 1)),
        (47, ("HT", 45, None)),
        (50, ("2H", 45, None)),
        (51, ("2H", 46, None)),
        (97, ("2H", 90, 2)),
        (99, ("FT", 90, 4)),
        (5000, ("FT", 90, 4)),
    ],
)
def test_the_status_of_a_match_in_two_halves(minutes: float, expected: tuple[object, ...]) -> None:
    assert status(at(FULL, minutes)) == expected


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (95, ("2H", 90, 1)),
        (96, ("BT", 90, None)),
        (98, ("ET", 90, None)),
        (113, ("ET", 105, None)),
        (114, ("BT", 105, None)),
        (116, ("ET", 105, None)),
        (130, ("ET", 119, None)),
        (131, ("P", 120, None)),
        (135, ("PEN", 120, None)),
    ],
)
def test_the_status_of_a_cup_match(minutes: float, expected: tuple[object, ...]) -> None:
    assert status(at(CUP, minutes)) == expected


@pytest.mark.parametrize(
    ("minutes", "goals", "halftime", "fulltime", "extratime", "penalty"),
    [
        (-1, (None, None), (None, None), (None, None), (None, None), (None, None)),
        (9, (0, 0), (0, 0), (None, None), (None, None), (None, None)),
        (10, (1, 0), (1, 0), (None, None), (None, None), (None, None)),
        (90, (1, 1), (1, 0), (None, None), (None, None), (None, None)),
        (96, (1, 1), (1, 0), (1, 1), (None, None), (None, None)),
        (98, (1, 1), (1, 0), (1, 1), (0, 0), (None, None)),
        (114, (2, 1), (1, 0), (1, 1), (1, 0), (None, None)),
        (131, (2, 2), (1, 0), (1, 1), (1, 1), (0, 0)),
        (132, (2, 2), (1, 0), (1, 1), (1, 1), (1, 0)),
        (135, (2, 2), (1, 0), (1, 1), (1, 1), (2, 0)),
    ],
)
def test_the_score_and_its_parts(
    minutes: float, goals: object, halftime: object, fulltime: object, extratime: object, penalty: object
) -> None:
    fixture = at(CUP, minutes)
    parts = [pair(fixture["score"][part]) for part in ("halftime", "fulltime", "extratime", "penalty")]
    assert [pair(fixture["goals"]), *parts] == [goals, halftime, fulltime, extratime, penalty]


def test_the_shoot_out_is_listed_last_and_backwards() -> None:
    fixture = at(CUP, 134)
    assert events(fixture)[4:] == [
        ("120+3", 40, "M. Salah", "Goal", "Penalty"),
        ("120+2", 50, "P. Foden", "Goal", "Missed Penalty"),
        ("120+1", 40, "M. Salah", "Goal", "Penalty"),
    ]
    assert {event["comments"] for event in fixture["events"][4:]} == {"Penalty Shootout"}
    assert fixture["teams"]["home"]["winner"] is True
    assert fixture["teams"]["away"]["winner"] is False


def test_stoppage_time_goals_come_with_their_extra_minute() -> None:
    assert events(at(FULL, 45.9)) == []
    assert events(at(FULL, 46)) == [("45+1", 40, "M. Salah", "Goal", "Normal Goal")]
    assert pair(at(FULL, 60)["score"]["halftime"]) == (1, 0)
    assert [event[0] for event in events(at(FULL, 98))] == ["45+1", "90+3"]


def test_the_kick_off_the_periods_and_the_date() -> None:
    fixture = at(match(kickoff="+30m"), 100)["fixture"]
    assert fixture["date"] == "2025-11-22T15:30:00+00:00"
    assert fixture["timestamp"] == fixture["periods"]["first"]
    assert fixture["periods"]["second"] == fixture["timestamp"] + 48 * 60
    assert at(match(kickoff="+30m"), 29)["fixture"]["periods"] == {"first": None, "second": None}


def test_under_way_at_the_start() -> None:
    fixture = at(match(kickoff="-55m", goals=[goal(33)]), 0)
    assert status(fixture) == ("2H", 52, None)
    assert pair(fixture["goals"]) == (1, 0)


def test_short_halves() -> None:
    short = match(half_length=10, stoppage=[1, 0], goals=[goal("10+1"), goal(12)])
    assert status(at(short, 10)) == ("1H", 10, None)
    assert status(at(short, 11)) == ("HT", 10, None)
    assert events(at(short, 16)) == [
        ("10+1", 40, "M. Salah", "Goal", "Normal Goal"),
        (12, 40, "M. Salah", "Goal", "Normal Goal"),
    ]
    assert status(at(short, 24)) == ("FT", 20, None)


def test_an_own_goal_has_the_side_that_benefits_and_the_scorer_of_the_other() -> None:
    fixture = at(match(goals=[goal(18, "home", kind="own_goal", player=FODEN)]), 20)
    assert events(fixture) == [(18, 40, "P. Foden", "Goal", "Own Goal")]
    assert pair(fixture["goals"]) == (1, 0)


def test_a_scorer_unknown_for_two_minutes() -> None:
    played = match(goals=[goal(34, player=None, changes=[{"after": 2, "player": SALAH}])])
    event = at(played, 35.9)["events"][0]
    assert event["player"] == {"id": None, "name": None}
    assert at(played, 36)["events"][0]["player"] == SALAH


def test_a_scorer_changed_and_a_goal_turned_into_an_own_goal() -> None:
    change = {"after": 5, "player": FODEN, "kind": "own_goal"}
    played = match(goals=[goal(20, changes=[change])])
    assert events(at(played, 24)) == [(20, 40, "M. Salah", "Goal", "Normal Goal")]
    assert events(at(played, 25)) == [(20, 40, "P. Foden", "Goal", "Own Goal")]
    assert pair(at(played, 25)["goals"]) == (1, 0)


def test_a_minute_that_drifts() -> None:
    played = match(goals=[goal(23, changes=[{"after": 1, "minute": 24}, {"after": 2, "minute": 25}])])
    assert [events(at(played, minutes))[0][0] for minutes in (23, 24, 25, 26)] == [23, 24, 25, 25]


@pytest.mark.parametrize("after", [2, 10])
def test_a_goal_that_the_var_takes_back(after: int) -> None:
    played = match(goals=[goal(20, cancelled_after=after), goal(34, player=FODEN)])
    before, cancelled = at(played, 20 + after - 0.1), at(played, 20 + after)
    assert pair(before["goals"]) == (1, 0)
    assert events(before) == [(20, 40, "M. Salah", "Goal", "Normal Goal")]
    assert pair(cancelled["goals"]) == (0, 0)
    assert events(cancelled) == [(20 + after, 40, "M. Salah", "Var", "Goal cancelled")]
    assert pair(at(played, 34)["goals"]) == (1, 0)


def test_an_event_that_flickers_leaves_the_score() -> None:
    played = match(goals=[goal(15, flickers=[5, 9])])
    seen = [(minutes, len(at(played, minutes)["events"])) for minutes in (19, 20, 20.9, 21, 24, 25, 100)]
    assert seen == [(19, 1), (20, 0), (20.9, 0), (21, 1), (24, 0), (25, 1), (100, 1)]
    assert pair(at(played, 20)["goals"]) == (1, 0)


def test_two_goals_in_one_minute_keep_their_order() -> None:
    played = match(goals=[goal(73), goal(73, player=FODEN)])
    assert [event[2] for event in events(at(played, 80))] == ["M. Salah", "P. Foden"]
    assert pair(at(played, 76)["goals"]) == (2, 0)


@pytest.mark.parametrize(("minutes", "expected"), [(3, "NS"), (4, "PST"), (500, "PST")])
def test_postponed(minutes: float, expected: str) -> None:
    fixture = at(match(kickoff="+6m", ends="PST", called_off_at="+4m"), minutes)
    assert status(fixture) == (expected, None, None)
    assert pair(fixture["goals"]) == (None, None)


def test_abandoned_in_either_half() -> None:
    late = match(ends="ABD", abandoned_at=71, goals=[goal(24)])
    assert status(at(late, 73)) == ("2H", 70, None)
    assert status(at(late, 74)) == ("ABD", 71, None)
    assert pair(at(late, 500)["goals"]) == (1, 0)
    assert pair(at(late, 500)["score"]["fulltime"]) == (None, None)
    assert status(at(match(ends="ABD", abandoned_at=30), 30)) == ("ABD", 30, None)


def test_suspended_then_resumed() -> None:
    stop = {"minute": 40, "lasts": 6, "status": "SUSP"}
    played = match(interruptions=[stop], goals=[goal(39), goal(42)])
    assert status(at(played, 39)) == ("1H", 39, None)
    assert status(at(played, 40)) == ("SUSP", 40, None)
    assert status(at(played, 46)) == ("1H", 40, None)
    assert len(at(played, 47)["events"]) == 1
    assert len(at(played, 48)["events"]) == 2
    assert status(at(played, 51)) == ("HT", 45, None)


def test_extra_time_without_a_shoot_out() -> None:
    assert status(at(match(ends="AET"), 200)) == ("AET", 120, None)


def test_tomorrow_stays_upcoming() -> None:
    assert status(at(match(kickoff="+1d"), 2000)) == ("NS", None, None)


def test_events_that_are_not_goals() -> None:
    noise = [
        {"minute": 5, "side": "away", "kind": "yellow_card", "player": FODEN},
        {"minute": 46, "side": "home", "kind": "substitution", "player": SALAH, "other": FODEN},
        {"minute": 60, "side": "home", "kind": "substitution", "player": FODEN, "other": SALAH},
        {"minute": 61, "side": "home", "kind": "missed_penalty", "player": SALAH},
        {"minute": 62, "side": "home", "kind": "var_goal_confirmed", "player": SALAH},
    ]
    fixture = at(match(incidents=noise), 200)
    assert [event[3:] for event in events(fixture)] == [
        ("Card", "Yellow Card"),
        ("subst", "Substitution 1"),
        ("subst", "Substitution 2"),
        ("Goal", "Missed Penalty"),
        ("Var", "Goal confirmed"),
    ]
    assert pair(fixture["goals"]) == (0, 0)


def test_the_same_moment_gives_the_same_answer() -> None:
    first = at(CUP, 77)
    kept = copy.deepcopy(first)
    at(CUP, 200)
    assert at(CUP, 77) == kept == first
