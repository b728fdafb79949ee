"""In what order the media queue is worked off when it is long."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner

from found_footy.clips.workflow import HASH, VERIFY
from found_footy.runtime.queues import WorkKind, queue_name
from found_footy.runtime.worker import activity_worker, pipeline_worker

done: list[str] = []
VERIFIED = 100


@activity.defn
async def note(step: str) -> None:
    done.append(step)


@workflow.defn
class LongQueue:
    @workflow.run
    async def run(self) -> None:
        steps = [workflow.start_activity(note, f"verify {number}", **VERIFY.options()) for number in range(VERIFIED)]
        steps.append(workflow.start_activity(note, "hash", **HASH.options()))
        await asyncio.gather(*steps)


async def test_a_verified_clip_is_hashed_before_further_clips_are_verified(temporal: Client) -> None:
    base = f"order-{uuid.uuid4().hex[:8]}"
    media = queue_name(base, WorkKind.MEDIA)
    async with pipeline_worker(temporal, base, [LongQueue], [], workflow_runner=UnsandboxedWorkflowRunner()):
        running = await temporal.start_workflow(
            LongQueue.run, id=base, task_queue=base, execution_timeout=timedelta(minutes=2)
        )
        while await _backlog(temporal, media) <= VERIFIED:
            await asyncio.sleep(0.05)
        async with activity_worker(temporal, media, [note], max_concurrent=1):
            await running.result()
    # By age, it would be the last one. The server may hand out tasks before it has loaded those of the other priority.
    assert done.index("hash") < VERIFIED / 2, done


async def _backlog(client: Client, queue: str) -> int:
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        report_stats=True,
    )
    return (await client.workflow_service.describe_task_queue(request)).stats.approximate_backlog_count
