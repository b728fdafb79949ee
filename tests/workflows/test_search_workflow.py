"""From a certain goal to its end, on a real Temporal server, with activities that say what the test wants."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from found_footy.workflows.clip_contracts import (
    CLOSE_EVENT,
    HAND_OVER,
    REGISTER_DOWNLOAD,
    RESOLVE_ALIASES,
    SEARCH_SOURCES,
    SWEEP_EVENT,
    Aliases,
    Closed,
    CloseOrder,
    Found,
    SearchAttempt,
    download_id,
)
from found_footy.workflows.contracts import (
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    Done,
    EventWorkflow,
    SearchInput,
    SearchPlan,
    SearchResult,
    StillWanted,
    Team,
    search_id,
)
from found_footy.workflows.search import SearchWorkflow
from tests.support.workers import worker_with

TEAMS = [Team(40, "Liverpool"), Team(50, "Manchester City")]


class World:
    def __init__(self, **plan: Any) -> None:
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        given = {"attempts": 3, "most_attempts": 5, "seconds": 0.02, "gap_seconds": 0.01, "patience_seconds": 60.0}
        self.plan = SearchPlan(**(given | plan), teams=TEAMS)
        self.searches: list[int] = []
        self.resolved: list[int] = []
        self.registered: list[str] = []
        self.closings: list[CloseOrder] = []
        self.hand_overs: list[int] = []
        self.swept = 0
        self.open_for = 0
        """How many times somebody asks before all work is done."""
        self.answers: dict[int, Found | Exception] = {}
        self.downloads_fail = False
        self.names_fail = False

    async def monitor_complete(self, order: EventWorkflow) -> StillWanted:
        return StillWanted(True, self.plan)

    async def resolve(self, team: Team) -> Aliases:
        if self.names_fail:
            raise ApplicationError("Wikidata is away", non_retryable=True)
        self.resolved.append(team.id)
        return Aliases(team.id, [team.name])

    async def search(self, order: SearchAttempt) -> Found:
        self.searches.append(order.attempt)
        answer = self.answers.get(order.attempt, Found(wanted=True, answered=1))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def register(self, order: EventWorkflow) -> StillWanted:
        self.registered.append(order.workflow_id)
        if self.downloads_fail:
            raise ApplicationError("no database", non_retryable=True)
        return StillWanted(False)

    async def hand_over(self, order: SearchAttempt) -> Done:
        self.hand_overs.append(order.attempt)
        return Done()

    async def close(self, order: CloseOrder) -> Closed:
        self.closings.append(order)
        self.open_for -= 1
        return Closed(self.open_for < 0 or bool(order.give_up))

    async def sweep(self, order: EventWorkflow) -> Done:
        self.swept += 1
        return Done()

    async def never(self, order: EventWorkflow) -> Done:
        raise AssertionError("only searches of the first version call this")

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            SET_MONITOR_COMPLETE: (EventWorkflow, self.monitor_complete),
            SET_DOWNLOAD_COMPLETE: (EventWorkflow, self.never),
            RESOLVE_ALIASES: (Team, self.resolve),
            SEARCH_SOURCES: (SearchAttempt, self.search),
            REGISTER_DOWNLOAD: (EventWorkflow, self.register),
            HAND_OVER: (SearchAttempt, self.hand_over),
            CLOSE_EVENT: (CloseOrder, self.close),
            SWEEP_EVENT: (EventWorkflow, self.sweep),
        }

    async def run(self, client: Client) -> SearchResult:
        async with worker_with(client, self.fakes) as queue:
            result: SearchResult = await client.execute_workflow(
                SearchWorkflow.run,
                SearchInput(self.event_id),
                id=search_id(self.event_id),
                task_queue=queue,
                execution_timeout=timedelta(seconds=120),
            )
        return result


def finds(*keys: str) -> Found:
    return Found(wanted=True, answered=1, posts=len(keys), keys=list(keys), download_seconds=30, vision_calls=1)


async def test_a_goal_is_searched_for_as_often_as_planned_and_closed(temporal: Client) -> None:
    world = World()
    result = await world.run(temporal)
    assert world.searches == [1, 2, 3]
    assert sorted(world.resolved) == [40, 50]
    assert [order.give_up for order in world.closings] == [""]
    assert world.swept == 1
    assert result == SearchResult(searched=True, attempts=3, downloads=0)


async def test_posts_are_downloaded_under_an_id_that_comes_from_the_event_alone(temporal: Client) -> None:
    world = World()
    world.answers[2] = finds("bluesky:a", "x:1")
    result = await world.run(temporal)
    assert world.registered == [download_id(world.event_id, 2)]
    assert world.hand_overs == [2], "also with nothing"
    assert result.downloads == 1


async def test_searches_that_nobody_answered_do_not_count_but_are_bounded(temporal: Client) -> None:
    world = World()
    world.answers[1] = Found(wanted=True, answered=0)
    await world.run(temporal)
    assert world.searches == [1, 2, 3, 4]

    deaf = World()
    deaf.answers = {attempt: Found(wanted=True, answered=0) for attempt in range(1, 9)}
    await deaf.run(temporal)
    assert deaf.searches == [1, 2, 3, 4, 5]


async def test_a_search_that_fails_is_not_the_end(temporal: Client) -> None:
    world = World()
    world.answers[1] = ApplicationError("no database", non_retryable=True)
    result = await world.run(temporal)
    assert world.searches == [1, 2, 3, 4]
    assert result.searched


async def test_the_search_stops_when_the_goal_is_withdrawn(temporal: Client) -> None:
    world = World()
    world.answers[2] = Found(wanted=False)
    await world.run(temporal)
    assert world.searches == [1, 2]
    assert world.swept == 1, "what was staged goes"


async def test_a_download_that_fails_does_not_keep_the_event_open(temporal: Client) -> None:
    world = World()
    world.downloads_fail = True
    world.answers[1] = finds("bluesky:a")
    await world.run(temporal)
    handle = temporal.get_workflow_handle(download_id(world.event_id, 1))
    assert (await handle.describe()).status is WorkflowExecutionStatus.FAILED
    assert len(world.closings) == 1


async def test_unknown_names_do_not_stop_a_search(temporal: Client) -> None:
    world = World()
    world.names_fail = True
    await world.run(temporal)
    assert world.searches == [1, 2, 3]


async def test_an_uploader_that_went_idle_too_early_is_called_again(temporal: Client) -> None:
    """In the seeds' system the event stayed "extracting" for good."""
    world = World()
    world.open_for = 1
    await world.run(temporal)
    assert [order.give_up for order in world.closings] == ["", ""]
    assert world.hand_overs == [0]


