"""The grade of the feeds' health: from what arrived, and from nothing that a process says of itself.

    HEALTHY ──▶ DEGRADED ──▶ FAILING ──▶ RECOVERING ──▶ HEALTHY
       ▲           │ ▲          │          │    │
       └───────────┘ └──────────┘          │    │
       two good      better     ▲          │    │
       in a row      by itself  └──────────┘    └─▶ DEGRADED
                                 time is over

A judgement may take several steps at once: where everything is old, HEALTHY becomes FAILING through DEGRADED. Only
one step is not taken here: FAILING becomes RECOVERING when somebody begins to recover (`recovery.begun`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.domain.feeds.freshness import ages, stats
from found_footy.domain.feeds.health_values import (
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    RecoveryOutcome,
)

GOOD_IN_A_ROW = 2
"""Good judgements in a row that lead from DEGRADED to HEALTHY."""

TRANSITIONS: frozenset[tuple[HealthGrade, HealthGrade]] = frozenset(
    {
        (HealthGrade.HEALTHY, HealthGrade.DEGRADED),
        (HealthGrade.DEGRADED, HealthGrade.FAILING),
        (HealthGrade.DEGRADED, HealthGrade.HEALTHY),
        (HealthGrade.FAILING, HealthGrade.RECOVERING),
        (HealthGrade.FAILING, HealthGrade.DEGRADED),
        (HealthGrade.RECOVERING, HealthGrade.HEALTHY),
        # A recovery whose time is over is judged, so that no outage hides behind the word "recovering".
        (HealthGrade.RECOVERING, HealthGrade.DEGRADED),
        (HealthGrade.RECOVERING, HealthGrade.FAILING),
    }
)

OUTCOMES = {
    HealthGrade.HEALTHY: RecoveryOutcome.SUCCESS,
    HealthGrade.DEGRADED: RecoveryOutcome.PARTIAL,
    HealthGrade.FAILING: RecoveryOutcome.FAILED,
}
"""What became of a recovery, by the grade that follows it."""


@dataclass(frozen=True, slots=True)
class HealthRules:
    """All in seconds."""

    fresh: float = 60.0
    """Median or p95 age that is too old."""
    failing: float = 120.0
    """Age of any match that is far too old."""
    stall: float = 90.0
    """Time without any answer that is far too long."""
    recovery: float = 120.0
    """How long a recovery has to show its effect."""
    recovery_pause: float = 900.0
    """From the begin of one recovery to the next, at least."""
    gap: float = 60.0
    """After so long without a judgement, everything has probably been stopped, and has to start first."""


@dataclass(frozen=True, slots=True)
class Measured:
    heard: Mapping[int, datetime]
    """Our matches that every poll follows, to when each was last heard of, or has been waited for since."""
    last_success: datetime | None = None
    """The last answer of any feed for any match."""
    queue: Mapping[str, int] = field(default_factory=dict)
    active: int = 0
    ok: int = 0
    failed: int = 0
    """Answers of the last minutes, good and failed."""
    paused: tuple[str, ...] = ()
    unsaved: int = 0
    """Matches of which feeds are heard and nothing is saved; `heard` has what was saved last."""
    notes: tuple[str, ...] = ()
    """What could not be measured, in words. It does not change the grade: only what arrives does."""


class Look(StrEnum):
    """What one measurement says, whatever was before."""

    IDLE = "idle"
    """There is nothing to be asked for."""
    GOOD = "good"
    OLD = "old"
    FAR_TOO_OLD = "far too old"


@dataclass(frozen=True, slots=True)
class Judgement:
    state: HealthState
    summary: HealthSummary
    path: tuple[HealthGrade, ...]
    """The grades that were passed, from the one before to the one now; a single one where nothing changed."""
    act: bool = False
    """Somebody should recover now: for the first time, again, or instead of one who died over it."""
    outcome: RecoveryOutcome | None = None
    """Where a recovery is judged hereby."""
    healthy_again: bool = False
    """The outage, which has an audit entry, is over."""


@dataclass(frozen=True, slots=True)
class _Recovering:
    """Where the last recovery stands."""

    acting: bool
    cut_off: bool
    """Whoever acted has not said that it is done, and its time is over."""
    answered: bool
    over: bool


def judge(state: HealthState | None, measured: Measured, now: datetime, rules: HealthRules) -> Judgement:
    before = state or HealthState(HealthGrade.HEALTHY, since=now)
    since_heard = list(ages(measured.heard, now).values())
    freshness = stats(since_heard)
    stall = stall_seconds(since_heard, measured.last_success, now)
    look = looked(freshness, stall, rules)
    good = before.good_in_a_row + 1 if look in (Look.GOOD, Look.IDLE) else 0
    resumed = state is None or state.judged_at is None or now - state.judged_at > timedelta(seconds=rules.gap)
    recovering = _recovering(before, measured.last_success, now, rules)
    path = [before.grade]
    while (step := next_grade(path[-1], look, good, recovering)) is not None:
        path.append(step)
    grade = path[-1]
    healthy_again = grade is HealthGrade.HEALTHY and before.recovery_id is not None
    left_recovery = before.grade is HealthGrade.RECOVERING and grade is not HealthGrade.RECOVERING
    after = replace(
        before,
        grade=grade,
        since=now if len(path) > 1 else before.since,
        good_in_a_row=good,
        recovery_id=None if healthy_again else before.recovery_id,
        acting_until=before.acting_until if grade is HealthGrade.RECOVERING else None,
        judged_at=now,
        resumed_at=now if resumed else before.resumed_at,
        turn=before.turn + 1,
    )
    answers = measured.ok + measured.failed
    summary = HealthSummary(
        grade=grade,
        since=after.since,
        freshness=freshness,
        generated_at=now,
        last_success=measured.last_success,
        stall_seconds=stall,
        queue=measured.queue,
        active=measured.active,
        failure_ratio=measured.failed / answers if answers else 0.0,
        paused=measured.paused,
        reasons=(*_reasons(grade, freshness, stall, measured.unsaved, rules), *measured.notes),
    )
    return Judgement(
        after,
        summary,
        tuple(path),
        act=wants_recovery(after, now, rules),
        outcome=OUTCOMES[grade] if left_recovery and before.recovery_id else None,
        healthy_again=healthy_again,
    )


def next_grade(grade: HealthGrade, look: Look, good_in_a_row: int, recovering: _Recovering) -> HealthGrade | None:
    """One step; None where the grade stays."""
    bad = look in (Look.OLD, Look.FAR_TOO_OLD)
    match grade:
        case HealthGrade.HEALTHY:
            return HealthGrade.DEGRADED if bad else None
        case HealthGrade.DEGRADED:
            if look is Look.FAR_TOO_OLD:
                return HealthGrade.FAILING
            well = look is Look.IDLE or (look is Look.GOOD and good_in_a_row >= GOOD_IN_A_ROW)
            return HealthGrade.HEALTHY if well else None
        case HealthGrade.FAILING:
            return None if look is Look.FAR_TOO_OLD else HealthGrade.DEGRADED
        case HealthGrade.RECOVERING:
            return _after_recovery(look, recovering)


def _after_recovery(look: Look, recovering: _Recovering) -> HealthGrade | None:
    if recovering.acting:
        return None
    if look is Look.IDLE or (look is Look.GOOD and recovering.answered):
        return HealthGrade.HEALTHY
    if look is Look.FAR_TOO_OLD:
        # One that was cut off has to be done over before it can be judged.
        return HealthGrade.FAILING if recovering.over and not recovering.cut_off else None
    return HealthGrade.DEGRADED if recovering.over else None


def looked(freshness: FreshnessStats, stall: float, rules: HealthRules) -> Look:
    if not freshness.count:
        return Look.IDLE
    if freshness.maximum >= rules.failing or stall >= rules.stall:
        return Look.FAR_TOO_OLD
    return Look.OLD if max(freshness.median, freshness.p95) >= rules.fresh else Look.GOOD


def stall_seconds(since_heard: Sequence[float], last_success: datetime | None, now: datetime) -> float:
    """Since anything was heard at all. With nothing to be asked for there is no stall, however long it lasts."""
    if not since_heard:
        return 0.0
    shortest = min(since_heard)
    if last_success is None:
        return shortest
    return max(0.0, min(shortest, (now - last_success).total_seconds()))


def wants_recovery(state: HealthState, now: datetime, rules: HealthRules) -> bool:
    match state.grade:
        case HealthGrade.FAILING:
            if state.resumed_at is not None and now - state.resumed_at < timedelta(seconds=rules.stall):
                return False  # what has just been started would be the only thing to start anew
            pause = timedelta(seconds=rules.recovery_pause)
            return state.recovered_at is None or now - state.recovered_at >= pause
        case HealthGrade.RECOVERING:
            return state.acting_until is not None and now >= state.acting_until
    return False


def _recovering(state: HealthState, last_success: datetime | None, now: datetime, rules: HealthRules) -> _Recovering:
    begun = state.recovered_at or state.since
    return _Recovering(
        acting=state.acting_until is not None and now < state.acting_until,
        cut_off=state.acting_until is not None and now >= state.acting_until,
        answered=last_success is not None and last_success > begun,
        over=now - begun >= timedelta(seconds=rules.recovery),
    )


def _reasons(
    grade: HealthGrade, freshness: FreshnessStats, stall: float, unsaved: int, rules: HealthRules
) -> list[str]:
    """Why it is not healthy, the worst first."""
    found = []
    if freshness.count and stall >= rules.stall:
        found.append(f"no feed has answered for {stall:.0f} s")
    if freshness.maximum >= rules.failing:
        found.append(f"a match was last heard of {freshness.maximum:.0f} s ago")
    if freshness.median >= rules.fresh:
        found.append(f"half of the matches were last heard of {freshness.median:.0f} s ago or before")
    elif freshness.p95 >= rules.fresh:
        found.append(f"one match in twenty was last heard of {freshness.p95:.0f} s ago or before")
    if found and unsaved:
        found.append(f"what was heard of {unsaved} match{'es' if unsaved > 1 else ''} has not been saved")
    if not found and grade is HealthGrade.DEGRADED:
        found.append("fresh again, and not yet for long enough")
    if not found and grade is HealthGrade.RECOVERING:
        found.append("the first answer after the recovery is waited for")
    return found
