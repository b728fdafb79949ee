"""The scaler's loop and its places: processes, containers, browsers."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.worker.v1 import WorkerHeartbeat, WorkerHostInfo, WorkerSlotsInfo

from found_footy.errors import EngineError
from found_footy.operations.models import Queue
from found_footy.operations.scaler import (
    BROWSERS,
    LIBRARY,
    LIVE,
    ComposeInstances,
    InstanceCount,
    LocalInstances,
    ScaledPool,
    Scaler,
    SystemLoad,
    system_load,
)
from found_footy.operations.scaling import QueueLoad, ScalingPolicy
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.supervisor import Supervisor, WorkerSpec
from tests.support.processes import wait_until

NOW = datetime(2026, 11, 19, 15, tzinfo=UTC)
MINUTE = timedelta(seconds=60)


class CountedInstances:
    """A place whose instances only exist as a number, and a clock."""

    def __init__(self, instances: int = 2, fault: str | None = None) -> None:
        self.instances = instances
        self.fault = fault
        self.at = NOW
        self.load = SystemLoad({}, 0)

    def now(self) -> datetime:
        return self.at

    async def measure(self) -> SystemLoad:
        return self.load

    async def count(self) -> InstanceCount:
        if self.fault:
            raise EngineError(self.fault)
        return InstanceCount(self.instances)

    async def scale_to(self, target: int) -> None:
        self.instances = target


def media(backlog: int) -> SystemLoad:
    return SystemLoad({"media": QueueLoad("media", backlog)}, 0)


async def test_a_burst_and_the_calm_after_it_scale_up_and_down_with_the_cool_down() -> None:
    scripted = CountedInstances()
    scaler = Scaler([ScaledPool(LIVE, ScalingPolicy(), scripted)], scripted.measure, scripted.now, MINUTE / 2)
    seen = []
    for backlog in (0, 30, 30, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0):
        scripted.load = media(backlog)
        await scaler.round()
        seen.append(scripted.instances)
        scripted.at += MINUTE / 2
    assert seen == [2, 6, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 2]


async def test_a_pool_that_cannot_be_reached_does_not_stop_the_others() -> None:
    broken, scripted = CountedInstances(fault="no docker"), CountedInstances()
    scripted.load = media(30)
    pools = [ScaledPool(LIBRARY, ScalingPolicy(), broken), ScaledPool(LIVE, ScalingPolicy(), scripted)]
    reports = await Scaler(pools, scripted.measure, scripted.now, MINUTE).round()
    assert [report.name for report in reports] == [LIVE]
    assert scripted.instances == 6


async def test_without_acting_nothing_changes() -> None:
    scripted = CountedInstances()
    scripted.load = media(30)
    (report,) = await Scaler(
        [ScaledPool(LIVE, ScalingPolicy(), scripted)], scripted.measure, scripted.now, MINUTE
    ).round(act=False)
    assert (report.decision.target, scripted.instances) == (6, 2)


async def test_browsers_scale_by_active_goals_and_workers_do_not() -> None:
    browsers, workers = CountedInstances(1), CountedInstances(2)
    workers.load = SystemLoad({}, 11)
    policy = ScalingPolicy(1, 8)
    pools = [ScaledPool(BROWSERS, policy, browsers), ScaledPool(LIVE, ScalingPolicy(), workers)]
    await Scaler(pools, workers.measure, workers.now, MINUTE).round()
    assert (browsers.instances, workers.instances) == (3, 2)


# --- Measuring.


def beat(queue: str, name: str, used: int, free: int, cpu: float = 0.5, status: Any = 1) -> WorkerHeartbeat:
    return WorkerHeartbeat(
        worker_identity=name,
        task_queue=queue,
        status=status,
        activity_task_slots_info=WorkerSlotsInfo(current_used_slots=used, current_available_slots=free),
        host_info=WorkerHostInfo(current_host_cpu_usage=cpu, current_host_mem_usage=0.25),
    )


def test_the_load_of_a_pool_covers_its_queues_and_the_machines_of_its_workers() -> None:
    queues = [Queue(kind, (), backlog, MINUTE) for kind, backlog in (("workflow", 1), ("media", 4), ("library", 9))]
    beats = [
        beat("footy-media", "1@a", 1, 1, cpu=0.5),
        beat("footy-media", "2@b", 2, 0, cpu=0.75),
        beat("footy-media", "3@b", 2, 0, cpu=0.75, status=2),
        beat("footy-library", "4@c", 2, 0, cpu=1.0),
        beat("another-media", "5@d", 7, 7),
    ]
    load = system_load(queues, beats, 3, "footy")
    live = load.of_pool(LIVE, InstanceCount(2), None)
    assert (live.pending, live.oldest, live.cpu, live.memory) == (5, MINUTE, 0.75, 0.25)
    assert [(queue.running, queue.slots) for queue in live.queues] == [(0, 0), (3, 4)], "a draining worker has no slots"
    assert (live.has_slots(2), live.has_slots(1)) == (True, False)
    library = load.of_pool(LIBRARY, InstanceCount(1), None)
    assert (library.pending, library.cpu) == (9, 1.0)
    assert load.of_pool(BROWSERS, InstanceCount(1), None).pending == 3


# --- Processes.

DRAINS = """
import pathlib, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: print("draining", flush=True))
print("ready", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.02)
"""
"""A worker that is busy until a file exists."""


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "done"


async def test_a_local_worker_drains_however_long_and_its_number_is_reused(tmp_path: Path, done: Path) -> None:
    folder = DataFolder(tmp_path / "data")

    def spec(number: int) -> WorkerSpec:
        return WorkerSpec(f"worker-{number}", [sys.executable, "-I", "-c", DRAINS, str(done)])

    def logged(name: str, word: str) -> bool:
        log = folder.logs / f"{name}.log"
        return log.exists() and word in log.read_text()

    with folder.lock():
        async with Supervisor(folder, []) as supervisor:
            await supervisor.start_engines()
            await supervisor.start_workers([WorkerSpec("web", spec(1).argv)])
            place = LocalInstances(supervisor, spec)
            await place.scale_to(3)
            assert await place.count() == InstanceCount(3)
            for name in ("worker-2", "worker-3"):
                await wait_until(lambda name=name: holds(logged(name, "ready")))
            await place.scale_to(1)
            assert await place.count() == InstanceCount(1, 2)
            for name in ("worker-2", "worker-3"):
                await wait_until(lambda name=name: holds(logged(name, "draining")))
            await place.scale_to(2)
            assert await place.count() == InstanceCount(2, 2), "a draining one takes no tasks, so another is started"
            assert {child.name for child in supervisor.status()} == {
                *(f"worker-{number}" for number in (1, 2, 3, 4)),
                "web",
            }
            await supervisor.stop_workers(["worker-1", "worker-4", "web"])
            done.touch()  # noqa: ASYNC240
            await wait_until(lambda: is_empty(supervisor))


async def holds(value: bool) -> bool:
    return value


async def is_empty(supervisor: Supervisor) -> bool:
    return not supervisor.status()


# --- Containers.


class Docker:
    """Answers as `docker compose` and podman-compose do, with containers that exist as names."""

    def __init__(self, engine: str = "docker") -> None:
        self.engine = engine
        self.running = ["footy-worker-1", "footy-worker-2"]
        self.signals: list[tuple[str, str]] = []

    async def __call__(self, command: Sequence[str]) -> str:
        assert command[0] in (self.engine, "/opt/bin/podman-compose")
        if "ps" in command:
            assert command[-1] == "json", "podman-compose refuses the name of a service"
            names = [(name, "worker", "running") for name in self.running]
            names += [("footy-worker-99", "worker", "exited"), ("footy-web-1", "web", "running")]
            return self.rows(names)
        if "up" in command:
            service, _, number = command[command.index("--scale") + 1].partition("=")
            assert command[-1] == service == "worker"
            self.running = [f"footy-worker-{each}" for each in range(1, int(number) + 1)]
        if "kill" in command:
            assert command[0] == self.engine
            self.signals.append((command[command.index("--signal") + 1], command[-1]))
        return ""

    def rows(self, names: Sequence[tuple[str, str, str]]) -> str:
        if self.engine == "docker":
            return "\n".join(json.dumps({"Name": n, "Service": s, "State": state}) for n, s, state in names)
        return json.dumps(
            [{"Names": [n], "Labels": {"com.docker.compose.service": s}, "State": state} for n, s, state in names]
        )


@pytest.mark.parametrize(
    ("compose", "engine"),
    [
        ("docker compose -p footy", "docker"),
        ("podman compose", "podman"),
        ("/opt/bin/podman-compose -p footy", "podman"),
    ],
)
async def test_containers_are_started_by_scale_and_drained_by_signal(compose: str, engine: str) -> None:
    docker = Docker(engine)
    place = ComposeInstances(compose, "worker", docker)
    assert await place.count() == InstanceCount(2)
    await place.scale_to(4)
    assert await place.count() == InstanceCount(4)
    await place.scale_to(3)
    assert docker.signals == [("SIGUSR1", "footy-worker-4")]
    assert await place.count() == InstanceCount(3, 1), "it still finishes what runs"
    await place.scale_to(4)
    assert await place.count() == InstanceCount(4, 1)
    assert len(docker.running) == 5
    docker.running.remove("footy-worker-4")
    assert await place.count() == InstanceCount(4)


async def test_a_failing_compose_command_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot run"):
        await ComposeInstances(str(tmp_path / "none"), "worker").count()
    with pytest.raises(EngineError, match="failed"):
        await ComposeInstances("false", "worker").count()
    with pytest.raises(EngineError, match="unexpected output"):
        await ComposeInstances("echo compose", "worker").count()
