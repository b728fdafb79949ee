"""What is known of the feeds' health, and of what was done about it. Values only; `health` judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class HealthGrade(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILING = "failing"
    RECOVERING = "recovering"
    """After a recovery, until the first answer."""


@dataclass(frozen=True, slots=True)
class FreshnessStats:
    """Ages, in seconds, of what is known of the matches that are polled at every cycle."""

    median: float = 0.0
    p95: float = 0.0
    maximum: float = 0.0
    count: int = 0


@dataclass(frozen=True, slots=True)
class HealthSummary:
    grade: HealthGrade
    since: datetime
    """When it took this grade."""
    freshness: FreshnessStats
    generated_at: datetime
    last_success: datetime | None = None
    """The last answer for any match."""
    stall_seconds: float = 0.0
    """Since then, while there is something to be asked for."""
    queue: Mapping[str, int] = field(default_factory=dict)
    """Requests that wait, by priority: live, imminent, completed."""
    active: int = 0
    """Requests under way."""
    failure_ratio: float = 0.0
    paused: tuple[str, ...] = ()
    """Matches at feeds, such as espn_401."""
    reasons: tuple[str, ...] = ()
    """Why it is not healthy, in words."""


@dataclass(frozen=True, slots=True)
class HealthState:
    """What has to survive the watchdog: where the state machine stands."""

    grade: HealthGrade
    since: datetime
    good_in_a_row: int = 0
    """Judgements in a row with good freshness."""
    recovery_id: str | None = None
    """The audit entry of this outage, from its first recovery until the feeds are healthy again."""
    recovered_at: datetime | None = None
    """When the last recovery was begun."""
    acting_until: datetime | None = None
    """While somebody recovers: the moment at which it must have ended, or its watchdog has died."""
    judged_at: datetime | None = None
    """When it was last judged."""
    resumed_at: datetime | None = None
    """When judging began, or went on after a time in which nobody judged: nobody may have polled, either."""
    turn: int = 0
    """Counts what was saved: whoever judges by an older state than the stored one comes too late."""


class RecoveryAction(StrEnum):
    BROWSER_RECYCLE = "browser_recycle"
    SOFT_RESTART = "soft_restart"
    MANUAL_TRIGGER = "manual_trigger"


class RecoveryOutcome(StrEnum):
    SUCCESS = "success"
    """Healthy again within the time that a recovery has."""
    PARTIAL = "partial"
    """Better, and not yet healthy."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Recovery:
    """An entry of the audit log."""

    id: str
    at: datetime
    action: RecoveryAction
    trigger: str
    """Why, in words for people."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """What was seen before: grade, freshness, processes, …"""
    after: Mapping[str, Any] = field(default_factory=dict)
    outcome: RecoveryOutcome | None = None
    """None while it is under way."""
    seconds: float | None = None
    """How long the action took."""
    healthy_at: datetime | None = None
    """When the feeds were healthy again."""
