"""The dispatcher and the stages, on a real Temporal server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from found_footy.library import workflow as library
from found_footy.library.activities import DispatchActivities
from found_footy.library.stages import (
    STAGES,
    FindWorkInput,
    Lane,
    LibraryInput,
    PendingWork,
    StageFailure,
    StageInput,
    StageResult,
    find_stage,
    stage_workflow_id,
)
from found_footy.library.workflow import STAGE_ACTIVITIES, LibraryWorkflow, StageWorkflow
from found_footy.runtime.worker import activity_worker
from tests.support.workers import fake_activity, worker_with


class ScriptedLibrary:
    """`rounds` is the work found in each round; `failures` are raised by an item's first attempts."""

    def __init__(self, *rounds: PendingWork | Exception) -> None:
        self.rounds = list(rounds)
        self.failures: dict[int, list[Exception]] = {}
        self.done: list[tuple[str, int, str]] = []
        """Activity, item and queue."""
        self.failed: list[StageFailure] = []
        self.deletions = 0
        self.gate: asyncio.Event | None = None
        self.delete_gate: asyncio.Event | None = None

    async def find(self, _: FindWorkInput) -> PendingWork:
        found = self.rounds.pop(0) if self.rounds else PendingWork()
        if isinstance(found, Exception):
            raise found
        return found

    async def fail(self, failure: StageFailure) -> None:
        self.failed.append(failure)

    async def delete(self, _: FindWorkInput) -> None:
        self.deletions += 1
        if self.delete_gate is not None:
            await self.delete_gate.wait()
        if self.deletions == 1:
            raise ApplicationError("the store refuses", non_retryable=True)

    async def work(self, order: StageInput) -> StageResult:
        if self.gate is not None:
            await self.gate.wait()
        info = activity.info()
        self.done.append((info.activity_type, order.item, info.task_queue))
        if self.failures.get(order.item):
            raise self.failures[order.item].pop(0)
        return StageResult(done=True)

    @asynccontextmanager
    async def running(self, client: Client) -> AsyncIterator[str]:
        fakes = {
            DispatchActivities.find_work: self.find,
            DispatchActivities.fail_stage: self.fail,
            DispatchActivities.delete_leftovers: self.delete,
        }
        activities = [fake_activity(method, self.work) for method in STAGE_ACTIVITIES.values()]
        async with (
            worker_with(client, fakes) as queue,
            activity_worker(client, f"{queue}-library", activities, max_concurrent=100),
            activity_worker(client, f"{queue}-library-films", activities, max_concurrent=100),
        ):
            yield queue

    async def dispatch(self, client: Client, queue: str, rounds: int | None = None) -> Any:
        order = LibraryInput(rounds or len(self.rounds), seconds=0.01)
        return await client.execute_workflow(LibraryWorkflow.run, order, id=f"library-{uuid4()}", task_queue=queue)

    async def stage(self, client: Client, queue: str, stage: str, item: int) -> Any:
        order = StageInput(stage, item)
        return await client.execute_workflow(
            StageWorkflow.run, order, id=stage_workflow_id(stage, item), task_queue=queue
        )


def number() -> int:
    """An id that no other test has."""
    return uuid4().int % 10**12


async def ended(client: Client, *ids: str) -> None:
    for id_ in ids:
        await asyncio.wait_for(client.get_workflow_handle(id_).result(), 120)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "INITIAL_BACKOFF", timedelta(milliseconds=20))
    monkeypatch.setattr(library, "ERROR_PAUSE", 0.05)


async def test_pending_items_start_on_the_queue_of_their_lane(temporal: Client) -> None:
    work = [StageInput(stage.name, number(), lane) for stage, lane in product(STAGES, Lane)]
    scripted = ScriptedLibrary(PendingWork(1, work=work), PendingWork())
    async with scripted.running(temporal) as queue:
        result = await scripted.dispatch(temporal, queue)
        await ended(temporal, *(stage_workflow_id(each.stage, each.item) for each in work))
    assert (result.rounds, result.started) == (2, len(work))
    queues = {Lane.GOALS: f"{queue}-library", Lane.FILMS: f"{queue}-library-films"}
    assert set(scripted.done) == {(find_stage(each.stage).activity, each.item, queues[each.lane]) for each in work}
    assert len(scripted.done) == len(work)


