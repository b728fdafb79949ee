"""From the outbox to messages that are claimed, sent and ended, on a real database."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from found_footy.errors import BadRequest, NotFound, TooManyRequests
from found_footy.fixtures.store import FixtureStore
from found_footy.notifications import store as module
from found_footy.notifications.fan_out import fan_out
from found_footy.notifications.models import OutgoingMessage, SubscriptionChange
from found_footy.notifications.store import NotificationStore
from found_footy.storage.postgres import Database
from tests.support.notifications import FIXTURE, add_goal, add_match, publish, states, subscribe
from tests.support.web_world import NOW


@pytest.fixture
async def db(store: FixtureStore) -> Database:
    await add_match(store)
    return store.database


async def fan_out_all(db: Database, page: int = 200) -> None:
    while await NotificationStore(db).fan_out_batch(fan_out, page):
        pass


async def claimed(db: Database, claim: str = "round-1") -> list[int]:
    return list(await NotificationStore(db).claim_due(claim, 50))


async def begun(db: Database, delivery_id: int) -> OutgoingMessage:
    parcel = await NotificationStore(db).begin(delivery_id)
    assert parcel is not None
    return parcel


async def delivered(db: Database, *ids: int) -> None:
    for id_ in ids:
        await begun(db, id_)
        await NotificationStore(db).finish(id_)


async def drained(db: Database, claim: str = "drain") -> list[dict[str, Any]]:
    """Everything that can be sent is sent; the bodies in their order."""
    bodies = []
    number = 0
    while ids := await claimed(db, f"{claim}-{(number := number + 1)}"):
        for id_ in ids:
            if (parcel := await NotificationStore(db).begin(id_)) is not None:
                bodies.append(json.loads(parcel.body))
                await NotificationStore(db).finish(id_)
    return bodies


async def test_messages_before_a_subscription_are_not_sent(db: Database) -> None:
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal)
    subscription = await subscribe(db)
    await publish(db, "clip.published", goal, md5="a" * 32, rank=1, verified=True)
    await fan_out_all(db)
    assert await states(db, subscription) == [("clip.published", "pending")]


async def test_fan_out_is_idempotent(db: Database) -> None:
    subscription = await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await fan_out_all(db)
    await fan_out_all(db)
    async with db.connection() as connection:
        await connection.execute("update outbox_fanned_out set position = 0")
    await fan_out_all(db)
    assert await states(db, subscription) == [("goal.stable", "pending")]


async def test_concurrent_fan_outs_create_each_delivery_once(db: Database) -> None:
    subscription = await subscribe(db)
    for number in range(1, 21):
        await publish(db, "goal.stable", await add_goal(db, number))
    await asyncio.gather(*(fan_out_all(db, page=3) for _ in range(3)))
    assert await states(db, subscription) == [("goal.stable", "pending")] * 20


async def test_the_body_is_the_same_on_every_attempt(db: Database) -> None:
    await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await fan_out_all(db)
    (id_,) = await claimed(db)
    first = await begun(db, id_)
    await NotificationStore(db).fail(id_, "DeliveryUnavailable", "HTTP 503", possibly_delivered=True)
    second = await begun(db, id_)
    assert (first.body, first.key, first.possibly_delivered) == (second.body, second.key, False)
    assert second.possibly_delivered
    assert json.loads(first.body)["id"] == first.key


async def test_messages_of_a_goal_are_sent_in_order(db: Database) -> None:
    await subscribe(db)
    one, other = await add_goal(db, 1), await add_goal(db, 2)
    for goal in (one, other):
        await publish(db, "goal.stable", goal)
        await publish(db, "clip.published", goal, md5="a" * 32, rank=1, verified=True)
    await fan_out_all(db)
    first = await claimed(db)
    assert len(first) == 2
    await begun(db, first[0])
    assert await claimed(db, "round-2") == []
    await NotificationStore(db).finish(first[0])
    assert len(await claimed(db, "round-3")) == 1


async def test_a_repeated_claim_returns_the_same_deliveries(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await fan_out_all(db)
    ids = await claimed(db, "round-1")
    assert await claimed(db, "round-1") == ids
    assert await claimed(db, "round-2") == []
    async with db.connection() as connection:
        await connection.execute("update deliveries set reclaim_at = now()")
    assert await claimed(db, "round-2") == ids


async def test_a_delivery_without_a_workflow_is_reclaimed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECLAIM_SECONDS", 0)
    await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await fan_out_all(db)
    (id_,) = await claimed(db)
    await begun(db, id_)
    assert await claimed(db, "round-2") == [id_]


async def test_parallel_deliveries_per_subscription_are_limited(db: Database) -> None:
    """A slow one must not take the hands that others need."""
    await subscribe(db)
    await subscribe(db)
    for number in range(1, 11):
        await publish(db, "goal.stable", await add_goal(db, number))
    await fan_out_all(db)
    first = await claimed(db)
    assert len(first) == 2 * module.MAX_PARALLEL_PER_SUBSCRIPTION
    assert await claimed(db, "round-2") == []
    await begun(db, first[0])
    await NotificationStore(db).fail(first[0], "DeliveryUnavailable", "no answer", possibly_delivered=True)
    # While it waits for its next try it takes no place.
    assert len(await claimed(db, "round-3")) == 1


async def test_a_delayed_message_is_not_due_before_its_time(db: Database) -> None:
    await subscribe(db, delay_seconds=60)
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal, ago=30)
    await fan_out_all(db)
    assert await claimed(db) == []
    seconds = await NotificationStore(db).seconds_until_due()
    assert seconds is not None
    assert 0 < seconds <= 30
    await publish(db, "clip.published", goal, ago=61, md5="a" * 32, rank=1, verified=True)
    await fan_out_all(db)
    assert await claimed(db) == [], "not before what was said earlier of the same goal"


# --- withdrawals


async def test_only_notified_subscriptions_get_the_withdrawal(db: Database) -> None:
    told, delayed, other_team = (
        await subscribe(db),
        await subscribe(db, delay_seconds=60),
        await subscribe(db, teams=[1]),
    )
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal, ago=30)
    await fan_out_all(db)
    await drained(db)
    await publish(db, "goal.withdrawn", goal)
    await fan_out_all(db)
    await drained(db, "later")
    assert await states(db, told) == [("goal.stable", "delivered"), ("goal.withdrawn", "delivered")]
    assert await states(db, delayed) == [("goal.stable", "cancelled")]
    assert await states(db, other_team) == []


async def test_a_withdrawal_waits_for_the_message_in_flight(db: Database) -> None:
    subscription = await subscribe(db)
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal)
    await fan_out_all(db)
    (id_,) = await claimed(db)
    await begun(db, id_)
    await publish(db, "goal.withdrawn", goal)
    await fan_out_all(db)
    assert await claimed(db, "round-2") == []
    await NotificationStore(db).finish(id_)
    assert [body["topic"] for body in await drained(db)] == ["goal.withdrawn"]
    assert await states(db, subscription) == [("goal.stable", "delivered"), ("goal.withdrawn", "delivered")]


@pytest.mark.parametrize(("possibly_delivered", "end"), [(False, "cancelled"), (True, "delivered")])
async def test_a_subscription_whose_message_was_refused_gets_no_withdrawal(
    db: Database, possibly_delivered: bool, end: str
) -> None:
    subscription = await subscribe(db)
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal)
    await fan_out_all(db)
    (id_,) = await claimed(db)
    await begun(db, id_)
    await publish(db, "goal.withdrawn", goal)
    await fan_out_all(db)
    await NotificationStore(db).fail(id_, "DeliveryRefused", "HTTP 404", possibly_delivered=possibly_delivered)
    await NotificationStore(db).mark_dead(id_, "DeliveryRefused", "HTTP 404")
    await drained(db)
    assert await states(db, subscription) == [("goal.stable", "dead"), ("goal.withdrawn", end)]


async def test_goal_and_withdrawal_in_one_batch(db: Database) -> None:
    """As they would have, had it been there."""
    subscription = await subscribe(db)
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal, ago=60)
    await publish(db, "goal.withdrawn", goal)
    await fan_out_all(db)
    assert [body["topic"] for body in await drained(db)] == ["goal.stable", "goal.withdrawn"]
    assert len(await states(db, subscription)) == 2


async def test_no_message_about_a_goal_follows_its_withdrawal(db: Database) -> None:
    subscription = await subscribe(db, topics=["goal.*"])
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal)
    await publish(db, "goal.withdrawn", goal)
    await publish(db, "goal.complete", goal)
    await fan_out_all(db)
    assert [topic for topic, _ in await states(db, subscription)] == ["goal.stable", "goal.withdrawn"]


async def test_a_change_of_filters_does_not_hide_a_withdrawal(db: Database) -> None:
    subscription = await subscribe(db)
    goal = await add_goal(db)
    await publish(db, "goal.stable", goal)
    await fan_out_all(db)
    await drained(db)
    changed = (await NotificationStore(db).subscription(subscription)).filters
    await NotificationStore(db).update(
        subscription,
        SubscriptionChange(filters=type(changed)(topics=frozenset({"fixture.score"}), teams=frozenset({1}))),
    )
    await publish(db, "goal.withdrawn", goal)
    await fan_out_all(db)
    assert [body["topic"] for body in await drained(db, "later")] == ["goal.withdrawn"]


# --- pauses, tests, dead letters


async def test_a_paused_subscription_keeps_deliveries_and_gets_no_new_ones(db: Database) -> None:
    subscription = await subscribe(db)
    book = NotificationStore(db)
    first, second = await add_goal(db, 1), await add_goal(db, 2)
    await publish(db, "goal.stable", first)
    await fan_out_all(db)
    (id_,) = await claimed(db)
    await book.update(subscription, SubscriptionChange(paused=True))
    assert await NotificationStore(db).begin(id_) is None
    await publish(db, "goal.stable", second)
    await fan_out_all(db)
    assert await claimed(db, "round-2") == []
    await book.update(subscription, SubscriptionChange(paused=False))
    assert [body["goal"]["id"] for body in await drained(db)] == [first]


async def test_one_test_message_at_a_time(db: Database) -> None:
    subscription = await subscribe(db)
    book = NotificationStore(db)

    def message(key: str) -> dict[str, Any]:
        return {"id": key, "title": "a test", "text": ""}

    id_ = await book.add_test(subscription, message)
    with pytest.raises(TooManyRequests):
        await book.add_test(subscription, message)
    assert [body["id"] for body in await drained(db)] == [f"{subscription}-test-{id_}"]
    await book.add_test(subscription, message)
    with pytest.raises(NotFound):
        await book.add_test(999, message)


async def test_a_dead_delivery_can_be_retried_unless_its_goal_was_withdrawn(db: Database) -> None:
    subscription = await subscribe(db)
    book = deliveries = NotificationStore(db)
    goals = [await add_goal(db, 1), await add_goal(db, 2)]
    for goal in goals:
        await publish(db, "goal.stable", goal)
    await fan_out_all(db)
    ids = await claimed(db)
    with pytest.raises(BadRequest, match="pending"):
        await book.retry(ids[0])
    for id_ in ids:
        await begun(db, id_)
        await deliveries.fail(id_, "DeliveryRefused", "HTTP 404", possibly_delivered=False)
        await deliveries.mark_dead(id_, "DeliveryRefused", "another reason")
    (dead, _) = await book.deliveries(subscription, state="dead", before=None, limit=10)
    assert (dead.error_kind, dead.error_message, dead.attempts) == ("DeliveryRefused", "HTTP 404", 1)
    await publish(db, "goal.withdrawn", goals[1])
    with pytest.raises(BadRequest, match="withdrawn"):
        await book.retry(ids[1])
    await book.retry(ids[0])
    assert len(await drained(db)) == 1
    with pytest.raises(NotFound):
        await book.retry(10**9)


async def test_deleting_a_subscription_deletes_its_deliveries(db: Database) -> None:
    subscription = await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await fan_out_all(db)
    (id_,) = await claimed(db)
    await NotificationStore(db).delete(subscription)
    assert await NotificationStore(db).begin(id_) is None
    await NotificationStore(db).finish(id_)
    with pytest.raises(NotFound):
        await NotificationStore(db).delete(subscription)


async def test_retention_deletes_deliveries_with_the_outbox(db: Database, store: FixtureStore) -> None:
    subscription = await subscribe(db)
    await publish(db, "goal.stable", await add_goal(db))
    await publish(db, "goal.stable", await add_goal(db, 2))
    await fan_out_all(db)
    await begun(db, (await claimed(db))[0])
    async with db.connection() as connection:
        await connection.execute("update deliveries set created_at = '2020-01-01'")
    await store.delete_outbox(NOW)
    assert await states(db, subscription) == [("goal.stable", "sending")]


async def test_targets_are_masked(db: Database) -> None:
    subscription = await subscribe(db, "https://hooks.example/in?token=hidden")
    record = await NotificationStore(db).subscription(subscription)
    assert record.target == "https://hooks.example/…"
    assert "hidden" not in repr(record)


async def test_waiting_ends_with_an_outbox_message(db: Database) -> None:
    await subscribe(db)
    async with NotificationStore(db).listen() as wait:
        waiting = asyncio.create_task(wait(20))
        await asyncio.sleep(0)
        await publish(db, "fixture.status", fixture_id=FIXTURE, to="HT")
        async with asyncio.timeout(10):
            await waiting
        await wait(0.01)
