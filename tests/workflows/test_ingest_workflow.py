"""Ingest as a workflow, on a real Temporal server."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from found_footy.workflows.contracts import (
    CLEANUP_OLD_FIXTURES,
    INGEST_DAY,
    INGEST_FIXTURES,
    CleanedUp,
    CleanUp,
    IngestDay,
    Ingested,
    IngestIds,
    IngestInput,
)
from found_footy.workflows.ingest import IngestWorkflow
from tests.support.workers import worker_with

FIRST = date(2026, 8, 22)


class World:
    """Fixtures on some days, counted from the first; on others the feed fails."""

    def __init__(self, *days: int, failing: tuple[int, ...] = ()) -> None:
        self.days = days
        self.failing = failing
        self.asked: list[int] = []
        self.cleaned = 0
        self.ids: list[int] = []

    async def day(self, order: IngestDay) -> Ingested:
        number = (date.fromisoformat(order.day) - FIRST).days
        self.asked.append(number)
        if number in self.failing:
            raise ApplicationError("no answer", non_retryable=True)
        return Ingested(found=5, tracked=int(number in self.days))

    async def fixtures(self, order: IngestIds) -> Ingested:
        self.ids = order.fixture_ids
        return Ingested(found=len(order.fixture_ids))

    async def clean(self, order: CleanUp) -> CleanedUp:
        self.cleaned += 1
        return CleanedUp(7)

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            INGEST_DAY: (IngestDay, self.day),
            INGEST_FIXTURES: (IngestIds, self.fixtures),
            CLEANUP_OLD_FIXTURES: (CleanUp, self.clean),
        }


async def ingest(client: Client, world: World, order: IngestInput) -> Any:
    async with worker_with(client, world.fakes) as queue:
        return await client.execute_workflow(
            IngestWorkflow.run,
            order,
            id=f"ingest-{uuid4()}",
            task_queue=queue,
            execution_timeout=timedelta(seconds=120),
        )


@pytest.mark.parametrize(
    ("days", "asked"),
    [
        ((0, 1, 2), [0, 1, 2]),
        ((1,), [0, 1, 2]),  # something tomorrow: no need to look further
        ((0, 2), [0, 1, 2, 3, 4, 5, 6]),  # nothing tomorrow: on to the next day with fixtures, or the limit
        ((5,), [0, 1, 2, 3, 4, 5]),
        ((), [0, 1, 2, 3, 4, 5, 6]),
    ],
)
async def test_which_days_are_fetched(temporal: Client, days: tuple[int, ...], asked: list[int]) -> None:
    world = World(*days)
    result = await ingest(temporal, world, IngestInput(day=FIRST.isoformat(), look_ahead_days=6))
    assert sorted(world.asked) == asked
    assert result.deleted == 7


async def test_the_first_ingest_looks_back_over_midnight(temporal: Client) -> None:
    world = World(1)
    await ingest(temporal, world, IngestInput(day=FIRST.isoformat(), days_before=1))
    assert sorted(world.asked) == [-1, 0, 1, 2]


async def test_a_day_that_fails_costs_the_others_nothing_and_is_told(temporal: Client) -> None:
    world = World(1, failing=(0,))
    with pytest.raises(WorkflowFailureError) as failure:
        await ingest(temporal, world, IngestInput(day=FIRST.isoformat()))
    assert "2026-08-22" in str(failure.value.cause)
    assert sorted(world.asked) == [0, 1, 2]
    assert world.cleaned == 1


async def test_given_fixtures_are_fetched_and_nothing_else(temporal: Client) -> None:
    world = World()
    result = await ingest(temporal, world, IngestInput(fixture_ids=[7, 8]))
    assert (world.ids, world.asked, world.cleaned) == ([7, 8], [], 0)
    assert result.fixtures.found == 2
