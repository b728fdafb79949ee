"""One item through one stage: which activity, for how long and how often is the table's to say."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError

from found_footy.domain.clips.stages import Stage, stage_called
from found_footy.workflows import contracts
from found_footy.workflows.library_contracts import FAIL_STAGE, StageDone, StageFailed, StageInput

FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=1)
PATIENCE = timedelta(days=2)
"""How long a failure waits to be written down while the database is away; after that the item is taken again."""


@workflow.defn(name="StageWorkflow")
class StageWorkflow:
    @workflow.run
    async def run(self, order: StageInput) -> StageDone:
        try:
            stage = stage_called(order.stage)
        except KeyError:
            # Of another version, in which there is such a stage: the item waits for that one.
            raise ApplicationError(
                f"there is no stage {order.stage!r}", type="UnknownStage", non_retryable=True
            ) from None
        try:
            return await _worked(stage, order)
        except ActivityError as error:
            failed = _failure(order, error)
        await FAIL_STAGE.patiently(failed, PATIENCE)
        return StageDone(done=False)


async def _worked(stage: Stage, order: StageInput) -> StageDone:
    done: StageDone = await workflow.execute_activity(
        stage.activity,
        order,
        result_type=StageDone,
        # Queues of its own, so that no goal waits behind a film, nor a goal's clip.
        task_queue=f"{workflow.info().task_queue}-{stage.queue_for(order.lane)}",
        start_to_close_timeout=stage.timeout,
        heartbeat_timeout=contracts.HEARTBEAT,
        retry_policy=RetryPolicy(
            initial_interval=FIRST_WAIT,
            backoff_coefficient=2.0,
            maximum_interval=LONGEST_WAIT,
            maximum_attempts=stage.attempts,
        ),
    )
    return done


def _failure(order: StageInput, error: ActivityError) -> StageFailed:
    cause = error.cause
    if isinstance(cause, ApplicationError):
        said, kind = cause.message, cause.type or "ApplicationError"
        return StageFailed(order.stage, order.item, said, kind, retryable=not cause.non_retryable)
    if isinstance(cause, TimeoutError):
        # Out of time, or whoever was at it died each time.
        return StageFailed(order.stage, order.item, "it was not finished in time", "Timeout", retryable=True)
    return StageFailed(order.stage, order.item, str(cause or error), type(cause or error).__name__, retryable=True)
