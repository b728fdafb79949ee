"""PostgreSQL store of subscriptions, deliveries, and the goals of the Atom feeds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from typing import Any, Literal

from psycopg.types.json import Jsonb

from found_footy.errors import BadRequest, NotFound, TooManyRequests
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.notifications.fan_out import (
    Decide,
    DeliveryState,
    EarlierDelivery,
    NewDelivery,
    OutboxBatch,
    message_key,
    was_notified,
)
from found_footy.notifications.models import (
    WITHDRAWN,
    AtomClip,
    AtomGoal,
    DeliveryRecord,
    NotificationContext,
    NotificationFixture,
    NotificationGoal,
    OutboxMessage,
    OutgoingMessage,
    Subscription,
    SubscriptionChange,
    SubscriptionFilter,
    SubscriptionRecord,
    TeamAndLeagueNames,
    mask_target,
)
from found_footy.notifications.outbox import SQL as OUTBOX_SQL
from found_footy.storage.postgres import Connection, Database, fetch, load_queries
from found_footy.text import shorten

SQL = load_queries(__package__, "store")

Row = Mapping[str, Any]


def _filters_from_row(row: Row) -> SubscriptionFilter:
    return SubscriptionFilter(
        topics=frozenset(row["topics"]),
        teams=frozenset(row["teams"]),
        leagues=frozenset(row["leagues"]),
        verified_only=row["verified_only"],
        delay=timedelta(seconds=row["delay_seconds"]),
        no_score=row["no_score"],
    )


def _subscription_from_row(row: Row) -> Subscription:
    return Subscription(row["id"], _filters_from_row(row), row["from_position"], row["paused"])


def _record_from_row(row: Row) -> SubscriptionRecord:
    return SubscriptionRecord(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        target=mask_target(row["kind"], row["target"]),
        filters=_filters_from_row(row),
        created_at=row["created_at"],
        paused_at=row["paused_at"],
        paused_reason=row["paused_reason"],
        waiting=row["waiting"],
        dead=row["dead"],
        delivered_at=row["delivered_at"],
        failure=row["failure"],
    )


def _delivery_to_row(new: NewDelivery) -> dict[str, Any]:
    return {
        "subscription_id": new.subscription_id,
        "position": new.message.position,
        "topic": new.message.topic,
        "fixture_id": new.message.fixture_id,
        "event_id": new.message.event_id,
        "body": _compact_json(new.body),
        "due_at": new.due_at.isoformat(),
        "state": new.state,
    }


def _compact_json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _earlier_by_goal(found: Sequence[Row]) -> dict[tuple[int, str], list[EarlierDelivery]]:
    earlier: dict[tuple[int, str], list[EarlierDelivery]] = {}
    for row in found:
        delivery = EarlierDelivery(
            row["position"], DeliveryState(row["state"]), row["due_at"], row["possibly_delivered"]
        )
        earlier.setdefault((row["subscription_id"], row["event_id"]), []).append(delivery)
    return earlier


def _contexts_by_position(
    messages: Sequence[OutboxMessage],
    matches: Sequence[Row],
    goals: Sequence[Row],
    clips: Sequence[Row],
    withdrawn: Sequence[Row],
) -> dict[int, NotificationContext]:
    match_by_id = {row["id"]: NotificationFixture(**row) for row in matches}
    goal_by_id = {row["id"]: _goal(row) for row in goals}
    verified: dict[str, dict[str, bool]] = {}
    for row in clips:
        verified.setdefault(row["event_id"], {})[row["md5"]] = row["verified"]
    withdrawn_at = {row["event_id"]: row["position"] for row in withdrawn}
    return {
        item.position: NotificationContext(
            match=match_by_id.get(item.fixture_id or 0),
            goal=goal_by_id.get(item.event_id or ""),
            verified=verified.get(item.event_id or "", {}),
            withdrawn=withdrawn_at.get(item.event_id, item.position) < item.position,
        )
        for item in messages
    }


def _goal(row: Row) -> NotificationGoal:
    return NotificationGoal(row["id"], row["team"], row["player"], str(MatchMinute(row["elapsed"], row["extra"])))


AtomScope = Literal["team", "competition"]

MAX_SUBSCRIPTIONS = 500
"""Limited because every outbox message is matched against each subscription."""
MAX_NAMES = 2000
CLAIM_SECONDS = 30.0
"""Seconds after which a claimed delivery that has not begun is claimed again."""
SLOT_SECONDS = 90.0
"""Maximum seconds for which an attempt holds one of its subscription's slots."""
RECLAIM_SECONDS = 1200.0
"""Seconds. Longer than the longest backoff: a delivery without an attempt for this long has lost its workflow."""
MAX_PARALLEL_PER_SUBSCRIPTION = 4
"""Limit that keeps a slow receiver from occupying all workers."""
MAX_MATCHES_PER_TRANSACTION = 5000
"""Pairs of outbox message and subscription; more would hold the transaction's lock for too long."""


class NotificationStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    # --- Fan-out.

    async def fan_out_batch(self, decide: Decide, limit: int) -> int:
        # In a separate transaction: live readers assign positions too.
        last: int = (await self._db.fetch(OUTBOX_SQL["place"]))[0]["last"]
        async with self._db.connection() as connection:
            done: int = (await fetch(connection, SQL["lock_fanned_out"], {}))[0]["position"]
            if done >= last:
                return 0
            found = await fetch(connection, SQL["subscriptions"], {})
            subscriptions = [_subscription_from_row(row) for row in found]
            if not subscriptions:
                await fetch(connection, SQL["advance_fanned_out"], {"position": last})
                return 0
            size = max(1, min(limit, MAX_MATCHES_PER_TRANSACTION // len(subscriptions)))
            rows = await fetch(connection, OUTBOX_SQL["since"], {"after": done, "limit": size})
            messages = [OutboxMessage(**row) for row in rows]
            if not messages:
                return 0
            topics = frozenset[str]().union({WITHDRAWN}, *(each.filters.topics for each in subscriptions))
            relevant = [item for item in messages if item.topic in topics]
            if relevant:
                contexts = await _contexts(connection, relevant)
                earlier = await _earlier_deliveries(connection, relevant)
                result = decide(OutboxBatch(relevant, contexts, subscriptions, earlier))
                if result.new:
                    new = Jsonb([_delivery_to_row(each) for each in result.new])
                    await fetch(connection, SQL["add_deliveries"], {"rows": new})
                if result.cancelled:
                    cancelled = [{"subscription_id": id_, "position": position} for id_, position in result.cancelled]
                    await fetch(connection, SQL["cancel"], {"rows": Jsonb(cancelled)})
            await fetch(connection, SQL["advance_fanned_out"], {"position": messages[-1].position})
            return len(messages)

    async def claim_due(self, claim: str, limit: int) -> Sequence[int]:
        found = await self._db.fetch(
            SQL["claim_due"], claim=claim, limit=limit, lease=CLAIM_SECONDS, slots=MAX_PARALLEL_PER_SUBSCRIPTION
        )
        return sorted(row["id"] for row in found)

    async def seconds_until_due(self) -> float | None:
        seconds: float | None = (await self._db.fetch(SQL["next_due"]))[0]["seconds"]
        return seconds

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
        async with self._db.connection() as connection:
            # LISTEN delivers nothing inside a transaction.
            await connection.commit()
            await connection.set_autocommit(True)
            await connection.execute("listen outbox")

            async def wait(seconds: float) -> None:
                async for _ in connection.notifies(timeout=max(0.0, seconds), stop_after=1):
                    pass

            try:
                yield wait
            finally:
                if not connection.closed:
                    await connection.execute("unlisten outbox")
                    await connection.set_autocommit(False)

    # --- Sending.

    async def begin(self, delivery_id: int) -> OutgoingMessage | None:
        async with self._db.connection() as connection:
            found = await fetch(connection, SQL["lock_one"], {"id": delivery_id})
            if not found or found[0]["state"] not in (DeliveryState.PENDING, DeliveryState.SENDING):
                return None
            row = found[0]
            if row["paused"]:
                await fetch(connection, SQL["requeue"], {"id": delivery_id})
                return None
            if row["topic"] == WITHDRAWN and not await _was_notified(connection, row):
                await fetch(connection, SQL["end"], {"id": delivery_id, "state": DeliveryState.CANCELLED})
                return None
            leases = {"reclaim": RECLAIM_SECONDS, "slot": SLOT_SECONDS}
            await fetch(connection, SQL["begin"], {"id": delivery_id, **leases})
        return OutgoingMessage(
            delivery_id=delivery_id,
            subscription_id=row["subscription_id"],
            key=_message_key(delivery_id, row),
            topic=row["topic"],
            body=row["body"],
            kind=row["kind"],
            target=row["target"],
            secret=row["secret"],
            possibly_delivered=row["possibly_delivered"],
        )

    async def finish(self, delivery_id: int) -> None:
        async with self._db.connection() as connection:
            if await fetch(connection, SQL["end"], {"id": delivery_id, "state": DeliveryState.DELIVERED}):
                # Wakes the fan-out: later messages of the thread are unblocked.
                await fetch(connection, SQL["wake"], {})

    async def fail(self, delivery_id: int, kind: str, message: str, *, possibly_delivered: bool) -> None:
        failed = {"kind": kind, "message": shorten(message), "possibly_delivered": possibly_delivered}
        await self._db.fetch(SQL["fail"], id=delivery_id, reclaim=RECLAIM_SECONDS, **failed)

    async def mark_dead(self, delivery_id: int, kind: str, message: str) -> None:
        async with self._db.connection() as connection:
            reason = {"kind": kind, "message": shorten(message)}
            if await fetch(connection, SQL["mark_dead"], {"id": delivery_id, **reason}):
                await fetch(connection, SQL["wake"], {})

    async def pause(self, subscription_id: int, reason: str) -> None:
        await self._db.fetch(SQL["pause"], id=subscription_id, reason=shorten(reason))

    # --- Subscriptions.

    async def subscriptions(self) -> list[SubscriptionRecord]:
        return [_record_from_row(row) for row in await self._db.fetch(SQL["list"], id=None)]

    async def names(self) -> TeamAndLeagueNames:
        found = await self._db.fetch(SQL["names"], limit=MAX_NAMES)
        return TeamAndLeagueNames(
            teams={row["id"]: row["name"] for row in found if row["kind"] == "team"},
            leagues={row["id"]: row["name"] for row in found if row["kind"] == "league"},
        )

    async def subscription(self, subscription_id: int) -> SubscriptionRecord:
        found = await self._db.fetch(SQL["list"], id=subscription_id)
        if not found:
            raise _missing(subscription_id)
        return _record_from_row(found[0])

    async def add(self, name: str, kind: str, target: str, secret: str | None, filters: SubscriptionFilter) -> int:
        params = {"name": name, "kind": kind, "target": target, "secret": secret, **filters.to_json()}
        async with self._db.connection() as connection:
            if (await fetch(connection, SQL["count"], {}))[0]["number"] >= MAX_SUBSCRIPTIONS:
                raise BadRequest(f"subscription limit reached ({MAX_SUBSCRIPTIONS})")
            added: int = (await fetch(connection, SQL["add_subscription"], params))[0]["id"]
        return added

    async def update(self, subscription_id: int, change: SubscriptionChange) -> None:
        async with self._db.connection() as connection:
            locked = await fetch(connection, SQL["lock"], {"id": subscription_id})
            if not locked:
                raise _missing(subscription_id)
            current = _record_from_row((await fetch(connection, SQL["list"], {"id": subscription_id}))[0])
            changed = {
                "id": subscription_id,
                "name": current.name if change.name is None else change.name,
                "target": locked[0]["target"] if change.target is None else change.target,
                **(change.filters or current.filters).to_json(),
            }
            await fetch(connection, SQL["change"], changed)
            if change.paused is True:
                await fetch(connection, SQL["pause"], {"id": subscription_id, "reason": "by an operator"})
            elif change.paused is False:
                await fetch(connection, SQL["resume"], {"id": subscription_id})
                await fetch(connection, SQL["wake"], {})

    async def delete(self, subscription_id: int) -> None:
        if not await self._db.fetch(SQL["delete"], id=subscription_id):
            raise _missing(subscription_id)

    async def add_test(self, subscription_id: int, message: Callable[[str], dict[str, Any]]) -> int:
        async with self._db.connection() as connection:
            if not await fetch(connection, SQL["lock"], {"id": subscription_id}):
                raise _missing(subscription_id)
            added = await fetch(connection, SQL["add_test"], {"id": subscription_id, "body": "{}"})
            if not added:
                raise TooManyRequests("a test message is already being sent")
            id_: int = added[0]["id"]
            # The key contains the row's id, so the body is written after the insert.
            body = _compact_json(message(_test_key(subscription_id, id_)))
            await fetch(connection, SQL["set_test_body"], {"id": id_, "body": body})
            await fetch(connection, SQL["wake"], {})
        return id_

    async def deliveries(
        self, subscription_id: int, *, state: str | None, before: int | None, limit: int
    ) -> Sequence[DeliveryRecord]:
        page = {"id": subscription_id, "state": state, "before": before, "limit": limit}
        found = await self._db.fetch(SQL["deliveries"], **page)
        if not found:
            await self.subscription(subscription_id)
        return [DeliveryRecord(**row) for row in found]

    async def retry(self, delivery_id: int) -> None:
        async with self._db.connection() as connection:
            # No withdrawal is fanned out while this lock is held: it either was already, or will find this delivery
            # due.
            await fetch(connection, SQL["lock_fanned_out"], {})
            found = await fetch(connection, SQL["lock_delivery"], {"id": delivery_id})
            if not found:
                raise NotFound(f"delivery {delivery_id} not found")
            if found[0]["state"] != DeliveryState.DEAD:
                raise BadRequest(f"delivery {delivery_id} is {found[0]['state']}; only dead deliveries can be retried")
            if found[0]["removed_at"] is not None and found[0]["topic"] != WITHDRAWN:
                raise BadRequest("cannot retry: the goal was withdrawn")
            await fetch(connection, SQL["retry"], {"id": delivery_id})
            await fetch(connection, SQL["wake"], {})

    # --- Atom feeds.

    async def atom_name(self, scope: AtomScope, id_: int) -> str:
        found = await self._db.fetch(SQL[scope], id=id_)
        if not found:
            raise NotFound(f"no match of {scope} {id_} found")
        name: str = found[0]["name"]
        return name

    async def atom_goals(self, scope: AtomScope | None, id_: int | None, limit: int) -> list[AtomGoal]:
        if scope is None:
            newest = await self._db.fetch(SQL["newest_goals"], limit=limit)
        else:
            newest = await self._db.fetch(SQL[f"newest_of_{scope}"], id=id_, limit=limit)
        if not newest:
            return []
        return [_atom_goal(row) for row in await self._db.fetch(SQL["feed_goals"], ids=[row["id"] for row in newest])]


def _missing(subscription_id: int) -> NotFound:
    return NotFound(f"subscription {subscription_id} not found")


async def _was_notified(connection: Connection, row: Mapping[str, Any]) -> bool:
    """Check again for a withdrawal: the subscription's earlier message may have been refused since."""
    params = {name: row[name] for name in ("subscription_id", "event_id", "position")}
    earlier = await fetch(connection, SQL["earlier"], params)
    return was_notified([EarlierDelivery(**each | {"state": DeliveryState(each["state"])}) for each in earlier])


async def _contexts(connection: Connection, messages: Sequence[OutboxMessage]) -> Mapping[int, Any]:
    fixtures = sorted({item.fixture_id for item in messages if item.fixture_id is not None})
    events = sorted({item.event_id for item in messages if item.event_id is not None})
    matches = await fetch(connection, SQL["matches"], {"ids": fixtures})
    rows: dict[str, list[dict[str, Any]]] = {"goals": [], "clips": [], "withdrawn": []}
    if events:
        for name in rows:
            rows[name] = await fetch(connection, SQL[name], {"ids": events, "fixtures": fixtures})
    return _contexts_by_position(messages, matches, **rows)


async def _earlier_deliveries(
    connection: Connection, messages: Sequence[OutboxMessage]
) -> Mapping[tuple[int, str], list[EarlierDelivery]]:
    events = sorted({item.event_id for item in messages if item.topic == WITHDRAWN and item.event_id is not None})
    if not events:
        return {}
    return _earlier_by_goal(await fetch(connection, SQL["earlier_of_events"], {"ids": events}))


def _atom_goal(row: Row) -> AtomGoal:
    return AtomGoal(
        id=row["id"],
        fixture_id=row["fixture_id"],
        league=row["league_name"],
        home=row["home_name"],
        away=row["away_name"],
        team=row["team_name"],
        player=row["player_name"],
        minute=MatchMinute(row["elapsed"], row["extra"], row["innings"]),
        after=Score(row["home_after"], row["away_after"]),
        published=row["published"].astimezone(UTC),
        updated=row["updated"].astimezone(UTC),
        clips=row["clips"],
        verified=row["verified"],
        best=AtomClip(row["best_id"], row["best_size"]),
        withdrawn=row["removed_reason"],
    )


def _test_key(subscription_id: int, delivery_id: int) -> str:
    return f"{subscription_id}-test-{delivery_id}"


def _message_key(delivery_id: int, row: Row) -> str:
    if row["position"] is None:
        return _test_key(row["subscription_id"], delivery_id)
    return message_key(row["subscription_id"], row["position"])
