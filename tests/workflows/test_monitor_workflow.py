"""One poll as a workflow, on a real Temporal server."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from found_footy.workflows.contracts import (
    POLL_ACTIVE,
    POLL_STAGING,
    PRE_ACTIVATE,
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    Activated,
    Done,
    EventWorkflow,
    MonitorInput,
    Polled,
    PollInput,
    StagingPolled,
    StillWanted,
    search_id,
)
from found_footy.workflows.feed_contracts import FEEDS_ON, POLL_FEED, FeedPoll, FeedPolled, FeedsOn, feed_id
from found_footy.workflows.monitor import MonitorWorkflow
from tests.support.workers import worker_with


class World:
    """What the activities do, and what they were asked."""

    def __init__(self, *to_search: str) -> None:
        self.to_search = list(to_search)
        self.polls: list[PollInput] = []
        self.marks: list[str] = []
        self.wanted = True
        self.staging_fails = False
        self.active_fails = False
        self.search_fails = 0
        self.feeds = [f"feed{uuid4().hex[:6]}" for _ in range(2)]
        self.feeds_fail = False
        self.patience_seconds = 30.0
        self.asked: list[str] = []
        self.hangs: dict[str, asyncio.Event] = {}
        self.fails: set[str] = set()

    async def feeds_on(self, order: PollInput) -> FeedsOn:
        if self.feeds_fail:
            raise ApplicationError("no file", non_retryable=True)
        return FeedsOn(self.feeds, self.patience_seconds)

    async def poll_feed(self, order: FeedPoll) -> FeedPolled:
        self.asked.append(order.feed)
        if order.feed in self.hangs:
            await self.hangs[order.feed].wait()
        if order.feed in self.fails:
            raise ApplicationError("no cache", non_retryable=True)
        return FeedPolled(asked=1, answered=1)

    async def pre_activate(self, order: PollInput) -> Activated:
        return Activated([])

    async def staging(self, order: PollInput) -> StagingPolled:
        if self.staging_fails:
            raise ApplicationError("no answer", non_retryable=True)
        return StagingPolled()

    async def active(self, order: PollInput) -> Polled:
        self.polls.append(order)
        if self.active_fails:
            raise ApplicationError("no database", non_retryable=True)
        return Polled(asked=1, answered=1, to_search=self.to_search)

    async def monitor_complete(self, order: EventWorkflow) -> StillWanted:
        if self.search_fails:
            self.search_fails -= 1
            raise ApplicationError("no database", non_retryable=True)
        self.marks.append(f"monitor {order.event_id}")
        return StillWanted(self.wanted)

    async def download_complete(self, order: EventWorkflow) -> Done:
        self.marks.append(f"download {order.event_id}")
        return Done()

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            PRE_ACTIVATE: (PollInput, self.pre_activate),
            FEEDS_ON: (PollInput, self.feeds_on),
            POLL_FEED: (FeedPoll, self.poll_feed),
            POLL_STAGING: (PollInput, self.staging),
            POLL_ACTIVE: (PollInput, self.active),
            SET_MONITOR_COMPLETE: (EventWorkflow, self.monitor_complete),
            SET_DOWNLOAD_COMPLETE: (EventWorkflow, self.download_complete),
        }


async def poll(client: Client, queue: str) -> Any:
    return await client.execute_workflow(
        MonitorWorkflow.run,
        MonitorInput(),
        id=f"monitor-{uuid4()}",
        task_queue=queue,
        execution_timeout=timedelta(seconds=120),
    )


async def end_of(client: Client, workflow_id: str) -> WorkflowExecutionStatus | None:
    handle = client.get_workflow_handle(workflow_id)
    with contextlib.suppress(WorkflowFailureError):
        await asyncio.wait_for(handle.result(), 120)
    return (await handle.describe()).status


async def ended(client: Client, event_id: str) -> WorkflowExecutionStatus | None:
    return await end_of(client, search_id(event_id))


async def asked(world: World, feed: str) -> None:
    async with asyncio.timeout(120):
        while feed not in world.asked:
            await asyncio.sleep(0.02)


def an_event() -> str:
    return f"{uuid4()}_40_7_Goal_1"


async def test_a_certain_goal_starts_its_search_which_ends_by_itself(temporal: Client) -> None:
    world = World(an_event())
    async with worker_with(temporal, world.fakes) as queue:
        result = await poll(temporal, queue)
        assert result.searches_started == world.to_search
        assert await ended(temporal, world.to_search[0]) is WorkflowExecutionStatus.COMPLETED
    assert world.marks == [f"monitor {world.to_search[0]}", f"download {world.to_search[0]}"]


async def test_the_poll_is_known_by_its_workflows_id(temporal: Client) -> None:
    world = World()
    async with worker_with(temporal, world.fakes) as queue:
        handle = await temporal.start_workflow(
            MonitorWorkflow.run, MonitorInput(), id=f"monitor-{uuid4()}", task_queue=queue
        )
        await handle.result()
    assert world.polls[0].id == handle.id
    assert world.polls[0].at == (await handle.describe()).start_time


async def test_a_goal_is_searched_for_once(temporal: Client) -> None:
    world = World(an_event())
    async with worker_with(temporal, world.fakes) as queue:
        await poll(temporal, queue)
        await ended(temporal, world.to_search[0])
        again = await poll(temporal, queue)
    assert again.searches_started == []
    assert len(world.marks) == 2


async def test_a_search_that_failed_is_started_again(temporal: Client) -> None:
    world = World(an_event())
    world.search_fails = 1
    async with worker_with(temporal, world.fakes) as queue:
        await poll(temporal, queue)
        assert await ended(temporal, world.to_search[0]) is WorkflowExecutionStatus.FAILED
        await poll(temporal, queue)
        assert await ended(temporal, world.to_search[0]) is WorkflowExecutionStatus.COMPLETED


async def test_a_withdrawn_goal_is_not_searched_for(temporal: Client) -> None:
    world = World(an_event())
    world.wanted = False
    async with worker_with(temporal, world.fakes) as queue:
        await poll(temporal, queue)
        await ended(temporal, world.to_search[0])
    assert world.marks == [f"monitor {world.to_search[0]}"]


async def test_staging_that_fails_does_not_stop_the_active_poll(temporal: Client) -> None:
    world = World(an_event())
    world.staging_fails = True
    async with worker_with(temporal, world.fakes) as queue:
        with pytest.raises(WorkflowFailureError) as failure:
            await poll(temporal, queue)
        assert isinstance(failure.value.cause, ApplicationError)
        assert failure.value.cause.type == "PollIncomplete"
        await ended(temporal, world.to_search[0])
    assert len(world.marks) == 2


async def test_a_poll_that_fails_is_seen_to_fail(temporal: Client) -> None:
    world = World()
    world.active_fails = True
    async with worker_with(temporal, world.fakes) as queue:
        with pytest.raises(WorkflowFailureError):
            await poll(temporal, queue)


async def test_all_feeds_are_asked_before_anything_is_compared(temporal: Client) -> None:
    world = World()
    async with worker_with(temporal, world.fakes) as queue:
        await poll(temporal, queue)
    assert sorted(world.asked) == sorted(world.feeds)
    assert len(world.polls) == 1


async def test_a_feed_that_hangs_or_fails_holds_up_nobody(temporal: Client) -> None:
    world = World()
    slow, broken = world.feeds
    world.hangs[slow] = asyncio.Event()
    world.fails.add(broken)
    world.patience_seconds = 3
    async with worker_with(temporal, world.fakes) as queue:
        result = await poll(temporal, queue)
        assert result.polled.answered == 1
        await asked(world, slow)
        assert await end_of(temporal, feed_id(broken)) is WorkflowExecutionStatus.FAILED
        # It is still at it, so it is not asked a second time.
        await poll(temporal, queue)
        assert await end_of(temporal, feed_id(broken)) is WorkflowExecutionStatus.FAILED
        assert world.asked.count(slow) == 1
        assert world.asked.count(broken) == 2
        world.hangs[slow].set()
        assert await end_of(temporal, feed_id(slow)) is WorkflowExecutionStatus.COMPLETED
        del world.hangs[slow]
        await poll(temporal, queue)
        assert await end_of(temporal, feed_id(slow)) is WorkflowExecutionStatus.COMPLETED
    assert world.asked.count(slow) == 2
    assert len(world.polls) == 3


async def test_what_is_known_is_compared_also_where_nobody_knows_the_feeds(temporal: Client) -> None:
    world = World()
    world.feeds_fail = True
    async with worker_with(temporal, world.fakes) as queue:
        with pytest.raises(WorkflowFailureError) as failure:
            await poll(temporal, queue)
    assert "incomplete" in str(failure.value.cause)
    assert len(world.polls) == 1
