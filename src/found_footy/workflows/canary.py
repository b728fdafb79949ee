"""The daily canary: tries every feed, source and service with the requests of production, and notifies on change."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from temporalio import workflow

from found_footy.workflows.contracts import Call

CANARY = "canary"


@dataclass(frozen=True)
class CanaryInput:
    """Nothing to choose: everything that is switched on is checked."""


@dataclass(frozen=True)
class ServicesChecked:
    checked: int = 0
    failed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Services that stopped working, or work again."""


CHECK_SERVICES: Call[CanaryInput, ServicesChecked] = Call(
    # Two rounds of a minute each, and half a minute between them.
    "check_services",
    ServicesChecked,
    timedelta(minutes=5),
    3,
    first_wait=timedelta(seconds=10),
)


@workflow.defn(name="CanaryWorkflow")
class CanaryWorkflow:
    @workflow.run
    async def run(self, order: CanaryInput) -> ServicesChecked:
        return await CHECK_SERVICES(order)
