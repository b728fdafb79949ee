"""The dispatcher, the stages and the timer of edits, on a real Temporal server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from found_footy.domain.clips.stages import STAGES, Lane, stage_called
from found_footy.workflows import library, library_stage
from found_footy.workflows.contracts import Done
from found_footy.workflows.library import LibraryWorkflow
from found_footy.workflows.library_contracts import (
    DELETE_LEFTOVERS,
    FAIL_STAGE,
    FIND_LIBRARY_WORK,
    SETTLE_EDIT,
    Edit,
    EditInput,
    LibraryInput,
    LibraryWork,
    LookInput,
    StageDone,
    StageFailed,
    StageInput,
    Work,
    edit_id,
    stage_id,
)
from found_footy.workflows.library_edit import EditWorkflow
from found_footy.workflows.library_stage import StageWorkflow
from tests.support.workers import worker_with


class World:
    """Rounds give what is to do in each; a stage's item ends well after so many tries that fail."""

    def __init__(self, *rounds: LibraryWork | Exception) -> None:
        self.rounds = list(rounds)
        self.failures: dict[int, list[Exception]] = {}
        self.done: list[tuple[str, int, str]] = []
        """Activity, item and queue."""
        self.failed: list[StageFailed] = []
        self.settled: list[int] = []
        self.deletions = 0
        self.gate: asyncio.Event | None = None

    async def find(self, order: LookInput) -> LibraryWork:
        found = self.rounds.pop(0) if self.rounds else LibraryWork()
        if isinstance(found, Exception):
            raise found
        return found

    async def fail(self, order: StageFailed) -> Done:
        self.failed.append(order)
        return Done()

    async def settle(self, order: EditInput) -> Done:
        self.settled.append(order.action_id)
        return Done()

    async def delete(self, order: LookInput) -> Done:
        self.deletions += 1
        if self.deletions == 1:
            raise ApplicationError("the store refuses", non_retryable=True)
        return Done()

    async def work(self, order: StageInput) -> StageDone:
        if self.gate is not None:
            await self.gate.wait()
        info = activity.info()
        self.done.append((info.activity_type, order.item, info.task_queue))
        if self.failures.get(order.item):
            raise self.failures[order.item].pop(0)
        return StageDone(done=True)

    @asynccontextmanager
    async def running(self, client: Client) -> AsyncIterator[str]:
        fakes: dict[Any, Any] = {
            FIND_LIBRARY_WORK: (LookInput, self.find),
            FAIL_STAGE: (StageFailed, self.fail),
            SETTLE_EDIT: (EditInput, self.settle),
            DELETE_LEFTOVERS: (LookInput, self.delete),
        }
        async with worker_with(client, fakes) as queue:
            names = {stage.activity for stage in STAGES}
            activities = [activity.defn(name=name)(_stage_activity(self)) for name in names]
            async with (
                Worker(client, task_queue=f"{queue}-library", activities=activities),
                Worker(client, task_queue=f"{queue}-library-films", activities=activities),
            ):
                yield queue

    async def dispatch(self, client: Client, queue: str, rounds: int | None = None) -> Any:
        order = LibraryInput(rounds or len(self.rounds), seconds=0.01)
        return await client.execute_workflow(LibraryWorkflow.run, order, id=f"library-{uuid4()}", task_queue=queue)

    async def stage(self, client: Client, queue: str, stage: str, item: int) -> Any:
        order = StageInput(stage, item)
        return await client.execute_workflow(StageWorkflow.run, order, id=stage_id(stage, item), task_queue=queue)


def _stage_activity(world: World) -> Any:
    async def run(order: StageInput) -> StageDone:
        return await world.work(order)

    run.__annotations__ = {"order": StageInput, "return": StageDone}
    return run


def number() -> int:
    """An id that no other test has."""
    return uuid4().int % 10**12


async def ended(client: Client, *ids: str) -> None:
    for id_ in ids:
        await asyncio.wait_for(client.get_workflow_handle(id_).result(), 120)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_stage, "FIRST_WAIT", timedelta(milliseconds=20))
    monkeypatch.setattr(library, "PAUSE", 0.05)


async def test_what_is_found_is_started_each_on_its_stages_queue(temporal: Client) -> None:
    work = [Work(stage.name, number(), lane) for stage, lane in product(STAGES, Lane)]
    world = World(LibraryWork(1, work), LibraryWork())
    async with world.running(temporal) as queue:
        result = await world.dispatch(temporal, queue)
        await ended(temporal, *(stage_id(each.stage, each.item) for each in work))
    assert (result.rounds, result.started) == (2, len(work))
    queues = {Lane.GOALS: f"{queue}-library", Lane.FILMS: f"{queue}-library-films"}
    assert set(world.done) == {(stage_called(each.stage).activity, each.item, queues[each.lane]) for each in work}
    assert len(world.done) == len(work)


