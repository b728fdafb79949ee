"""Changes of the follow list in the database, and the next match among the followed ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from found_footy.adapters.storage.postgres.database import Database
from found_footy.domain.errors import BadRequest
from found_footy.domain.fixtures.following import MAX_ENTRIES, FollowChange
from found_footy.ports_feeds import NextMatch


class PostgresFollows:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def changes(self) -> list[FollowChange]:
        return [FollowChange(**row) for row in await self._db.fetch("follows.changes")]

    async def change(self, entries: Sequence[str], followed: bool, by: str, now: datetime) -> None:
        """The later of two changes of one entry replaces the earlier."""
        found = await self._db.fetch(
            "follows.change", entries=list(entries), followed=followed, by=by[:100], now=now, most=MAX_ENTRIES
        )
        if len(found) < len(set(entries)):
            raise BadRequest(f"too many changes: at most {MAX_ENTRIES}; `footy follow reset` drops them")

    async def reset(self) -> int:
        return len(await self._db.fetch("follows.reset"))

    async def day_limits(self) -> dict[str, int]:
        return {row["feed"]: row["day_limit"] for row in await self._db.fetch("follows.day_limits")}

    async def next_kickoff(self, now: datetime) -> NextMatch | None:
        """The next match that has not started; None where no followed match is known yet."""
        found = await self._db.fetch("follows.next_kickoff", now=now)
        return NextMatch(**found[0]) if found else None