async def test_a_running_stage_is_not_started_again(temporal: Client) -> None:
    work = PendingWork(work=[StageInput("sprites", item := number())])
    scripted = ScriptedLibrary(work, work)
    scripted.gate = asyncio.Event()
    async with scripted.running(temporal) as queue:
        result = await scripted.dispatch(temporal, queue)
        scripted.gate.set()
        await ended(temporal, stage_workflow_id("sprites", item))
        assert result.started == 1
        assert len(scripted.done) == 1
        # What has ended can come again.
        scripted.rounds = [work]
        assert (await scripted.dispatch(temporal, queue)).started == 1
        await ended(temporal, stage_workflow_id("sprites", item))
    assert len(scripted.done) == 2


async def test_a_failed_round_is_followed_by_another(temporal: Client) -> None:
    away = ApplicationError("no database", type="StoreUnavailable", non_retryable=True)
    scripted = ScriptedLibrary(away, PendingWork(work=[StageInput("splice", item := number())]))
    async with scripted.running(temporal) as queue:
        result = await scripted.dispatch(temporal, queue)
        await ended(temporal, stage_workflow_id("splice", item))
    assert (result.rounds, result.started) == (2, 1)


async def test_leftovers_are_deleted_and_a_failure_stops_nothing(temporal: Client) -> None:
    scripted = ScriptedLibrary(
        PendingWork(deletions=1), PendingWork(deletions=1), PendingWork(deletions=1), PendingWork()
    )
    async with scripted.running(temporal) as queue:
        assert (await scripted.dispatch(temporal, queue)).rounds == 4
    assert scripted.deletions >= 2


async def test_an_object_store_that_hangs_does_not_delay_stages(temporal: Client) -> None:
    item = number()
    scripted = ScriptedLibrary(PendingWork(deletions=1), PendingWork(work=[StageInput("splice", item)], deletions=1))
    scripted.delete_gate = asyncio.Event()
    async with scripted.running(temporal) as queue:
        dispatching = asyncio.create_task(scripted.dispatch(temporal, queue))
        while not scripted.done:
            await asyncio.sleep(0.05)
        assert scripted.deletions == 1, "one deletion at a time"
        scripted.delete_gate.set()
        assert (await dispatching).started == 1


async def test_a_stage_has_the_attempts_of_its_row(temporal: Client) -> None:
    scripted, item = ScriptedLibrary(), number()
    scripted.failures[item] = [ApplicationError("no answer", type="StoreUnavailable") for _ in range(2)]
    async with scripted.running(temporal) as queue:
        assert (await scripted.stage(temporal, queue, "sprites", item)).done
    assert len(scripted.done) == 3
    assert scripted.failed == []


@pytest.mark.parametrize(
    ("failures", "tries", "kind", "retryable"),
    [
        ([ApplicationError("away", type="StoreUnavailable")] * 3, 3, "StoreUnavailable", True),
        ([ApplicationError("no film", type="NotAVideo", non_retryable=True)], 1, "NotAVideo", False),
        ([ValueError("a fault of our own")] * 3, 3, "ValueError", True),
    ],
)
async def test_a_failure_is_recorded_with_its_class(
    temporal: Client, failures: list[Exception], tries: int, kind: str, retryable: bool
) -> None:
    scripted, item = ScriptedLibrary(), number()
    scripted.failures[item] = list(failures)
    async with scripted.running(temporal) as queue:
        assert not (await scripted.stage(temporal, queue, "sprites", item)).done
    assert len(scripted.done) == tries
    assert scripted.failed == [StageFailure("sprites", item, str(failures[0]).split(": ")[-1], kind, retryable)]


async def test_an_unknown_stage_fails(temporal: Client) -> None:
    scripted = ScriptedLibrary()
    async with scripted.running(temporal) as queue:
        with pytest.raises(WorkflowFailureError) as failure:
            await scripted.stage(temporal, queue, "colouring", number())
    assert "colouring" in str(failure.value.cause)
    assert scripted.failed == []
