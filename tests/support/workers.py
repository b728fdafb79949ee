"""Workers for tests: the real workflows, with activities of the test's own under the real names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from found_footy.workflows.contracts import Call
from found_footy.workflows.registry import WORKFLOWS

Fake = Callable[[Any], Awaitable[Any]]


def faked(call: Call[Any, Any], argument: type, fake: Fake) -> Callable[..., Any]:
    async def run(order: Any) -> Any:
        return await fake(order)

    run.__annotations__ = {"order": argument, "return": call.result}
    return activity.defn(name=call.name)(run)


def sandbox() -> SandboxedWorkflowRunner:
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules("found_footy"))


@asynccontextmanager
async def worker_with(client: Client, fakes: Mapping[Call[Any, Any], tuple[type, Fake]]) -> AsyncIterator[str]:
    """Yields the task queue."""
    queue = f"test-{uuid4()}"
    activities = [faked(call, argument, fake) for call, (argument, fake) in fakes.items()]
    async with Worker(
        client, task_queue=queue, workflows=list(WORKFLOWS), activities=activities, workflow_runner=sandbox()
    ):
        yield queue
