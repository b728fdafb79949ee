"""The only one that changes an event's clips: one batch after the other, each safe to repeat, none ever dropped."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from found_footy.workflows.clip_contracts import (
    CLEAN_UP_UPLOAD,
    DEDUPLICATE_POOL,
    PUBLISH_CLIP,
    SETTLE_EVENT,
    Batch,
    PoolPlan,
    PoolRef,
    SettleOrder,
    UploadInput,
    VideoRef,
)
from found_footy.workflows.contracts import EventWorkflow

POOLS = ("verified", "unverified")
ENOUGH = 100
"""Batches after which a history has become long."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 60.0
"""Seconds until a batch that failed is tried again; doubled each time."""


@workflow.defn(name="UploadWorkflow")
class UploadWorkflow:
    def __init__(self) -> None:
        self._waiting: deque[Batch] = deque()

    @workflow.signal
    def add_batch(self, batch: Batch) -> None:
        self._waiting.append(batch)

    @workflow.run
    async def run(self, order: UploadInput) -> int:
        self._waiting.extendleft(reversed(order.waiting))
        done = 0
        while True:
            try:
                await workflow.wait_condition(
                    lambda: bool(self._waiting), timeout=timedelta(seconds=order.idle_seconds)
                )
            except TimeoutError:
                if not self._waiting:  # a signal may have come in the same moment
                    return done
            # What waits is in the database, and a batch takes all of it: batches that came meanwhile are done with it.
            self._waiting.clear()
            await self._upload(order.event_id)
            done += 1
            if done >= ENOUGH or workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(UploadInput(order.event_id, order.idle_seconds, list(self._waiting)))

    async def _upload(self, event_id: str) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                return await self._settle(event_id)
            except ActivityError as error:
                workflow.logger.warning("the batch waits: %s", error.cause or error)
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def _settle(self, event_id: str) -> None:
        # Both pools or none: a pool that failed must not be taken for one without duplicates.
        plans: list[PoolPlan] = await asyncio.gather(*(DEDUPLICATE_POOL(PoolRef(event_id, pool)) for pool in POOLS))
        # First the files, then the links to them: whoever sees a clip can get it.
        await asyncio.gather(*(PUBLISH_CLIP(VideoRef(event_id, md5)) for plan in plans for md5 in plan.publish))
        await SETTLE_EVENT(SettleOrder(event_id, plans, workflow.now()))
        await CLEAN_UP_UPLOAD(EventWorkflow(event_id, workflow.info().workflow_id))
