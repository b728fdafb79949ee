"""Everything runs, and then the feed is away for a while: the outage is seen, recovered from, and told once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.health import PostgresHealth
from found_footy.domain.feeds.health_values import HealthGrade, Recovery
from found_footy.ops.demo import simulator_environment
from found_footy.ops.engines import DataFolder, EmbeddedPostgres
from found_footy.simulator import Simulator, load_scenario

FOOTY = str(Path(sys.executable).parent / "footy")

pytestmark = pytest.mark.timeout(300)

SHORTER = {
    "FOOTY_HEALTH_SECONDS": "0.5",
    "FOOTY_FRESH_SECONDS": "12",
    "FOOTY_STALL_SECONDS": "15",
    "FOOTY_FAILING_SECONDS": "25",
}


class Line:
    """The line to the feed, which can be cut."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._to = (parts.hostname, parts.port)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cut = False
        self.url = ""

    async def __aenter__(self) -> Line:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def hang_up(self) -> None:
        for writer in self._open:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            writer.close()
            return
        there, beyond = await asyncio.open_connection(*self._to)
        self._open |= {writer, beyond}
        for source, target in ((reader, beyond), (there, writer)):
            task = asyncio.create_task(_pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await source.read(65536):
            target.write(part)
            await target.drain()
    target.close()


class Installation:
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = DataFolder(folder)
        self._environment = environment

    async def __aenter__(self) -> Installation:
        self._up = await asyncio.create_subprocess_exec(
            FOOTY, "up", env=self._environment, stderr=asyncio.subprocess.PIPE, start_new_session=True
        )
        assert self._up.stderr is not None
        lines = []
        while line := await asyncio.wait_for(self._up.stderr.readline(), 90):
            lines.append(line.decode())
            if line.startswith(b"{") and json.loads(line)["action"] == "ready":
                break
        else:
            raise AssertionError("".join(lines))
        self._drain = asyncio.create_task(self._up.stderr.read())
        runtime = self._folder.read_runtime()
        assert runtime is not None
        assert runtime.database_url is not None
        self.database = Database(runtime.database_url)
        await self.database.open()
        self.health = PostgresHealth(self.database)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.database.close()
        self._up.send_signal(signal.SIGTERM)
        await asyncio.wait_for(self._up.wait(), 60)
        await self._drain

    def pid(self, name: str) -> int | None:
        runtime = self._folder.read_runtime()
        return runtime.pids.get(name) if runtime else None


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[tuple[Line, Installation]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")}
    async with Simulator(load_scenario("quick")) as simulator, Line(simulator.url) as made:
        given = simulator_environment(simulator)
        environment = kept | {
            "FOOTY_PROFILE": "demo",
            "FOOTY_DATA_DIR": str(tmp_path),
            "FOOTY_WORKERS": "1",
            "FOOTY_WEB_PORT": "0",
            **{name: value.replace(simulator.url, made.url) for name, value in given.items()},
            "FOOTY_FEED": "api_football",
            **SHORTER,
        }
        async with Installation(tmp_path, environment) as installation:
            yield made, installation
    folder = DataFolder(tmp_path)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(90):
        while not await holds():
            await asyncio.sleep(0.2)


async def test_when_the_feed_comes_back_health_returns_by_itself_with_one_audit_entry(
    line: tuple[Line, Installation],
) -> None:
    cable, installation = line
    health = installation.health

    async def is_well() -> bool:
        summary = await health.summary()
        return summary is not None and summary.grade is HealthGrade.HEALTHY and summary.freshness.count > 0

    async def has_failed() -> bool:
        return bool(await health.recoveries())

    async def has_acted() -> bool:
        return (await only_entry()).seconds is not None

    async def only_entry() -> Recovery:
        (entry,) = await health.recoveries()
        return entry

    async def worker_is_back() -> bool:
        return installation.pid("worker-1") not in (None, worker)

    await until(is_well)
    assert not await has_failed()
    worker, watchdog = installation.pid("worker-1"), installation.pid("watchdog")

    cable.cut = True
    cable.hang_up()
    await until(has_failed)
    await until(has_acted)
    await until(worker_is_back)
    assert installation.pid("watchdog") == watchdog, "it does not end itself"
    entry = await only_entry()
    steps = {step["name"]: (step["ok"], step["said"]) for step in entry.after["attempts"][0]["steps"]}
    assert steps["workers"] == (True, "workers ended: 1")
    assert steps["poller"][0] is True, steps

    cable.cut = False
    await until(is_well)
    entry = await only_entry()
    assert entry.healthy_at is not None
    assert entry.outcome is not None
