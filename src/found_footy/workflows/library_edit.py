"""The timer of a split or a merge: when its time for undo is over, it becomes files."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow

from found_footy.workflows.contracts import Done
from found_footy.workflows.library_contracts import SETTLE_EDIT, EditInput

MARGIN = timedelta(milliseconds=200)
"""Two machines' clocks are never quite the same, and whoever comes too early settles nothing."""
PATIENCE = timedelta(days=2)


@workflow.defn(name="EditWorkflow")
class EditWorkflow:
    @workflow.run
    async def run(self, order: EditInput) -> Done:
        left = order.settles_at + MARGIN - workflow.now()
        if left > timedelta():
            await asyncio.sleep(left.total_seconds())
        # One that was undone meanwhile is left alone. Where this settles nothing because it is too early, the
        # dispatcher finds the edit again.
        return await SETTLE_EDIT.patiently(order, PATIENCE)
