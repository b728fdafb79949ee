"""The notification workflows, on a real Temporal server."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from found_footy.notifications import workflow as notifications
from found_footy.notifications.activities import (
    DeadMessage,
    DeliveryRef,
    DeliveryResult,
    DueDeliveries,
    FanOutRound,
    NotificationActivities,
)
from found_footy.notifications.workflow import (
    DeliveryInput,
    DeliveryWorkflow,
    NotificationInput,
    NotificationWorkflow,
    delivery_workflow_id,
)
from tests.support.workers import worker_with


class ScriptedDeliveries:
    """`rounds` lists the deliveries due in each; a delivery succeeds after the given number of failures."""

    def __init__(self, *rounds: list[int], failures: dict[int, int] | None = None, retry_window: float = 60) -> None:
        self.offset = uuid4().int % 10**12 * 1000
        self.rounds = [[self.offset + id_ for id_ in ids] for ids in rounds]
        self.failures = {self.offset + id_: number for id_, number in (failures or {}).items()}
        self.retry_window = retry_window
        self.claims: list[str] = []
        self.sent: list[int] = []
        self.tries: list[int] = []
        self.dead: list[tuple[int, str]] = []
        self.broken_rounds = 0
        self.gate: asyncio.Event | None = None

    async def fan_out(self, order: FanOutRound) -> DueDeliveries:
        self.claims.append(order.claim)
        if self.broken_rounds:
            self.broken_rounds -= 1
            raise ApplicationError("no database", type="StoreUnavailable", non_retryable=True)
        return DueDeliveries(self.rounds.pop(0) if self.rounds else [], self.retry_window)

    async def send(self, order: DeliveryRef) -> DeliveryResult:
        self.tries.append(order.delivery_id - self.offset)
        if self.gate is not None:
            await self.gate.wait()
        left = self.failures.get(order.delivery_id, 0)
        if left == 99:
            raise ApplicationError("HTTP 404", type="DeliveryRefused", non_retryable=True)
        if left:
            self.failures[order.delivery_id] = left - 1
            raise ApplicationError("HTTP 503", type="DeliveryUnavailable")
        self.sent.append(order.delivery_id - self.offset)
        return DeliveryResult("delivered")

    async def mark_dead(self, order: DeadMessage) -> None:
        self.dead.append((order.delivery_id - self.offset, order.error_kind))

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            NotificationActivities.fan_out: self.fan_out,
            NotificationActivities.deliver: self.send,
            NotificationActivities.mark_dead: self.mark_dead,
        }

    async def notify(self, client: Client, queue: str, rounds: int | None = None) -> Any:
        order = NotificationInput(len(self.rounds) if rounds is None else rounds)
        return await client.execute_workflow(NotificationWorkflow.run, order, id=f"notify-{uuid4()}", task_queue=queue)

    async def ended(self, client: Client, *ids: int) -> list[str]:
        handles = [client.get_workflow_handle(delivery_workflow_id(self.offset + id_)) for id_ in ids]
        return [(await asyncio.wait_for(handle.result(), 120))["state"] for handle in handles]


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "INITIAL_BACKOFF", timedelta(milliseconds=20))
    monkeypatch.setattr(notifications, "FAILED_ROUND_SECONDS", 0.05)


async def test_each_due_message_is_sent_once(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1, 2], [], [3])
    async with worker_with(temporal, scripted.fakes) as queue:
        result = await scripted.notify(temporal, queue)
        assert await scripted.ended(temporal, 1, 2, 3) == ["delivered"] * 3
    assert (result.rounds, result.started) == (3, 3)
    assert sorted(scripted.sent) == [1, 2, 3]
    assert len(set(scripted.claims)) == 3


async def test_a_running_delivery_is_not_started_again(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1], [1])
    scripted.gate = asyncio.Event()
    async with worker_with(temporal, scripted.fakes) as queue:
        result = await scripted.notify(temporal, queue)
        scripted.gate.set()
        await scripted.ended(temporal, 1)
    assert (result.started, scripted.sent) == (1, [1])


async def test_a_dead_message_is_retried_under_the_same_id(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1], failures={1: 99})
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.notify(temporal, queue)
        assert await scripted.ended(temporal, 1) == ["dead"]
        scripted.failures.clear()
        scripted.rounds = [[scripted.offset + 1]]
        await scripted.notify(temporal, queue)
        assert await scripted.ended(temporal, 1) == ["delivered"]


async def test_an_unavailable_receiver_is_retried(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1], failures={1: 3})
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.notify(temporal, queue)
        assert await scripted.ended(temporal, 1) == ["delivered"]
    assert (scripted.tries, scripted.dead) == ([1] * 4, [])


async def test_a_refused_message_is_dead_at_once(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1], failures={1: 99})
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.notify(temporal, queue)
        assert await scripted.ended(temporal, 1) == ["dead"]
    assert (scripted.tries, scripted.dead) == ([1], [(1, "DeliveryRefused")])


async def test_a_message_is_dead_when_its_retry_window_closes(temporal: Client) -> None:
    scripted = ScriptedDeliveries(failures={1: 98})
    async with worker_with(temporal, scripted.fakes) as queue:
        order = DeliveryInput(scripted.offset + 1, retry_window_seconds=1)
        id_ = delivery_workflow_id(order.delivery_id)
        result = await temporal.execute_workflow(DeliveryWorkflow.run, order, id=id_, task_queue=queue)
    assert result.state == "dead"
    assert [id_ for id_, _ in scripted.dead] == [1]


async def test_a_failed_round_is_followed_by_the_next(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1])
    scripted.broken_rounds = 2
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.notify(temporal, queue, rounds=3)
        assert await scripted.ended(temporal, 1) == ["delivered"]


async def test_deliveries_outlive_the_workflow_that_started_them(temporal: Client) -> None:
    scripted = ScriptedDeliveries([1])
    scripted.gate = asyncio.Event()
    async with worker_with(temporal, scripted.fakes) as queue:
        handle = await temporal.start_workflow(
            NotificationWorkflow.run, NotificationInput(10**6), id=f"notify-{uuid4()}", task_queue=queue
        )
        while not scripted.tries:
            await asyncio.sleep(0.01)
        await handle.terminate()
        assert (await handle.describe()).status is WorkflowExecutionStatus.TERMINATED
        scripted.gate.set()
        assert await scripted.ended(temporal, 1) == ["delivered"]
