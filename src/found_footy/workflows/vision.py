"""Holds how many clips are looked at at once, over all workers: there is one such workflow, and looks go through it.

A limit in each process would be multiplied by the number of processes. This one is kept by the id of the workflow,
of which Temporal runs one at a time.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError

from found_footy.workflows.clip_contracts import LOOK_AT_CLIP, Looked, LookOrder, VisionInput

ENOUGH = 300
"""Looks after which a history has become long."""


@workflow.defn(name="VisionWorkflow")
class VisionWorkflow:
    def __init__(self) -> None:
        self._waiting: list[LookOrder] = []
        self._running: set[asyncio.Task[None]] = set()
        self._calls = 1
        self._done = 0

    @workflow.signal
    def look(self, order: LookOrder) -> None:
        self._calls = order.calls
        # A signal may be delivered twice.
        if order not in self._waiting:
            self._waiting.append(order)

    @workflow.run
    async def run(self, order: VisionInput) -> None:
        for each in order.waiting:
            self.look(each)
        while not self._is_long():
            if self._waiting and len(self._running) < self._calls:
                self._start(self._waiting.pop(0))
            elif not await self._something_happens(timedelta(seconds=order.idle_seconds)):
                return
        await asyncio.gather(*self._running)
        workflow.continue_as_new(VisionInput(self._waiting, order.idle_seconds))

    async def _something_happens(self, idle: timedelta) -> bool:
        """False when there was nothing to do for so long."""
        looks, running = len(self._waiting), len(self._running)
        try:
            await workflow.wait_condition(
                lambda: (len(self._waiting), len(self._running)) != (looks, running), timeout=None if running else idle
            )
        except TimeoutError:
            # A signal may have come in the same moment.
            return bool(self._waiting)
        return True

    def _is_long(self) -> bool:
        return self._done >= ENOUGH or workflow.info().is_continue_as_new_suggested()

    def _start(self, order: LookOrder) -> None:
        task = asyncio.create_task(self._look(order))
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._done += 1

    async def _look(self, order: LookOrder) -> None:
        try:
            seen = await LOOK_AT_CLIP.patiently(order.clip, timedelta(seconds=order.patience_seconds))
            answer = Looked(order.md5, seen.state)
        except ActivityError as error:
            answer = Looked(order.md5, "", str(error.cause or error))
        try:
            await workflow.get_external_workflow_handle(order.workflow_id).signal("looked", answer)
        except FailureError:
            # Whoever asked has ended, which is theirs to decide; what was seen is stored.
            workflow.logger.info("%s has not waited for its answer", order.workflow_id)
