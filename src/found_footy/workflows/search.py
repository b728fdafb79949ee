"""Takes over a certain goal: searches for it again and again, has what is found downloaded, and owns its end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.workflow import ChildWorkflowHandle, ParentClosePolicy

from found_footy.domain.discovery.pacing import wait_seconds
from found_footy.workflows.clip_contracts import (
    CLOSE_EVENT,
    HAND_OVER,
    RESOLVE_ALIASES_QUICKLY,
    SEARCH_SOURCES,
    SWEEP_EVENT,
    CloseOrder,
    DownloadInput,
    DownloadResult,
    Found,
    SearchAttempt,
    download_id,
)
from found_footy.workflows.contracts import (
    EVENT_ID,
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    EventWorkflow,
    SearchInput,
    SearchPlan,
    SearchResult,
    Team,
)
from found_footy.workflows.download import DownloadWorkflow

CLOSE_WAIT = timedelta(seconds=2)
"""From one look at what is still open to the next, at first; doubled each time."""
LONGEST_CLOSE_WAIT = timedelta(seconds=60)
PATIENCE = timedelta(hours=1)
"""How long the end is tried again while the object store or the database is away."""
GRACE = timedelta(minutes=5)
"""Beyond the time that its parts may take, for a download to end by itself."""

Download = ChildWorkflowHandle[DownloadWorkflow, DownloadResult]


@workflow.defn(name="SearchWorkflow")
class SearchWorkflow:
    def __init__(self) -> None:
        self._downloads: list[Download] = []

    @workflow.run
    async def run(self, order: SearchInput) -> SearchResult:
        me = EventWorkflow(order.event_id, workflow.info().workflow_id)
        # First of all: from here on the monitor need not start us again.
        still = await SET_MONITOR_COMPLETE(me)
        if not still.wanted:
            return SearchResult(searched=False, reason="withdrawn")
        if still.plan is None:
            # Begun by a version that had nothing to search.
            await SET_DOWNLOAD_COMPLETE(me)
            return SearchResult(searched=False, reason="no source to search")
        await asyncio.gather(*(self._resolve(team) for team in still.plan.teams))
        attempts = await self._search(order.event_id, still.plan)
        await self._end(me, still.plan)
        return SearchResult(searched=True, attempts=attempts, downloads=len(self._downloads))

    async def _resolve(self, team: Team) -> None:
        try:
            await RESOLVE_ALIASES_QUICKLY(team)
        except ActivityError:
            # The team's own name is enough to search by.
            workflow.logger.warning("nobody knows what %s is called", team.name)

    async def _search(self, event_id: str, plan: SearchPlan) -> int:
        """Ten searches that were answered, or fifteen in all; returns how many."""
        attempt = answered = 0
        while answered < plan.attempts and attempt < plan.most_attempts:
            attempt += 1
            began = workflow.now()
            found = await self._attempt(event_id, attempt)
            if not found.wanted:
                break
            answered += bool(found.answered)
            if found.keys:
                await self._download(event_id, attempt, found)
            if answered < plan.attempts and attempt < plan.most_attempts:
                passed = (workflow.now() - began).total_seconds()
                await asyncio.sleep(wait_seconds(passed, plan.seconds, plan.gap_seconds))
        return attempt

    async def _attempt(self, event_id: str, attempt: int) -> Found:
        try:
            return await SEARCH_SOURCES(SearchAttempt(event_id, attempt))
        except ActivityError as error:
            # One search that failed is not the end of the goal: the next one is a minute away.
            workflow.logger.warning("search %s failed: %s", attempt, error.cause or error)
            return Found(wanted=True)

    async def _download(self, event_id: str, attempt: int, found: Found) -> None:
        order = DownloadInput(event_id, attempt, found.keys, found.vision_calls, found.vision_patience_seconds)
        try:
            handle = await workflow.start_child_workflow(
                DownloadWorkflow.run,
                order,
                id=download_id(event_id, attempt),
                parent_close_policy=ParentClosePolicy.ABANDON,
                # A search that is begun anew meets the downloads of the one before, and leaves them alone.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                execution_timeout=timedelta(seconds=found.download_seconds) + GRACE,
                search_attributes=TypedSearchAttributes([SearchAttributePair(EVENT_ID, event_id)]),
            )
        except WorkflowAlreadyStartedError:
            return
        self._downloads.append(handle)

    async def _end(self, me: EventWorkflow, plan: SearchPlan) -> None:
        """Whatever the downloads do, the event is closed in bounded time."""
        # Their failures are seen in what they leave open.
        await asyncio.gather(*self._downloads, return_exceptions=True)
        deadline = workflow.now() + timedelta(seconds=plan.patience_seconds)
        wait = CLOSE_WAIT
        while not (await CLOSE_EVENT.patiently(CloseOrder(me.event_id), PATIENCE)).closed:
            if workflow.now() >= deadline:
                given_up = CloseOrder(me.event_id, give_up="it was not done when the search was closed")
                await CLOSE_EVENT.patiently(given_up, PATIENCE)
                break
            # An uploader that went idle, or was lost, is started again by the signal.
            await HAND_OVER(SearchAttempt(me.event_id, 0))
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, LONGEST_CLOSE_WAIT)
        await SWEEP_EVENT.patiently(me, PATIENCE)
