"""Read-only status of Temporal: workers, queues, workflows and schedules."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, ScheduleListDescription
from temporalio.service import RPCError

from found_footy.errors import EngineError
from found_footy.operations.models import Queue, ScheduleState, StuckWorkflow, TemporalState, Worker
from found_footy.runtime.workflow_limits import WORKFLOW_LIMITS, WorkflowLimit
from found_footy.text import shorten

SECONDS = 2.0
MAX_SCHEDULES = 20
MAX_STUCK = 5
WORKFLOWS, ACTIVITIES = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
KINDS = ("network", "media", "browser", "library", "library-films")
"""Activity queues besides that of the workflows."""
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
                return await self._read(now)
        except TimeoutError:
            raise EngineError(f"no response within {self._seconds:g} s") from None
        except (RPCError, RuntimeError, OSError) as error:
            raise EngineError(shorten(str(error))) from error

    async def _read(self, now: datetime) -> TemporalState:
        queues, running, failed, schedules, stuck = await asyncio.gather(
            self.queues(),
            asyncio.gather(*(self._running(name) for name in self._workflows)),
            self._failed(now - timedelta(hours=1)),
            self._schedules(),
            self._stuck(now),
        )
        counted = dict(zip(self._workflows, running, strict=True))
        return TemporalState(self._queue, queues, counted, failed, schedules, stuck)

    async def queues(self) -> tuple[Queue, ...]:
        """Return backlog and workers of each queue. Raises the errors of the client."""
        described = (
            self._describe("workflow", self._queue, WORKFLOWS),
            self._describe("activity", self._queue, ACTIVITIES),
            *(self._describe(kind, f"{self._queue}-{kind}", ACTIVITIES) for kind in KINDS),
        )
        return tuple(await asyncio.gather(*described))

    async def _describe(self, kind: str, queue: str, number: TaskQueueType.ValueType) -> Queue:
        answer = await self._client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self._client.namespace,
                task_queue=TaskQueue(name=queue),
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

    async def _stuck(self, now: datetime) -> tuple[StuckWorkflow, ...]:
        listed = self._client.list_workflows(
            stuck_query(now), limit=MAX_STUCK, rpc_timeout=timedelta(seconds=self._seconds)
        )
        found = [StuckWorkflow(each.id[:200], each.workflow_type, each.start_time) async for each in listed]
        return tuple(sorted(found, key=lambda each: each.since))

    async def _schedules(self) -> tuple[ScheduleState, ...]:
        listed = await self._client.list_schedules(
            page_size=MAX_SCHEDULES, rpc_timeout=timedelta(seconds=self._seconds)
        )
        found = []
        async for schedule in listed:
            found.append(_schedule(schedule))
            if len(found) == MAX_SCHEDULES:
                break
        return tuple(sorted(found, key=lambda each: each.id))


def stuck_query(now: datetime, limits: Mapping[str, WorkflowLimit] = WORKFLOW_LIMITS) -> str:
    """Return a query for running workflows that exceed the time limit of their type."""
    by_type = [
        f"(WorkflowType = '{name}' AND StartTime < '{(now - limit.stuck_after).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}')"
        for name, limit in limits.items()
    ]
    return f"ExecutionStatus = 'Running' AND ({' OR '.join(by_type)})"


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