async def test_what_is_never_done_is_given_up_in_bounded_time(temporal: Client) -> None:
    world = World(patience_seconds=0.0)
    world.open_for = 99
    await world.run(temporal)
    assert [bool(order.give_up) for order in world.closings] == [False, True]
    assert world.swept == 1


async def test_a_search_that_is_started_again_leaves_the_downloads_of_the_first_alone(temporal: Client) -> None:
    world = World(attempts=1)
    world.answers[1] = finds("bluesky:a")
    await world.run(temporal)
    again = World(attempts=1)
    again.event_id, again.answers = world.event_id, world.answers
    await again.run(temporal)
    assert again.registered == []
    assert len(again.closings) == 1


@pytest.mark.parametrize("attempts", [1])
async def test_two_searches_of_one_goal_cannot_run_at_once(temporal: Client, attempts: int) -> None:
    """In the seeds' system the id held the minute and the player, which the feed changes."""
    world = World(attempts=attempts)
    gate = asyncio.Event()

    async def held(order: SearchAttempt) -> Found:
        await gate.wait()
        return Found(wanted=True, answered=1)

    world.search = held  # type: ignore[method-assign]
    async with worker_with(temporal, world.fakes) as queue:
        start = {"id": search_id(world.event_id), "task_queue": queue}
        handle = await temporal.start_workflow(SearchWorkflow.run, SearchInput(world.event_id), **start)
        with pytest.raises(Exception, match="already started"):
            await temporal.start_workflow(SearchWorkflow.run, SearchInput(world.event_id), **start)
        gate.set()
        await handle.result()
