"""What the pages and the API need of the rest. Adapters fill these; `bootstrap_web.py` chooses them."""

from __future__ import annotations

from typing import Any, Protocol

from found_footy.ports import ObjectStore

Document = dict[str, Any]


class GoalReading(Protocol):
    """Whole documents, in the shape of docs/reference/database.md."""

    async def fixture(self, fixture_id: int) -> Document:
        """Raises NotFound."""

    async def event(self, event_id: str) -> Document:
        """Raises NotFound."""


class ClipFiles(ObjectStore, Protocol):
    async def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """A part of an object, at most 16 MiB of it; nothing beyond its end. Raises ObjectMissing."""
