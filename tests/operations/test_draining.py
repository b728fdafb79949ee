"""A burst followed by calm on real processes: not one activity is interrupted."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowHandle

from found_footy.operations.scaler import LIVE, InstanceCount, LoadProbe, LocalInstances, ScaledPool, Scaler
from found_footy.operations.scaling import ScalingPolicy
from found_footy.operations.temporal_status import TemporalStatus
from found_footy.runtime import worker as worker_module
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.supervisor import ChildState, Supervisor, WorkerSpec
from found_footy.runtime.worker import MAX_DRAIN, activity_worker, pipeline_worker, run_workers
from tests.operations.draining_worker import BlockedWorkflow
from tests.support.processes import wait_until
from tests.support.workers import sandbox

pytestmark = pytest.mark.timeout(300)

# The machine's other load must not decide what happens here.
ANY_CPU = 1.1


@dataclass
class WorkerSystem:
    client: Client
    supervisor: Supervisor
    place: LocalInstances
    probe: LoadProbe
    queue: str
    folder: Path

    def scaler(self, policy: ScalingPolicy) -> Scaler:
        pool = ScaledPool(LIVE, policy, self.place)
        return Scaler([pool], self.probe.measure, lambda: datetime.now(UTC), timedelta(seconds=1))

    async def begin(self, number: int) -> WorkflowHandle[BlockedWorkflow, None]:
        id_ = f"{self.queue}-{number}"
        return await self.client.start_workflow(BlockedWorkflow.run, number, id=id_, task_queue=self.queue)

    def end(self, number: int) -> None:
        (self.folder / f"end-{number}").touch()

    def begun(self) -> dict[int, tuple[int, int]]:
        """Pid and attempt by number."""
        found = {}
        for file in self.folder.glob("begun-*"):
            words = file.read_text().split()
            if len(words) == 2:
                found[int(file.name.removeprefix("begun-"))] = (int(words[0]), int(words[1]))
        return found

    def running(self) -> dict[int, int]:
        """Number by pid, of the activities that have begun and may not end yet."""
        return {pid: n for n, (pid, _) in self.begun().items() if not (self.folder / f"end-{n}").exists()}

    def pid(self, name: str) -> int | None:
        return next((child.pid for child in self.supervisor.status() if child.name == name), None)


@pytest.fixture
async def workshop(temporal: Client, tmp_path: Path) -> AsyncIterator[WorkerSystem]:
    queue, folder = f"test-{uuid4()}", tmp_path / "work"
    folder.mkdir()
    address = temporal.service_client.config.target_host
    arguments = [address, temporal.namespace, queue, str(folder)]
    command = [sys.executable, "-m", "tests.operations.draining_worker", *arguments]
    data = DataFolder(tmp_path / "data")

    async def no_goals() -> int:
        return 0

    with data.lock():
        async with Supervisor(data, []) as supervisor:
            await supervisor.start_engines()
            place = LocalInstances(supervisor, lambda number: WorkerSpec(f"worker-{number}", command))
            probe = LoadProbe(temporal, TemporalStatus(temporal, queue, []), queue, no_goals)
            yield WorkerSystem(temporal, supervisor, place, probe, queue, folder)


async def test_no_activity_is_interrupted_in_a_burst_followed_by_calm(workshop: WorkerSystem) -> None:
    """Scale up, drain a busy worker, scale down: every activity ends in its first attempt."""
    scaler = workshop.scaler(ScalingPolicy(1, 2, 2, 1, timedelta(0), max_cpu=ANY_CPU, max_memory=ANY_CPU))
    handles = [await workshop.begin(number) for number in range(6)]

    async def scaled(count: InstanceCount) -> bool:
        await scaler.round()
        return await workshop.place.count() == count

    await wait_until(lambda: scaled(InstanceCount(2)))
    try:
        await wait_until(lambda: holds(len(workshop.running()) == 2))
    except TimeoutError:
        raise AssertionError(f"{workshop.begun()} {workshop.supervisor.status()}") from None
    newest = workshop.pid("worker-2")
    assert newest is not None
    kept = workshop.running()[newest]
    for number in {*range(6)} - {kept}:
        workshop.end(number)
    await asyncio.gather(*(handle.result() for number, handle in enumerate(handles) if number != kept))

    await wait_until(lambda: scaled(InstanceCount(1, 1)))
    assert workshop.pid("worker-2") == newest, "it drains, and still runs its activity"
    assert [child.name for child in workshop.supervisor.status() if child.state is ChildState.DRAINING] == ["worker-2"]
    late = await workshop.begin(6)
    workshop.end(6)
    await late.result()
    assert workshop.begun()[6][0] != newest, "a draining worker takes no task"

    workshop.end(kept)
    await handles[kept].result()
    await wait_until(lambda: scaled(InstanceCount(1)))
    assert {attempt for _, attempt in workshop.begun().values()} == {1}


async def test_a_stop_does_not_wait_for_running_tasks(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The activity fails as retryable, so that another worker takes it."""
    monkeypatch.setattr(worker_module, "GRACEFUL_SHUTDOWN", timedelta(milliseconds=100))
    queue, begun = f"test-{uuid4()}", asyncio.Event()

    @activity.defn(name="block")
    async def endless(_: int) -> None:
        begun.set()
        await asyncio.Event().wait()

    workers = [
        pipeline_worker(temporal, queue, [BlockedWorkflow], [], workflow_runner=sandbox()),
        activity_worker(temporal, f"{queue}-media", [endless], max_concurrent=1, graceful_shutdown=MAX_DRAIN),
    ]
    stop, drain = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(run_workers(workers, stop, forever(), drain))
    handle = await temporal.start_workflow(BlockedWorkflow.run, 1, id=queue, task_queue=queue)
    await begun.wait()
    drain.set()
    await asyncio.sleep(0)
    assert not running.done()
    stop.set()
    await asyncio.wait_for(running, 60)

    # Nobody completes the workflow task of the failed activity, so only the event before it is recorded.
    history = await handle.fetch_history()
    failures = [
        each.activity_task_failed_event_attributes.failure
        for each in history.events
        if each.HasField("activity_task_failed_event_attributes")
    ]
    assert [failure.application_failure_info.type for failure in failures] == ["WorkerStopping"]
    assert not failures[0].application_failure_info.non_retryable
    await handle.terminate()


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.chaos
async def test_no_activity_is_interrupted_in_many_bursts(workshop: WorkerSystem) -> None:
    """Activities end at random while the scaler starts and drains up to eight workers."""
    scaler = workshop.scaler(ScalingPolicy(2, 8, 5, 2, timedelta(seconds=3), max_cpu=ANY_CPU, max_memory=ANY_CPU))
    scaling = asyncio.create_task(scaler.run())
    chance, most, number = random.Random(17), 0, 0
    for _ in range(3):
        handles = {number + each: await workshop.begin(number + each) for each in range(60)}
        number += 60
        while handles:
            ready = [each for each in workshop.running().values() if chance.random() < 0.2]
            for each in ready:
                workshop.end(each)
                await handles.pop(each).result()
            most = max(most, (await workshop.place.count()).taking_tasks)
            await asyncio.sleep(0.1)
        await wait_until(lambda: is_calm(workshop), 120)
    scaling.cancel()
    assert most >= 4
    assert {attempt for _, attempt in workshop.begun().values()} == {1}
    assert len(workshop.begun()) == number


async def is_calm(workshop: WorkerSystem) -> bool:
    return await workshop.place.count() == InstanceCount(2)


async def holds(value: bool) -> bool:
    return value
