"""Fan-out and delivery, with a real database and a real receiver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from found_footy.errors import DeliveryRefused, DeliveryUnavailable
from found_footy.fixtures.store import FixtureStore
from found_footy.notifications.activities import (
    MAX_BACKOFF,
    DeadMessage,
    DeliveryRef,
    DueDeliveries,
    FanOutRound,
    NotificationActivities,
)
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, SendResult
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.webhook import WebhookSender
from found_footy.storage.postgres import Database
from tests.support.notifications import Receiver, add_goal, add_match, publish, states, subscribe


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


@pytest.fixture
async def db(store: FixtureStore) -> Database:
    await add_match(store)
    return store.database


@pytest.fixture
async def activities(db: Database, receiver: Receiver) -> AsyncIterator[NotificationActivities]:
    webhooks = WebhookSender(seconds=5, private_hosts=[receiver.host], now=lambda: datetime.now(UTC))
    yield NotificationActivities(
        NotificationStore(db), {"webhook": webhooks}, timedelta(hours=24), "https://footy.example"
    )
    await webhooks.aclose()


async def call(activity: Any, order: Any, environment: ActivityEnvironment | None = None) -> Any:
    return await asyncio.wait_for((environment or ActivityEnvironment()).run(activity, order), 90)


async def one_due(activities: NotificationActivities, db: Database) -> DeliveryRef:
    await publish(db, "goal.stable", await add_goal(db))
    due: DueDeliveries = await call(activities.fan_out, FanOutRound("round-1"))
    (id_,) = due.ids
    return DeliveryRef(id_)


async def test_a_message_is_delivered_from_the_outbox(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    assert (await call(activities.deliver, message)).state == "delivered"
    assert (await call(activities.deliver, message)).state == "nothing to send"
    (received,) = receiver.received
    assert received.body["link"] == "https://footy.example/g/7001_40_306_Goal_1"
    assert await states(db, subscription) == [("goal.stable", "delivered")]


async def test_a_round_waits_for_outbox_messages(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    await subscribe(db, receiver.url)
    round_ = asyncio.create_task(call(activities.fan_out, FanOutRound("round-1")))
    await asyncio.sleep(0.3)
    await publish(db, "goal.stable", await add_goal(db))
    assert len((await round_).ids) == 1


async def test_a_round_waits_for_delayed_messages(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    await subscribe(db, receiver.url, delay_seconds=60)
    await publish(db, "goal.stable", await add_goal(db), ago=59)
    assert len((await call(activities.fan_out, FanOutRound("round-1"))).ids) == 1


async def test_a_round_ends_when_its_worker_shuts_down(activities: NotificationActivities, db: Database) -> None:
    environment = ActivityEnvironment()
    round_ = asyncio.create_task(call(activities.fan_out, FanOutRound("round-1"), environment))
    await asyncio.sleep(0.3)
    environment.worker_shutdown()
    assert (await asyncio.wait_for(round_, 30)).ids == []


async def test_a_failing_receiver_is_retried(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 503
    with pytest.raises(DeliveryUnavailable):
        await call(activities.deliver, message)
    assert (await NotificationStore(db).subscription(subscription)).failure == "DeliveryUnavailable: HTTP 503"
    receiver.answer = lambda _: 200
    assert (await call(activities.deliver, message)).state == "delivered"
    assert (await NotificationStore(db).subscription(subscription)).failure is None


async def test_a_refusing_receiver_is_not_retried(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 404
    with pytest.raises(DeliveryRefused):
        await call(activities.deliver, message)
    await call(activities.mark_dead, DeadMessage(message.delivery_id, "DeliveryRefused", "words of Temporal"))
    assert await states(db, subscription) == [("goal.stable", "dead")]
    (dead,) = await NotificationStore(db).deliveries(subscription, state="dead", before=None, limit=5)
    assert (dead.error_kind, dead.error_message) == ("DeliveryRefused", "HTTP 404")
    assert (await NotificationStore(db).subscription(subscription)).paused_at is None


async def test_a_gone_endpoint_pauses_its_subscription(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 410
    with pytest.raises(DeliveryRefused):
        await call(activities.deliver, message)
    await call(activities.mark_dead, DeadMessage(message.delivery_id, "DeliveryRefused", ""))
    record = await NotificationStore(db).subscription(subscription)
    assert record.paused_reason == "HTTP 410"
    assert record.failure == "DeliveryRefused: HTTP 410; the subscription was paused"


@pytest.mark.parametrize(
    ("asked", "waits"), [(7.0, timedelta(seconds=7)), (0.0, timedelta(seconds=1)), (9e6, MAX_BACKOFF)]
)
async def test_retry_after_is_respected_within_bounds(db: Database, asked: float, waits: timedelta) -> None:
    class Busy:
        async def send(self, message: OutgoingMessage) -> DeliveryOutcome:
            return DeliveryOutcome(SendResult.RETRY, "HTTP 429", retry_after=asked)

        async def check(self, target: str) -> None: ...

        async def aclose(self) -> None: ...

    activities = NotificationActivities(NotificationStore(db), {"webhook": Busy()}, timedelta(hours=24))
    await subscribe(db)
    with pytest.raises(ApplicationError) as failed:
        await call(activities.deliver, await one_due(activities, db))
    assert failed.value.next_retry_delay == waits


async def test_a_dead_message_has_a_reason_even_if_no_attempt_was_recorded(
    activities: NotificationActivities, db: Database, receiver: Receiver
) -> None:
    """The worker died in the middle of every try: the time is over, and nothing was ever noted."""
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    await call(activities.mark_dead, DeadMessage(message.delivery_id, "TimeoutError", "activity timed out"))
    (dead,) = await NotificationStore(db).deliveries(subscription, state="dead", before=None, limit=5)
    assert (dead.error_kind, dead.error_message) == ("TimeoutError", "activity timed out")
