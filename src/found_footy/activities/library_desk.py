"""The library's quick work: what is to be done, what has failed, which edit is final, and what is left to delete.

It runs beside the live goals' work, never behind films.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain, product, zip_longest

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.activities.boundary import implements
from found_footy.domain.clips.stages import STAGES, Lane, stage_called
from found_footy.domain.errors import EngineError, ObjectStoreError, ObjectStoreUnavailable
from found_footy.ports import ObjectStore
from found_footy.ports_library import LibraryStore
from found_footy.workflows.contracts import Done
from found_footy.workflows.library_contracts import (
    DELETE_LEFTOVERS,
    FAIL_STAGE,
    FIND_LIBRARY_WORK,
    SETTLE_EDIT,
    Edit,
    EditInput,
    LibraryWork,
    LookInput,
    StageFailed,
    Work,
    edit_id,
    stage_id,
)

log = logging.getLogger(__name__)

WAIT = 20.0
"""Seconds for which it is looked again and again before the answer is that there is nothing to do."""
MOST_STARTS = 100
"""At a time: more would only wait in Temporal instead of in the database."""
MOST_TAKEN_IN = 100
MOST_DELETED = 500
LONGEST_ERROR = 500
RUNNING = "ExecutionStatus = 'Running' AND WorkflowType IN ('StageWorkflow', 'EditWorkflow')"


class LibraryDesk:
    def __init__(
        self,
        store: LibraryStore,
        objects: ObjectStore,
        client: Client,
        models: Mapping[str, str],
        now: Callable[[], datetime],
        *,
        seconds: float,
        queue_most: int,
        wait: float = WAIT,
    ) -> None:
        """`models` are those that are switched on, with their versions."""
        self._store = store
        self._objects = objects
        self._client = client
        self._models = models
        self._now = now
        self._seconds = seconds
        self._queue_most = queue_most
        self._wait = wait

    @implements(FIND_LIBRARY_WORK)
    async def find_library_work(self, order: LookInput) -> LibraryWork:
        looking = asyncio.create_task(self._look_for_a_while())
        # A worker that is told to stop would wait for us, also where the database does not answer.
        stopping = asyncio.create_task(activity.wait_for_worker_shutdown())
        try:
            await asyncio.wait({looking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return looking.result() if looking.done() else LibraryWork()
        finally:
            looking.cancel()
            stopping.cancel()
            await asyncio.gather(looking, stopping, return_exceptions=True)

    async def _look_for_a_while(self) -> LibraryWork:
        until = asyncio.get_running_loop().time() + self._wait
        while True:
            found = await self._look()
            left = until - asyncio.get_running_loop().time()
            if found.work or found.edits or found.deletions or left <= 0:
                return found
            await asyncio.sleep(min(self._seconds, left))

    async def _look(self) -> LibraryWork:
        now = self._now()
        taken = await self._store.take_in(now, MOST_TAKEN_IN)
        rows = []
        for lane, stage in product(Lane, STAGES):
            items = await self._store.work_for(stage, self._models, now, self._queue_most, lane)
            rows.append([Work(stage.name, item, lane) for item in items])
        edits = await self._store.open_edits(MOST_STARTS)
        running = await self._running() if any(rows) or edits else frozenset()
        work = [[each for each in row if stage_id(each.stage, each.item) not in running] for row in rows]
        return LibraryWork(
            taken,
            fairly(work, MOST_STARTS),
            [Edit(each.action_id, each.settles_at) for each in edits if edit_id(each.action_id) not in running],
            len(await self._store.deletions(1)),
        )

    async def _running(self) -> frozenset[str]:
        """What is under way needs no start. Temporal knows it a moment later only, which then costs a start in vain."""
        try:
            return frozenset([execution.id async for execution in self._client.list_workflows(RUNNING)])
        except RPCError as error:
            raise EngineError(f"Temporal does not tell what is running: {error}") from error

    @implements(FAIL_STAGE)
    async def fail_stage(self, order: StageFailed) -> Done:
        stage = stage_called(order.stage)
        log.error(
            order.error,
            extra={"action": "stage_failed", "stage": order.stage, "item": order.item, "error": order.kind},
        )
        error = order.error[:LONGEST_ERROR]
        await self._store.fail(stage, order.item, error, order.kind, order.retryable, self._now())
        return Done()

    @implements(SETTLE_EDIT)
    async def settle_edit(self, order: EditInput) -> Done:
        if await self._store.settle_edit(order.action_id, self._now()):
            log.info("an edit is final", extra={"action": "edit_settled", "edit": order.action_id})
        return Done()

    @implements(DELETE_LEFTOVERS)
    async def delete_leftovers(self, order: LookInput) -> Done:
        """What cannot be deleted now stays on the list, with the reason."""
        keys = await self._store.deletions(MOST_DELETED)
        try:
            await self._objects.delete(keys)
        except ObjectStoreUnavailable as error:
            await self._store.note_not_deleted(keys, error)
        except ObjectStoreError:
            # One of them spoils it for the others.
            await self._delete_singly(keys)
        else:
            await self._store.note_deleted(keys)
        return Done()

    async def _delete_singly(self, keys: Sequence[str]) -> None:
        for key in keys:
            try:
                await self._objects.delete([key])
            except ObjectStoreError as error:
                await self._store.note_not_deleted([key], error)
            else:
                await self._store.note_deleted([key])


def fairly(rows: Sequence[Sequence[Work]], most: int) -> list[Work]:
    """Of each stage and lane in turn, so that a heap of one kind does not keep the others waiting."""
    turns = chain.from_iterable(zip_longest(*rows))
    return [each for each in turns if each is not None][:most]
