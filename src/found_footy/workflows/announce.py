"""Tells others of the news: deals the outbox out to subscriptions, and has each message that is due sent.

A schedule runs one after the other, without a gap: when this one ends, fails or is terminated, the next begins. Nothing
is lost between them, for all that matters is in the database.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from found_footy.workflows.announce_contracts import (
    BURY_MESSAGE,
    DEAL_OUT_NEWS,
    AnnounceInput,
    AnnounceResult,
    Burial,
    DeliveryInput,
    DeliveryResult,
    DueMessages,
    MessageRef,
    Round,
    delivery_id,
    send_for,
)

PAUSE = 2.0
"""Seconds after a round that failed: the database is away."""
PATIENCE = timedelta(days=2)
"""How long a message that nobody takes waits to be put to the dead letters while the database is away."""


@workflow.defn(name="DeliveryWorkflow")
class DeliveryWorkflow:
    """One message: taken, or among the dead letters with the reason."""

    @workflow.run
    async def run(self, order: DeliveryInput) -> DeliveryResult:
        try:
            return await send_for(MessageRef(order.delivery_id), timedelta(seconds=order.patience_seconds))
        except ActivityError as error:
            kind = getattr(error.cause, "type", None) or type(error.cause or error).__name__
            burial = Burial(order.delivery_id, str(kind), str(error.cause or error))
        await BURY_MESSAGE.patiently(burial, PATIENCE)
        return DeliveryResult("dead")


@workflow.defn(name="AnnounceWorkflow")
class AnnounceWorkflow:
    @workflow.run
    async def run(self, order: AnnounceInput) -> AnnounceResult:
        started = done = 0
        while done < order.rounds and not workflow.info().is_continue_as_new_suggested():
            done += 1
            try:
                due = await DEAL_OUT_NEWS(Round(f"{workflow.info().run_id}-{done}"))
            except ActivityError as error:
                workflow.logger.warning("the news wait: %s", error.cause or error)
                await asyncio.sleep(PAUSE)
                continue
            started += sum(await asyncio.gather(*(self._start(id_, due) for id_ in due.ids)))
        return AnnounceResult(done, started)

    async def _start(self, id_: int, due: DueMessages) -> bool:
        try:
            await workflow.start_child_workflow(
                DeliveryWorkflow.run,
                DeliveryInput(id_, due.patience_seconds),
                id=delivery_id(id_),
                parent_close_policy=ParentClosePolicy.ABANDON,
                # A dead letter is sent again under the same id; what is on its way already is left alone.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            )
        except WorkflowAlreadyStartedError:
            return False
        return True
