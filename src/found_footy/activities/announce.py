"""Telling others: from news to messages, and one try to deliver one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from functools import partial

from temporalio import activity
from temporalio.exceptions import ApplicationError

from found_footy.activities.boundary import implements
from found_footy.domain.announcing.dealing import deal
from found_footy.domain.announcing.outcomes import Outcome, Result
from found_footy.domain.errors import DeliveryRefused, DeliveryUnavailable
from found_footy.ports_announcing import DeliveryStore, Messenger, Parcel
from found_footy.workflows.announce_contracts import (
    BURY_MESSAGE,
    DEAL_OUT_NEWS,
    LONGEST_WAIT,
    SEND_MESSAGE,
    Burial,
    DeliveryResult,
    DueMessages,
    MessageRef,
    Round,
)
from found_footy.workflows.contracts import Done

log = logging.getLogger(__name__)

PAGE = 200
MOST_DUE = 50
"""Messages of one round."""
ROUND_SECONDS = 20.0


class AnnounceActivities:
    def __init__(
        self,
        store: DeliveryStore,
        messengers: Mapping[str, Messenger],
        patience: timedelta,
        public_url: str | None = None,
    ) -> None:
        self._store = store
        self._messengers = messengers
        self._patience = patience
        self._decide = partial(deal, public_url=public_url)

    @implements(DEAL_OUT_NEWS)
    async def deal_out_news(self, order: Round) -> DueMessages:
        loop = asyncio.get_running_loop()
        end = loop.time() + ROUND_SECONDS
        async with self._store.listening() as wait:
            while True:
                while await self._store.deal(self._decide, PAGE):
                    pass
                ids = list(await self._store.claim_due(order.claim, MOST_DUE))
                left = end - loop.time()
                if ids or left <= 0 or activity.is_worker_shutdown():
                    return DueMessages(ids, self._patience.total_seconds())
                soon = await self._store.next_due()
                await _first_of(wait(min(left, ROUND_SECONDS if soon is None else soon)))

    @implements(SEND_MESSAGE)
    async def send_message(self, order: MessageRef) -> DeliveryResult:
        parcel = await self._store.begin(order.delivery_id)
        if parcel is None:
            return DeliveryResult("nothing to send")
        outcome = await self._messengers[parcel.kind].send(parcel)
        if outcome.result is Result.TAKEN:
            await self._store.finish(order.delivery_id)
            return DeliveryResult("delivered")
        await self._note(parcel, outcome)
        if outcome.result is Result.LATER:
            raise _later(outcome)
        raise DeliveryRefused(outcome.said)

    async def _note(self, parcel: Parcel, outcome: Outcome) -> None:
        said = outcome.said
        if outcome.result is Result.GONE:
            said = f"{said}; the subscription was paused for this"
            await self._store.pause(parcel.subscription_id, outcome.said)
        kind = (DeliveryUnavailable if outcome.result is Result.LATER else DeliveryRefused).__name__
        maybe_told = parcel.maybe_told or outcome.maybe_told
        await self._store.fail(parcel.delivery_id, kind, said, maybe_told=maybe_told)
        log.warning(
            said,
            extra={
                "action": "delivery_failed",
                "error": kind,
                "subscription": parcel.subscription_id,
                "delivery": parcel.delivery_id,
            },
        )

    @implements(BURY_MESSAGE)
    async def bury_message(self, order: Burial) -> Done:
        await self._store.bury(order.delivery_id, order.error_kind, order.error_message)
        return Done()


def _later(outcome: Outcome) -> ApplicationError | DeliveryUnavailable:
    """Where the receiver has said when, it is asked then, within bounds."""
    if outcome.retry_after is None:
        return DeliveryUnavailable(outcome.said)
    wait = min(max(timedelta(seconds=outcome.retry_after), timedelta(seconds=1)), LONGEST_WAIT)
    return ApplicationError(outcome.said, type=DeliveryUnavailable.__name__, next_retry_delay=wait)


async def _first_of(waiting: Awaitable[None]) -> None:
    """Ends also when the worker is told to stop: it would wait for us."""
    tasks = [asyncio.ensure_future(waiting), asyncio.ensure_future(activity.wait_for_worker_shutdown())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
