"""What a real Temporal tells of its workers, queues and schedules."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from temporalio import workflow
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleIntervalSpec, ScheduleSpec
from temporalio.worker import Worker

from found_footy.errors import EngineError
from found_footy.operations.models import TemporalState
from found_footy.operations.temporal_status import TemporalStatus


@workflow.defn
class WaitingWorkflow:
    @workflow.run
    async def run(self) -> None:
        await asyncio.sleep(3600)


def now() -> datetime:
    return datetime.now(UTC)


async def until(status: TemporalStatus, name: str, number: int) -> TemporalState:
    """Temporal counts workflows a little after they are started."""
    for _ in range(100):
        state = await status.read(now())
        if state.running[name] == number:
            return state
        await asyncio.sleep(0.1)
    raise AssertionError(f"Temporal never counts {number} {name}")


async def test_waiting_work_is_seen_and_the_worker_that_takes_it(temporal: Client) -> None:
    queue = f"look-{uuid.uuid4()}"
    status = TemporalStatus(temporal, queue, ["WaitingWorkflow", "OtherWorkflow"], seconds=10)
    handle = await temporal.start_workflow(WaitingWorkflow.run, id=queue, task_queue=queue)
    state = await until(status, "WaitingWorkflow", 1)
    assert state.running["OtherWorkflow"] == 0
    for _ in range(100):
        by_kind = {each.kind: each for each in (await status.read(now())).queues}
        if by_kind["workflow"].backlog:  # counted a moment later than it is listed
            break
        await asyncio.sleep(0.1)
    assert (by_kind["workflow"].backlog, by_kind["workflow"].workers) == (1, ())
    assert by_kind["activity"].backlog == 0
    async with Worker(temporal, task_queue=queue, workflows=[WaitingWorkflow], identity="a worker"):
        await handle.describe()
        for _ in range(100):
            workflows = (await status.read(now())).queues[0]
            if workflows.workers and not workflows.backlog:
                break
            await asyncio.sleep(0.1)
    assert [worker.identity for worker in workflows.workers] == ["a worker"]
    assert now() - workflows.workers[0].seen_at < timedelta(minutes=2)
    await handle.terminate()


async def test_schedules_are_reported_with_their_pause(temporal: Client) -> None:
    name = f"monitor-{uuid.uuid4()}"
    action = ScheduleActionStartWorkflow(WaitingWorkflow.run, id=name, task_queue=name)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(hours=1))])
    handle = await temporal.create_schedule(name, Schedule(action=action, spec=spec))
    await handle.pause(note="for the night")
    status = TemporalStatus(temporal, name, [], seconds=10)
    for _ in range(100):
        found = {schedule.id: schedule for schedule in (await status.read(now())).schedules}
        if name in found and found[name].paused:
            break
        await asyncio.sleep(0.1)
    assert (found[name].paused, found[name].note, found[name].last_run) == (True, "for the night", None)
    await handle.delete()


async def test_an_unreachable_temporal_is_reported_in_bounded_time() -> None:
    client = await Client.connect("127.0.0.1:9", lazy=True)
    with pytest.raises(EngineError):
        await TemporalStatus(client, "queue", ["SearchWorkflow"], seconds=1).read(now())


@workflow.defn(name="CanaryWorkflow")
class HangingWorkflow:
    @workflow.run
    async def run(self) -> None:
        await asyncio.sleep(3600)


async def test_a_workflow_that_runs_longer_than_its_type_should_is_stuck(temporal: Client) -> None:
    name = f"stuck-{uuid.uuid4()}"
    handle = await temporal.start_workflow(HangingWorkflow.run, id=name, task_queue=name)
    status = TemporalStatus(temporal, name, ["CanaryWorkflow"], seconds=10)
    assert name not in {each.id for each in (await until(status, "CanaryWorkflow", 1)).stuck}
    later = await status.read(now() + timedelta(hours=1))
    assert [(each.id, each.type) for each in later.stuck if each.id == name] == [(name, "CanaryWorkflow")]
    await handle.terminate()
