"""Workers for tests: the real workflows, with fake activities under the real names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, get_type_hints
from uuid import uuid4

from temporalio import activity
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from found_footy.app import workflows
from found_footy.runtime.queues import WorkKind, queue_name
from found_footy.runtime.worker import activity_worker, pipeline_worker

Fake = Callable[[Any], Awaitable[Any]]


def fake_activity(method: Callable[..., Any], fake: Fake) -> Callable[..., Any]:
    """An activity with the name and the types of `method` (`Owner.method`) that calls `fake`."""

    async def run(argument: Any) -> Any:
        return await fake(argument)

    *_, argument, result = get_type_hints(method).values()
    run.__annotations__ = {"argument": argument, "return": result}
    return activity.defn(name=getattr(method, "__temporal_activity_definition").name)(run)


@activity.defn(dynamic=True)
async def _not_faked(_: Sequence[RawValue]) -> None:
    """An activity without a fake fails at once, instead of being retried until its policy gives up."""
    raise ApplicationError(f"{activity.info().activity_type} has no fake", non_retryable=True)


def sandbox() -> SandboxedWorkflowRunner:
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules("found_footy"))


@asynccontextmanager
async def worker_with(client: Client, fakes: Mapping[Any, Any]) -> AsyncIterator[str]:
    """Yields the task queue. `fakes` maps activity methods to the coroutine functions that stand in for them."""
    queue = f"test-{uuid4()}"
    activities = [fake_activity(method, fake) for method, fake in fakes.items()] + [_not_faked]
    async with live_workers(client, queue, workflows(), activities):
        yield queue


@asynccontextmanager
async def live_workers(
    client: Client, queue: str, workflows: Sequence[type], activities: Sequence[Callable[..., Any]]
) -> AsyncIterator[None]:
    """Workers of all live kinds of work, each with all the activities."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            pipeline_worker(client, queue, workflows, activities, workflow_runner=sandbox())
        )
        for kind in (WorkKind.NETWORK, WorkKind.MEDIA, WorkKind.BROWSER):
            worker = activity_worker(client, queue_name(queue, kind), activities, max_concurrent=100)
            await stack.enter_async_context(worker)
        yield
