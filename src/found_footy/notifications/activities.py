"""Activities of notifications: fan out the outbox, and attempt one delivery."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from temporalio import activity
from temporalio.exceptions import ApplicationError

from found_footy.config import Settings
from found_footy.errors import DeliveryRefused, DeliveryUnavailable
from found_footy.notifications.apprise import AppriseSender
from found_footy.notifications.fan_out import fan_out
from found_footy.notifications.models import DeliveryOutcome, OutgoingMessage, Sender, SendResult
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.webhook import WebhookSender
from found_footy.runtime.clock import utc_now
from found_footy.storage.postgres import Database

log = logging.getLogger(__name__)

BATCH_SIZE = 200
"""Outbox messages per transaction."""
MAX_DUE = 50
"""Deliveries started per round."""
ROUND_SECONDS = 20.0
MAX_BACKOFF = timedelta(minutes=10)
"""Maximum time between two attempts, and so until a recovered receiver gets everything."""


@dataclass(frozen=True)
class FanOutRound:
    claim: str
    """Same for every attempt of a round, so that a failed attempt loses no delivery."""


@dataclass(frozen=True)
class DueDeliveries:
    ids: list[int] = field(default_factory=list)
    retry_window_seconds: float = 0.0
    """From the settings of the worker that claimed the deliveries."""


@dataclass(frozen=True)
class DeliveryRef:
    delivery_id: int


@dataclass(frozen=True)
class DeliveryResult:
    state: str


@dataclass(frozen=True)
class DeadMessage:
    delivery_id: int
    error_kind: str
    error_message: str


class NotificationActivities:
    def __init__(
        self,
        store: NotificationStore,
        senders: Mapping[str, Sender],
        retry_window: timedelta,
        public_url: str | None = None,
    ) -> None:
        self._store = store
        self._senders = senders
        self._retry_window = retry_window
        self._decide = partial(fan_out, public_url=public_url)

    @activity.defn
    async def fan_out(self, order: FanOutRound) -> DueDeliveries:
        """Fan out new outbox messages, then wait up to 20 seconds for deliveries that are due."""
        loop = asyncio.get_running_loop()
        end = loop.time() + ROUND_SECONDS
        async with self._store.listen() as wait:
            while True:
                while await self._store.fan_out_batch(self._decide, BATCH_SIZE):
                    pass
                ids = list(await self._store.claim_due(order.claim, MAX_DUE))
                left = end - loop.time()
                if ids or left <= 0 or activity.is_worker_shutdown():
                    return DueDeliveries(ids, self._retry_window.total_seconds())
                soon = await self._store.seconds_until_due()
                await _wait_or_shutdown(wait(min(left, ROUND_SECONDS if soon is None else soon)))

    @activity.defn
    async def deliver(self, order: DeliveryRef) -> DeliveryResult:
        message = await self._store.begin(order.delivery_id)
        if message is None:
            return DeliveryResult("nothing to send")
        outcome = await self._senders[message.kind].send(message)
        if outcome.result is SendResult.DELIVERED:
            await self._store.finish(order.delivery_id)
            return DeliveryResult("delivered")
        await self._save_failure(message, outcome)
        if outcome.result is SendResult.RETRY:
            raise _retry(outcome)
        raise DeliveryRefused(outcome.reason)

    async def _save_failure(self, message: OutgoingMessage, outcome: DeliveryOutcome) -> None:
        reason = outcome.reason
        if outcome.result is SendResult.ENDPOINT_GONE:
            reason = f"{reason}; the subscription was paused"
            await self._store.pause(message.subscription_id, outcome.reason)
        kind = (DeliveryUnavailable if outcome.result is SendResult.RETRY else DeliveryRefused).__name__
        possibly_delivered = message.possibly_delivered or outcome.possibly_delivered
        await self._store.fail(message.delivery_id, kind, reason, possibly_delivered=possibly_delivered)
        log.warning(
            reason,
            extra={
                "action": "delivery_failed",
                "error": kind,
                "subscription": message.subscription_id,
                "delivery": message.delivery_id,
            },
        )

    @activity.defn
    async def mark_dead(self, order: DeadMessage) -> None:
        await self._store.mark_dead(order.delivery_id, order.error_kind, order.error_message)


def _retry(outcome: DeliveryOutcome) -> ApplicationError | DeliveryUnavailable:
    """Retryable error for an outcome, with the receiver's Retry-After within bounds."""
    if outcome.retry_after is None:
        return DeliveryUnavailable(outcome.reason)
    wait = min(max(timedelta(seconds=outcome.retry_after), timedelta(seconds=1)), MAX_BACKOFF)
    return ApplicationError(outcome.reason, type=DeliveryUnavailable.__name__, next_retry_delay=wait)


async def _wait_or_shutdown(waiting: Awaitable[None]) -> None:
    """Wait; return early if the worker shuts down, because the shutdown waits for this activity."""
    tasks = [asyncio.ensure_future(waiting), asyncio.ensure_future(activity.wait_for_worker_shutdown())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def build_senders(settings: Settings) -> dict[str, Sender]:
    """Build the senders by subscription kind."""
    seconds, hosts = settings.webhook_timeout_seconds, settings.private_hosts
    return {
        "webhook": WebhookSender(seconds=seconds, private_hosts=hosts, now=utc_now),
        "notify": AppriseSender(seconds=seconds, private_hosts=hosts),
    }


@asynccontextmanager
async def open_senders(settings: Settings) -> AsyncIterator[dict[str, Sender]]:
    async with AsyncExitStack() as stack:
        senders = build_senders(settings)
        for sender in senders.values():
            stack.push_async_callback(sender.aclose)
        yield senders


@asynccontextmanager
async def open_activities(settings: Settings, database: Database) -> AsyncIterator[NotificationActivities]:
    async with open_senders(settings) as senders:
        yield NotificationActivities(
            NotificationStore(database), senders, timedelta(hours=settings.delivery_hours), settings.public_url
        )
