"""The daily canary: checks every feed, source and service with production requests, and notifies on change."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind

with workflow.unsafe.imports_passed_through():
    from found_footy.operations.canary import CanaryActivities, CanaryInput, ServicesChecked

CANARY = "canary"
CHECK = ActivityPolicy(timedelta(minutes=5), attempts=3, initial_backoff=timedelta(seconds=10)).on(WorkKind.NETWORK)
"""A check takes up to two rounds of one minute each, 30 s apart."""


@workflow.defn(name="CanaryWorkflow")
class CanaryWorkflow:
    @workflow.run
    async def run(self, order: CanaryInput) -> ServicesChecked:
        return await workflow.execute_activity_method(CanaryActivities.check_services, order, **CHECK.options())