async def test_what_is_under_way_is_not_started_again_and_outlives_its_dispatcher(temporal: Client) -> None:
    work = LibraryWork(0, [Work("sprites", item := number())])
    world = World(work, work)
    world.gate = asyncio.Event()
    async with world.running(temporal) as queue:
        result = await world.dispatch(temporal, queue)
        world.gate.set()
        await ended(temporal, stage_id("sprites", item))
        assert result.started == 1
        assert len(world.done) == 1
        # What has ended can come again.
        world.rounds = [work]
        assert (await world.dispatch(temporal, queue)).started == 1
        await ended(temporal, stage_id("sprites", item))
    assert len(world.done) == 2


async def test_a_round_that_fails_is_not_the_end(temporal: Client) -> None:
    away = ApplicationError("no database", type="StoreUnavailable", non_retryable=True)
    world = World(away, LibraryWork(0, [Work("splice", item := number())]))
    async with world.running(temporal) as queue:
        result = await world.dispatch(temporal, queue)
        await ended(temporal, stage_id("splice", item))
    assert (result.rounds, result.started) == (2, 1)


async def test_leftovers_are_deleted_and_a_store_that_refuses_stops_nothing(temporal: Client) -> None:
    world = World(LibraryWork(deletions=1), LibraryWork(deletions=1), LibraryWork())
    async with world.running(temporal) as queue:
        assert (await world.dispatch(temporal, queue)).rounds == 3
    assert world.deletions == 2


async def test_an_edit_settles_when_its_time_is_over_and_not_before(temporal: Client) -> None:
    soon, later = number(), number()
    now = datetime.now(UTC)
    edits = [Edit(soon, now + timedelta(seconds=1)), Edit(later, now + timedelta(hours=1))]
    world = World(LibraryWork(edits=edits))
    async with world.running(temporal) as queue:
        assert (await world.dispatch(temporal, queue)).started == 2
        await ended(temporal, edit_id(soon))
        assert world.settled == [soon]
        waiting = temporal.get_workflow_handle(edit_id(later))
        assert (await waiting.describe()).status is WorkflowExecutionStatus.RUNNING
        await waiting.terminate()


async def test_an_edit_whose_time_is_long_over_settles_at_once(temporal: Client) -> None:
    world, action = World(), number()
    async with world.running(temporal) as queue:
        order = EditInput(action, datetime.now(UTC) - timedelta(days=1))
        await temporal.execute_workflow(EditWorkflow.run, order, id=edit_id(action), task_queue=queue)
    assert world.settled == [action]


async def test_a_stage_is_tried_as_often_as_its_row_says(temporal: Client) -> None:
    world, item = World(), number()
    world.failures[item] = [ApplicationError("no answer", type="StoreUnavailable") for _ in range(2)]
    async with world.running(temporal) as queue:
        assert (await world.stage(temporal, queue, "sprites", item)).done
    assert len(world.done) == 3
    assert world.failed == []


@pytest.mark.parametrize(
    ("failures", "tries", "kind", "retryable"),
    [
        ([ApplicationError("away", type="StoreUnavailable")] * 3, 3, "StoreUnavailable", True),
        ([ApplicationError("no film", type="NotAVideo", non_retryable=True)], 1, "NotAVideo", False),
        ([ValueError("a fault of our own")] * 3, 3, "ValueError", True),
    ],
)
async def test_a_failure_is_written_down_with_its_class(
    temporal: Client, failures: list[Exception], tries: int, kind: str, retryable: bool
) -> None:
    world, item = World(), number()
    world.failures[item] = list(failures)
    async with world.running(temporal) as queue:
        assert not (await world.stage(temporal, queue, "sprites", item)).done
    assert len(world.done) == tries
    assert world.failed == [StageFailed("sprites", item, str(failures[0]).split(": ")[-1], kind, retryable)]


async def test_a_stage_that_nobody_knows_fails_and_says_so(temporal: Client) -> None:
    world = World()
    async with world.running(temporal) as queue:
        with pytest.raises(WorkflowFailureError) as failure:
            await world.stage(temporal, queue, "colouring", number())
    assert "colouring" in str(failure.value.cause)
    assert world.failed == []
