"""The only one that changes an event's clips, on a real Temporal server."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from found_footy.clips import workflow as upload
from found_footy.clips.activities import UploadActivities
from found_footy.clips.models import DedupPlan, PoolRef, SettleRequest, VideoRef, upload_workflow_id
from found_footy.clips.workflow import UploadWorkflow, upload_starter
from found_footy.discovery.models import SearchAttempt, WorkflowRef
from tests.support.workers import worker_with


class ScriptedUploads:
    """A pool is a list of what waits in it; what is settled waits no more."""

    def __init__(self) -> None:
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        self.waiting: dict[str, list[str]] = {"verified": [], "unverified": []}
        self.steps: list[str] = []
        self.fail_pool: dict[str, int] = {}
        self.at_once = 0
        self.settled = asyncio.Event()
        self.gate: asyncio.Event | None = None

    async def deduplicate(self, order: PoolRef) -> DedupPlan:
        if self.fail_pool.get(order.pool, 0):
            self.fail_pool[order.pool] -= 1
            raise ApplicationError("no database", non_retryable=True)
        return DedupPlan(stays=tuple(self.waiting[order.pool]), copies=(), publish=tuple(self.waiting[order.pool]))

    async def publish(self, order: VideoRef) -> None:
        self.steps.append(f"publish {order.md5}")

    async def settle(self, order: SettleRequest) -> None:
        self.at_once += 1
        assert self.at_once == 1, "one upload at a time"
        if self.gate is not None:
            await self.gate.wait()
        names = [name for plan in order.plans for name in plan.publish]
        self.waiting = {pool: [n for n in found if n not in names] for pool, found in self.waiting.items()}
        self.steps.append(f"settle {','.join(names)}")
        self.at_once -= 1
        self.settled.set()

    async def clean_up(self, order: WorkflowRef) -> None:
        self.steps.append("clean up")

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            UploadActivities.deduplicate_pool: self.deduplicate,
            UploadActivities.publish_clip: self.publish,
            UploadActivities.settle_event: self.settle,
            UploadActivities.clean_up_upload: self.clean_up,
        }

    async def hand_over(self, client: Client, queue: str, idle: float = 0.5) -> Any:
        await upload_starter(client, queue, idle)(SearchAttempt(self.event_id, 1))
        return client.get_workflow_handle_for(UploadWorkflow.run, upload_workflow_id(self.event_id))


async def test_files_come_before_the_links_to_them(temporal: Client) -> None:
    scripted = ScriptedUploads()
    scripted.waiting = {"verified": ["a"], "unverified": ["b"]}
    async with worker_with(temporal, scripted.fakes) as queue:
        handle = await scripted.hand_over(temporal, queue)
        await asyncio.wait_for(handle.result(), 120)
    assert sorted(scripted.steps[:2]) == ["publish a", "publish b"]
    assert scripted.steps[2:] == ["settle a,b", "clean up"]


async def test_when_one_pool_fails_the_batch_waits_and_nothing_is_uploaded_twice(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "INITIAL_BACKOFF", 0.1)
    scripted = ScriptedUploads()
    scripted.waiting = {"verified": ["a"], "unverified": ["b"]}
    scripted.fail_pool = {"unverified": 2}
    async with worker_with(temporal, scripted.fakes) as queue:
        handle = await scripted.hand_over(temporal, queue)
        await asyncio.wait_for(handle.result(), 120)
    assert sorted(scripted.steps) == ["clean up", "publish a", "publish b", "settle a,b"]


async def test_a_duplicate_batch_is_uploaded_once(temporal: Client) -> None:
    scripted = ScriptedUploads()
    scripted.waiting["verified"] = ["a"]
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.hand_over(temporal, queue)
        handle = await scripted.hand_over(temporal, queue)
        await asyncio.wait_for(handle.result(), 120)
    assert scripted.steps.count("publish a") == 1


async def test_a_batch_for_an_uploader_that_has_ended_starts_another_one(temporal: Client) -> None:
    """In the seeds' system it was dropped in silence."""
    scripted = ScriptedUploads()
    async with worker_with(temporal, scripted.fakes) as queue:
        for name in ("early", "late"):
            scripted.waiting["verified"] = [name]
            handle = await scripted.hand_over(temporal, queue, idle=0.2)
            await asyncio.wait_for(handle.result(), 120)
            assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED
    assert [step for step in scripted.steps if step.startswith("publish")] == ["publish early", "publish late"]


async def test_batches_received_during_an_upload_wait(temporal: Client) -> None:
    scripted = ScriptedUploads()
    scripted.waiting["verified"] = ["a"]
    scripted.gate = asyncio.Event()
    async with worker_with(temporal, scripted.fakes) as queue:
        await scripted.hand_over(temporal, queue, idle=2)
        while not scripted.at_once:
            await asyncio.sleep(0.01)
        scripted.waiting["verified"].append("b")
        handle = await scripted.hand_over(temporal, queue, idle=2)
        scripted.gate.set()
        await asyncio.wait_for(handle.result(), 120)
    assert [step for step in scripted.steps if step.startswith("settle")] == ["settle a", "settle b"]


async def test_a_long_history_continues_as_new_without_losing_a_batch(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "MAX_BATCHES", 1)
    scripted = ScriptedUploads()
    async with worker_with(temporal, scripted.fakes) as queue:
        for name in ("a", "b", "c"):
            scripted.waiting["verified"].append(name)
            scripted.settled.clear()
            await scripted.hand_over(temporal, queue, idle=1)
            await asyncio.wait_for(scripted.settled.wait(), 120)
        await asyncio.wait_for(temporal.get_workflow_handle(upload_workflow_id(scripted.event_id)).result(), 120)
    assert [step for step in scripted.steps if step.startswith("publish")] == ["publish a", "publish b", "publish c"]
