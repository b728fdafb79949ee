"""AliasWorkflow looks up a team's names. SearchWorkflow searches for clips of a stable goal."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.workflow import ChildWorkflowHandle, ParentClosePolicy

from found_footy.clips.models import DownloadInput, DownloadResult, download_workflow_id
from found_footy.clips.workflow import DownloadWorkflow, queue_for_upload
from found_footy.discovery.models import (
    AliasResult,
    CloseRequest,
    SearchAttempt,
    SearchInput,
    SearchOutcome,
    SearchPlan,
    SearchResult,
    TeamList,
    TeamQuery,
    TeamRef,
    WorkflowRef,
)
from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind
from found_footy.runtime.temporal import EVENT_ID

with workflow.unsafe.imports_passed_through():
    from found_footy.discovery.activities import AliasActivities, SearchActivities

CLOSE_DEADLINE = timedelta(hours=1)
"""How long closing is retried while the object store or the database is down."""
INITIAL_CLOSE_WAIT = timedelta(seconds=2)
"""Pause between two checks for open work; doubled each time."""
MAX_CLOSE_WAIT = timedelta(seconds=60)
DOWNLOAD_GRACE = timedelta(minutes=5)
"""Added to the time limit of a download's steps for its execution timeout."""

LIST_TEAMS = ActivityPolicy(timedelta(seconds=15), attempts=3)
RESOLVE_ALIASES = ActivityPolicy(timedelta(seconds=60), attempts=3).on(WorkKind.NETWORK)
RESOLVE_ALIASES_BEFORE_SEARCH = ActivityPolicy(timedelta(seconds=10), attempts=1).on(WorkKind.NETWORK)
"""Short, because the search can start with the team's own name."""
START_SEARCH = ActivityPolicy(timedelta(seconds=30), attempts=5, initial_backoff=timedelta(seconds=2))
SEARCH_SOURCES = ActivityPolicy(timedelta(seconds=150), attempts=3, initial_backoff=timedelta(seconds=2)).on(
    WorkKind.NETWORK
)
CLOSE_EVENT = ActivityPolicy(timedelta(seconds=30), attempts=5, initial_backoff=timedelta(seconds=2)).within(
    CLOSE_DEADLINE
)
SWEEP_EVENT = ActivityPolicy(timedelta(seconds=120), attempts=10).within(CLOSE_DEADLINE).on(WorkKind.NETWORK)

run_activity = workflow.execute_activity_method


async def list_teams_without_aliases() -> TeamList:
    """Run the activity; call this from a workflow."""
    return await run_activity(AliasActivities.teams_without_aliases, TeamQuery(), **LIST_TEAMS.options())


@workflow.defn(name="AliasWorkflow")
class AliasWorkflow:
    @workflow.run
    async def run(self, team: TeamRef) -> AliasResult:
        return await run_activity(AliasActivities.resolve_team_aliases, team, **RESOLVE_ALIASES.options())


Download = ChildWorkflowHandle[DownloadWorkflow, DownloadResult]


@workflow.defn(name="SearchWorkflow")
class SearchWorkflow:
    """Search for clips of a stable goal, start a download per search, and complete the event in bounded time."""

    def __init__(self) -> None:
        self._downloads: list[Download] = []

    @workflow.run
    async def run(self, request: SearchInput) -> SearchResult:
        ref = WorkflowRef(request.event_id, workflow.info().workflow_id)
        # Must come first, so that the monitor does not start a second search.
        check = await run_activity(SearchActivities.set_monitor_complete, ref, **START_SEARCH.options())
        if check.plan is None:
            return SearchResult(searched=False, reason="withdrawn")
        await asyncio.gather(*(self._resolve(team) for team in check.plan.teams))
        attempts = await self._search(request.event_id, check.plan)
        await self._close(ref, check.plan)
        return SearchResult(searched=True, attempts=attempts, downloads=len(self._downloads))

    async def _resolve(self, team: TeamRef) -> None:
        try:
            await run_activity(AliasActivities.resolve_team_aliases, team, **RESOLVE_ALIASES_BEFORE_SEARCH.options())
        except ActivityError:
            # The team's own name is enough for a search.
            workflow.logger.warning("could not resolve the aliases of %s", team.name)

    async def _search(self, event_id: str, plan: SearchPlan) -> int:
        """Search until every source has completed its searches or `max_attempts` is reached. Return the attempt."""
        attempt = plan.attempts_made
        while attempt < plan.max_attempts:
            attempt += 1
            started_at = workflow.now()
            outcome = await self._attempt(event_id, attempt)
            if not outcome.confirmed:
                break
            if outcome.keys:
                await self._download(event_id, attempt, outcome)
            if outcome.complete:
                break
            if attempt < plan.max_attempts:
                elapsed = (workflow.now() - started_at).total_seconds()
                await asyncio.sleep(max(plan.gap_seconds, plan.seconds - elapsed))
        return attempt

    async def _attempt(self, event_id: str, attempt: int) -> SearchOutcome:
        try:
            return await run_activity(
                SearchActivities.search_sources, SearchAttempt(event_id, attempt), **SEARCH_SOURCES.options()
            )
        except ActivityError as error:
            # The next attempt searches again.
            workflow.logger.warning("search %s failed: %s", attempt, error.cause or error)
            return SearchOutcome(confirmed=True)

    async def _download(self, event_id: str, attempt: int, found: SearchOutcome) -> None:
        request = DownloadInput(event_id, attempt, found.keys, found.vision_retry_seconds)
        try:
            handle = await workflow.start_child_workflow(
                DownloadWorkflow.run,
                request,
                id=download_workflow_id(event_id, attempt),
                parent_close_policy=ParentClosePolicy.ABANDON,
                # A restarted search leaves the downloads of its predecessor alone.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                execution_timeout=timedelta(seconds=found.download_seconds) + DOWNLOAD_GRACE,
                search_attributes=TypedSearchAttributes([SearchAttributePair(EVENT_ID, event_id)]),
            )
        except WorkflowAlreadyStartedError:
            return
        self._downloads.append(handle)

    async def _close(self, ref: WorkflowRef, plan: SearchPlan) -> None:
        """Close the event in bounded time, regardless of the downloads' state."""
        # A failed download leaves open work, which is handled below.
        await asyncio.gather(*self._downloads, return_exceptions=True)
        deadline = workflow.now() + timedelta(seconds=plan.close_seconds)
        wait = INITIAL_CLOSE_WAIT
        while not await self._try_to_close(CloseRequest(ref.event_id)):
            if workflow.now() >= deadline:
                await self._try_to_close(CloseRequest(ref.event_id, give_up="not finished when the search was closed"))
                break
            # Restart the upload workflow if it went idle or was terminated.
            await queue_for_upload(SearchAttempt(ref.event_id, 0))
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, MAX_CLOSE_WAIT)
        try:
            await run_activity(SearchActivities.sweep_event, ref, **SWEEP_EVENT.options())
        except ActivityError as error:
            # Nothing depends on the leftover files, and retention deletes them.
            workflow.logger.warning("could not delete unused files: %s", error.cause or error)

    async def _try_to_close(self, request: CloseRequest) -> bool:
        return (await run_activity(SearchActivities.close_event, request, **CLOSE_EVENT.options())).closed
