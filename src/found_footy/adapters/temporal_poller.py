"""Ends the polls that are under way in Temporal, and has the schedule begin a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from temporalio.client import Client, ScheduleOverlapPolicy
from temporalio.service import RPCError, RPCStatusCode

from found_footy.domain.errors import EngineError

SECONDS = 10.0
MOST_ENDED = 100
"""There is one poll at a time, and one of each feed."""


class TemporalPoller:
    """`client` may be lazy. Only workflows of these types on this task queue are ended."""

    def __init__(
        self, client: Client, task_queue: str, workflows: Sequence[str], schedule: str, seconds: float = SECONDS
    ) -> None:
        self._client = client
        self._queue = task_queue
        self._workflows = tuple(workflows)
        self._schedule = schedule
        self._seconds = seconds

    async def restart(self) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                ended = await self._end_running()
                return f"polls ended: {ended}; {await self._begin()}"
        except TimeoutError:
            raise EngineError(f"Temporal has not done it within {self._seconds:g} s") from None
        except (RPCError, RuntimeError, OSError) as error:
            raise EngineError(f"Temporal refuses: {str(error)[:300]}") from error

    async def _end_running(self) -> int:
        types = ", ".join(f"'{name}'" for name in self._workflows)
        query = f"ExecutionStatus = 'Running' AND TaskQueue = '{self._queue}' AND WorkflowType IN ({types})"
        ended = 0
        async for execution in self._client.list_workflows(query, limit=MOST_ENDED):
            handle = self._client.get_workflow_handle(execution.id, run_id=execution.run_id)
            try:
                await handle.terminate(reason="the feeds are failing, so the poll is started anew")
                ended += 1
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:  # it has ended meanwhile
                    raise
        return ended

    async def _begin(self) -> str:
        handle = self._client.get_schedule_handle(self._schedule)
        state = (await handle.describe()).schedule.state
        if state.paused:
            return f"none begun: the schedule {self._schedule} is paused ({state.note or 'without a note'})"
        # The one that was just ended may still count as running for a moment.
        await handle.trigger(overlap=ScheduleOverlapPolicy.BUFFER_ONE)
        return "a new one begun"
