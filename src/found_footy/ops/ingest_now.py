"""An ingest that somebody waits for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings
from found_footy.domain import errors
from found_footy.domain.errors import EngineError, FootyError
from found_footy.workflows.contracts import IngestInput, IngestResult
from found_footy.workflows.ingest import IngestWorkflow

PATIENCE = timedelta(minutes=10)


async def ingest_now(settings: Settings, order: IngestInput) -> IngestResult:
    client = await connect_temporal(settings)
    if not await _has_workers(client, settings.task_queue):
        raise EngineError(f"no worker takes work from {settings.task_queue}; start `footy up` or `footy worker`")
    try:
        return await client.execute_workflow(
            IngestWorkflow.run,
            order,
            id=f"ingest-manual-{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            task_queue=settings.task_queue,
            execution_timeout=PATIENCE,
        )
    except WorkflowFailureError as failure:
        raise as_ours(failure) from failure


def as_ours(failure: BaseException) -> FootyError:
    """The error of our own that an activity raised, as it was before it went through Temporal."""
    cause: BaseException | None = failure
    last = failure
    while cause is not None:
        if isinstance(cause, ApplicationError) and cause.type:
            kind = getattr(errors, cause.type, None)
            if isinstance(kind, type) and issubclass(kind, FootyError) and kind is not errors.FeedSchemaError:
                return kind(cause.message)
        last, cause = cause, cause.__cause__
    return EngineError(f"the ingest failed: {last}")


async def _has_workers(client: Client, queue: str) -> bool:
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    return bool(answer.pollers)
