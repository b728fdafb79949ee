"""Ports of the operations pages, implemented by the stores and clients of each part."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from found_footy.operations.models import (
    BrowserSeen,
    CacheFacts,
    DatabaseFacts,
    FeedDeclaration,
    HealthKnown,
    TemporalState,
)


class OperationsReading(Protocol):
    """Database queries of the operations page. Both raise StoreUnavailable."""

    async def lacking(self) -> tuple[str, ...]:
        """Migrations that this version needs and the database lacks."""

    async def recorded(self, now: datetime) -> DatabaseFacts: ...


class TemporalReading(Protocol):
    async def look(self, now: datetime) -> TemporalState:
        """Read Temporal's state, in bounded time. Raises EngineError."""


class HealthReading(Protocol):
    async def known(self, now: datetime) -> HealthKnown:
        """Read the watchdog's records. Raises StoreUnavailable."""


class CacheReading(Protocol):
    async def look(self) -> CacheFacts:
        """Raises CacheUnavailable."""


class BrowserReading(Protocol):
    async def seen(self) -> BrowserSeen:
        """Raises a SourceError."""


class FeedBook(Protocol):
    """Declared score feeds, and the operator's switches."""

    async def declared(self) -> Sequence[FeedDeclaration]:
        """Most trusted first. Raises SettingsError if the file that declares them cannot be read."""

    async def switch(self, feed: str, on: bool | None) -> FeedDeclaration:
        """Switch a feed; None removes the override, so that the file decides. Raises NotFound and CacheUnavailable."""
