"""Who is subscribed to what, and what became of their messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from found_footy.adapters.storage.postgres import delivery_rows as rows
from found_footy.adapters.storage.postgres.database import Database, fetch
from found_footy.domain.announcing.subscription import WITHDRAWN, Filters
from found_footy.domain.announcing.withdrawal import State
from found_footy.domain.errors import BadRequest, NotFound, TooManyRequests
from found_footy.ports_announcing import Change, DeliveryRecord, Names, SubscriptionRecord

MOST = 500
"""Each is looked at for every piece of news."""
MOST_NAMES = 2000


class PostgresSubscriptions:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def list(self) -> Sequence[SubscriptionRecord]:
        return [rows.record_of(row) for row in await self._db.fetch("subscriptions.list", id=None)]

    async def names(self) -> Names:
        found = await self._db.fetch("subscriptions.names", limit=MOST_NAMES)
        return Names(
            teams={row["id"]: row["name"] for row in found if row["kind"] == "team"},
            leagues={row["id"]: row["name"] for row in found if row["kind"] == "league"},
        )

    async def get(self, subscription_id: int) -> SubscriptionRecord:
        found = await self._db.fetch("subscriptions.list", id=subscription_id)
        if not found:
            raise _missing(subscription_id)
        return rows.record_of(found[0])

    async def add(self, name: str, kind: str, target: str, secret: str | None, filters: Filters) -> int:
        given = {"name": name, "kind": kind, "target": target, "secret": secret, **rows.filters_row(filters)}
        async with self._db.connection() as connection:
            if (await fetch(connection, "subscriptions.count", {}))[0]["number"] >= MOST:
                raise BadRequest(f"there are {MOST} subscriptions already, which is as many as there may be")
            added: int = (await fetch(connection, "subscriptions.add", given))[0]["id"]
        return added

    async def change(self, subscription_id: int, change: Change) -> None:
        async with self._db.connection() as connection:
            locked = await fetch(connection, "subscriptions.lock", {"id": subscription_id})
            if not locked:
                raise _missing(subscription_id)
            now = rows.record_of((await fetch(connection, "subscriptions.list", {"id": subscription_id}))[0])
            changed = {
                "id": subscription_id,
                "name": now.name if change.name is None else change.name,
                "target": locked[0]["target"] if change.target is None else change.target,
                **rows.filters_row(now.filters if change.filters is None else change.filters),
            }
            await fetch(connection, "subscriptions.change", changed)
            if change.paused is True:
                await fetch(connection, "subscriptions.pause", {"id": subscription_id, "reason": "by an operator"})
            elif change.paused is False:
                await fetch(connection, "subscriptions.resume", {"id": subscription_id})
                await fetch(connection, "subscriptions.wake", {})

    async def delete(self, subscription_id: int) -> None:
        if not await self._db.fetch("subscriptions.delete", id=subscription_id):
            raise _missing(subscription_id)

    async def test(self, subscription_id: int, message: Callable[[str], dict[str, Any]]) -> int:
        async with self._db.connection() as connection:
            if not await fetch(connection, "subscriptions.lock", {"id": subscription_id}):
                raise _missing(subscription_id)
            added = await fetch(connection, "subscriptions.add_test", {"id": subscription_id, "body": "{}"})
            if not added:
                raise TooManyRequests("a test is on its way already")
            id_: int = added[0]["id"]
            # Its key holds its id, which is not known before.
            body = rows.json_of(message(f"{subscription_id}-test-{id_}"))
            await fetch(connection, "subscriptions.name_test", {"id": id_, "body": body})
            await fetch(connection, "subscriptions.wake", {})
        return id_

    async def deliveries(
        self, subscription_id: int, *, state: str | None, before: int | None, limit: int
    ) -> Sequence[DeliveryRecord]:
        wanted = {"id": subscription_id, "state": state, "before": before, "limit": limit}
        found = await self._db.fetch("subscriptions.deliveries", **wanted)
        if not found:
            await self.get(subscription_id)
        return [rows.delivery_of(row) for row in found]

    async def retry(self, delivery_id: int) -> None:
        async with self._db.connection() as connection:
            # As long as this is held no withdrawal is dealt out: either it was, or it will see this letter due.
            await fetch(connection, "deliveries.lock_dealt", {})
            found = await fetch(connection, "subscriptions.lock_delivery", {"id": delivery_id})
            if not found:
                raise NotFound(f"there is no delivery {delivery_id}")
            if found[0]["state"] != State.DEAD:
                raise BadRequest(f"delivery {delivery_id} is {found[0]['state']}; only dead ones are sent again")
            if found[0]["removed_at"] is not None and found[0]["topic"] != WITHDRAWN:
                raise BadRequest("the goal was withdrawn meanwhile; nobody should hear of it any more")
            await fetch(connection, "subscriptions.retry", {"id": delivery_id})
            await fetch(connection, "subscriptions.wake", {})


def _missing(subscription_id: int) -> NotFound:
    return NotFound(f"there is no subscription {subscription_id}")
