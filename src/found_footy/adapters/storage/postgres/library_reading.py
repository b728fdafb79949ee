"""What the library's pages, its API and its commands show, as the documents that the database writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from found_footy.adapters.storage.postgres.readers import Readers
from found_footy.domain.errors import NotFound

MOST_TILES = 2000
"""Of one source, on its page: a film of four hours has about so many scenes. Where there are more, that is said."""

_OPEN: Mapping[str, Mapping[str, None]] = {
    "sources": dict.fromkeys(("only", "states", "kind", "event", "q")),
    "clips": dict.fromkeys(("only", "states", "source", "event", "q")),
}
"""The filters of each list, all of them left open."""


class PostgresLibraryReading:
    def __init__(self, readers: Readers) -> None:
        self._db = readers

    async def page(
        self, listing: str, wanted: Mapping[str, Any], before: int | None, limit: int
    ) -> list[tuple[int, str]]:
        given = {**_OPEN[listing], **wanted, "id": before, "limit": limit}
        found = await self._db.fetch(f"library_reading.{listing}", given, prepare=False)
        return [(row["id"], row["document"]) for row in found]

    async def source(self, source_id: int) -> str:
        found = await self.page("sources", {"only": source_id}, None, 1)
        if not found:
            raise NotFound(f"there is no source {source_id}")
        tiles = await self._db.fetch("library_reading.tiles", {"source": source_id, "limit": MOST_TILES})
        number = (await self._db.fetch("library_reading.count_tiles", {"source": source_id}))[0]["number"]
        shown = ",".join(row["document"] for row in tiles)
        return _joined(found[0][1], f'{{"tile_count":{number},"tiles":[{shown}]}}')

    async def clip(self, clip_id: int) -> str:
        found = await self.page("clips", {"only": clip_id}, None, 1)
        more = await self._db.fetch("library_reading.clip_more", {"id": clip_id}) if found else []
        if not more:
            raise NotFound(f"there is no clip {clip_id}")
        return _joined(found[0][1], more[0]["document"])

    async def totals(self) -> str:
        found = await self._db.fetch("library_reading.totals")
        document: str = found[0]["document"]
        return document

    async def leftovers(self, most: int) -> Sequence[dict[str, Any]]:
        return await self._db.fetch("library_reading.leftovers", {"limit": most})


def _joined(one: str, other: str) -> str:
    """Two objects as one. Neither is empty."""
    return f"{one.rstrip()[:-1]}, {other.lstrip()[1:]}"
