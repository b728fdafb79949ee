"""One poll of one feed, which may take longer than the poll of everything that began it."""

from __future__ import annotations

from temporalio import workflow

from found_footy.workflows.feed_contracts import POLL_FEED, FeedInput, FeedPoll, FeedPolled


@workflow.defn(name="FeedWorkflow")
class FeedWorkflow:
    @workflow.run
    async def run(self, order: FeedInput) -> FeedPolled:
        return await POLL_FEED(FeedPoll(order.feed, workflow.info().workflow_start_time))
