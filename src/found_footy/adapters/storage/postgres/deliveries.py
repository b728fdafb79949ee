"""Messages on their way: made from the outbox, claimed, sent, and ended one way or the other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import delivery_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.domain.announcing.dealing import Decide, Page
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import WITHDRAWN
from found_footy.domain.announcing.withdrawal import Delivery, State, was_told
from found_footy.ports_announcing import Parcel, Wait

LEASE_SECONDS = 30.0
"""After which a message that was claimed and not begun is offered again."""
BUSY_SECONDS = 90.0
"""For so long at most a try takes one of its receiver's places."""
LOST_AFTER_SECONDS = 1200.0
"""Longer than the longest wait between two tries: whatever was not tried for so long has lost its workflow."""
PLACES = 4
"""Messages to one subscription at once: a slow receiver must not take all of our hands."""
MOST_LOOKS = 5000
"""At one piece of news for one subscription in a transaction: others wait for it."""
LONGEST_MESSAGE = 500


class PostgresDeliveries:
    def __init__(self, database: Database) -> None:
        self._db = database

    # --- dealing out

    async def deal(self, decide: Decide, limit: int) -> int:
        # In a transaction of its own: whoever reads the news live places them, too.
        last: int = (await self._db.fetch("outbox.place"))[0]["last"]
        async with self._db.connection() as connection:
            dealt: int = (await fetch(connection, "deliveries.lock_dealt", {}))[0]["position"]
            if dealt >= last:
                return 0
            found = await fetch(connection, "deliveries.subscriptions", {})
            subscriptions = [rows.subscription_of(row) for row in found]
            if not subscriptions:
                await fetch(connection, "deliveries.move_dealt", {"position": last})
                return 0
            most = max(1, min(limit, MOST_LOOKS // len(subscriptions)))
            following = await fetch(connection, "outbox.since", {"after": dealt, "limit": most})
            news = [NewsItem(**row) for row in following]
            if not news:
                return 0
            asked = frozenset[str]().union({WITHDRAWN}, *(each.filters.topics for each in subscriptions))
            wanted = [item for item in news if item.topic in asked]
            if wanted:
                contexts = await _contexts(connection, wanted)
                standing = await _standing(connection, wanted)
                result = decide(Page(wanted, contexts, subscriptions, standing))
                if result.new:
                    new = Jsonb([rows.delivery_row(each) for each in result.new])
                    await fetch(connection, "deliveries.add", {"rows": new})
                if result.cancelled:
                    gone = [{"subscription_id": id_, "position": position} for id_, position in result.cancelled]
                    await fetch(connection, "deliveries.cancel", {"rows": Jsonb(gone)})
            await fetch(connection, "deliveries.move_dealt", {"position": news[-1].position})
            return len(news)

    async def claim_due(self, claim: str, limit: int) -> Sequence[int]:
        found = await self._db.fetch(
            "deliveries.claim_due", claim=claim, limit=limit, lease=LEASE_SECONDS, places=PLACES
        )
        return sorted(row["id"] for row in found)

    async def next_due(self) -> float | None:
        seconds: float | None = (await self._db.fetch("deliveries.next_due"))[0]["seconds"]
        return seconds

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Wait]:
        async with self._db.connection() as connection:
            # Outside of a transaction, or nothing would be heard.
            await connection.commit()
            await connection.set_autocommit(True)
            await connection.execute("listen news")

            async def wait(seconds: float) -> None:
                async for _ in connection.notifies(timeout=max(0.0, seconds), stop_after=1):
                    pass

            try:
                yield wait
            finally:
                if not connection.closed:
                    await connection.execute("unlisten news")
                    await connection.set_autocommit(False)

    # --- sending

    async def begin(self, delivery_id: int) -> Parcel | None:
        async with self._db.connection() as connection:
            found = await fetch(connection, "deliveries.lock_one", {"id": delivery_id})
            if not found or found[0]["state"] not in (State.PENDING, State.SENDING):
                return None
            row = found[0]
            if row["paused"]:
                await fetch(connection, "deliveries.hold", {"id": delivery_id})
                return None
            if row["topic"] == WITHDRAWN and not await _was_told(connection, row):
                await fetch(connection, "deliveries.end", {"id": delivery_id, "state": State.CANCELLED})
                return None
            lasting = {"lost_after": LOST_AFTER_SECONDS, "busy": BUSY_SECONDS}
            await fetch(connection, "deliveries.begin", {"id": delivery_id, **lasting})
        return Parcel(
            delivery_id=delivery_id,
            subscription_id=row["subscription_id"],
            key=json.loads(row["body"])["id"],
            topic=row["topic"],
            body=row["body"],
            kind=row["kind"],
            target=row["target"],
            secret=row["secret"],
            maybe_told=row["maybe_told"],
        )

    async def finish(self, delivery_id: int) -> None:
        async with self._db.connection() as connection:
            if await fetch(connection, "deliveries.end", {"id": delivery_id, "state": State.DELIVERED}):
                # What waited for this one may go now.
                await fetch(connection, "subscriptions.wake", {})

    async def fail(self, delivery_id: int, kind: str, message: str, *, maybe_told: bool) -> None:
        failed = {"kind": kind, "message": message[:LONGEST_MESSAGE], "maybe_told": maybe_told}
        await self._db.fetch("deliveries.fail", id=delivery_id, lost_after=LOST_AFTER_SECONDS, **failed)

    async def bury(self, delivery_id: int, kind: str, message: str) -> None:
        async with self._db.connection() as connection:
            reason = {"kind": kind, "message": message[:LONGEST_MESSAGE]}
            if await fetch(connection, "deliveries.bury", {"id": delivery_id, **reason}):
                await fetch(connection, "subscriptions.wake", {})

    async def pause(self, subscription_id: int, reason: str) -> None:
        await self._db.fetch("subscriptions.pause", id=subscription_id, reason=reason[:LONGEST_MESSAGE])


async def _was_told(connection: Connection, row: Mapping[str, Any]) -> bool:
    """A withdrawal goes to those who were told of the goal; a message to them may have been refused meanwhile."""
    about = {name: row[name] for name in ("subscription_id", "event_id", "position")}
    earlier = await fetch(connection, "deliveries.earlier", about)
    return was_told([Delivery(**each | {"state": State(each["state"])}) for each in earlier])


async def _contexts(connection: Connection, news: Sequence[NewsItem]) -> Mapping[int, Any]:
    fixtures = sorted({item.fixture_id for item in news if item.fixture_id is not None})
    events = sorted({item.event_id for item in news if item.event_id is not None})
    matches = await fetch(connection, "deliveries.matches", {"ids": fixtures})
    about: dict[str, list[dict[str, Any]]] = {"goals": [], "clips": [], "withdrawn": []}
    if events:
        for name in about:
            about[name] = await fetch(connection, f"deliveries.{name}", {"ids": events, "fixtures": fixtures})
    return rows.contexts_of(news, matches, **about)


async def _standing(connection: Connection, news: Sequence[NewsItem]) -> Mapping[tuple[int, str], list[Delivery]]:
    events = sorted({item.event_id for item in news if item.topic == WITHDRAWN and item.event_id is not None})
    if not events:
        return {}
    return rows.standing_of(await fetch(connection, "deliveries.standing", {"ids": events}))
