"""When a browser has to be started anew, and what is remembered of each time that it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from found_footy.adapters.browser.options import BrowserOptions

REMEMBERED = 20


class Reason(StrEnum):
    UPTIME = "uptime"
    TASK_COUNT = "task_count"
    PROCESSES = "processes"
    MANUAL = "manual"
    CRASHED = "crashed"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Renewal:
    reason: Reason
    why: str
    """In words."""


@dataclass(frozen=True, slots=True)
class Wear:
    """What is known of a browser when it is judged."""

    age: timedelta
    tasks: int
    """Searches and pages that it has read."""
    processes: int
    gone: bool = False
    stuck: bool = False


def reason_to_renew(wear: Wear, options: BrowserOptions) -> Renewal | None:
    if wear.gone:
        return Renewal(Reason.CRASHED, "it has ended")
    if wear.stuck:
        return Renewal(Reason.STUCK, "it does not react")
    if wear.age >= timedelta(hours=options.hours):
        return Renewal(Reason.UPTIME, f"it is {wear.age.total_seconds() / 3600:.1f} hours old")
    if wear.tasks >= options.searches:
        return Renewal(Reason.TASK_COUNT, f"it has done {wear.tasks} tasks")
    if wear.processes > options.processes:
        return Renewal(Reason.PROCESSES, f"it has {wear.processes} processes")
    return None


@dataclass(frozen=True, slots=True)
class Recycle:
    """One time that a browser was ended and another one started."""

    at: datetime
    reason: Reason
    why: str
    pids_before: int
    pids_after: int
    uptime_seconds: float
    """Of the one that was ended."""
    tasks: int
    seconds: float
    """How long it took."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class RecycleLog:
    last: deque[Recycle] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """The newest at the end."""
    totals: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(Reason, 0))

    def note(self, recycle: Recycle) -> None:
        self.last.append(recycle)
        self.totals[recycle.reason] += 1

    @property
    def by_reason(self) -> Mapping[str, int]:
        return {reason.value: count for reason, count in self.totals.items()}
