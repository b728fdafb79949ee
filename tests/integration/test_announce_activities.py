"""One round of dealing out, and one try to send, around a real database and a real receiver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from found_footy.activities.announce import AnnounceActivities
from found_footy.adapters.notify.webhook import Webhooks
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.deliveries import PostgresDeliveries
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.postgres.subscriptions import PostgresSubscriptions
from found_footy.domain.announcing.outcomes import Outcome, Result
from found_footy.ports_announcing import Parcel
from found_footy.workflows.announce_contracts import LONGEST_WAIT, Burial, DueMessages, MessageRef, Round
from tests.support.announcing import Receiver, add_goal, add_match, states, subscribe, tell


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


@pytest.fixture
async def db(store: PostgresStore) -> Database:
    await add_match(store)
    return store.database


@pytest.fixture
async def activities(db: Database, receiver: Receiver) -> AsyncIterator[AnnounceActivities]:
    webhooks = Webhooks(seconds=5, private_hosts=[receiver.host], now=lambda: datetime.now(UTC))
    yield AnnounceActivities(
        PostgresDeliveries(db), {"webhook": webhooks}, timedelta(hours=24), "https://footy.example"
    )
    await webhooks.aclose()


async def call(activity: Any, order: Any, environment: ActivityEnvironment | None = None) -> Any:
    return await asyncio.wait_for((environment or ActivityEnvironment()).run(activity, order), 90)


async def one_due(activities: AnnounceActivities, db: Database) -> MessageRef:
    await tell(db, "goal.stable", await add_goal(db))
    due: DueMessages = await call(activities.deal_out_news, Round("round-1"))
    (id_,) = due.ids
    return MessageRef(id_)


async def test_a_message_goes_from_the_news_to_its_receiver(
    activities: AnnounceActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    assert (await call(activities.send_message, message)).state == "delivered"
    assert (await call(activities.send_message, message)).state == "nothing to send"
    (received,) = receiver.received
    assert received.body["link"] == "https://footy.example/g/7001_40_306_Goal_1"
    assert await states(db, subscription) == [("goal.stable", "delivered")]


async def test_a_round_waits_for_the_news(activities: AnnounceActivities, db: Database, receiver: Receiver) -> None:
    await subscribe(db, receiver.url)
    round_ = asyncio.create_task(call(activities.deal_out_news, Round("round-1")))
    await asyncio.sleep(0.3)
    await tell(db, "goal.stable", await add_goal(db))
    assert len((await round_).ids) == 1


async def test_a_round_waits_for_what_is_held_back(
    activities: AnnounceActivities, db: Database, receiver: Receiver
) -> None:
    await subscribe(db, receiver.url, delay_seconds=60)
    await tell(db, "goal.stable", await add_goal(db), ago=59)
    assert len((await call(activities.deal_out_news, Round("round-1"))).ids) == 1


async def test_a_round_ends_when_its_worker_is_told_to_stop(activities: AnnounceActivities, db: Database) -> None:
    environment = ActivityEnvironment()
    round_ = asyncio.create_task(call(activities.deal_out_news, Round("round-1"), environment))
    await asyncio.sleep(0.3)
    environment.worker_shutdown()
    assert (await asyncio.wait_for(round_, 30)).ids == []


async def test_a_receiver_that_fails_is_asked_again(
    activities: AnnounceActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 503
    with pytest.raises(ApplicationError) as failed:
        await call(activities.send_message, message)
    assert (failed.value.type, failed.value.non_retryable) == ("DeliveryUnavailable", False)
    assert (await PostgresSubscriptions(db).get(subscription)).failure == "DeliveryUnavailable: HTTP 503"
    receiver.answer = lambda _: 200
    assert (await call(activities.send_message, message)).state == "delivered"
    assert (await PostgresSubscriptions(db).get(subscription)).failure is None


async def test_a_receiver_that_refuses_is_not(activities: AnnounceActivities, db: Database, receiver: Receiver) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 404
    with pytest.raises(ApplicationError) as failed:
        await call(activities.send_message, message)
    assert (failed.value.type, failed.value.non_retryable) == ("DeliveryRefused", True)
    await call(activities.bury_message, Burial(message.delivery_id, "DeliveryRefused", "words of Temporal"))
    assert await states(db, subscription) == [("goal.stable", "dead")]
    (dead,) = await PostgresSubscriptions(db).deliveries(subscription, state="dead", before=None, limit=5)
    assert (dead.error_kind, dead.error_message) == ("DeliveryRefused", "HTTP 404")
    assert (await PostgresSubscriptions(db).get(subscription)).paused_at is None


async def test_one_that_is_gone_for_good_is_paused(
    activities: AnnounceActivities, db: Database, receiver: Receiver
) -> None:
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    receiver.answer = lambda _: 410
    with pytest.raises(ApplicationError):
        await call(activities.send_message, message)
    await call(activities.bury_message, Burial(message.delivery_id, "DeliveryRefused", ""))
    record = await PostgresSubscriptions(db).get(subscription)
    assert record.paused_reason == "HTTP 410"
    assert record.failure == "DeliveryRefused: HTTP 410; the subscription was paused for this"


@pytest.mark.parametrize(
    ("asked", "waits"), [(7.0, timedelta(seconds=7)), (0.0, timedelta(seconds=1)), (9e6, LONGEST_WAIT)]
)
async def test_a_receiver_says_when_within_bounds(db: Database, asked: float, waits: timedelta) -> None:
    class Busy:
        async def send(self, parcel: Parcel) -> Outcome:
            return Outcome(Result.LATER, "HTTP 429", retry_after=asked)

        async def check(self, target: str) -> None: ...

        async def aclose(self) -> None: ...

    activities = AnnounceActivities(PostgresDeliveries(db), {"webhook": Busy()}, timedelta(hours=24))
    await subscribe(db)
    with pytest.raises(ApplicationError) as failed:
        await call(activities.send_message, await one_due(activities, db))
    assert failed.value.next_retry_delay == waits


async def test_a_message_whose_end_could_not_be_written_has_a_reason_all_the_same(
    activities: AnnounceActivities, db: Database, receiver: Receiver
) -> None:
    """The worker died in the middle of every try: the time is over, and nothing was ever noted."""
    subscription = await subscribe(db, receiver.url)
    message = await one_due(activities, db)
    await call(activities.bury_message, Burial(message.delivery_id, "TimeoutError", "activity timed out"))
    (dead,) = await PostgresSubscriptions(db).deliveries(subscription, state="dead", before=None, limit=5)
    assert (dead.error_kind, dead.error_message) == ("TimeoutError", "activity timed out")
