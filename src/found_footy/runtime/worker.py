"""Temporal workers. All workers are built here, so that each has the `ActivityBoundary`."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    UnsandboxedWorkflowRunner,
    Worker,
    WorkflowRunner,
)

from found_footy.errors import FootyError
from found_footy.runtime import activity_policy
from found_footy.version import current_build

log = logging.getLogger(__name__)

MAX_RETRY_AFTER = timedelta(minutes=5)
GRACEFUL_SHUTDOWN = timedelta(seconds=10)
"""Activities that run longer than this after a shutdown are cancelled and retried by another worker."""
MAX_DRAIN = timedelta(days=7)
"""Longer than any activity."""


class ActivityBoundary(Interceptor):
    """Sends heartbeats while an activity runs, and translates our errors into Temporal's."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._aborted = False

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _BoundedActivity(next, self)

    def abort(self) -> None:
        """Cancel all running activities, which other workers then retry."""
        self._aborted = True
        for task in self._running:
            task.cancel()

    async def run(self, activity: Coroutine[Any, Any, Any]) -> Any:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            return await activity
        except asyncio.CancelledError:
            if self._aborted:
                raise ApplicationError("the worker is stopping", type="WorkerStopping") from None
            raise
        finally:
            self._running.discard(task)


class _BoundedActivity(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, boundary: ActivityBoundary) -> None:
        super().__init__(next)
        self._boundary = boundary

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        heartbeats = asyncio.create_task(_send_heartbeats())
        try:
            return await self._boundary.run(super().execute_activity(input))
        except FootyError as error:
            raise application_error(error) from error
        finally:
            heartbeats.cancel()


async def _send_heartbeats() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(activity_policy.HEARTBEAT_TIMEOUT.total_seconds() / 3)


def application_error(error: FootyError) -> ApplicationError:
    """Translate an error. Its Retry-After delays the next attempt, and prevents it if above MAX_RETRY_AFTER."""
    wait = timedelta(seconds=getattr(error, "retry_after", None) or 0)
    return ApplicationError(
        str(error),
        type=error.kind,
        non_retryable=not error.retryable or wait > MAX_RETRY_AFTER,
        next_retry_delay=wait if timedelta(0) < wait <= MAX_RETRY_AFTER else None,
    )


def schedule_delay() -> timedelta:
    """Time between scheduling of the current activity and start of this attempt, by Temporal's clock."""
    info = activity.info()
    return max(timedelta(0), info.started_time - info.scheduled_time)


def activities_of(*owners: object) -> list[Callable[..., Any]]:
    """Return the bound activity methods of the given objects."""
    return [
        getattr(owner, name)
        for owner in owners
        for name in dir(type(owner))
        if hasattr(getattr(type(owner), name), "__temporal_activity_definition")
    ]


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pipeline_worker(
    client: Client,
    task_queue: str,
    workflows: Sequence[type],
    activities: Sequence[Callable[..., Any]],
    *,
    workflow_runner: WorkflowRunner | None = None,
    max_concurrent: int = 30,
    graceful_shutdown: timedelta = GRACEFUL_SHUTDOWN,
) -> Worker:
    """Runs workflows and the activities of their queue, without Temporal's sandbox unless a test passes one."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        interceptors=[ActivityBoundary()],
        # Without it, Temporal's SDK reads the code of every loaded module to compute one.
        build_id=str(current_build()),
        max_concurrent_workflow_tasks=10,
        max_concurrent_activities=max_concurrent,
        # Eager execution would give activities to the worker that just ran their workflow, even if it is busy.
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=graceful_shutdown,
        # After this time, workflows of a killed worker move to another one; the default is 10 s.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        # The sandbox detects non-deterministic code. Tests use it; production avoids its cost.
        workflow_runner=workflow_runner or UnsandboxedWorkflowRunner(),
    )


def activity_worker(
    client: Client,
    task_queue: str,
    activities: Sequence[Callable[..., Any]],
    *,
    max_concurrent: int,
    graceful_shutdown: timedelta = GRACEFUL_SHUTDOWN,
) -> Worker:
    """Runs activities of a queue with its own concurrency limit."""
    return Worker(
        client,
        task_queue=task_queue,
        activities=activities,
        interceptors=[ActivityBoundary()],
        # Without it, Temporal's SDK reads the code of every loaded module to compute one.
        build_id=str(current_build()),
        max_concurrent_activities=max_concurrent,
        # Few pollers: a process has a worker for each of its queues.
        max_concurrent_activity_task_polls=2,
        graceful_shutdown_timeout=graceful_shutdown,
    )


GC_THRESHOLDS = (10_000, 20, 50)
"""With Python's defaults, garbage collection took a third of the CPU time of a poll of 1,000 matches."""


def tune_garbage_collection() -> None:
    """Exclude all objects loaded so far from garbage collection, and run it less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def _shut_down(workers: Sequence[Worker]) -> None:
    await asyncio.gather(*(worker.shutdown() for worker in workers))


async def run_workers(
    workers: Sequence[Worker], stop: asyncio.Event, guard: Coroutine[Any, Any, None], drain: asyncio.Event | None = None
) -> None:
    """Run the workers until `stop` is set, one of them fails, or `guard` ends. An error of `guard` is raised.

    After `drain` is set, they take no new tasks and finish running ones without a time limit, until `stop` is set. This
    requires workers built with MAX_DRAIN.
    """
    running = [asyncio.create_task(worker.run()) for worker in workers]
    log.info("worker is ready", extra={"action": "worker_ready", "task_queue": workers[0].task_queue})
    guarding = asyncio.create_task(guard, name="worker guard")
    stopping = asyncio.create_task(stop.wait())
    draining = asyncio.create_task((drain or asyncio.Event()).wait())
    await asyncio.wait({*running, stopping, draining, guarding}, return_when=asyncio.FIRST_COMPLETED)
    ended = asyncio.create_task(_shut_down(workers))
    if draining.done() and not stop.is_set():
        log.info("worker is draining: finishing its running tasks", extra={"action": "worker_draining"})
        await asyncio.wait([ended, stopping], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.wait({ended}, timeout=GRACEFUL_SHUTDOWN.total_seconds())
    if not ended.done():
        for worker in workers:
            for interceptor in worker.config()["interceptors"]:
                if isinstance(interceptor, ActivityBoundary):
                    interceptor.abort()
    await ended
    stopping.cancel()
    draining.cancel()
    await asyncio.gather(*running)
    if guarding.done():
        guarding.result()
    guarding.cancel()
    log.info("worker has stopped", extra={"action": "worker_stopped"})
