"""`footy up` and the commands that ask it, on real engines."""

from __future__ import annotations

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
from tests.support.processes import Installation, wait_until
from tests.support.scenarios import ONE_MATCH

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator(load_scenario(ONE_MATCH)) as simulator:
        yield simulator


@pytest.fixture
async def installation(tmp_path: Path, simulator: Simulator) -> AsyncIterator[Installation]:
    settings = {"FOOTY_PROFILE": "demo", "FOOTY_WORKERS": "1", "FOOTY_WEB_PORT": "0"}
    settings |= {"FOOTY_SCALER": "true", "FOOTY_SCALE_SECONDS": "1", "FOOTY_WORKERS_MOST": "2"}
    installation = Installation(tmp_path, settings | simulator_environment(simulator))
    yield installation
    await installation.destroy()


async def until_fixtures(installation: Installation, condition: Callable[[list[dict[str, Any]]], bool]) -> None:
    """Wait for a condition on the documents. Reads the database: the command would compete for the processor."""
    async with installation.database() as database:

        async def holds() -> bool:
            return condition(await FixtureStore(database).fixtures())

        await wait_until(holds, 300)


@pytest.mark.chaos
async def test_a_matchday_survives_a_kill_of_footy_up(installation: Installation, simulator: Simulator) -> None:
    """Start, kill everything, start again, stop: the fixtures end as scripted, and no process is left."""
    result = await installation.run("fixtures", "--json")
    assert (result.code, result.error()["class"]) == (4, "EngineError")

    up = await installation.up()
    await wait_until(lambda: is_running(installation, "worker-1", "worker-2", "library-1"))  # the scaler's minimum
    await until_fixtures(installation, lambda documents: sum(len(each["events"]) for each in documents) >= 2)

    result = await installation.run("up")
    assert result.code == 5
    assert f"process {up.pid}" in result.err

    await up.kill()
    await installation.until_no_process_is_left()

    before = simulator.state().offset_seconds
    up = await installation.up()
    truth = simulator.truth
    await until_fixtures(installation, lambda documents: simulator.state().settled and has_settled(truth, documents))
    documents = await installation.json("fixtures")
    assert before < simulator.state().offset_seconds
    assert check_fixtures(truth, documents).mismatches == ()
    await check_commands(installation, documents)

    assert await up.stop() == 0
    await installation.until_no_process_is_left()


async def is_running(installation: Installation, *names: str) -> bool:
    runtime = installation.data.read_runtime()
    return runtime is not None and set(names) <= set(runtime.pids)


async def check_commands(installation: Installation, documents: list[dict[str, Any]]) -> None:
    """Commands that ask a running installation."""
    findings = await installation.passing_diagnosis()
    states = {finding["what"]: finding["state"] for finding in findings}
    off = {what for what, state in states.items() if state == "off"}
    assert off == {"source x", "source folder"}, "they lack their settings"
    assert {state for what, state in states.items() if what not in off} <= {"ok", "warning"}, findings
    live = [finding for finding in findings if "response" in finding]
    assert {finding["what"] for finding in live} >= {"feed api_football", "source reddit", "team names"}
    assert all(finding["since"] for finding in live)

    async def is_healthy() -> bool:
        health = await installation.call("health")
        return health.code == 0 and "feeds HEALTHY" in health.out

    await wait_until(is_healthy)

    event = documents[0]["events"][0]
    assert (await installation.json("goal", event["_event_id"]))["_event_id"] == event["_event_id"]
    fixture = await installation.json("fixture", str(documents[0]["_id"]))
    assert {**fixture, "last_poll_at": None} == {**documents[0], "last_poll_at": None}, "it may be polled meanwhile"
    ingested = await installation.json("ingest", "--fixture", str(documents[0]["_id"]))
    assert ingested["fixtures"]["added"] == 0
    assert len(await installation.json("ingest")) >= 4  # three days, and what was deleted
    assert await installation.json("fixtures", "--stage", FixtureStage.ACTIVE) == []
    fixtures = await installation.call("fixtures")
    assert (fixtures.code, "Liverpool" in fixtures.out) == (0, True)
    missing = await installation.call("fixture", "1", "--json")
    assert (missing.code, missing.error()["class"]) == (3, "NotFound")


async def test_a_missing_key_fails_the_start_before_any_process_is_started(installation: Installation) -> None:
    del installation.environment["API_FOOTBALL_KEY"]
    result = await installation.run("up")
    assert result.code == 2
    assert "API_FOOTBALL_KEY" in result.err
    assert not list(installation.data.path.glob("run/*.pid"))
