"""`footy up` and the commands beside it, as processes, on real engines."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from footy_simulator.checks import check_fixtures, has_settled
from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.cli.demo import simulator_environment
from found_footy.fixtures.models import FixtureStage
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.postgres import Database

FOOTY = str(Path(sys.executable).parent / "footy")

pytestmark = pytest.mark.timeout(600)


class Installation:
    """A data folder, a feed, and the command."""

    def __init__(self, folder: Path, simulator: Simulator) -> None:
        self.folder = folder
        self.simulator = simulator
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")} | {
            "FOOTY_PROFILE": "demo",
            "FOOTY_DATA_DIR": str(folder),
            "FOOTY_WORKERS": "1",
            "FOOTY_WEB_PORT": "0",
            **simulator_environment(simulator),
        }

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            FOOTY,
            *words,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def run(self, *words: str) -> tuple[int, str, str]:
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(), 120)
        return process.returncode or 0, out.decode(), err.decode()

    async def json(self, *words: str) -> Any:
        code, out, err = await self.run(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    async def up(self) -> asyncio.subprocess.Process:
        process = await self.start("up")
        assert process.stderr is not None
        lines = []
        while line := await asyncio.wait_for(process.stderr.readline(), 120):
            lines.append(line.decode())
            # What is no log line is kept for the message, where the start fails.
            if line.startswith(b"{") and json.loads(line)["action"] == "ready":
                self._drain = asyncio.create_task(process.stderr.read())
                return process
        raise AssertionError("".join(lines))

    async def until(self, holds: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Looks into the database: the command would take the processor from what is waited for."""
        runtime = DataFolder(self.folder).read_runtime()
        assert runtime is not None
        assert runtime.database_url is not None
        database = Database(runtime.database_url)
        await database.open()
        try:
            async with asyncio.timeout(300):
                while not holds(await FixtureStore(database).fixtures()):
                    await asyncio.sleep(0.5)
        finally:
            await database.close()


@pytest.fixture
async def installation(tmp_path: Path) -> AsyncIterator[Installation]:
    async with Simulator(load_scenario("quick").football) as simulator:
        yield Installation(tmp_path, simulator)
    folder = DataFolder(tmp_path)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()


def processes_of(folder: Path) -> dict[int, str]:
    """Everything that still runs and was started for this folder, with its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"FOOTY_DATA_DIR={folder}".encode() in environment:
                found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


async def nothing_is_left(folder: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while left := processes_of(folder):
        assert time.monotonic() < until, left
        await asyncio.sleep(0.1)


async def test_a_day_with_footy_up(installation: Installation) -> None:
    """Start, look, kill everything, start again, and stop: what was scripted is what is known in the end."""
    code, _, err = await installation.run("fixtures", "--json")
    assert code == 4
    assert json.loads(err)["error"]["class"] == "EngineError"

    up = await installation.up()
    await installation.until(lambda documents: sum(len(document["events"]) for document in documents) >= 2)

    code, _, err = await installation.run("up")
    assert code == 5
    assert f"process {up.pid}" in err

    # kill -9 of the whole group: the engines run in groups of their own, and must not be left over
    os.killpg(up.pid, signal.SIGKILL)
    await up.wait()
    await nothing_is_left(installation.folder)

    before = installation.simulator.state().offset_seconds
    up = await installation.up()
    simulator, truth = installation.simulator, installation.simulator.truth
    await installation.until(lambda documents: simulator.state().settled and has_settled(truth, documents))
    documents = await installation.json("fixtures")
    assert before < installation.simulator.state().offset_seconds
    assert check_fixtures(truth, documents).mismatches == ()

    findings = await installation.json("doctor", "--live")
    states = {finding["what"]: finding["state"] for finding in findings}
    off = {what for what, state in states.items() if state == "off"}
    assert off == {"source x", "source folder"}, "they lack their settings"
    assert {state for what, state in states.items() if what not in off} <= {"ok", "warning"}, findings
    live = [finding for finding in findings if "response" in finding]
    assert {finding["what"] for finding in live} >= {"feed api_football", "source reddit", "team names"}
    assert all(finding["since"] for finding in live)
    code, out, _ = await installation.run("health")
    assert (code, "HEALTHY" in out) == (0, True)

    event = documents[0]["events"][0]
    assert (await installation.json("goal", event["_event_id"]))["_event_id"] == event["_event_id"]
    fixture = await installation.json("fixture", str(documents[0]["_id"]))
    assert fixture == documents[0]
    ingested = await installation.json("ingest", "--fixture", str(documents[0]["_id"]))
    assert ingested["fixtures"]["added"] == 0
    assert len(await installation.json("ingest")) >= 4  # three days, and what was deleted
    assert await installation.json("fixtures", "--stage", FixtureStage.ACTIVE) == []
    code, out, _ = await installation.run("fixtures")
    assert code == 0
    assert "Aston Villa" in out
    code, _, err = await installation.run("fixture", "1", "--json")
    assert code == 3
    assert json.loads(err)["error"]["class"] == "NotFound"

    up.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(up.wait(), 60) == 0
    await installation._drain
    await nothing_is_left(installation.folder)


async def test_a_missing_key_stops_the_start_before_anything_runs(installation: Installation) -> None:
    del installation.environment["API_FOOTBALL_KEY"]
    code, _, err = await installation.run("up")
    assert code == 2
    assert "API_FOOTBALL_KEY" in err
    assert not list(installation.folder.glob("run/*.pid"))
