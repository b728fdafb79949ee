"""Feed health: data ages, the grade and its state machine, and audit entries of recoveries."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any

from found_footy.errors import MissingFromResponse
from found_footy.feeds.models import MatchMonitoringRecord
from found_footy.operations.models import (
    FeedUse,
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.text import format_duration


def ages(updates: Mapping[int, datetime], now: datetime) -> dict[int, float]:
    """Seconds since the last response for each match. Times in the future, from another machine's clock, count as 0."""
    return {match: max(0.0, (now - at).total_seconds()) for match, at in updates.items()}


def persisted_updates(
    updates: Mapping[int, datetime], saved: Mapping[int, datetime], lag: timedelta
) -> dict[int, datetime]:
    """Return the effective last response of each match that the database follows.

    If the cache has lost a match, or its responses are not being saved, the time of the last save counts: data that
    does not reach the database reaches no user.
    """
    return {match: updates[match] if _is_saved(updates.get(match), at, lag) else at for match, at in saved.items()}


def count_unsaved(updates: Mapping[int, datetime], saved: Mapping[int, datetime], lag: timedelta) -> int:
    """Count the matches whose responses arrive but are not saved."""
    return sum(match in updates and not _is_saved(updates[match], at, lag) for match, at in saved.items())


def _is_saved(update: datetime | None, saved: datetime, lag: timedelta) -> bool:
    return update is not None and update - saved <= lag


Listings = Mapping[int, Sequence[tuple[str, int]]]
"""Feed and feed id of each listing of a match."""


def unanswered_matches(
    listings: Listings, records: Iterable[MatchMonitoringRecord], usable: Collection[str] | None
) -> frozenset[int]:
    """Return the matches without an answering feed: no enabled feed lists them, or each one answers without them.

    A recovery cannot change that. `usable` has the enabled and configured feeds; None if unknown.
    """
    known = {(record.feed, record.feed_id): record for record in records}
    found = set()
    for match, listed in listings.items():
        asked = [key for key in listed if usable is None or key[0] in usable]
        omitting = [key for key in asked if key in known and _is_omitted(known[key])]
        if listed and len(omitting) == len(asked):
            found.add(match)
    return frozenset(found)


def _is_omitted(record: MatchMonitoringRecord) -> bool:
    """Whether the feed's last answer did not contain the match."""
    return record.consecutive_failures > 0 and (record.error or "").startswith(MissingFromResponse.__name__)


MAX_ANSWER_AGE = timedelta(hours=26)
"""The daily ingest requests every feed. Two extra hours cover its retries."""


def missing_answers(feeds: Sequence[FeedUse], now: datetime, *, following: bool) -> str:
    """Return why there is no data about the matches; empty if the feeds respond.

    `feeds` are enabled and configured. While matches are followed, their ages show whether the feeds respond; otherwise
    the daily ingest is the only evidence.
    """
    failing = [feed for feed in feeds if feed.error]
    last = max(failing, key=lambda feed: feed.asked_at, default=None)
    error = f"; last error: {last.feed}: {last.error}" if last else ""
    answered = [feed.answered_at for feed in feeds if feed.answered_at is not None]
    if not answered:
        return f"no feed has responded yet{error or '; no request was sent so far'}"
    if following:
        return ""
    if len(failing) == len(feeds):
        return f"no feed responds{error}"
    age = now - max(answered)
    return f"no feed has responded for {format_duration(age)}" if age > MAX_ANSWER_AGE else ""


def stats(seconds: Iterable[float]) -> FreshnessStats:
    ordered = sorted(seconds)
    if not ordered:
        return FreshnessStats()
    return FreshnessStats(median(ordered), percentile(ordered, 0.95), ordered[-1], len(ordered))


