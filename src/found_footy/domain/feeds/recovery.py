"""The audit entry of a recovery, from its begin to its end. One an outage, however often one has to act in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from found_footy.domain.feeds.health import Judgement
from found_footy.domain.feeds.health_values import (
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)

LONGEST = timedelta(seconds=90)
"""All steps of one recovery have ended by then, or whoever took them has died."""
MOST_ATTEMPTS = 20
"""Of a long outage the last ones are kept."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done, and what came of it."""

    name: str
    """browser, workers or poller."""
    ok: bool
    seconds: float
    said: str
    facts: Mapping[str, Any]


def seen(summary: HealthSummary) -> dict[str, Any]:
    """What an audit entry tells of a moment."""
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
    judgement: Judgement, entry: Recovery | None, new_id: str, now: datetime
) -> tuple[HealthState, HealthSummary, Recovery]:
    """FAILING becomes RECOVERING. `entry` is that of the outage, if there is one already."""
    trigger = "; ".join(judgement.summary.reasons) or "the feeds are failing"
    if entry is None:
        entry = Recovery(new_id, now, RecoveryAction.SOFT_RESTART, trigger, before=seen(judgement.summary))
    attempts = [*entry.after.get("attempts", ()), {"at": now.isoformat(), "trigger": trigger}]
    entry = replace(entry, outcome=None, after={**entry.after, "attempts": attempts[-MOST_ATTEMPTS:]})
    state = replace(
        judgement.state,
        grade=HealthGrade.RECOVERING,
        since=now if judgement.state.grade is not HealthGrade.RECOVERING else judgement.state.since,
        recovery_id=entry.id,
        recovered_at=now,
        acting_until=now + LONGEST,
        turn=judgement.state.turn + 1,
    )
    return state, replace(judgement.summary, grade=state.grade, since=state.since, generated_at=now), entry


def acted(entry: Recovery, steps: Sequence[Step], seconds: float) -> Recovery:
    """What was done is noted; whether it helped is judged later."""
    done = [asdict(step) for step in steps]
    attempts = [dict(each) for each in entry.after.get("attempts", ())] or [{}]
    attempts[-1] |= {"steps": done, "seconds": round(seconds, 1)}
    return replace(entry, seconds=(entry.seconds or 0.0) + seconds, after={**entry.after, "attempts": attempts})


def concluded(entry: Recovery, judgement: Judgement, now: datetime) -> Recovery:
    """The outcome and what is seen now, where this judgement ends a recovery or the outage; else as it was."""
    if judgement.outcome is not None:
        entry = replace(entry, outcome=judgement.outcome, after={**entry.after, **seen(judgement.summary)})
    if judgement.healthy_again:
        entry = replace(entry, healthy_at=now, after={**entry.after, **seen(judgement.summary)})
    return entry


def outcome_of(steps: Sequence[Step]) -> RecoveryOutcome:
    """Of one that a person asked for: by what was done, since nothing may have been wrong before."""
    good = sum(step.ok for step in steps)
    if good == len(steps):
        return RecoveryOutcome.SUCCESS
    return RecoveryOutcome.PARTIAL if good else RecoveryOutcome.FAILED
