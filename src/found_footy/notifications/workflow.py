"""Notification workflows: fan out the outbox to subscriptions, and deliver each message that is due."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from found_footy.runtime.activity_policy import ActivityPolicy
from found_footy.runtime.queues import WorkKind
from found_footy.runtime.workflow_limits import execution_timeout

with workflow.unsafe.imports_passed_through():
    from found_footy.notifications.activities import (
        MAX_BACKOFF,
        DeadMessage,
        DeliveryRef,
        DeliveryResult,
        DueDeliveries,
        FanOutRound,
        NotificationActivities,
    )

NOTIFY = "notify-scheduled"
"""Workflow id; its schedule appends the time."""

FAN_OUT = ActivityPolicy(timedelta(seconds=90), attempts=3)
INITIAL_BACKOFF = timedelta(seconds=2)
DELIVER = ActivityPolicy(timedelta(seconds=120), attempts=1, initial_backoff=INITIAL_BACKOFF).on(WorkKind.NETWORK)
MARK_DEAD = ActivityPolicy(timedelta(seconds=30), attempts=5).within(timedelta(days=2))
"""Retries long enough to survive a database outage."""
FAILED_ROUND_SECONDS = 2.0
"""Pause after a failed round, usually because the database is unavailable."""


def delivery_workflow_id(delivery_id: int) -> str:
    return f"delivery-{delivery_id}"


@dataclass(frozen=True)
class NotificationInput:
    rounds: int = 150
    """Rounds after which the workflow ends, and its schedule starts the next one at once."""


@dataclass(frozen=True)
class NotificationResult:
    rounds: int
    started: int


@dataclass(frozen=True)
class DeliveryInput:
    delivery_id: int
    retry_window_seconds: float


@workflow.defn(name="DeliveryWorkflow")
class DeliveryWorkflow:
    """Delivers one message with exponential backoff until it is delivered, refused, or its retry window closes."""

    @workflow.run
    async def run(self, order: DeliveryInput) -> DeliveryResult:
        policy = DELIVER.within(timedelta(seconds=order.retry_window_seconds), MAX_BACKOFF)
        try:
            return await workflow.execute_activity_method(
                NotificationActivities.deliver, DeliveryRef(order.delivery_id), **policy.options()
            )
        except ActivityError as error:
            kind = getattr(error.cause, "type", None) or type(error.cause or error).__name__
            dead = DeadMessage(order.delivery_id, str(kind), str(error.cause or error))
        await workflow.execute_activity_method(NotificationActivities.mark_dead, dead, **MARK_DEAD.options())
        return DeliveryResult("dead")


@workflow.defn(name="NotificationWorkflow")
class NotificationWorkflow:
    @workflow.run
    async def run(self, order: NotificationInput) -> NotificationResult:
        started = rounds = 0
        while rounds < order.rounds and not workflow.info().is_continue_as_new_suggested():
            rounds += 1
            round_ = FanOutRound(f"{workflow.info().run_id}-{rounds}")
            try:
                due = await workflow.execute_activity_method(
                    NotificationActivities.fan_out, round_, **FAN_OUT.options()
                )
            except ActivityError as error:
                workflow.logger.warning("fan-out failed: %s", error.cause or error)
                await asyncio.sleep(FAILED_ROUND_SECONDS)
                continue
            started += sum(await asyncio.gather(*(self._start(id_, due) for id_ in due.ids)))
        return NotificationResult(rounds, started)

    async def _start(self, delivery_id: int, due: DueDeliveries) -> bool:
        try:
            await workflow.start_child_workflow(
                DeliveryWorkflow.run,
                DeliveryInput(delivery_id, due.retry_window_seconds),
                id=delivery_workflow_id(delivery_id),
                parent_close_policy=ParentClosePolicy.ABANDON,
                # A dead message is retried under the same id; a running delivery is left alone.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                execution_timeout=execution_timeout(DeliveryWorkflow),
            )
        except WorkflowAlreadyStartedError:
            return False
        return True
