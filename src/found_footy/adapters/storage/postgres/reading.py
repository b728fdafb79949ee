"""What the API reads: documents as the database writes them, page by page, and a version of all that can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from found_footy.adapters.storage.postgres.readers import Readers
from found_footy.domain.errors import LinkEnded, NotFound
from found_footy.domain.fixtures.statuses import PHASES

_KEYS: Mapping[str, tuple[str, ...]] = {
    "dates": ("day",),
    "fixtures": ("kickoff", "id"),
    "fixtures_found": ("kickoff", "id"),
    "events": ("first_seen", "id"),
    "videos": ("published_at", "id"),
    "clips_found": ("first_seen", "event_id", "rank"),
}
"""The columns that each list is ordered by: also the names of the parameters that say where a page begins."""

OVER = sorted(status for status, phase in PHASES.items() if phase.is_over)


class PostgresReading:
    def __init__(self, readers: Readers, stale_seconds: float) -> None:
        self._db = readers
        self._stale_seconds = stale_seconds
        self._asking: asyncio.Task[str] | None = None
        self._next: asyncio.Task[str] | None = None

    async def version(self) -> str:
        """Who asks while a question is under way shares the next one: theirs must be asked after they came."""
        if self._next is None:
            self._next = asyncio.create_task(self._ask(self._asking))
            self._next.add_done_callback(_look_at)
        return await asyncio.shield(self._next)

    async def _ask(self, before: asyncio.Task[str] | None) -> str:
        if before is not None:
            await asyncio.wait([before])
        self._asking, self._next = self._next, None
        found = await self._db.fetch("reading.version")
        version: str = found[0]["version"]
        return version

    async def page(
        self, listing: str, wanted: Mapping[str, Any], after: Sequence[Any] | None, limit: int, now: datetime
    ) -> list[tuple[tuple[Any, ...], str]]:
        keys = _KEYS[listing]
        start = dict(zip(keys, after or [None] * len(keys), strict=True))
        given = {**wanted, **start, **self._moment(now), "limit": limit}
        found = await self._db.fetch(f"reading.{listing}", given, prepare=False)
        return [(tuple(row[key] for key in keys), row["document"]) for row in found]

    async def fixture(self, fixture_id: int, now: datetime) -> tuple[str, str]:
        missing = f"there is no fixture {fixture_id}"
        row = await self._one("reading.fixture", missing, fixture_id, **self._moment(now))
        return row["version"], row["document"]

    async def event(self, event_id: str) -> tuple[str, str]:
        row = await self._one("reading.event", f"there is no event {event_id!r}", event_id)
        return row["version"], row["document"]

    async def video(self, video_id: str) -> tuple[str, str]:
        row = await self._one("reading.video", f"there is no video {video_id!r}", video_id)
        if row["removed_reason"] is not None:
            raise LinkEnded(f"the goal was withdrawn ({row['removed_reason']}), and its clips with it")
        return row["version"], row["document"]

    async def losses(self, wanted: Mapping[str, Any]) -> str:
        found = await self._db.fetch("reading.losses", dict(wanted), prepare=False)
        document: str = found[0]["document"]
        return document

    def _moment(self, now: datetime) -> dict[str, Any]:
        """What the age of a match's news is judged by."""
        return {"at": now, "stale_after": self._stale_seconds, "over": OVER}

    async def _one(self, name: str, missing: str, id_: int | str, **more: Any) -> dict[str, Any]:
        found = await self._db.fetch(name, {"id": id_, **more})
        if not found:
            raise NotFound(missing)
        return found[0]


def _look_at(task: asyncio.Task[str]) -> None:
    """A failure is for whoever waits; where nobody does any more, it is no news."""
    if not task.cancelled():
        task.exception()
