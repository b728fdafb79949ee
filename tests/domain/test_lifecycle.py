from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.domain.fixtures.comparison import Poll, Verdict
from found_footy.domain.fixtures.lifecycle import (
    NEVER_CERTAIN,
    LifecycleRules,
    close_doubtful,
    stage_at_first_sight,
    stage_of_active,
    stage_of_lost,
    staging_interval_start,
)
from found_footy.domain.fixtures.model import KnownEvent, Stage
from tests.support.football import START, Monitor, complete

RULES = LifecycleRules()


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@pytest.mark.parametrize(
    ("status", "kickoff_in", "stage"),
    [
        ("NS", 31, "staging"),
        ("NS", 30, "active"),
        ("NS", -5, "active"),  # late kick-off
        ("TBD", 5, "staging"),  # its hour is made up
        ("PST", -60, "staging"),
        ("1H", -10, "active"),
        ("HT", -50, "active"),
        ("2H", -60, "active"),
        ("LIVE", -60, "active"),
        ("ET", -110, "active"),
        ("BT", -120, "active"),
        ("P", -140, "active"),
        ("SUSP", -60, "active"),
        ("INT", -60 * 11, "active"),
        ("SUSP", -60 * 12, "staging"),
        ("FT", -120, "completed"),
        ("AET", -150, "completed"),
        ("PEN", -160, "completed"),
        ("CANC", 60, "completed"),
        ("ABD", -60, "completed"),
        ("AWD", 60, "completed"),
        ("WO", 60, "completed"),
    ],
)
def test_where_a_fixture_starts(status: str, kickoff_in: float, stage: str) -> None:
    assert stage_at_first_sight(status, START + minutes(kickoff_in), START, RULES) is Stage(stage)


def an_event(*, seen: int = 3, missing: int = 0, done: bool = True) -> KnownEvent:
    monitor = Monitor()
    monitor.sees("23 home 7", times=seen)
    event = replace(next(iter(monitor.events.values())), missing=missing)
    return complete(event) if done else event


@pytest.mark.parametrize(
    ("status", "kickoff_in", "over_polls", "event", "stage"),
    [
        ("1H", -10, 0, None, "active"),
        ("HT", -60, 0, None, "active"),
        ("FT", -110, 1, None, "active"),  # one poll may be wrong
        ("FT", -110, 3, None, "completed"),
        ("FT", -110, 3, an_event(), "completed"),
        ("FT", -110, 9, an_event(done=False), "active"),  # its search has not ended
        ("FT", -110, 9, an_event(seen=2, done=False), "active"),  # not certain yet
        ("FT", -110, 9, an_event(missing=1), "active"),  # in doubt
        ("AET", -150, 3, None, "completed"),
        ("PEN", -150, 3, None, "completed"),
        ("ABD", -50, 3, an_event(), "completed"),
        ("CANC", 10, 3, None, "completed"),
        ("AWD", -50, 3, None, "completed"),
        ("WO", -50, 3, None, "completed"),
        ("PST", 10, 0, None, "staging"),
        ("NS", 10, 0, None, "active"),
        ("NS", 59, 0, None, "active"),
        ("NS", 61, 0, None, "staging"),  # moved to later in the day
        ("SUSP", -60, 0, an_event(), "active"),
        ("SUSP", -60 * 13, 0, an_event(), "staging"),
        ("SUSP", -60 * 13, 0, an_event(done=False), "active"),
    ],
)
def test_where_an_active_fixture_goes(
    status: str, kickoff_in: float, over_polls: int, event: KnownEvent | None, stage: str
) -> None:
    events = [event] if event else []
    kickoff = START + minutes(kickoff_in)
    assert stage_of_active(status, kickoff, START, over_polls, events, RULES) is Stage(stage)


@pytest.mark.parametrize(
    ("status", "hours", "event", "stage"),
    [
        ("2H", 3, None, "active"),  # may come back
        ("2H", 12, None, "staging"),
        ("FT", 3, None, "active"),
        ("FT", 12, an_event(), "completed"),
        ("FT", 12, an_event(done=False), "staging"),
    ],
)
def test_where_a_fixture_goes_that_the_feed_has_lost(
    status: str, hours: float, event: KnownEvent | None, stage: str
) -> None:
    events = [event] if event else []
    assert stage_of_lost(status, START, START + timedelta(hours=hours), events, RULES) is Stage(stage)


@pytest.mark.parametrize(("now", "start"), [(0, 0), (14.9, 0), (15, 15), (29, 15), (61, 60)])
def test_staging_intervals_count_from_the_full_hour(now: float, start: float) -> None:
    assert staging_interval_start(START + minutes(now), RULES) == START + minutes(start)


def test_a_goal_that_never_becomes_certain_does_not_keep_its_fixture_open() -> None:
    doubtful, certain = an_event(seen=1, done=False), an_event()
    at = Poll("late", START + minutes(61))
    assert close_doubtful([doubtful, certain], None, at, RULES) == []
    assert close_doubtful([doubtful, certain], START + minutes(2), at, RULES) == []
    (decision,) = close_doubtful([doubtful, certain], START, at, RULES)
    assert decision.verdict is Verdict.WITHDRAWN
    assert decision.event.removed_reason == NEVER_CERTAIN
