"""Telling others of the news, on a real Temporal server."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from found_footy.workflows import announce, announce_contracts
from found_footy.workflows.announce import AnnounceWorkflow, DeliveryWorkflow
from found_footy.workflows.announce_contracts import (
    BURY_MESSAGE,
    DEAL_OUT_NEWS,
    SEND_MESSAGE,
    AnnounceInput,
    Burial,
    DeliveryInput,
    DeliveryResult,
    DueMessages,
    MessageRef,
    Round,
    delivery_id,
)
from found_footy.workflows.contracts import Done
from tests.support.workers import worker_with


class World:
    """Rounds give what is due in each; a message is taken after so many tries that fail."""

    def __init__(self, *rounds: list[int], failures: dict[int, int] | None = None, patience: float = 60) -> None:
        self.offset = uuid4().int % 10**12 * 1000
        self.rounds = [[self.offset + id_ for id_ in ids] for ids in rounds]
        self.failures = {self.offset + id_: number for id_, number in (failures or {}).items()}
        self.patience = patience
        self.claims: list[str] = []
        self.sent: list[int] = []
        self.tries: list[int] = []
        self.buried: list[tuple[int, str]] = []
        self.broken_rounds = 0
        self.gate: asyncio.Event | None = None

    async def deal(self, order: Round) -> DueMessages:
        self.claims.append(order.claim)
        if self.broken_rounds:
            self.broken_rounds -= 1
            raise ApplicationError("no database", type="StoreUnavailable", non_retryable=True)
        return DueMessages(self.rounds.pop(0) if self.rounds else [], self.patience)

    async def send(self, order: MessageRef) -> DeliveryResult:
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

    async def bury(self, order: Burial) -> Done:
        self.buried.append((order.delivery_id - self.offset, order.error_kind))
        return Done()

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            DEAL_OUT_NEWS: (Round, self.deal),
            SEND_MESSAGE: (MessageRef, self.send),
            BURY_MESSAGE: (Burial, self.bury),
        }

    async def announce(self, client: Client, queue: str, rounds: int | None = None) -> Any:
        order = AnnounceInput(len(self.rounds) if rounds is None else rounds)
        return await client.execute_workflow(AnnounceWorkflow.run, order, id=f"announce-{uuid4()}", task_queue=queue)

    async def ended(self, client: Client, *ids: int) -> list[str]:
        handles = [client.get_workflow_handle(delivery_id(self.offset + id_)) for id_ in ids]
        return [(await asyncio.wait_for(handle.result(), 120))["state"] for handle in handles]


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announce_contracts, "FIRST_WAIT", timedelta(milliseconds=20))
    monkeypatch.setattr(announce, "PAUSE", 0.05)


async def test_each_message_that_is_due_is_sent_once(temporal: Client) -> None:
    world = World([1, 2], [], [3])
    async with worker_with(temporal, world.fakes) as queue:
        result = await world.announce(temporal, queue)
        assert await world.ended(temporal, 1, 2, 3) == ["delivered"] * 3
    assert (result.rounds, result.started) == (3, 3)
    assert sorted(world.sent) == [1, 2, 3]
    assert len(set(world.claims)) == 3


async def test_a_message_that_is_on_its_way_is_not_started_again(temporal: Client) -> None:
    world = World([1], [1])
    world.gate = asyncio.Event()
    async with worker_with(temporal, world.fakes) as queue:
        result = await world.announce(temporal, queue)
        world.gate.set()
        await world.ended(temporal, 1)
    assert (result.started, world.sent) == (1, [1])


async def test_a_dead_letter_is_sent_again_under_the_same_id(temporal: Client) -> None:
    world = World([1], failures={1: 99})
    async with worker_with(temporal, world.fakes) as queue:
        await world.announce(temporal, queue)
        assert await world.ended(temporal, 1) == ["dead"]
        world.failures.clear()
        world.rounds = [[world.offset + 1]]
        await world.announce(temporal, queue)
        assert await world.ended(temporal, 1) == ["delivered"]


async def test_a_receiver_that_is_away_is_tried_again(temporal: Client) -> None:
    world = World([1], failures={1: 3})
    async with worker_with(temporal, world.fakes) as queue:
        await world.announce(temporal, queue)
        assert await world.ended(temporal, 1) == ["delivered"]
    assert (world.tries, world.buried) == ([1] * 4, [])


async def test_a_refusal_is_a_dead_letter_at_once(temporal: Client) -> None:
    world = World([1], failures={1: 99})
    async with worker_with(temporal, world.fakes) as queue:
        await world.announce(temporal, queue)
        assert await world.ended(temporal, 1) == ["dead"]
    assert (world.tries, world.buried) == ([1], [(1, "DeliveryRefused")])


async def test_a_receiver_that_never_comes_back_ends_in_a_dead_letter(temporal: Client) -> None:
    world = World(failures={1: 98})
    async with worker_with(temporal, world.fakes) as queue:
        order = DeliveryInput(world.offset + 1, patience_seconds=1)
        id_ = delivery_id(order.delivery_id)
        result = await temporal.execute_workflow(DeliveryWorkflow.run, order, id=id_, task_queue=queue)
    assert result.state == "dead"
    assert [id_ for id_, _ in world.buried] == [1]


async def test_a_round_that_fails_is_not_the_end(temporal: Client) -> None:
    world = World([1])
    world.broken_rounds = 2
    async with worker_with(temporal, world.fakes) as queue:
        await world.announce(temporal, queue, rounds=3)
        assert await world.ended(temporal, 1) == ["delivered"]


async def test_messages_outlive_the_announcer_that_started_them(temporal: Client) -> None:
    world = World([1])
    world.gate = asyncio.Event()
    async with worker_with(temporal, world.fakes) as queue:
        handle = await temporal.start_workflow(
            AnnounceWorkflow.run, AnnounceInput(10**6), id=f"announce-{uuid4()}", task_queue=queue
        )
        while not world.tries:
            await asyncio.sleep(0.01)
        await handle.terminate()
        assert (await handle.describe()).status is WorkflowExecutionStatus.TERMINATED
        world.gate.set()
        assert await world.ended(temporal, 1) == ["delivered"]
