"""Temporal workers. All workers are built here, so that each has the `ActivityBoundary`."""

from __future__ import annotations

import asyncio
import gc
import logging
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

log = logging.getLogger(__name__)

MAX_RETRY_AFTER = timedelta(minutes=5)
GRACEFUL_SHUTDOWN = timedelta(seconds=10)
"""Activities that run longer than this after a shutdown are cancelled and retried by another worker."""


class ActivityBoundary(Interceptor):
    """Sends heartbeats while an activity runs, and translates our errors into Temporal's."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _BoundedActivity(next)


class _BoundedActivity(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        heartbeats = asyncio.create_task(_send_heartbeats())
        try:
            return await super().execute_activity(input)
        except FootyError as error:
            raise application_error(error) from error
        finally:
            heartbeats.cancel()


async def _send_heartbeats() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(activity_policy.HEARTBEAT_TIMEOUT.total_seconds() / 3)


def application_error(error: FootyError) -> ApplicationError:
    """The next attempt waits for the service's Retry-After; if that exceeds MAX_RETRY_AFTER, there is none."""
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


def pipeline_worker(
    client: Client,
    task_queue: str,
    workflows: Sequence[type],
    activities: Sequence[Callable[..., Any]],
    *,
    workflow_runner: WorkflowRunner | None = None,
) -> Worker:
    """Runs workflows and their activities. Workflows run without Temporal's sandbox unless a test passes one."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        interceptors=[ActivityBoundary()],
        max_concurrent_workflow_tasks=10,
        max_concurrent_activities=30,
        # Eager execution would give all vision checks to the worker that just ran their workflow, and its OCR handles
        # one at a time. Without it they spread over all workers.
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        # The workflows of a killed worker move to another one after this time instead of the default of 10 s.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        # The sandbox detects non-deterministic code; tests use it, and production saves its cost.
        workflow_runner=workflow_runner or UnsandboxedWorkflowRunner(),
    )


def activity_worker(
    client: Client, task_queue: str, activities: Sequence[Callable[..., Any]], *, max_concurrent: int
) -> Worker:
    """Runs activities of a queue with its own concurrency limit."""
    return Worker(
        client,
        task_queue=task_queue,
        activities=activities,
        interceptors=[ActivityBoundary()],
        max_concurrent_activities=max_concurrent,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
    )


GC_THRESHOLDS = (10_000, 20, 50)
"""Python's own thresholds, meant for small programs, took a third of the CPU time of a poll of 1,000 matches."""


def tune_garbage_collection() -> None:
    """Keep the collector from scanning what was loaded so far, which lives as long as the process, and run it less."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def run_workers(workers: Sequence[Worker], stop: asyncio.Event, guard: Coroutine[Any, Any, None]) -> None:
    """Run the workers until `stop`, or until one fails, or until `guard` returns or raises, which is raised again."""
    running = [asyncio.create_task(worker.run()) for worker in workers]
    log.info("worker is ready", extra={"action": "worker_ready", "task_queue": workers[0].task_queue})
    guarding = asyncio.create_task(guard, name="worker guard")
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({*running, stopping, guarding}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    await asyncio.gather(*(worker.shutdown() for worker in workers))
    await asyncio.gather(*running)
    if guarding.done():
        guarding.result()
    guarding.cancel()
    log.info("worker has stopped", extra={"action": "worker_stopped"})