def percentile(ordered: list[float], share: float) -> float:
    """Return the nearest-rank percentile, which is always a measured value.

    With fewer than twenty matches, the 95th percentile is the oldest, so a single stale match stays visible.
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def stale(
    updates: Mapping[int, datetime],
    now: datetime,
    seconds: float,
    intervals: Mapping[int, timedelta] | None = None,
    poll: timedelta = timedelta(seconds=30),
) -> list[tuple[int, float]]:
    """Return matches without a response for at least `seconds`, with their ages, oldest first.

    A match with a longer planned interval has that much more time.
    """
    extra = {match: slack(interval, poll) for match, interval in (intervals or {}).items()}
    found = [(match, age) for match, age in ages(updates, now).items() if age - extra.get(match, 0.0) >= seconds]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def slack(interval: timedelta, poll: timedelta) -> float:
    """Return the extra age in seconds that is allowed because a match is polled less often."""
    return max(0.0, (interval - poll).total_seconds())


# --- Grade of the feeds, from received data only.


GOOD_IN_A_ROW = 2
"""Consecutive good checks required to go from DEGRADED to HEALTHY."""

TRANSITIONS: frozenset[tuple[HealthGrade, HealthGrade]] = frozenset(
    {
        (HealthGrade.HEALTHY, HealthGrade.DEGRADED),
        (HealthGrade.DEGRADED, HealthGrade.FAILING),
        (HealthGrade.DEGRADED, HealthGrade.HEALTHY),
        (HealthGrade.FAILING, HealthGrade.RECOVERING),
        (HealthGrade.FAILING, HealthGrade.DEGRADED),
        (HealthGrade.RECOVERING, HealthGrade.HEALTHY),
        # A recovery ends with a grade after a time limit, so that "recovering" does not hide an outage.
        (HealthGrade.RECOVERING, HealthGrade.DEGRADED),
        (HealthGrade.RECOVERING, HealthGrade.FAILING),
        # On request.
        (HealthGrade.HEALTHY, HealthGrade.RECOVERING),
        (HealthGrade.DEGRADED, HealthGrade.RECOVERING),
    }
)

OUTCOMES = {
    HealthGrade.HEALTHY: RecoveryOutcome.SUCCESS,
    HealthGrade.DEGRADED: RecoveryOutcome.PARTIAL,
    HealthGrade.FAILING: RecoveryOutcome.FAILED,
}
"""Outcome of a recovery by the grade that follows it."""


@dataclass(frozen=True, slots=True)
class HealthRules:
    """Thresholds, all in seconds."""

    fresh: float = 60.0
    """Maximum median and p95 age while healthy."""
    failing: float = 120.0
    """Age at which a match counts as silent."""
    silent_share: float = 0.25
    """Share of silent matches, at least two, at which the feeds are failing."""
    stall: float = 90.0
    """Time without any response at which the feeds are failing."""
    recovery: float = 120.0
    """Time limit for a recovery to take effect."""
    recovery_pause: float = 900.0
    """Minimum time between the starts of two recoveries."""
    gap: float = 60.0
    """After this long without a check, the system was probably stopped and needs time to start."""
    poll: float = 30.0
    """Usual poll interval."""


MIN_SILENT = 2


@dataclass(frozen=True, slots=True)
class FeedMeasurement:
    updates: Mapping[int, datetime]
    """Followed matches, with the time of the last response or, without one, since when one is expected."""
    last_success: datetime | None = None
    """Last response of any feed for any match."""
    queue: Mapping[str, int] = field(default_factory=dict)
    active: int = 0
    ok: int = 0
    failed: int = 0
    """Successful and failed responses of the last minutes."""
    paused: tuple[str, ...] = ()
    unsaved: int = 0
    """Matches whose responses arrive but are not saved; `updates` holds their last save."""
    intervals: Mapping[int, timedelta] = field(default_factory=dict)
    """Planned poll interval by match, where it is known. Ages are judged against it."""
    unanswered: frozenset[int] = frozenset()
    """Matches without an answering feed."""
    no_answer: str = ""
    """Why no feed is known to respond, if feeds were requested and none does."""
    notes: tuple[str, ...] = ()
    """Descriptions of what could not be measured. They do not affect the grade."""


class Evidence(StrEnum):
    """Assessment of one measurement, independent of earlier ones."""

    IDLE = "idle"
    """No match to poll."""
    GOOD = "good"
    OLD = "old"
    VERY_STALE = "very stale"
    """No response at all, or none for a share of the matches: a recovery may help."""
    UNREACHABLE = "unreachable"
    """No feed responds for a reason that a restart cannot fix, such as a wrong key or disabled feeds."""


_BAD = frozenset({Evidence.VERY_STALE, Evidence.UNREACHABLE})


@dataclass(frozen=True, slots=True)
class HealthTransition:
    state: HealthState
    summary: HealthSummary
    path: tuple[HealthGrade, ...]
    """Grades from the previous to the current one; a single one if nothing changed."""
    act: bool = False
    """Whether to start a recovery: a first one, a repeated one, or one whose watchdog died."""
    outcome: RecoveryOutcome | None = None
    """Outcome of a recovery that this check ends."""
    healthy_again: bool = False
    """Whether this check ends an outage with an audit entry."""


@dataclass(frozen=True, slots=True)
class _Recovering:
    """Progress of the last recovery."""

    acting: bool
    cut_off: bool
    """The recovery was not reported as done, and its time is up."""
    answered: bool
    over: bool


def next_state(
    state: HealthState | None, measured: FeedMeasurement, now: datetime, rules: HealthRules
) -> HealthTransition:
    before = state or HealthState(HealthGrade.HEALTHY, since=now)
    current = assess_freshness(measured, now, rules)
    evidence = current.evidence
    good = before.good_in_a_row + 1 if evidence in (Evidence.GOOD, Evidence.IDLE) else 0
    resumed = state is None or state.judged_at is None or now - state.judged_at > timedelta(seconds=rules.gap)
    recovering = _recovering(before, measured.last_success, now, rules)
    path = [before.grade]
    while (step := next_grade(path[-1], evidence, good, recovering)) is not None:
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
        revision=before.revision + 1,
    )
    answers = measured.ok + measured.failed
    summary = HealthSummary(
        grade=grade,
        since=after.since,
        freshness=stats(ages(measured.updates, now).values()),
        generated_at=now,
        last_success=measured.last_success,
        stall_seconds=current.stall,
        queue=measured.queue,
        active=measured.active,
        failure_ratio=measured.failed / answers if answers else 0.0,
        paused=measured.paused,
        reasons=(*_reasons(grade, current, measured, rules), *measured.notes),
    )
    return HealthTransition(
        after,
        summary,
        tuple(path),
        act=needs_recovery(after, evidence, now, rules),
        outcome=OUTCOMES[grade] if left_recovery and before.recovery_id else None,
        healthy_again=healthy_again,
    )


def next_grade(
    grade: HealthGrade, evidence: Evidence, good_in_a_row: int, recovering: _Recovering
) -> HealthGrade | None:
    """Return the next grade, or None if the grade stays."""
    bad = evidence in _BAD or evidence is Evidence.OLD
    match grade:
        case HealthGrade.HEALTHY:
            return HealthGrade.DEGRADED if bad else None
        case HealthGrade.DEGRADED:
            if evidence in _BAD:
                return HealthGrade.FAILING
            well = evidence is Evidence.IDLE or (evidence is Evidence.GOOD and good_in_a_row >= GOOD_IN_A_ROW)
            return HealthGrade.HEALTHY if well else None
        case HealthGrade.FAILING:
            return None if evidence in _BAD else HealthGrade.DEGRADED
        case HealthGrade.RECOVERING:
            return _after_recovery(evidence, recovering)


def _after_recovery(evidence: Evidence, recovering: _Recovering) -> HealthGrade | None:
    if recovering.acting:
        return None
    if evidence is Evidence.IDLE or (evidence is Evidence.GOOD and recovering.answered):
        return HealthGrade.HEALTHY
    if evidence in _BAD:
        # An interrupted recovery has to be repeated before it can be graded.
        return HealthGrade.FAILING if recovering.over and not recovering.cut_off else None
    return HealthGrade.DEGRADED if recovering.over else None


@dataclass(frozen=True, slots=True)
class FreshnessAssessment:
    evidence: Evidence
    overdue: FreshnessStats
    """Ages beyond the planned interval, of the matches that a feed is expected to answer for."""
    stall: float
    """Seconds since any response, beyond the shortest planned interval; 0 if none is expected."""
    silent: int
    """Matches without a response for `HealthRules.failing`."""


def assess_freshness(measured: FeedMeasurement, now: datetime, rules: HealthRules) -> FreshnessAssessment:
    poll = timedelta(seconds=rules.poll)
    extra = {match: slack(interval, poll) for match, interval in measured.intervals.items()}
    overdue = {
        match: max(0.0, age - extra.get(match, 0.0))
        for match, age in ages(measured.updates, now).items()
        if match not in measured.unanswered
    }
    silent = sum(age >= rules.failing for age in overdue.values())
    stall = 0.0
    if overdue:
        stall = min(overdue.values())
        if measured.last_success is not None:
            planned = min(extra.get(match, 0.0) for match in overdue)
            stall = max(0.0, min(stall, (now - measured.last_success).total_seconds() - planned))
    overall = stats(overdue.values())
    if stall >= rules.stall or (silent >= MIN_SILENT and silent >= rules.silent_share * len(overdue)):
        evidence = Evidence.VERY_STALE
    elif measured.no_answer:
        evidence = Evidence.UNREACHABLE
    elif not measured.updates:
        evidence = Evidence.IDLE
    else:
        evidence = Evidence.OLD if max(overall.median, overall.p95) >= rules.fresh else Evidence.GOOD
    return FreshnessAssessment(evidence, overall, stall, silent)


def needs_recovery(state: HealthState, evidence: Evidence, now: datetime, rules: HealthRules) -> bool:
    match state.grade:
        case HealthGrade.FAILING:
            if evidence is not Evidence.VERY_STALE:
                return False
            if state.resumed_at is not None and now - state.resumed_at < timedelta(seconds=rules.stall):
                return False  # everything was just started, so a restart is pointless
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
    grade: HealthGrade, current: FreshnessAssessment, measured: FeedMeasurement, rules: HealthRules
) -> list[str]:
    """Return why the feeds are not healthy, worst first."""
    found = []
    late = current.overdue
    if late.count and current.stall >= rules.stall:
        found.append(f"no feed has responded for {current.stall:.0f} s")
    if measured.no_answer:
        found.append(measured.no_answer)
    if current.silent and current.evidence is not Evidence.GOOD:
        matches = "1 match" if current.silent == 1 else f"{current.silent} matches"
        found.append(f"{matches} of {late.count} not updated for up to {late.maximum:.0f} s")
    if late.median >= rules.fresh:
        found.append(f"half of the matches were last updated {late.median:.0f} s ago or earlier")
    elif late.p95 >= rules.fresh:
        found.append(f"one match in twenty was last updated {late.p95:.0f} s ago or earlier")
    if found and measured.unsaved:
        found.append(f"updates of {measured.unsaved} match{'es' if measured.unsaved > 1 else ''} have not been saved")
    if not found and grade is HealthGrade.DEGRADED:
        found.append("fresh again, but not for long enough yet")
    if not found and grade is HealthGrade.RECOVERING:
        found.append("waiting for the first response after the recovery")
    return found


# --- Audit entry of a recovery: one per outage, with all its attempts.


MAX_RECOVERY = timedelta(seconds=90)
"""Time limit for all steps of a recovery; after that, its process counts as dead."""
MAX_ATTEMPTS = 20
"""Maximum number of attempts recorded per outage; older ones are dropped."""


@dataclass(frozen=True, slots=True)
class RecoveryStep:
    """One recovery step and its result."""

    name: str
    """browser, workers, pauses or poller."""
    ok: bool
    seconds: float
    said: str
    facts: Mapping[str, Any]


def seen(summary: HealthSummary) -> dict[str, Any]:
    """Return the state of the feeds for an audit entry."""
    return {
        "grade": str(summary.grade),
        "freshness": {name: round(value, 1) for name, value in asdict(summary.freshness).items()},
        "stall_seconds": round(summary.stall_seconds, 1),
        "queue": dict(summary.queue),
        "active": summary.active,
        "failure_ratio": round(summary.failure_ratio, 3),
        "paused": len(summary.paused),
        "last_success": summary.last_success.isoformat() if summary.last_success else None,
    }


def begun(
    judgement: HealthTransition, entry: Recovery | None, new_id: str, now: datetime
) -> tuple[HealthState, HealthSummary, Recovery]:
    """Start a recovery: FAILING becomes RECOVERING. `entry` is the existing entry of the outage, if any."""
    trigger = "; ".join(judgement.summary.reasons) or "the feeds are failing"
    if entry is None:
        entry = Recovery(new_id, now, RecoveryAction.SOFT_RESTART, trigger, before=seen(judgement.summary))
    attempts = [*entry.after.get("attempts", ()), {"at": now.isoformat(), "trigger": trigger}]
    entry = replace(entry, outcome=None, after={**entry.after, "attempts": attempts[-MAX_ATTEMPTS:]})
    state = replace(
        judgement.state,
        grade=HealthGrade.RECOVERING,
        since=now if judgement.state.grade is not HealthGrade.RECOVERING else judgement.state.since,
        recovery_id=entry.id,
        recovered_at=now,
        acting_until=now + MAX_RECOVERY,
        revision=judgement.state.revision + 1,
    )
    return state, replace(judgement.summary, grade=state.grade, since=state.since, generated_at=now), entry


def enter_recovering(state: HealthState, recovery_id: str, now: datetime) -> HealthState:
    """Start a requested recovery, whatever the grade."""
    return replace(
        state,
        grade=HealthGrade.RECOVERING,
        since=now,
        good_in_a_row=0,
        recovery_id=recovery_id,
        recovered_at=now,
        acting_until=now + MAX_RECOVERY,
        revision=state.revision + 1,
    )


def acted(entry: Recovery, steps: Sequence[RecoveryStep], seconds: float) -> Recovery:
    """Add the completed steps to the entry. The outcome follows later."""
    done = [asdict(step) for step in steps]
    attempts = [dict(each) for each in entry.after.get("attempts", ())] or [{}]
    attempts[-1] |= {"steps": done, "seconds": round(seconds, 1)}
    return replace(entry, seconds=(entry.seconds or 0.0) + seconds, after={**entry.after, "attempts": attempts})


def concluded(entry: Recovery, judgement: HealthTransition, now: datetime) -> Recovery:
    """Add the outcome and current state if this check ends a recovery or the outage; otherwise return it unchanged."""
    if judgement.outcome is not None:
        entry = replace(entry, outcome=judgement.outcome, after={**entry.after, **seen(judgement.summary)})
    if judgement.healthy_again:
        entry = replace(entry, healthy_at=now, after={**entry.after, **seen(judgement.summary)})
    return entry


def outcome_of(steps: Sequence[RecoveryStep]) -> RecoveryOutcome:
    """Outcome of a manual recovery: by its steps, because the feeds may have been healthy before."""
    good = sum(step.ok for step in steps)
    if good == len(steps):
        return RecoveryOutcome.SUCCESS
    return RecoveryOutcome.PARTIAL if good else RecoveryOutcome.FAILED
