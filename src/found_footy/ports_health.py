"""Where the feeds' health is kept, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from found_footy.domain.feeds.health_values import HealthGrade, HealthState, HealthSummary, Recovery

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
        """The state, a sample of it, and the audit entry that began or ended with it, all or nothing.

        False where another watchdog has saved since the state was loaded; then nothing is written.
        """

    async def summary(self) -> HealthSummary | None:
        """The last one, for whoever finds none in the cache; its `generated_at` tells how old it is."""

    async def active(self) -> Mapping[int, datetime]:
        """Our matches that every poll follows, to when each was last saved, or activated."""

    async def samples(self, since: datetime) -> Sequence[HealthSample]: ...

    async def recoveries(self, limit: int = 100) -> Sequence[Recovery]:
        """The newest first."""

    async def recovery(self, recovery_id: str) -> Recovery | None: ...

    async def add_recovery(self, recovery: Recovery) -> None:
        """Also over an entry of the same id."""


class HealthCache(Protocol):
    """The copies for quick readers: `health_summary` for a few seconds, the last hundred audit entries."""

    async def publish(self, summary: HealthSummary) -> None: ...

    async def summary(self) -> HealthSummary | None: ...

    async def publish_recovery(self, recovery: Recovery) -> None: ...


class BrowserControl(Protocol):
    """The browser service, from outside."""

    async def facts(self) -> Mapping[str, Any]:
        """Processes, contexts, pages, uptime_seconds, recycles by reason, … Raises SourceUnavailable."""

    async def recycle(self, reason: str) -> Mapping[str, Any]:
        """Starts its browser anew; returns the facts before and after."""


class Restarting(Protocol):
    """Something that can be started anew from outside."""

    async def restart(self) -> str:
        """Says what it did. Raises a FootyError; ends within its own bounds."""
