"""Workflow that polls one feed. It may outlive the poll of all feeds that started it."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from found_footy.feeds.models import EnabledFeeds, FeedInput, FeedPollInput, FeedPollResult
from found_footy.fixtures.models import PollInput
from found_footy.runtime.activity_policy import ActivityPolicy

with workflow.unsafe.imports_passed_through():
    from found_footy.feeds.activities import FeedActivities

LIST_FEEDS = ActivityPolicy(timedelta(seconds=15), attempts=3)
POLL_FEED = ActivityPolicy(timedelta(seconds=120), attempts=2)


async def list_enabled_feeds(poll: PollInput) -> EnabledFeeds:
    """Call the activity from a workflow."""
    return await workflow.execute_activity_method(FeedActivities.feeds_on, poll, **LIST_FEEDS.options())


@workflow.defn(name="FeedWorkflow")
class FeedWorkflow:
    @workflow.run
    async def run(self, order: FeedInput) -> FeedPollResult:
        poll = FeedPollInput(order.feed, workflow.info().workflow_start_time)
        return await workflow.execute_activity_method(FeedActivities.poll_feed, poll, **POLL_FEED.options())
