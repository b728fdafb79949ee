"""Which feed said what of a match, for whoever asks."""

from __future__ import annotations

from typing import Any

from found_footy.adapters.storage.postgres.database import Database, fetch
from found_footy.domain.errors import NotFound


class PostgresMatchWords:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def words(self, fixture_id: int) -> dict[str, Any]:
        async with self._db.connection() as connection:
            found = await fetch(connection, "feeds_page.match", {"id": fixture_id})
            if not found:
                raise NotFound(f"there is no fixture {fixture_id}")
            listings = await fetch(connection, "listings.listings_of", {"id": fixture_id})
            disputes = await fetch(connection, "listings.contradictions_of", {"id": fixture_id})
        return {**found[0], "listings": listings, "disputes": disputes}
