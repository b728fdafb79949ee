"""Workflow that polls one feed. It may outlive the poll of all feeds that started it."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from found_footy.feeds.models import EnabledFeeds, FeedInput, FeedPollInput, FeedPollResult
from found_footy.fixtures.models import PollInput
from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind

with workflow.unsafe.imports_passed_through():
    from found_footy.feeds.activities import FeedActivities

LIST_FEEDS = ActivityPolicy(timedelta(seconds=15), attempts=3)
POLL_FEED = ActivityPolicy(timedelta(seconds=120), attempts=2).on(WorkKind.NETWORK)
POLL_FEED_IN_BROWSER = POLL_FEED.on(WorkKind.BROWSER)


async def list_enabled_feeds(poll: PollInput) -> EnabledFeeds:
    """Run the activity; call this from a workflow."""
    return await workflow.execute_activity_method(FeedActivities.list_enabled, poll, **LIST_FEEDS.options())


@workflow.defn(name="FeedWorkflow")
class FeedWorkflow:
    @workflow.run
    async def run(self, request: FeedInput) -> FeedPollResult:
        poll = FeedPollInput(request.feed, workflow.info().workflow_start_time)
        policy = POLL_FEED_IN_BROWSER if request.in_browser else POLL_FEED
        return await workflow.execute_activity_method(FeedActivities.poll_feed, poll, **policy.options())
