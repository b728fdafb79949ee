"""The grade of the feeds' health: each transition, and each one that must not happen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.operations.feed_health import (
    MAX_RECOVERY,
    TRANSITIONS,
    FeedMeasurement,
    HealthRules,
    HealthTransition,
    begun,
    next_state,
)
from found_footy.operations.models import HealthGrade, HealthState, RecoveryOutcome

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
RULES = HealthRules()
HEALTHY, DEGRADED, FAILING, RECOVERING = HealthGrade

GOOD = [5.0] * 20
OLD = [70.0] * 20
ONE_OLD = [5.0] * 19 + [70.0]
"""One in twenty: neither the median nor p95."""
TWO_OLD = [5.0] * 18 + [70.0] * 2
ONE_SILENT = [5.0] * 19 + [120.0]
MANY_SILENT = [5.0] * 15 + [120.0] * 5
"""A quarter."""
STALLED = [90.0] * 20
ON_REQUEST = {(HEALTHY, RECOVERING), (DEGRADED, RECOVERING)}


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def measured(ages: list[float], success: float | None = None) -> FeedMeasurement:
    """`success`: seconds since the last answer; that of the freshest match if it is not given."""
    last = min(ages, default=None) if success is None else success
    return FeedMeasurement(dict(enumerate(map(ago, ages))), None if last is None else ago(last))


@pytest.mark.parametrize(
    ("before", "good", "ages", "expected"),
    [
        # HEALTHY
        (HEALTHY, 0, [], HEALTHY),
        (HEALTHY, 0, GOOD, HEALTHY),
        (HEALTHY, 0, [59.9] * 3, HEALTHY),
        (HEALTHY, 0, ONE_OLD, HEALTHY),
        (HEALTHY, 0, [60.0] * 3, DEGRADED),
        (HEALTHY, 0, OLD, DEGRADED),
        (HEALTHY, 0, TWO_OLD, DEGRADED),
        (HEALTHY, 0, [89.9] * 3, DEGRADED),
        (HEALTHY, 0, STALLED, FAILING),
        (HEALTHY, 0, ONE_SILENT, HEALTHY),
        (HEALTHY, 0, [5.0] * 49 + [43200.0], HEALTHY),
        (HEALTHY, 0, [5.0] * 16 + [120.0] * 4, DEGRADED),
        (HEALTHY, 0, MANY_SILENT, FAILING),
        (HEALTHY, 9, [3600.0], FAILING),
        # DEGRADED
        (DEGRADED, 0, [], HEALTHY),
        (DEGRADED, 0, GOOD, DEGRADED),
        (DEGRADED, 1, GOOD, HEALTHY),
        (DEGRADED, 1, OLD, DEGRADED),
        (DEGRADED, 1, TWO_OLD, DEGRADED),
        (DEGRADED, 0, [5.0, 119.9], DEGRADED),
        (DEGRADED, 0, [5.0, 120.0], DEGRADED),
        (DEGRADED, 0, [5.0, 120.0, 120.0], FAILING),
        (DEGRADED, 0, STALLED, FAILING),
        # FAILING
        (FAILING, 0, [], HEALTHY),
        (FAILING, 0, STALLED, FAILING),
        (FAILING, 0, MANY_SILENT, FAILING),
        (FAILING, 0, ONE_SILENT, DEGRADED),
        (FAILING, 0, OLD, DEGRADED),
        (FAILING, 0, GOOD, DEGRADED),
    ],
)
def test_grade_transitions(before: HealthGrade, good: int, ages: list[float], expected: HealthGrade) -> None:
    state = HealthState(before, since=ago(600), good_in_a_row=good, recovered_at=ago(60))
    judgement = next_state(state, measured(ages), NOW, RULES)
    assert judgement.state.grade is judgement.summary.grade is expected
    assert judgement.state.since == (NOW if before is not expected else ago(600))
    assert (judgement.path[0], judgement.path[-1]) == (before, expected)


def test_healthy_fails_through_degraded_in_one_judgement() -> None:
    judgement = next_state(HealthState(HEALTHY, since=ago(600)), measured(STALLED), NOW, RULES)
    assert judgement.path == (HEALTHY, DEGRADED, FAILING)


def test_failing_that_gets_well_by_itself_takes_two_good_judgements_and_no_recovery() -> None:
    state = HealthState(FAILING, since=ago(600), recovered_at=ago(600))
    first = next_state(state, measured(GOOD), NOW, RULES)
    second = next_state(first.state, measured(GOOD), NOW + timedelta(seconds=15), RULES)
    assert (first.state.grade, second.state.grade) == (DEGRADED, HEALTHY)
    assert (first.act, second.act) == (False, False)


def test_each_transition_is_reached_and_no_other() -> None:
    """Three outages: one that no recovery ends, one that is ended halfway, one that is over with the first answer."""
    rules = replace(RULES, recovery_pause=200)
    rounds: list[tuple[list[float], float]] = [(GOOD, 5), (OLD, 70), (STALLED, 90), (STALLED, 200)]
    rounds += [(GOOD, 5), (GOOD, 5), (STALLED, 90), (OLD, 5), (GOOD, 5), (GOOD, 5), (STALLED, 90), (GOOD, 5)]
    state: HealthState | None = HealthState(HEALTHY, ago(600), judged_at=ago(15))
    reached = set()
    now = NOW
    for ages, success in rounds:
        now += timedelta(seconds=130)
        heard = {number: now - timedelta(seconds=age) for number, age in enumerate(ages)}
        what = FeedMeasurement(heard, now - timedelta(seconds=success))
        judgement = next_state(replace(state, judged_at=now - timedelta(seconds=15)), what, now, rules)
        reached |= set(pairwise(judgement.path))
        state = judgement.state
        if judgement.act:
            state, _, _ = begun(judgement, None, "r1", now)
            reached.add((judgement.state.grade, state.grade))
            state = replace(state, acting_until=None)
    assert reached == TRANSITIONS - ON_REQUEST


def test_two_good_judgements_count_only_in_a_row() -> None:
    state = HealthState(DEGRADED, since=ago(600))
    for ages, expected in ((GOOD, DEGRADED), (TWO_OLD, DEGRADED), (GOOD, DEGRADED), (GOOD, HEALTHY)):
        state = next_state(state, measured(ages), NOW, RULES).state
        assert state.grade is expected


@pytest.mark.parametrize(
    ("begun_ago", "acting", "ages", "success", "expected", "outcome"),
    [
        # While it is being done, nothing is judged.
        (10, True, GOOD, 1, RECOVERING, None),
        (10, True, STALLED, 100, RECOVERING, None),
        # Until the first answer, for as long as a recovery has.
        (30, False, STALLED, 120, RECOVERING, None),
        (119, False, STALLED, 209, RECOVERING, None),
        (119, False, MANY_SILENT, 5, RECOVERING, None),
        (119, False, OLD, 70, RECOVERING, None),
        # An answer from before it is none, however fresh.
        (30, False, [40.0], 40, RECOVERING, None),
        (30, False, GOOD, 5, HEALTHY, RecoveryOutcome.SUCCESS),
        (30, False, [], 400, HEALTHY, RecoveryOutcome.SUCCESS),
        (120, False, GOOD, 5, HEALTHY, RecoveryOutcome.SUCCESS),
        # Its time is over.
        (120, False, OLD, 70, DEGRADED, RecoveryOutcome.PARTIAL),
        (120, False, TWO_OLD, 5, DEGRADED, RecoveryOutcome.PARTIAL),
        (120, False, MANY_SILENT, 5, FAILING, RecoveryOutcome.FAILED),
        (500, False, STALLED, 600, FAILING, RecoveryOutcome.FAILED),
    ],
)
def test_recovery_outcomes(
    begun_ago: float,
    acting: bool,
    ages: list[float],
    success: float,
    expected: HealthGrade,
    outcome: RecoveryOutcome | None,
) -> None:
    until = ago(begun_ago) + MAX_RECOVERY if acting else None
    state = HealthState(RECOVERING, ago(begun_ago), 0, "r1", ago(begun_ago), acting_until=until)
    judgement = next_state(state, measured(ages, success), NOW, RULES)
    assert (judgement.state.grade, judgement.outcome) == (expected, outcome)
    assert judgement.healthy_again is (expected is HEALTHY)
    assert judgement.state.recovery_id == (None if expected is HEALTHY else "r1")
    assert judgement.act is False


@pytest.mark.parametrize(
    ("grade", "recovered", "acting_until", "acts"),
    [
        (FAILING, None, None, True),
        (FAILING, 899, None, False),
        (FAILING, 900, None, True),
        (DEGRADED, None, None, True),  # which becomes FAILING
        (RECOVERING, 60, -30, False),  # somebody is at it
        (RECOVERING, 91, 1, True),  # somebody died over it
        (RECOVERING, 5000, 4900, True),
        (RECOVERING, 60, None, False),
    ],
)
def test_conditions_for_a_recovery(
    grade: HealthGrade, recovered: float | None, acting_until: float | None, acts: bool
) -> None:
    state = HealthState(
        grade,
        ago(5000),
        judged_at=ago(15),
        recovery_id="r1" if grade is RECOVERING else None,
        recovered_at=None if recovered is None else ago(recovered),
        acting_until=None if acting_until is None else ago(acting_until),
    )
    judgement = next_state(state, measured(STALLED, 95), NOW, RULES)
    assert judgement.act is acts
    if acts and grade is RECOVERING:
        assert judgement.state.grade is RECOVERING, "one that was cut off is done over before it is judged"


@pytest.mark.parametrize(
    ("judged", "resumed", "acts"),
    [
        (15, None, True),
        (60, None, True),
        (61, None, False),  # everything was stopped, and has just been started
        (None, None, False),
        (15, 89, False),
        (15, 90, True),
    ],
)
def test_a_recent_restart_is_not_repeated(judged: float | None, resumed: float | None, acts: bool) -> None:
    state = HealthState(
        FAILING,
        ago(5000),
        judged_at=None if judged is None else ago(judged),
        resumed_at=None if resumed is None else ago(resumed),
    )
    assert next_state(state, measured(STALLED), NOW, RULES).act is acts


@pytest.mark.parametrize("grade", [HEALTHY, DEGRADED, FAILING, RECOVERING])
def test_without_requests_there_is_no_stall(grade: HealthGrade) -> None:
    judgement = next_state(HealthState(grade, ago(9000), recovered_at=ago(8000)), measured([], 8000), NOW, RULES)
    assert (judgement.state.grade, judgement.summary.stall_seconds, judgement.act) == (HEALTHY, 0.0, False)


def test_a_match_that_has_just_started_is_not_a_stall() -> None:
    judgement = next_state(None, FeedMeasurement({1: ago(3)}, last_success=ago(36000)), NOW, RULES)
    assert (judgement.state.grade, judgement.summary.stall_seconds) == (HEALTHY, 3.0)


def test_the_first_grade_is_healthy() -> None:
    judgement = next_state(None, measured(GOOD), NOW, RULES)
    assert (judgement.state.grade, judgement.state.since, judgement.state.revision) == (HEALTHY, NOW, 1)


@pytest.mark.parametrize(
    ("ages", "words"),
    [
        (GOOD, []),
        (STALLED, ["no feed has responded for 90 s", "half of the matches were last updated 90 s ago or earlier"]),
        (ONE_SILENT, []),
        (
            MANY_SILENT,
            [
                "5 matches of 20 not updated for up to 120 s",
                "one match in twenty was last updated 120 s ago or earlier",
            ],
        ),
        (TWO_OLD, ["one match in twenty was last updated 70 s ago or earlier"]),
    ],
)
def test_the_reasons_are_listed(ages: list[float], words: list[str]) -> None:
    assert list(next_state(None, measured(ages), NOW, RULES).summary.reasons) == words


def test_the_summary_contains_the_measurements() -> None:
    what = replace(measured(GOOD), queue={"live": 3}, active=2, ok=6, failed=2, paused=("espn_1",), notes=("blind",))
    summary = next_state(None, what, NOW, RULES).summary
    assert (summary.failure_ratio, summary.queue, summary.active) == (0.25, {"live": 3}, 2)
    assert (summary.paused, summary.reasons) == (("espn_1",), ("blind",))


ages_lists = st.lists(st.sampled_from([0.0, 59.9, 60.0, 89.9, 90.0, 119.9, 120.0, 9000.0]), max_size=25)


@given(st.lists(st.tuples(ages_lists, st.integers(1, 400), st.booleans()), max_size=40))
def test_no_sequence_of_measurements_takes_a_step_that_is_not_defined(
    rounds: list[tuple[list[float], int, bool]],
) -> None:
    """Two watchdogs take turns at random; whoever judges may act, and may die over it."""
    state: HealthState | None = None
    now = NOW
    entry_id = 0
    for ages, passed, dies in rounds:
        now += timedelta(seconds=passed)
        heard = {number: now - timedelta(seconds=age) for number, age in enumerate(ages)}
        judgement = next_state(state, FeedMeasurement(heard, max(heard.values(), default=None)), now, RULES)
        assert all(step in TRANSITIONS for step in pairwise(judgement.path))
        assert (judgement.outcome is not None) <= (judgement.path[0] is RECOVERING)
        state = judgement.state
        if judgement.act:
            entry_id += 1
            state, _, entry = begun(judgement, None, str(entry_id), now)
            assert state.grade is RECOVERING
            assert not _acts_too(judgement, state, heard, now), "a second watchdog that judges now must not act"
            state = state if dies else replace(state, acting_until=None)
            assert state.recovery_id == entry.id


def _acts_too(judgement: HealthTransition, state: HealthState, heard: dict[int, datetime], now: datetime) -> bool:
    later = now + timedelta(seconds=1)
    return next_state(state, FeedMeasurement(heard, judgement.summary.last_success), later, RULES).act
