"""Read-only status of Temporal: workers, queues, workflows and schedules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, ScheduleListDescription
from temporalio.service import RPCError

from found_footy.errors import EngineError
from found_footy.operations.models import Queue, ScheduleState, TemporalState, Worker

SECONDS = 2.0
MOST_SCHEDULES = 20
QUEUES = {
    "workflow": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    "activity": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}
BAD_ENDS = "ExecutionStatus IN ('Failed', 'TimedOut', 'Terminated')"


class TemporalStatus:
    """`client` may be lazy: it connects on first use."""

    def __init__(self, client: Client, task_queue: str, workflows: Sequence[str], seconds: float = SECONDS) -> None:
        self._client = client
        self._queue = task_queue
        self._workflows = tuple(workflows)
        self._seconds = seconds

    async def read(self, now: datetime) -> TemporalState:
        """Return the status. Raises EngineError."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._look(now)
        except TimeoutError:
            raise EngineError(f"no response within {self._seconds:g} s") from None
        except (RPCError, RuntimeError, OSError) as error:
            raise EngineError(str(error)[:300]) from error

    async def _look(self, now: datetime) -> TemporalState:
        queues, running, failed, schedules = await asyncio.gather(
            asyncio.gather(*(self._describe(kind, number) for kind, number in QUEUES.items())),
            asyncio.gather(*(self._running(name) for name in self._workflows)),
            self._failed(now - timedelta(hours=1)),
            self._schedules(),
        )
        counted = dict(zip(self._workflows, running, strict=True))
        return TemporalState(self._queue, tuple(queues), counted, failed, schedules)

    async def _describe(self, kind: str, number: TaskQueueType.ValueType) -> Queue:
        answer = await self._client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self._client.namespace,
                task_queue=TaskQueue(name=self._queue),
                task_queue_type=number,
                report_stats=True,
            ),
            timeout=timedelta(seconds=self._seconds),
        )
        workers = tuple(Worker(poller.identity[:200], _moment(poller.last_access_time)) for poller in answer.pollers)
        stats = answer.stats
        age = timedelta(seconds=stats.approximate_backlog_age.seconds)
        return Queue(kind, workers, stats.approximate_backlog_count, age)

    async def _running(self, workflow: str) -> int:
        return await self._count(f"ExecutionStatus = 'Running' AND WorkflowType = '{workflow}'")

    async def _failed(self, since: datetime) -> int:
        return await self._count(f"{BAD_ENDS} AND CloseTime > '{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}'")

    async def _count(self, query: str) -> int:
        counted = await self._client.count_workflows(query, rpc_timeout=timedelta(seconds=self._seconds))
        return counted.count

    async def _schedules(self) -> tuple[ScheduleState, ...]:
        listed = await self._client.list_schedules(
            page_size=MOST_SCHEDULES, rpc_timeout=timedelta(seconds=self._seconds)
        )
        found = []
        async for schedule in listed:
            found.append(_schedule(schedule))
            if len(found) == MOST_SCHEDULES:
                break
        return tuple(sorted(found, key=lambda each: each.id))


def _schedule(listed: ScheduleListDescription) -> ScheduleState:
    state = listed.schedule.state if listed.schedule else None
    recent = listed.info.recent_actions if listed.info else ()
    coming = listed.info.next_action_times if listed.info else ()
    return ScheduleState(
        listed.id,
        paused=state.paused if state else False,
        note=state.note if state else None,
        last_run=recent[-1].started_at if recent else None,
        next_run=coming[0] if coming else None,
    )


def _moment(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(UTC)
