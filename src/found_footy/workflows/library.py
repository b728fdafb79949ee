"""Finds what the library has to do, by the states in the database, and starts it: each piece once at a time.

A schedule runs one of these after the other. Nothing is lost between them: whatever is to do stands in the rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from found_footy.workflows.library_contracts import (
    DELETE_LEFTOVERS,
    FIND_LIBRARY_WORK,
    EditInput,
    LibraryInput,
    LibraryWork,
    LookInput,
    StageInput,
    edit_id,
    stage_id,
)
from found_footy.workflows.library_edit import EditWorkflow
from found_footy.workflows.library_stage import StageWorkflow

PAUSE = 2.0
"""Seconds after a round that failed: the database is away."""


@dataclass(frozen=True)
class LibraryResult:
    rounds: int
    started: int


@workflow.defn(name="LibraryWorkflow")
class LibraryWorkflow:
    @workflow.run
    async def run(self, order: LibraryInput) -> LibraryResult:
        started = done = 0
        while done < order.rounds and not workflow.info().is_continue_as_new_suggested():
            done += 1
            try:
                # It comes back when there is something to start, or after a while: an idle library costs next to
                # nothing.
                work = await FIND_LIBRARY_WORK(LookInput(workflow.now()))
            except ActivityError as error:
                workflow.logger.warning("the library waits: %s", error.cause or error)
                await asyncio.sleep(PAUSE)
                continue
            started += sum(await asyncio.gather(*self._starts(work)))
            if work.deletions:
                await self._delete()
            if (work.work or work.edits or work.deletions) and done < order.rounds:
                # What was just started shows as running only a moment later.
                await asyncio.sleep(order.seconds)
        return LibraryResult(done, started)

    def _starts(self, work: LibraryWork) -> Sequence[Any]:
        stages = [
            _started(StageWorkflow.run, StageInput(each.stage, each.item, each.lane), stage_id(each.stage, each.item))
            for each in work.work
        ]
        edits = [
            _started(EditWorkflow.run, EditInput(each.action_id, each.settles_at), edit_id(each.action_id))
            for each in work.edits
        ]
        return [*edits, *stages]

    async def _delete(self) -> None:
        try:
            await DELETE_LEFTOVERS(LookInput(workflow.now()))
        except ActivityError as error:
            workflow.logger.warning("objects stay that nobody needs: %s", error.cause or error)


async def _started(run: Any, order: Any, id_: str) -> bool:
    try:
        await workflow.start_child_workflow(
            run,
            order,
            id=id_,
            parent_close_policy=ParentClosePolicy.ABANDON,
            # An item comes to the same stage again after a failure; one that is there already is left alone.
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        )
    except WorkflowAlreadyStartedError:
        return False
    return True
