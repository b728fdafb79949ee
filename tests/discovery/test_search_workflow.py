"""SearchWorkflow on a real Temporal server, with scripted activities."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError

from found_footy.clips.activities import DownloadActivities, UploadActivities
from found_footy.clips.models import download_workflow_id
from found_footy.discovery.activities import AliasActivities, SearchActivities
from found_footy.discovery.models import (
    AliasResult,
    CloseRequest,
    CloseResult,
    GoalCheck,
    SearchAttempt,
    SearchInput,
    SearchOutcome,
    SearchPlan,
    SearchResult,
    TeamRef,
    WorkflowRef,
    search_workflow_id,
)
from found_footy.discovery.workflow import SearchWorkflow
from tests.support.workers import worker_with

TEAMS = [TeamRef(40, "Liverpool"), TeamRef(50, "Manchester City")]


class ScriptedSearches:
    def __init__(self, complete_at: int = 3, **plan: Any) -> None:
        self.complete_at = complete_at
        """The attempt after which every source has answered often enough."""
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        given = {"max_attempts": 5, "attempts_made": 0, "seconds": 0.02, "gap_seconds": 0.01, "close_seconds": 60.0}
        self.plan = SearchPlan(**(given | plan), teams=TEAMS)
        self.searches: list[int] = []
        self.resolved: list[int] = []
        self.registered: list[str] = []
        self.closings: list[CloseRequest] = []
        self.hand_overs: list[int] = []
        self.swept = 0
        self.sweep_error: Exception | None = None
        self.open_for = 0
        """Number of closing attempts that still find open work."""
        self.answers: dict[int, SearchOutcome | Exception] = {}
        self.downloads_fail = False
        self.names_fail = False

    async def monitor_complete(self, order: WorkflowRef) -> GoalCheck:
        return GoalCheck(True, self.plan)

    async def resolve(self, team: TeamRef) -> AliasResult:
        if self.names_fail:
            raise ApplicationError("Wikidata is away", non_retryable=True)
        self.resolved.append(team.id)
        return AliasResult(team.id, [team.name])

    async def search(self, order: SearchAttempt) -> SearchOutcome:
        self.searches.append(order.attempt)
        answer = self.answers.get(order.attempt, SearchOutcome(confirmed=True))
        if isinstance(answer, Exception):
            raise answer
        return replace(answer, complete=order.attempt >= self.complete_at)

    async def register(self, order: WorkflowRef) -> GoalCheck:
        self.registered.append(order.workflow_id)
        if self.downloads_fail:
            raise ApplicationError("no database", non_retryable=True)
        return GoalCheck(False)

    async def hand_over(self, order: SearchAttempt) -> None:
        self.hand_overs.append(order.attempt)

    async def close(self, order: CloseRequest) -> CloseResult:
        self.closings.append(order)
        self.open_for -= 1
        return CloseResult(self.open_for < 0 or bool(order.give_up))

    async def sweep(self, order: WorkflowRef) -> None:
        self.swept += 1
        if self.sweep_error:
            raise self.sweep_error

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            SearchActivities.set_monitor_complete: self.monitor_complete,
            AliasActivities.resolve_team_aliases: self.resolve,
            SearchActivities.search_sources: self.search,
            DownloadActivities.register_download_workflow: self.register,
            UploadActivities.queue_videos_for_upload: self.hand_over,
            SearchActivities.close_event: self.close,
            SearchActivities.sweep_event: self.sweep,
        }

    async def run(self, client: Client) -> SearchResult:
        async with worker_with(client, self.fakes) as queue:
            result: SearchResult = await client.execute_workflow(
                SearchWorkflow.run,
                SearchInput(self.event_id),
                id=search_workflow_id(self.event_id),
                task_queue=queue,
                execution_timeout=timedelta(seconds=120),
            )
        return result


def finds(*keys: str) -> SearchOutcome:
    return SearchOutcome(confirmed=True, posts=len(keys), keys=list(keys), download_seconds=30)


async def test_a_goal_is_searched_until_its_sources_are_done_and_then_closed(temporal: Client) -> None:
    world = ScriptedSearches()
    result = await world.run(temporal)
    assert world.searches == [1, 2, 3]
    assert sorted(world.resolved) == [40, 50]
    assert [order.give_up for order in world.closings] == [""]
    assert world.swept == 1
    assert result == SearchResult(searched=True, attempts=3, downloads=0)


async def test_the_download_workflow_id_depends_only_on_the_event(temporal: Client) -> None:
    world = ScriptedSearches()
    world.answers[2] = finds("bluesky:a", "x:1")
    result = await world.run(temporal)
    assert world.registered == [download_workflow_id(world.event_id, 2)]
    assert world.hand_overs == [2], "also with nothing"
    assert result.downloads == 1


async def test_searches_continue_until_every_source_has_answered_but_are_bounded(temporal: Client) -> None:
    for complete_at, attempts in ((4, [1, 2, 3, 4]), (99, [1, 2, 3, 4, 5])):
        world = ScriptedSearches(complete_at)
        await world.run(temporal)
        assert world.searches == attempts


async def test_a_restarted_search_continues_after_the_highest_attempt_that_ran(temporal: Client) -> None:
    for complete_at, made, attempts in ((4, 2, [3, 4]), (99, 3, [4, 5]), (99, 5, [])):
        world = ScriptedSearches(complete_at, attempts_made=made)
        result = await world.run(temporal)
        assert (world.searches, result.attempts) == (attempts, made + len(attempts))
        assert world.swept == 1


async def test_a_search_that_fails_is_not_the_end(temporal: Client) -> None:
    world = ScriptedSearches()
    world.answers[1] = ApplicationError("no database", non_retryable=True)
    result = await world.run(temporal)
    assert world.searches == [1, 2, 3]
    assert result.searched


async def test_the_search_stops_when_the_goal_is_withdrawn(temporal: Client) -> None:
    world = ScriptedSearches()
    world.answers[2] = SearchOutcome(confirmed=False)
    await world.run(temporal)
    assert world.searches == [1, 2]
    assert world.swept == 1, "what was staged goes"


async def test_a_download_that_fails_does_not_keep_the_event_open(temporal: Client) -> None:
    world = ScriptedSearches()
    world.downloads_fail = True
    world.answers[1] = finds("bluesky:a")
    await world.run(temporal)
    handle = temporal.get_workflow_handle(download_workflow_id(world.event_id, 1))
    assert (await handle.describe()).status is WorkflowExecutionStatus.FAILED
    assert len(world.closings) == 1


async def test_unknown_names_do_not_stop_a_search(temporal: Client) -> None:
    world = ScriptedSearches()
    world.names_fail = True
    await world.run(temporal)
    assert world.searches == [1, 2, 3]


async def test_an_uploader_that_went_idle_too_early_is_called_again(temporal: Client) -> None:
    """In the seeds' system the event stayed "extracting" for good."""
    world = ScriptedSearches()
    world.open_for = 1
    await world.run(temporal)
    assert [order.give_up for order in world.closings] == ["", ""]
    assert world.hand_overs == [0]


