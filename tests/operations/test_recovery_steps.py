"""Each step of a recovery against the real thing: Temporal, processes of this machine, a browser service over HTTP."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio import workflow
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
    WorkflowExecutionStatus,
)

from found_footy.browser.client import BrowserClient
from found_footy.errors import EngineError, SourceChanged, SourceError, SourceUnavailable
from found_footy.operations.recovery import TemporalPoller
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.supervisor import LocalWorkers, Supervisor, WorkerSpec


@workflow.defn(name="HangingPoll")
class HangingPoll:
    @workflow.run
    async def run(self) -> None:
        await asyncio.sleep(3600)


@asynccontextmanager
async def scheduled(client: Client, name: str) -> AsyncIterator[None]:
    action = ScheduleActionStartWorkflow(HangingPoll.run, id=name, task_queue=name)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(hours=1))])
    handle = await client.create_schedule(name, Schedule(action=action, spec=spec))
    yield
    await handle.delete()
    async for execution in client.list_workflows(f"TaskQueue = '{name}' AND ExecutionStatus = 'Running'"):
        await client.get_workflow_handle(execution.id, run_id=execution.run_id).terminate()


async def listed(client: Client, queue: str, number: int) -> set[tuple[str, str]]:
    """Temporal lists workflows a little after they are started.

    Two that a schedule starts within a second have the same id: only with its run a workflow is known.
    """
    for _ in range(600):
        query = f"TaskQueue = '{queue}' AND ExecutionStatus = 'Running'"
        found = {(execution.id, execution.run_id) async for execution in client.list_workflows(query)}
        if len(found) == number:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"Temporal never lists {number} workflows on {queue}: {found}")


async def test_polls_that_hang_are_ended_and_a_new_one_begins(temporal: Client) -> None:
    queue = f"poller-{uuid.uuid4()}"
    poller = TemporalPoller(temporal, queue, ["HangingPoll", "OtherPoll"], queue)
    async with scheduled(temporal, queue):  # and no worker, so that they hang
        await temporal.get_schedule_handle(queue).trigger()
        await listed(temporal, queue, 1)
        await temporal.start_workflow(HangingPoll.run, id=f"feed-{queue}", task_queue=queue)
        elsewhere = await temporal.start_workflow(HangingPoll.run, id=f"x-{queue}", task_queue=f"x-{queue}")
        hanging = await listed(temporal, queue, 2)

        assert await poller.restart() == "terminated 2 polls; started a new one"
        for id_, run_id in hanging:
            status = (await temporal.get_workflow_handle(id_, run_id=run_id).describe()).status
            assert status is WorkflowExecutionStatus.TERMINATED
        async with asyncio.timeout(60):
            while (await listed(temporal, queue, 1)) <= hanging:
                await asyncio.sleep(0.1)  # that one has ended shows a little later, too
        assert (await elsewhere.describe()).status is WorkflowExecutionStatus.RUNNING, "not ours"
        await elsewhere.terminate()


async def test_a_schedule_that_an_operator_paused_stays_paused(temporal: Client) -> None:
    queue = f"poller-{uuid.uuid4()}"
    async with scheduled(temporal, queue):
        await temporal.get_schedule_handle(queue).pause(note="maintenance")
        said = await TemporalPoller(temporal, queue, ["HangingPoll"], queue).restart()
    assert said == f"terminated 0 polls; none started: the schedule {queue} is paused (maintenance)"


async def test_temporal_without_a_connection_or_schedule_is_reported_in_bounded_time(temporal: Client) -> None:
    with pytest.raises(EngineError, match="rejected"):
        await TemporalPoller(temporal, "nowhere", ["HangingPoll"], "no-such-schedule").restart()
    away = await Client.connect("127.0.0.1:9", lazy=True)
    with pytest.raises(EngineError):
        await TemporalPoller(away, "nowhere", ["HangingPoll"], "none", seconds=1).restart()


PATIENT = "import signal, sys, time; signal.signal(signal.SIGTERM, {0}); print('up', flush=True); time.sleep(600)"


def program(on_sigterm: str) -> list[str]:
    return [sys.executable, "-c", PATIENT.format(on_sigterm)]


async def test_local_workers_are_restarted_and_nothing_else_is_stopped(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with folder.lock():
        async with Supervisor(folder, []) as supervisor:
            await supervisor.start_engines()
            names = ("worker-1", "worker-2", "web", "watchdog")
            willing = program("lambda *_: sys.exit(0)")
            deaf = program("signal.SIG_IGN")
            await supervisor.start_workers(
                [WorkerSpec(name, deaf if name == "worker-2" else willing) for name in names]
            )
            await ready(folder, names)
            before = {line.name: line.pid for line in supervisor.status()}
            said = await LocalWorkers(tmp_path, grace_seconds=5).restart()
            assert said == "workers stopped: 2; unresponsive and killed: 1"
            after = before
            async with asyncio.timeout(60):
                while len(after) < 4 or any(before[name] == after[name] for name in ("worker-1", "worker-2")):
                    await asyncio.sleep(0.05)
                    after = {line.name: line.pid for line in supervisor.status() if line.pid}
            assert {name for name in names if before[name] != after[name]} == {"worker-1", "worker-2"}
            for name in names:
                await supervisor.stop_workers([name])


async def ready(folder: DataFolder, names: tuple[str, ...]) -> None:
    """Each handles signals in its own way from its first line on."""
    async with asyncio.timeout(60):
        while not all("up" in log.read_text() for log in logs_of(folder, names)):
            await asyncio.sleep(0.05)


def logs_of(folder: DataFolder, names: tuple[str, ...]) -> list[Path]:
    found = [folder.logs / f"{name}.log" for name in names]
    return found if all(log.exists() for log in found) else [Path("/dev/null")]


async def test_no_local_workers_is_reported(tmp_path: Path) -> None:
    assert await LocalWorkers(tmp_path).restart() == "no workers are running on this machine"


Answer = Callable[[Request], Any]


@asynccontextmanager
async def browser(health: Any, recycled: Any = None, status: int = 200) -> AsyncIterator[BrowserClient]:
    """What answers as the browser service does; `health` may also be bytes."""

    async def answer(request: Request) -> Response:
        body = health if request.url.path == "/health" else recycled
        return Response(body, status) if isinstance(body, bytes) else JSONResponse(body, status)

    routes = [Route("/health", answer), Route("/recycle", answer, methods=["POST"])]
    async with HttpServer(Starlette(routes=routes), grace_seconds=1) as server:
        yield BrowserClient(server.url)


async def test_an_unhealthy_browser_reports_its_state() -> None:
    health = {"healthy": False, "message": "60 processes", "browser": {"processes": 60, "recycles": []}}
    async with browser(health, status=503) as control:
        facts = await control.facts()
    expected = {"processes": 60, "recycles": [], "healthy": False, "message": "60 processes", "canary": None}
    assert facts == expected


async def test_the_browser_is_restarted_and_reports_before_and_after() -> None:
    async with browser({}, {"before": {"processes": 60}, "after": {"processes": 9}, "recycle": {}}) as control:
        assert (await control.recycle("feeds\nfail"))["after"] == {"processes": 9}


@pytest.mark.parametrize(
    ("health", "error"),
    [
        (b"<html>captive portal</html>", SourceChanged),
        (b"[1, 2]", SourceChanged),
        (b'{"status": "ok"}', SourceChanged),
        (b'{"browser": 7}', SourceChanged),
        (b"[" * 100_000, SourceChanged),
        (b'"' + b"x" * 300_000 + b'"', SourceChanged),
    ],
)
async def test_another_server_is_not_the_browser_service(health: bytes, error: type[SourceError]) -> None:
    async with browser(health) as control:
        with pytest.raises(error):
            await control.facts()


async def test_a_failed_browser_restart_is_an_error() -> None:
    async with browser({}, {"error": {"class": "SourceUnavailable", "message": "no Chromium"}}, 503) as control:
        with pytest.raises(SourceUnavailable, match="no Chromium"):
            await control.recycle("a test")


async def test_an_unreachable_browser_service_is_reported() -> None:
    with pytest.raises(SourceUnavailable, match="footy browser"):
        await BrowserClient("http://127.0.0.1:9").facts()
