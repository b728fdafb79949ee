"""Takes over a certain goal, and owns its end."""

from __future__ import annotations

from temporalio import workflow

from found_footy.workflows.contracts import (
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    EventWorkflow,
    SearchInput,
    SearchResult,
)


@workflow.defn(name="SearchWorkflow")
class SearchWorkflow:
    @workflow.run
    async def run(self, order: SearchInput) -> SearchResult:
        me = EventWorkflow(order.event_id, workflow.info().workflow_id)
        # First of all: from here on the monitor need not start us again.
        still = await SET_MONITOR_COMPLETE(me)
        if not still.wanted:
            return SearchResult(searched=False, reason="withdrawn")
        # No social source exists yet, so there is nothing to wait for before the end.
        await SET_DOWNLOAD_COMPLETE(me)
        return SearchResult(searched=False, reason="no source to search")
