"""The number of looks at once, over all workers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from found_footy.workflows import vision
from found_footy.workflows.clip_contracts import LOOK_AT_CLIP, Looked, LookOrder, VideoRef, VideoState, VisionInput
from found_footy.workflows.registry import WORKFLOWS
from found_footy.workflows.vision import VisionWorkflow
from tests.support.workers import faked, sandbox


@workflow.defn(name="Asker")
class Asker:
    """Stands for a download that waits for so many answers."""

    def __init__(self) -> None:
        self._answers: list[str] = []

    @workflow.signal
    def looked(self, answer: Looked) -> None:
        self._answers.append(f"{answer.md5} {answer.state or answer.detail}")

    @workflow.run
    async def run(self, count: int) -> list[str]:
        await workflow.wait_condition(lambda: len(self._answers) == count)
        return sorted(self._answers)


class Eyes:
    def __init__(self, at_once: int = 1) -> None:
        """The first looks wait until there are so many at once, however slowly they come."""
        self.wanted = at_once
        self.at_once = 0
        self.most_at_once = 0
        self.seen: list[str] = []
        self.fails: set[str] = set()

    async def look(self, order: VideoRef) -> VideoState:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            while self.most_at_once < self.wanted:
                await asyncio.sleep(0.01)
            # Long enough that one who is let in against the rule is seen as well.
            await asyncio.sleep(0.1)
        finally:
            self.at_once -= 1
        self.seen.append(order.md5)
        if order.md5 in self.fails:
            raise ApplicationError("cannot be read", non_retryable=True)
        return VideoState("checked")


class Looks:
    def __init__(self, client: Client, queue: str) -> None:
        self.client = client
        self.queue = queue
        self.id = f"vision-{queue}"

    async def asker(self, count: int) -> Any:
        return await self.client.start_workflow(Asker.run, count, id=f"asker-{uuid4()}", task_queue=self.queue)

    async def ask(self, asker: str, name: str, calls: int, patience: float = 120) -> None:
        await self.client.start_workflow(
            VisionWorkflow.run,
            VisionInput(idle_seconds=1.0),
            id=self.id,
            task_queue=self.queue,
            start_signal="look",
            start_signal_args=[LookOrder(asker, "event", name, calls, patience)],
        )


def a_worker(client: Client, queue: str, eyes: Eyes) -> Worker:
    return Worker(
        client,
        task_queue=queue,
        workflows=[*WORKFLOWS, Asker],
        activities=[faked(LOOK_AT_CLIP, VideoRef, eyes.look)],
        workflow_runner=sandbox(),
    )


@pytest.mark.parametrize("calls", [1, 2])
async def test_no_more_looks_at_once_than_configured_over_all_workers(
    temporal: Client, temporal_address: str, calls: int
) -> None:
    """In the seeds' system the limit was each process's own: eight workers made 32 calls against a limit of 2."""
    queue, eyes = f"test-{uuid4()}", Eyes(at_once=calls)
    looks = Looks(temporal, queue)
    others = [await Client.connect(temporal_address) for _ in range(2)]
    async with AsyncExitStack() as stack:
        for client in (temporal, *others):
            await stack.enter_async_context(a_worker(client, queue, eyes))
        asker = await looks.asker(8)
        await asyncio.gather(*(looks.ask(asker.id, f"clip{n}", calls) for n in range(8)))
        assert await asker.result() == [f"clip{n} checked" for n in range(8)]
    assert eyes.most_at_once == calls


async def test_a_clip_that_cannot_be_looked_at_is_told_as_such_and_holds_up_no_other(temporal: Client) -> None:
    queue, eyes = f"test-{uuid4()}", Eyes()
    eyes.fails = {"bad"}
    looks = Looks(temporal, queue)
    async with a_worker(temporal, queue, eyes):
        asker = await looks.asker(2)
        await looks.ask(asker.id, "bad", 1)
        await looks.ask(asker.id, "good", 1)
        assert await asker.result() == ["bad cannot be read", "good checked"]


async def test_an_asker_that_has_ended_holds_up_nobody(temporal: Client) -> None:
    queue, eyes = f"test-{uuid4()}", Eyes()
    looks = Looks(temporal, queue)
    async with a_worker(temporal, queue, eyes):
        asker = await looks.asker(1)
        await looks.ask("asker-nobody", "lost", 1)
        await looks.ask(asker.id, "kept", 1)
        assert await asker.result() == ["kept checked"]


async def test_it_ends_when_there_is_nothing_to_look_at_and_begins_again(temporal: Client) -> None:
    queue, eyes = f"test-{uuid4()}", Eyes()
    looks = Looks(temporal, queue)
    async with a_worker(temporal, queue, eyes):
        for name in ("one", "two"):
            asker = await looks.asker(1)
            await looks.ask(asker.id, name, 1)
            await asker.result()
            handle = temporal.get_workflow_handle(looks.id)
            await asyncio.wait_for(handle.result(), 120)
            assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_a_long_history_is_begun_anew_without_losing_anybody(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vision, "ENOUGH", 3)
    queue, eyes = f"test-{uuid4()}", Eyes()
    looks = Looks(temporal, queue)
    async with a_worker(temporal, queue, eyes):
        asker = await looks.asker(10)
        for number in range(10):
            await looks.ask(asker.id, f"clip{number}", 2)
        await asyncio.wait_for(asker.result(), 120)
    assert sorted(set(eyes.seen)) == [f"clip{n}" for n in range(10)]
    # Temporal lists them a little later.
    async with asyncio.timeout(60):
        while len([run async for run in temporal.list_workflows(f"WorkflowId = '{looks.id}'")]) < 3:
            await asyncio.sleep(0.1)
