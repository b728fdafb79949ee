"""One poll of everything: wakes what is about to start, follows what is under way, hands over certain goals."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
)
from temporalio.workflow import ParentClosePolicy

from found_footy.workflows.contracts import (
    EVENT_ID,
    POLL_ACTIVE,
    POLL_STAGING,
    PRE_ACTIVATE,
    MonitorInput,
    MonitorResult,
    Polled,
    PollInput,
    SearchInput,
    StagingPolled,
    search_id,
)
from found_footy.workflows.feed import FeedWorkflow
from found_footy.workflows.feed_contracts import FEED_LASTS, FEEDS_ON, FeedInput, FeedPolled, feed_id
from found_footy.workflows.search import SearchWorkflow

FeedPolling = workflow.ChildWorkflowHandle[FeedWorkflow, FeedPolled]


@workflow.defn(name="MonitorWorkflow")
class MonitorWorkflow:
    @workflow.run
    async def run(self, _: MonitorInput) -> MonitorResult:
        poll = PollInput(workflow.info().workflow_id, workflow.info().workflow_start_time)
        activated = await PRE_ACTIVATE(poll)
        unasked = await self._ask_feeds(poll) if workflow.patched("several-feeds") else None
        # Neither waits for the other, and neither's failure stops the other.
        staging, polled = await asyncio.gather(POLL_STAGING(poll), self._poll_and_search(poll), return_exceptions=True)
        failures = [error for error in (unasked, staging, polled) if isinstance(error, BaseException)]
        for failure in failures:
            if not isinstance(failure, ActivityError):
                raise failure
        if failures:
            raise ApplicationError(f"the poll is incomplete: {failures[0]}", type="PollIncomplete") from failures[0]
        assert isinstance(staging, StagingPolled)
        assert isinstance(polled, tuple)
        return MonitorResult(
            polled=polled[0],
            staging=staging,
            activated=len(activated.fixture_ids),
            searches_started=polled[1],
        )

    async def _ask_feeds(self, poll: PollInput) -> ActivityError | None:
        """Waits for those that answer soon. What the others say counts at a later poll: none waits for another."""
        try:
            on = await FEEDS_ON(poll)
        except ActivityError as error:
            return error
        begun = await asyncio.gather(*(self._start_feed(feed) for feed in on.feeds))
        polling = [handle for handle in begun if handle is not None]
        if polling:
            patience = timedelta(seconds=on.patience_seconds).total_seconds()
            done, _ = await workflow.wait(polling, timeout=patience)
            for handle in done:
                try:
                    await handle
                except ChildWorkflowError as error:
                    workflow.logger.warning("a feed was not polled: %s", error.cause or error)
        return None

    async def _start_feed(self, feed: str) -> FeedPolling | None:
        try:
            return await workflow.start_child_workflow(
                FeedWorkflow.run,
                FeedInput(feed),
                id=feed_id(feed),
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                execution_timeout=FEED_LASTS,
            )
        except WorkflowAlreadyStartedError:
            return None  # the poll before is still at it

    async def _poll_and_search(self, poll: PollInput) -> tuple[Polled, list[str]]:
        polled = await POLL_ACTIVE(poll)
        started = await asyncio.gather(*(self._start_search(event_id) for event_id in polled.to_search))
        return polled, [event_id for event_id in started if event_id]

    async def _start_search(self, event_id: str) -> str | None:
        """The id comes from the event alone, so that whatever the feed renames, a goal is searched for once.

        A search that failed may be started again; one that runs or has ended may not.
        """
        try:
            await workflow.start_child_workflow(
                SearchWorkflow.run,
                SearchInput(event_id),
                id=search_id(event_id),
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                search_attributes=TypedSearchAttributes([SearchAttributePair(EVENT_ID, event_id)]),
            )
        except WorkflowAlreadyStartedError:
            return None
        return event_id
