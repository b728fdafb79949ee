from __future__ import annotations

import pytest
from tests.support.clocks import SecondsClock

from footy_simulator.matchday import MatchdayClock


def test_the_first_poll_sees_the_start_however_late_it_comes() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall)
    wall.now += 500
    assert clock.poll() == 0


@pytest.mark.parametrize(
    ("pauses", "offset"),
    [
        ([0.5], 30),
        ([1.0], 60),
        ([300.0], 60),  # a slow consumer loses nothing
        ([0.25, 0.25, 100.0], 90),
        ([0.0], 0),
    ],
)
def test_in_lockstep_a_poll_moves_time_by_a_step_at_most(pauses: list[float], offset: float) -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall)
    clock.poll()
    for pause in pauses:
        wall.now += pause
        clock.poll()
    assert clock.offset == offset


def test_in_lockstep_time_stops_between_polls() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall, max_step=30)
    clock.poll()
    wall.now += 10
    assert clock.offset == 0
    assert clock.poll() == 30


def test_out_of_lockstep_time_runs_with_the_wall() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall, lockstep=False, speed=10)
    wall.now += 100
    assert clock.offset == 1000
    assert clock.poll() == 1000


def test_time_waits_for_a_named_reader_while_others_poll() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall)
    clock.poll("first")
    for _ in range(8):
        wall.now += 0.3
        clock.poll()
    assert clock.offset == 60
    wall.now += 0.3
    assert clock.poll("first") == 60
    wall.now += 0.5
    assert clock.poll() == 90


def test_time_does_not_wait_for_a_reader_that_has_gone() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall)
    clock.poll("first")
    for _ in range(30):
        wall.now += 0.5
        clock.poll()
    assert clock.offset > 300


def test_time_does_not_wait_for_a_reader_that_was_not_answered() -> None:
    wall = SecondsClock(1000.0)
    clock = MatchdayClock(time_source=wall)
    clock.poll("first")
    clock.forget("first")
    clock.forget("nobody")
    for _ in range(8):
        wall.now += 0.5
        clock.poll()
    assert clock.offset == 240
