"""Decides when to recycle a browser, and logs recycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from found_footy.browser.models import BrowserOptions

MAX_RECYCLES = 20


class RecycleReason(StrEnum):
    UPTIME = "uptime"
    TASK_COUNT = "task_count"
    PROCESSES = "processes"
    MANUAL = "manual"
    RECOVERY = "recovery"
    """Requested by the watchdog."""
    CRASHED = "crashed"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class RecycleDecision:
    reason: RecycleReason
    why: str
    """Description of the reason."""


@dataclass(frozen=True, slots=True)
class BrowserUsage:
    """Measurements that decide whether a browser is recycled."""

    age: timedelta
    tasks: int
    """Searches and pages read."""
    processes: int
    gone: bool = False
    is_unresponsive: bool = False


def reason_to_recycle(usage: BrowserUsage, options: BrowserOptions) -> RecycleDecision | None:
    if usage.gone:
        return RecycleDecision(RecycleReason.CRASHED, "the browser has exited")
    if usage.is_unresponsive:
        return RecycleDecision(RecycleReason.STUCK, "the browser does not respond")
    if usage.age >= timedelta(hours=options.hours):
        return RecycleDecision(RecycleReason.UPTIME, f"the browser is {usage.age.total_seconds() / 3600:.1f} hours old")
    if usage.tasks >= options.searches:
        return RecycleDecision(RecycleReason.TASK_COUNT, f"the browser has run {usage.tasks} tasks")
    if usage.processes > options.processes:
        return RecycleDecision(RecycleReason.PROCESSES, f"the browser has {usage.processes} processes")
    return None


@dataclass(frozen=True, slots=True)
class Recycle:
    """One replacement of a browser by a new one."""

    at: datetime
    reason: RecycleReason
    why: str
    pids_before: int
    pids_after: int
    uptime_seconds: float
    """Uptime of the old browser."""
    tasks: int
    seconds: float
    """Duration of the replacement."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class RecycleLog:
    last: deque[Recycle] = field(default_factory=lambda: deque(maxlen=MAX_RECYCLES))
    """Newest last."""
    totals: dict[RecycleReason, int] = field(default_factory=lambda: dict.fromkeys(RecycleReason, 0))

    def note(self, recycle: Recycle) -> None:
        self.last.append(recycle)
        self.totals[recycle.reason] += 1

    @property
    def by_reason(self) -> Mapping[str, int]:
        return {reason.value: count for reason, count in self.totals.items()}


# --- Measured state of the browser.


@dataclass(frozen=True, slots=True)
class BrowserFacts:
    up_since: datetime | None
    searches: int
    """Searches of X with the current browser."""
    processes: int
    zombies: int
    """Processes that ended but were not reaped; they accumulate in a container without an init process."""
    memory_mb: int
    """Resident memory; shared memory is counted once per process."""
    pages: int
    """Open pages: one that is always open, one per running task, and the spare ones."""
    starts: int
    spare_pages: int = 0
    """Empty pages kept for the next searches of X."""
    uptime_seconds: float = 0.0
    readings: int = 0
    """Pages read for feeds with the current browser."""
    contexts: int = 1
    """The logged-in context of X, and one per page being read for a feed."""
    recycles: tuple[Recycle, ...] = ()
    """Latest recycles, newest last."""
    recycles_total: Mapping[str, int] = field(default_factory=dict)
    """By reason, since the service started."""
    strays_closed: int = 0
    """Pages and contexts without an owner that were closed."""
    leaked_ended: int = 0
    """Killed processes that had outlived their browser."""
    requests_refused: int = 0
    """Requests of pages to forbidden addresses."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "tasks": self.searches + self.readings}
