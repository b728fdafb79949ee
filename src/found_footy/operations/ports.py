"""Ports of feed health: its stores, and the parts that a recovery restarts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from found_footy.operations.models import HealthGrade, HealthState, HealthSummary, Recovery

__all__ = [
    "BrowserControl",
    "HealthCache",
    "HealthSample",
    "HealthState",
    "HealthStore",
    "Restarting",
]


@dataclass(frozen=True, slots=True)
class HealthSample:
    at: datetime
    grade: HealthGrade
    median: float
    p95: float
    maximum: float
    matches: int
    failure_ratio: float


class HealthStore(Protocol):
    async def state(self) -> HealthState | None: ...

    async def save(self, state: HealthState, summary: HealthSummary, recovery: Recovery | None = None) -> bool:
        """Save the state, a sample, and the audit entry that starts or ends with it, in one transaction.

        Return False and write nothing if another watchdog has saved since the state was loaded.
        """

    async def summary(self) -> HealthSummary | None:
        """Return the last summary, for readers without the cache; `generated_at` gives its age."""

    async def active(self) -> Mapping[int, datetime]:
        """Return the live matches with the time of their last save or, without one, their activation."""

    async def samples(self, since: datetime) -> Sequence[HealthSample]: ...

    async def recoveries(self, limit: int = 100) -> Sequence[Recovery]:
        """Return the entries, newest first."""

    async def recovery(self, recovery_id: str) -> Recovery | None: ...

    async def add_recovery(self, recovery: Recovery) -> None:
        """Insert the entry, or overwrite the one with the same id."""


class HealthCache(Protocol):
    """Copies for fast readers: `health_summary` for a few seconds, and the last hundred audit entries."""

    async def publish(self, summary: HealthSummary) -> None: ...

    async def summary(self) -> HealthSummary | None: ...

    async def publish_recovery(self, recovery: Recovery) -> None: ...


class BrowserControl(Protocol):
    """Client of the browser service."""

    async def facts(self) -> Mapping[str, Any]:
        """Return processes, contexts, pages, uptime_seconds, recycles by reason, … Raises SourceUnavailable."""

    async def recycle(self, reason: str) -> Mapping[str, Any]:
        """Recycle the browser. Return the facts before and after."""


class Restarting(Protocol):
    """A part of the system that can be restarted."""

    async def restart(self) -> str:
        """Restart within a bounded time and return a description of what was done. Raises a FootyError."""
