"""Dispatcher workflow, which starts a stage for each pending item, and the workflow of one item in one stage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from found_footy.library.stages import (
    STAGES,
    TIMEOUT,
    FindWorkInput,
    LibraryInput,
    LibraryStage,
    PendingWork,
    StageFailure,
    StageInput,
    StageResult,
    find_stage,
    stage_workflow_id,
)
from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind
from found_footy.runtime.workflow_limits import execution_timeout

with workflow.unsafe.imports_passed_through():
    from found_footy.library.activities import DispatchActivities, StageActivities

FIND_WORK = ActivityPolicy(timedelta(seconds=90), attempts=3)
"""A long poll of 20 seconds."""
DELETE_LEFTOVERS = ActivityPolicy(timedelta(minutes=5), attempts=3)
FAIL_STAGE = ActivityPolicy(timedelta(seconds=30), attempts=10).within(timedelta(days=2))
"""If the database is unavailable for longer, the item is still in its working state and is taken again."""
INITIAL_BACKOFF = timedelta(seconds=2)
MAX_BACKOFF = timedelta(minutes=1)
ERROR_PAUSE = 2.0
"""Seconds after a failed round, for example because the database is unavailable."""

STAGE_ACTIVITIES: Mapping[str, Callable[[StageActivities, StageInput], Awaitable[StageResult]]] = {
    "download_source": StageActivities.download_source,
    "splice_source": StageActivities.splice_source,
    "make_sprites": StageActivities.make_sprites,
    "take_keyframes": StageActivities.take_keyframes,
    "embed_clip": StageActivities.embed_clip,
    "clean_up_clip": StageActivities.clean_up_clip,
}
assert STAGE_ACTIVITIES.keys() == {stage.activity for stage in STAGES}


@workflow.defn(name="StageWorkflow")
class StageWorkflow:
    """One item in one stage. The workflow id prevents concurrent runs."""

    @workflow.run
    async def run(self, stage_input: StageInput) -> StageResult:
        try:
            stage = find_stage(stage_input.stage)
        except KeyError:
            # Started by a version that has this stage: the item waits for a worker of that version.
            raise ApplicationError(
                f"unknown stage {stage_input.stage!r}", type="UnknownStage", non_retryable=True
            ) from None
        try:
            return await workflow.execute_activity_method(
                STAGE_ACTIVITIES[stage.activity], stage_input, **_stage_policy(stage, stage_input).options()
            )
        except ActivityError as error:
            failure = _failure(stage_input, error)
        await workflow.execute_activity_method(DispatchActivities.fail_stage, failure, **FAIL_STAGE.options())
        return StageResult(done=False)


def _stage_policy(stage: LibraryStage, stage_input: StageInput) -> ActivityPolicy:
    """Run on the queue of the item's lane, so that no goal waits behind a long film."""
    return ActivityPolicy(
        stage.timeout_of(stage_input.seconds),
        attempts=stage.attempts,
        initial_backoff=INITIAL_BACKOFF,
        max_backoff=MAX_BACKOFF,
    ).on(WorkKind.LIBRARY, stage_input.lane.queue_suffix)


def _failure(stage_input: StageInput, error: ActivityError) -> StageFailure:
    cause = error.cause
    if isinstance(cause, ApplicationError):
        kind = cause.type or "ApplicationError"
        return StageFailure(stage_input.stage, stage_input.item, cause.message, kind, retryable=not cause.non_retryable)
    if isinstance(cause, TimeoutError):
        # The activity timed out, or its worker died at each attempt.
        return StageFailure(stage_input.stage, stage_input.item, "stage timed out", TIMEOUT, retryable=True)
    return StageFailure(
        stage_input.stage, stage_input.item, str(cause or error), type(cause or error).__name__, retryable=True
    )


@dataclass(frozen=True)
class LibraryResult:
    rounds: int
    started: int


@workflow.defn(name="LibraryWorkflow")
class LibraryWorkflow:
    """Dispatcher: in each round, finds the pending items and starts a workflow for each."""

    def __init__(self) -> None:
        self._deleting: asyncio.Task[None] | None = None

    @workflow.run
    async def run(self, stage_input: LibraryInput) -> LibraryResult:
        started = done = 0
        while done < stage_input.rounds and not workflow.info().is_continue_as_new_suggested():
            done += 1
            try:
                # Returns as soon as there is work to start, or after the long poll.
                pending = await workflow.execute_activity_method(
                    DispatchActivities.find_work, FindWorkInput(), **FIND_WORK.options()
                )
            except ActivityError as error:
                workflow.logger.warning("cannot find library work: %s", error.cause or error)
                await asyncio.sleep(ERROR_PAUSE)
                continue
            started += await self._start(pending)
            if pending and done < stage_input.rounds:
                # Temporal lists a workflow as running shortly after its start.
                await asyncio.sleep(stage_input.seconds)
        if self._deleting is not None:
            await self._deleting
        return LibraryResult(done, started)

    async def _start(self, pending: PendingWork) -> int:
        if pending.deletions and (self._deleting is None or self._deleting.done()):
            # Concurrent with the rounds: a hanging object store must not delay them.
            self._deleting = asyncio.create_task(_delete_leftovers())
        return sum(await asyncio.gather(*map(_start_stage, pending.work)))


async def _delete_leftovers() -> None:
    try:
        await workflow.execute_activity_method(
            DispatchActivities.delete_leftovers, FindWorkInput(), **DELETE_LEFTOVERS.options()
        )
    except ActivityError as error:
        workflow.logger.warning("cannot delete leftover objects: %s", error.cause or error)


async def _start_stage(stage_input: StageInput) -> bool:
    try:
        await workflow.start_child_workflow(
            StageWorkflow.run,
            stage_input,
            id=stage_workflow_id(stage_input.stage, stage_input.item),
            parent_close_policy=ParentClosePolicy.ABANDON,
            # An item may enter the same stage again; a running workflow is left alone.
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            execution_timeout=execution_timeout(StageWorkflow),
        )
    except WorkflowAlreadyStartedError:
        return False
    return True
