"""Answers that cannot be. Each is a failure of that feed for that match, with a class and a name."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from found_footy.errors import FeedError, FeedSchemaError, FeedTimeWrong
from found_footy.feeds.validation import find_problem, position_of
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LastEvent,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    WicketKind,
)
from tests.support.football import START, match

NOW = START + timedelta(hours=1)


def live(status: str = "2H", minute: str | None = "60", **fields: Any) -> LiveFixture:
    """`45+2` as the clock shows it."""
    clock = None
    if minute is not None:
        elapsed, _, extra = minute.partition("+")
        clock = MatchMinute(int(elapsed), int(extra) if extra else None)
    return replace(match("10 home 7", status=status), minute=clock, **fields)


def cricket(over: int = 12, number: int = 1, status: str = "LIVE", **fields: Any) -> LiveFixture:
    base = replace(
        match(status=status),
        sport=Sport.CRICKET,
        score=Score(0, 2),
        minute=MatchMinute(over, 3, number),
        innings=(Innings(number, Side.HOME, 90, 2, over, 3),),
    )
    return replace(base, **fields)


def problem(new: LiveFixture, previous: LiveFixture | None = None, now: datetime = NOW) -> type[FeedError] | None:
    found = find_problem(None if previous is None else position_of(previous), new, now)
    return None if found is None else type(found)


def test_a_usual_answer_is_fine() -> None:
    assert find_problem(None, live(), NOW) is None
    assert find_problem(position_of(live()), live(), NOW) is None
    assert find_problem(position_of(cricket()), cricket(13), NOW) is None


@pytest.mark.parametrize(
    ("field", "new"),
    [
        ("score", live(score=Score(-1, 0))),
        ("score", live(score=Score(0, 999))),
        ("penalties", live(penalties=Score(3, -1))),
        ("minute", live(minute="999")),
        ("minute", replace(live(), minute=MatchMinute(-5))),
        ("minute", replace(live(), minute=MatchMinute(90, 400))),
        ("minute", replace(live(), minute=MatchMinute(12, 3, 1))),  # an innings in football
        ("minute", cricket(minute=MatchMinute(12, 3))),  # none in cricket
        ("goals.minute", live(goals=(LiveGoal(Side.HOME, MatchMinute(-1), Player()),))),
        ("goals", live(goals=(LiveGoal(Side.HOME, MatchMinute(1), Player()),) * 101)),
        ("status", live(status="???")),
        ("kickoff", live(kickoff=datetime(2026, 8, 22, 14, 0))),  # noqa: DTZ001
        ("last_event.at", live(last_event=LastEvent("goal", "", datetime(2026, 8, 22)))),  # noqa: DTZ001
        ("teams", live(home=Team(1, "A"), away=Team(1, "A"))),
        ("innings.wickets", cricket(innings=(Innings(1, Side.HOME, 100, 11),))),
        ("innings.balls", cricket(innings=(Innings(1, Side.HOME, 100, 1, 12, 6),))),
        ("innings.runs", cricket(innings=(Innings(1, Side.HOME, -1, 1),))),
        ("innings.overs", cricket(innings=(Innings(1, Side.HOME, 1, 1, -1),))),
        ("innings.number", cricket(innings=(Innings(0, Side.HOME, 1, 1),))),
        ("innings", cricket(innings=(Innings(1, Side.HOME, 1, 1), Innings(1, Side.AWAY, 1, 1)))),
    ],
)
def test_numbers_that_no_match_has(field: str, new: LiveFixture) -> None:
    found = find_problem(None, new, NOW)
    assert isinstance(found, FeedSchemaError)
    assert found.field == field


def test_ten_wickets_and_the_last_ball_of_an_over_are_fine() -> None:
    out = LiveGoal(Side.AWAY, MatchMinute(19, 6, 1), Player(None, "V Kohli"), WicketKind.BOWLED, type=WICKET)
    full = cricket(innings=(Innings(1, Side.HOME, 480, 10, 19, 5, over=True),), goals=(out,))
    assert find_problem(None, full, NOW) is None


@pytest.mark.parametrize(
    ("status", "minutes_to_kickoff", "wrong"),
    [
        ("1H", -5, False),
        ("1H", 10, False),  # started a little early
        ("1H", 30, False),
        ("1H", 55, True),  # the feed's clock is an hour off
        ("LIVE", 60, True),
        ("FT", 5, True),
        ("FT", -120, False),
        ("NS", 600, False),
        ("CANC", 600, False),
        ("PST", 600, False),
        ("AWD", 600, False),
        ("SUSP", 600, False),
    ],
)
def test_a_match_is_not_played_before_its_time(status: str, minutes_to_kickoff: int, wrong: bool) -> None:
    new = live(status, kickoff=NOW + timedelta(minutes=minutes_to_kickoff))
    assert problem(new) is (FeedTimeWrong if wrong else None)


@pytest.mark.parametrize(("minutes", "wrong"), [(-600, False), (0, False), (4, False), (6, True), (60, True)])
def test_nothing_has_happened_in_the_future(minutes: int, wrong: bool) -> None:
    new = live(last_event=LastEvent("goal", "Salah", NOW + timedelta(minutes=minutes)))
    assert problem(new) is (FeedTimeWrong if wrong else None)


@pytest.mark.parametrize(
    ("before", "after", "shift", "wrong"),
    [
        ("2H", "2H", timedelta(hours=-1), True),
        ("2H", "2H", timedelta(hours=1), True),
        ("2H", "FT", timedelta(hours=-2), True),
        ("2H", "2H", timedelta(minutes=10), False),  # started late, and says so now
        ("2H", "2H", timedelta(days=-1), False),
        ("NS", "NS", timedelta(hours=1), False),  # it was moved
        ("SUSP", "2H", timedelta(hours=-3), False),  # it goes on
    ],
)
def test_a_kick_off_that_moves_by_whole_hours_during_play_is_a_wrong_zone(
    before: str, after: str, shift: timedelta, wrong: bool
) -> None:
    old = live(before, kickoff=START)
    assert problem(live(after, kickoff=START + shift), old, NOW + timedelta(hours=4)) is (
        FeedTimeWrong if wrong else None
    )


STEPS = [
    # forward
    ("NS -", "1H 1", False),
    ("1H 45+2", "HT 45", False),
    ("HT 45", "2H 46", False),
    ("2H 90+4", "FT 90", False),
    ("FT 90", "ET 91", False),  # it goes on
    ("FT 90", "P 120", False),
    ("AET 120", "P 120", False),
    ("ET 105+5", "BT 105", False),
    ("BT 105", "ET 106", False),
    ("ET 105+5", "ET 106", False),
    ("P 120", "PEN 120", False),
    # any time
    ("2H 60", "SUSP 60", False),
    ("SUSP 60", "2H 60", False),
    ("2H 60", "ABD 60", False),
    ("FT 90", "AWD 90", False),
    ("INT 60", "NS -", False),
    ("2H 60", "LIVE 61", False),
    ("NS -", "PST -", False),
    # a whistle too early: the clock did not go back
    ("HT 45", "1H 45+2", False),
    ("2H 46", "HT 45", False),
    ("FT 90", "2H 90+5", False),
    # an old answer: it did
    ("HT 45", "1H 30", True),
    ("FT 90", "2H 70", True),
    ("FT -", "2H -", True),
    ("2H 60", "1H 44", True),
    ("2H 60", "NS -", True),
    ("FT 90", "NS -", True),
    ("FT 90", "1H 40", True),
    ("FT 90", "LIVE 89", True),
    ("PEN 120", "2H 80", True),
    ("2H 70", "2H 60", True),
    ("1H 40", "1H 10", True),
    ("LIVE 70", "LIVE 60", True),
    # corrections of the clock
    ("2H 70", "2H 68", False),
    ("2H 70", "2H 67", False),
    ("2H 70", "2H 66", True),
    ("1H 45+6", "1H 45", False),
    ("2H 70", "2H -", False),
]


@pytest.mark.parametrize(("before", "after", "back"), STEPS)
def test_a_match_does_not_go_back_in_time(before: str, after: str, back: bool) -> None:
    old, new = (live(status, None if clock == "-" else clock) for status, clock in (before.split(), after.split()))
    assert problem(new, old, NOW + timedelta(hours=4)) is (FeedTimeWrong if back else None)


@pytest.mark.parametrize(
    ("before", "after", "back"),
    [
        (cricket(12), cricket(12), False),
        (cricket(12), cricket(11), False),  # a ball taken back
        (cricket(12), cricket(10), True),
        (cricket(12, 2), cricket(12, 1), True),
        (cricket(19, 1), cricket(0, 2), False),
        (cricket(12), cricket(12, status="STUMPS"), False),
        (cricket(12, status="STUMPS"), cricket(12), False),
        (cricket(12, status="RAIN"), cricket(12, status="LUNCH"), False),
        (cricket(19, 2, status="RESULT"), cricket(19, 2), True),
        (cricket(19, 2, status="TIE"), cricket(0, 3), False),  # a super over
        (cricket(12, minute=None), cricket(9, minute=None), True),  # its innings tells
    ],
)
def test_nor_does_a_match_of_cricket(before: LiveFixture, after: LiveFixture, back: bool) -> None:
    assert problem(after, before) is (FeedTimeWrong if back else None)


def test_a_withdrawn_goal_is_not_a_fault() -> None:
    assert find_problem(position_of(live(score=Score(2, 0))), live(score=Score(1, 0), goals=()), NOW) is None


def test_a_different_match_with_the_same_id_is_rejected_after_kickoff() -> None:
    other = live(home=Team(1, "Arsenal"), away=Team(2, "Chelsea"))
    found = find_problem(position_of(live()), other, NOW)
    assert isinstance(found, FeedSchemaError)
    assert found.field == "teams"
    assert find_problem(position_of(live("NS", None)), other, NOW) is None  # the draw has been made


def test_a_lasting_correction_is_accepted_once_the_old_value_expires() -> None:
    assert problem(live("1H", "40"), live("2H", "60")) is FeedTimeWrong
    assert problem(live("1H", "40"), None) is None
