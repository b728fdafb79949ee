"""The supervisor: with real engines where they matter, with plain processes where only the order does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping

import pytest

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.process import Command, ManagedProcess
from found_footy.runtime.supervisor import ChildState, Supervisor, WorkerSpec
from tests.runtime.engine_helpers import eventually, exists, query
from tests.runtime.test_embedded_temporal import start_workflow, still_there

SLEEPER = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]


class PlainEngine:
    """A process that merely sleeps, in the place of a server."""

    def __init__(self, name: str, folder: DataFolder, events: list[str], fault: str | None = None) -> None:
        self.name = name
        self.gate = asyncio.Event()
        self.gate.set()
        self._process = ManagedProcess(name, folder)
        self._events = events
        self._fault = fault

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def environment(self) -> Mapping[str, str]:
        return {self.name.upper(): "here"}

    def ports(self) -> Mapping[str, int]:
        return {self.name: 1}

    async def start(self) -> None:
        if self._fault is not None:
            raise EngineError(self._fault)
        self._process.start(Command(SLEEPER, {}))
        try:
            await self.gate.wait()
        except BaseException:
            await self.stop()
            raise
        self._events.append(f"start {self.name}")

    async def wait(self) -> int:
        return await self._process.wait()

    async def stop(self) -> None:
        await self._process.stop()
        self._events.append(f"stop {self.name}")


def states(supervisor: Supervisor) -> dict[str, ChildState]:
    return {line.name: line.state for line in supervisor.status()}


async def test_engines_killed_with_9_come_back_on_their_ports_with_their_data(
    folder: DataFolder, postgres: EmbeddedPostgres, temporal: EmbeddedTemporal
) -> None:
    async with Supervisor(folder, [postgres, temporal], {"ELSEWHERE": "there"}) as supervisor:
        await supervisor.start_engines()
        url, address = postgres.url, temporal.address
        await query(url, "CREATE TABLE kept AS SELECT 1 AS n")
        await start_workflow(address, "kept")
        before = folder.read_runtime()
        assert before is not None
        assert dict(before.environment) == {
            "ELSEWHERE": "there",
            "DATABASE_URL": url,
            "TEMPORAL_ADDRESS": address,
            "TEMPORAL_NAMESPACE": "default",
        }

        for pid in before.pids.values():
            os.kill(pid, signal.SIGKILL)
        await eventually(lambda: [line.restarts for line in supervisor.status()] == [1, 1])

        assert await query(url, "SELECT n FROM kept") == [(1,)]
        assert await still_there(address, "kept")
        after = folder.read_runtime()
        assert after is not None
        assert after.environment == before.environment
        assert after.ports == before.ports
        assert after.pids == {"postgres": postgres.pid, "temporal": temporal.pid}
        assert not set(after.pids.values()) & set(before.pids.values())
    assert folder.read_runtime() is None
    assert not any(exists(pid) for pid in after.pids.values())


async def test_the_order_of_starting_and_stopping(folder: DataFolder) -> None:
    events: list[str] = []
    async with Supervisor(folder, [PlainEngine("a", folder, events), PlainEngine("b", folder, events)]) as supervisor:
        await supervisor.start_engines()
        assert supervisor.environment == {"A": "here", "B": "here"}
        note = "import os, time; print(os.environ['SAID'], flush=True); time.sleep(600)"
        await supervisor.start_workers([WorkerSpec("worker", [sys.executable, "-c", note], {"SAID": "hello"})])
        await eventually(lambda: (folder.logs / "worker.log").read_text() == "hello\n")
        runtime = folder.read_runtime()
        assert runtime is not None
        assert list(runtime.pids) == ["a", "b", "worker"]
        worker = runtime.pids["worker"]
        assert set(states(supervisor).values()) == {ChildState.RUNNING}
        await supervisor.stop()
        assert not exists(worker)
        await supervisor.stop()
    assert events == ["start a", "start b", "stop b", "stop a"]
    assert states(supervisor) == {"a": ChildState.STOPPED, "b": ChildState.STOPPED}


async def test_a_failed_engine_stops_the_others_and_reports_why(folder: DataFolder) -> None:
    slow = PlainEngine("slow", folder, [])
    slow.gate.clear()
    supervisor = Supervisor(folder, [slow, PlainEngine("bad", folder, [], fault="no room left")])
    with pytest.raises(EngineError, match="no room left"):
        await supervisor.start_engines()
    assert slow.pid is None
    assert states(supervisor) == {"slow": ChildState.STOPPED, "bad": ChildState.STOPPED}
    with pytest.raises(EngineError, match="cancelled because a stop"):
        await supervisor.start_engines()


async def test_a_stop_during_the_start_breaks_it_off(folder: DataFolder) -> None:
    slow = PlainEngine("slow", folder, [])
    slow.gate.clear()
    supervisor = Supervisor(folder, [slow])
    start = asyncio.create_task(supervisor.start_engines())
    await eventually(lambda: slow.pid is not None)
    await supervisor.stop()
    with pytest.raises(EngineError, match="cancelled because a stop"):
        await start
    assert slow.pid is None


async def test_a_cancelled_start_leaves_nothing(folder: DataFolder) -> None:
    slow = PlainEngine("slow", folder, [])
    slow.gate.clear()
    supervisor = Supervisor(folder, [slow])
    start = asyncio.create_task(supervisor.start_engines())
    await eventually(lambda: slow.pid is not None)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert slow.pid is None


async def test_a_cancelled_stop_stops_everything_first(folder: DataFolder) -> None:
    engine = PlainEngine("a", folder, [])
    supervisor = Supervisor(folder, [engine])
    await supervisor.start_engines()
    stop = asyncio.create_task(supervisor.stop())
    await asyncio.sleep(0)
    stop.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stop
    assert engine.pid is None


async def test_a_worker_that_dies_is_restarted_after_a_pause(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    async with Supervisor(folder, []) as supervisor:
        await supervisor.start_engines()
        await supervisor.start_workers([WorkerSpec("worker", SLEEPER)])
        [line] = supervisor.status()
        assert line.pid is not None
        os.kill(line.pid, signal.SIGKILL)
        await eventually(lambda: supervisor.status()[0].state is ChildState.RESTARTING)
        await eventually(lambda: supervisor.status()[0].restarts == 1)
        runtime = folder.read_runtime()
        assert runtime is not None
        assert runtime.pids == {"worker": supervisor.status()[0].pid}
    told = [(record.action, record.child) for record in caplog.records if hasattr(record, "child")]  # type: ignore[attr-defined]
    assert ("child_died", "worker") in told
    assert ("child_restarted", "worker") in told


async def test_a_worker_waiting_for_its_restart_can_be_stopped(folder: DataFolder) -> None:
    async with Supervisor(folder, []) as supervisor:
        await supervisor.start_workers([WorkerSpec("worker", [sys.executable, "-I", "-c", "raise SystemExit(2)"])])
        await eventually(lambda: states(supervisor) == {"worker": ChildState.RESTARTING})
        await supervisor.stop_workers(["worker"])
        assert supervisor.status() == []


async def test_workers_are_started_and_stopped(folder: DataFolder) -> None:
    async with Supervisor(folder, []) as supervisor:
        await supervisor.start_workers([WorkerSpec(f"worker-{n}", SLEEPER) for n in range(3)])
        for names in (["worker-1"], ["new", "new"]):
            with pytest.raises(EngineError, match=f"{names[0]} already"):
                await supervisor.start_workers([WorkerSpec(name, SLEEPER) for name in names])
        with pytest.raises(EngineError, match="before any worker"):
            await supervisor.start_engines()
        await supervisor.stop_workers(["worker-1"])
        assert list(states(supervisor)) == ["worker-0", "worker-2"]
        with pytest.raises(EngineError, match="no-such-program"):
            await supervisor.start_workers([WorkerSpec("worker-3", ["no-such-program"])])
        assert list(states(supervisor)) == ["worker-0", "worker-2"]
