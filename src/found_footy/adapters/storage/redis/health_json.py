"""A health summary and an audit entry as JSON, and back."""

from __future__ import annotations

from datetime import datetime

from found_footy.adapters.storage.redis import json_values as read
from found_footy.domain.feeds.health_values import (
    FreshnessStats,
    HealthGrade,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)


def summary_fields(summary: HealthSummary) -> read.Fields:
    stats = summary.freshness
    return {
        "grade": summary.grade,
        "since": summary.since.timestamp(),
        "freshness_stats": {"median": stats.median, "p95": stats.p95, "max": stats.maximum, "count": stats.count},
        "generated_at": summary.generated_at.timestamp(),
        "last_success_time": _seconds(summary.last_success),
        "stall_seconds": summary.stall_seconds,
        "queue_depth": dict(summary.queue),
        "active_tasks": summary.active,
        "failure_ratio": summary.failure_ratio,
        "paused_matches": list(summary.paused),
        "reasons": list(summary.reasons),
    }


def summary_of(fields: read.Fields) -> HealthSummary:
    stats, queue = read.mapping(fields, "freshness_stats"), read.mapping(fields, "queue_depth")
    return HealthSummary(
        grade=read.one_of(fields, "grade", HealthGrade),
        since=read.moment(fields, "since"),
        freshness=FreshnessStats(
            median=read.number(stats, "median"),
            p95=read.number(stats, "p95"),
            maximum=read.number(stats, "max"),
            count=read.whole(stats, "count"),
        ),
        generated_at=read.moment(fields, "generated_at"),
        last_success=read.maybe_moment(fields, "last_success_time"),
        stall_seconds=read.number(fields, "stall_seconds"),
        queue={priority: read.whole(queue, priority) for priority in queue},
        active=read.whole(fields, "active_tasks"),
        failure_ratio=read.number(fields, "failure_ratio"),
        paused=read.strings(fields, "paused_matches"),
        reasons=read.strings(fields, "reasons"),
    )


def recovery_fields(recovery: Recovery) -> read.Fields:
    return {
        "entry_id": recovery.id,
        "timestamp": recovery.at.timestamp(),
        "action_type": recovery.action,
        "trigger_condition": recovery.trigger,
        "outcome": recovery.outcome,
        "duration_seconds": recovery.seconds,
        "healthy_at": _seconds(recovery.healthy_at),
        "metadata": {"before": dict(recovery.before), "after": dict(recovery.after)},
    }


def recovery_of(fields: read.Fields) -> Recovery:
    metadata = read.mapping(fields, "metadata")
    outcome = fields.get("outcome")
    return Recovery(
        id=read.string(fields, "entry_id"),
        at=read.moment(fields, "timestamp"),
        action=read.one_of(fields, "action_type", RecoveryAction),
        trigger=read.string(fields, "trigger_condition"),
        before=read.mapping(metadata, "before"),
        after=read.mapping(metadata, "after"),
        outcome=None if outcome is None else read.one_of(fields, "outcome", RecoveryOutcome),
        seconds=read.maybe_number(fields, "duration_seconds"),
        healthy_at=read.maybe_moment(fields, "healthy_at"),
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