async def test_unfinished_work_is_abandoned_in_bounded_time(temporal: Client) -> None:
    world = ScriptedSearches(close_seconds=0.0)
    world.open_for = 99
    await world.run(temporal)
    assert [bool(order.give_up) for order in world.closings] == [False, True]
    assert world.swept == 1


async def test_a_terminated_search_leaves_its_downloads_running_and_its_successor_closes_the_event(
    temporal: Client,
) -> None:
    world = ScriptedSearches(3)
    world.answers[1] = finds("bluesky:a")
    registering, release = asyncio.Event(), asyncio.Event()

    async def register(order: WorkflowRef) -> GoalCheck:
        registering.set()
        await release.wait()
        return GoalCheck(False)

    world.register = register  # type: ignore[method-assign]
    async with worker_with(temporal, world.fakes) as queue:
        start = {"id": search_workflow_id(world.event_id), "task_queue": queue}
        first = await temporal.start_workflow(SearchWorkflow.run, SearchInput(world.event_id), **start)
        await asyncio.wait_for(registering.wait(), 60)
        await first.terminate("killed as a whole")
        made = max(world.searches)
        world.plan = replace(world.plan, attempts_made=made)
        world.searches.clear()
        policy = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY  # as the poll starts it
        result = await temporal.execute_workflow(
            SearchWorkflow.run, SearchInput(world.event_id), **start, id_reuse_policy=policy
        )
        download = temporal.get_workflow_handle(download_workflow_id(world.event_id, 1))
        assert (await download.describe()).status is WorkflowExecutionStatus.RUNNING
        release.set()
        await download.result()
    assert world.searches == list(range(made + 1, max(4, made + 2)))
    assert result.searched
    assert (len(world.closings), world.swept) == (1, 1)
    assert world.hand_overs == [1], "the download of the first search ends as usual"


async def test_an_object_store_that_stays_away_does_not_keep_the_event_open(temporal: Client) -> None:
    world = ScriptedSearches(1)
    world.sweep_error = ApplicationError("no bucket", type="ObjectStoreUnavailable", non_retryable=True)
    assert (await world.run(temporal)).searched
    assert len(world.closings) == 1


async def test_a_search_that_is_started_again_leaves_the_downloads_of_the_first_alone(temporal: Client) -> None:
    world = ScriptedSearches(1)
    world.answers[1] = finds("bluesky:a")
    await world.run(temporal)
    again = ScriptedSearches(1)
    again.event_id, again.answers = world.event_id, world.answers
    await again.run(temporal)
    assert again.registered == []
    assert len(again.closings) == 1


@pytest.mark.parametrize("attempts", [1])
async def test_two_searches_of_one_goal_cannot_run_at_once(temporal: Client, attempts: int) -> None:
    """In the seeds' system the id held the minute and the player, which the feed changes."""
    world = ScriptedSearches(attempts)
    gate = asyncio.Event()

    async def held(order: SearchAttempt) -> SearchOutcome:
        await gate.wait()
        return SearchOutcome(confirmed=True, complete=True)

    world.search = held  # type: ignore[method-assign]
    async with worker_with(temporal, world.fakes) as queue:
        start = {"id": search_workflow_id(world.event_id), "task_queue": queue}
        handle = await temporal.start_workflow(SearchWorkflow.run, SearchInput(world.event_id), **start)
        with pytest.raises(Exception, match="already started"):
            await temporal.start_workflow(SearchWorkflow.run, SearchInput(world.event_id), **start)
        gate.set()
        await handle.result()
