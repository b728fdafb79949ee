"""The image on two machines: `make deploy-test`. Needs root, podman and Debian's package archive."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from temporalio.client import Client

from footy_simulator.checks import check_clips, check_fixtures, has_settled
from footy_simulator.football import match_timeline
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import ScriptedMinute
from footy_simulator.server import Simulator
from found_footy.cli.demo import demo_settings
from found_footy.config import environment_names, load_settings
from found_footy.errors import StoreUnavailable
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.engine import free_port
from found_footy.runtime.system import environment_of
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import Database
from found_footy.version import COMMIT_LENGTH, VERSION
from tests.conftest import SharedEngines
from tests.deploy.containers import LIMITS, Machine, build_image, commit, podman, product_services
from tests.support.scenarios import ONE_MATCH, rendered_clips
from tests.support.seaweed import SeaweedServer

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(3600)]

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "found-footy" / "image"
LOCAL = {
    "data_dir",
    "web_port",
    "database_url",
    "temporal_address",
    "redis_url",
    "object_store_url",
    "browser_headless",
}
"""What each container or the engines decide."""


@pytest.fixture(scope="module", autouse=True)
def image() -> str:
    CACHE.mkdir(parents=True, exist_ok=True)
    return build_image(CACHE)


def test_the_image_shows_version_and_commit_and_runs_without_root(image: str) -> None:
    (config,) = [each["Config"] for each in json.loads(podman("image", "inspect", image))]
    labels = config["Labels"]
    assert labels["org.opencontainers.image.version"] == VERSION
    assert labels["org.opencontainers.image.revision"] == commit()
    assert config["User"] == "10001:10001"
    shown = podman("run", "--rm", "--network=none", *LIMITS, "--no-healthcheck", image, "--version")
    assert shown == f"found-footy {VERSION} ({commit()[:COMMIT_LENGTH]})"


@pytest.fixture
def engines(
    empty_database: str, valkey_server: str, temporal_address: str, shared_engines: SharedEngines
) -> Mapping[str, str]:
    """Addresses of empty engines, under the names that compose.yaml uses."""
    s3 = SeaweedServer.from_json(shared_engines.address("seaweed"))
    return {
        "DATABASE_URL": empty_database,
        "TEMPORAL_ADDRESS": temporal_address,
        "FOOTY_TEMPORAL_NAMESPACE": f"deploy-{uuid4()}",
        "REDIS_URL": valkey_server,
        "FOOTY_OBJECT_STORE_URL": f"s3://{uuid4()}",
        "FOOTY_S3_ENDPOINT": s3.endpoint,
        "FOOTY_S3_REGION": s3.region,
        "FOOTY_S3_ACCESS_KEY": s3.access_key,
        "FOOTY_S3_SECRET_KEY": s3.secret_key,
        "FOOTY_TEMPORAL_UI_URL": "http://127.0.0.1:3200",
        "FOOTY_ALLOWED_HOSTS": "web",
    }


class Stack:
    """Two machines with every worker of compose.yaml, and a third one with the other processes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        run = uuid4().hex[:6]
        self.first, self.second, self.front = (
            Machine(f"{name}-{run}", environment) for name in ("first", "second", "front")
        )
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self._port = port

    @property
    def machines(self) -> tuple[Machine, ...]:
        return self.first, self.second, self.front

    def start(self) -> str:
        """Return the output of the migration."""
        services = product_services()
        prepared = self.front.run(*services["migrate"].command)
        for name, service in services.items():
            if service.command[0] == "worker":
                self.first.start(service)
                self.second.start(service)
            elif name in ("web", "watchdog"):
                self.front.start(service, FOOTY_WEB_HOST="127.0.0.1", FOOTY_WEB_PORT=str(self._port))
        return prepared

    def running(self) -> set[str]:
        return set(podman("ps", "--format={{.Names}}").split())

    def check_alive(self, *machines: Machine) -> None:
        running = self.running()
        dead = [name for machine in machines for name in machine.containers if name not in running]
        assert not dead, "\n".join(podman("logs", "--tail=60", name, check=False) for name in dead)


def scenario_environment(simulator: Simulator) -> dict[str, str]:
    """The settings of the demo, as variables."""
    given = environment_of(demo_settings(load_settings(), simulator))
    local = {variable for field, variable in environment_names().items() if field in LOCAL}
    return {"FOOTY_PROFILE": "demo", **{name: value for name, value in given.items() if name not in local}}


@asynccontextmanager
async def matchday(engines: Mapping[str, str]) -> AsyncIterator[tuple[Simulator, Stack, FixtureStore]]:
    async with Simulator(load_scenario(ONE_MATCH).football, clips_folder=rendered_clips()) as simulator:
        while simulator.clips_to_render[0]:
            await asyncio.sleep(0.2)
        stack = Stack({**scenario_environment(simulator), **engines})
        database = Database(engines["DATABASE_URL"])
        try:
            prepared = await asyncio.to_thread(stack.start)
            assert "bucket created" in prepared, prepared
            await database.open()
            yield simulator, stack, FixtureStore(database)
        except BaseException:
            print("\n".join(machine.logs() for machine in stack.machines)[-20_000:])  # noqa: T201
            raise
        finally:
            await database.close()
            for machine in stack.machines:
                await asyncio.to_thread(machine.remove)


async def until_settled(simulator: Simulator, store: FixtureStore, check: Callable[[], None]) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    async with asyncio.timeout(900):
        while not (simulator.state().settled and has_settled(simulator.truth, documents)):
            await asyncio.sleep(3)
            await asyncio.to_thread(check)  # the simulator runs in this loop
            with suppress(StoreUnavailable):
                documents = await store.fixtures()
    return documents


async def until_staged(engines: Mapping[str, str]) -> None:
    """Wait for a download that the next step has not taken over."""
    objects = open_object_store(
        engines["FOOTY_OBJECT_STORE_URL"],
        endpoint=engines["FOOTY_S3_ENDPOINT"],
        region=engines["FOOTY_S3_REGION"],
        access_key=engines["FOOTY_S3_ACCESS_KEY"],
        secret_key=engines["FOOTY_S3_SECRET_KEY"],
    )
    async with aclosing(objects), asyncio.timeout(600):
        while not [each async for each in objects.list("staging/")]:
            await asyncio.sleep(0.1)


async def until_polled(simulator: Simulator, times: int) -> None:
    polls = simulator.state().polls
    while simulator.state().polls < polls + times:
        await asyncio.sleep(0.05)


def check_outcome(simulator: Simulator, documents: list[dict[str, Any]]) -> None:
    clips = check_clips(simulator.scenario, documents, simulator.clip_of)
    assert check_fixtures(simulator.truth, documents).mismatches + clips.mismatches == ()


async def machines_at_work(engines: Mapping[str, str]) -> set[str]:
    """Host names of the workers that completed workflow tasks."""
    client = await Client.connect(engines["TEMPORAL_ADDRESS"], namespace=engines["FOOTY_TEMPORAL_NAMESPACE"])
    found = set()
    async for execution in client.list_workflows("WorkflowType = 'MonitorWorkflow'"):
        history = await client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()
        for event in history.events:
            identity = event.activity_task_started_event_attributes.identity
            if identity:
                found.add(identity.partition("@")[2].partition(" ")[0])  # pid@machine version
    return found


async def check_pages(stack: Stack, documents: list[dict[str, Any]]) -> None:
    async with httpx.AsyncClient(base_url=stack.url, timeout=30) as web:
        health = (await web.get("/health")).json()
        assert (health["version"], health["commit"]) == (VERSION, commit()[:COMMIT_LENGTH])
        assert (await web.get("/health/ready")).status_code == 200
        clip = next(video for document in documents for event in document["events"] for video in event["_s3_videos"])
        film = await web.get(f"/v/{clip['id']}", headers={"range": "bytes=0-99"})
        assert (film.status_code, len(film.content)) == (206, 100)


Disturbance = Callable[[Simulator, Stack], Coroutine[Any, Any, None]]


async def play(engines: Mapping[str, str], disturb: Disturbance | None = None) -> Stack:
    """Play the matchday; a disturbance kills the first machine."""
    async with matchday(engines) as (simulator, stack, store):
        left = stack.machines if disturb is None else (stack.second, stack.front)
        async with asyncio.TaskGroup() as tasks:
            disturbing = tasks.create_task(disturb(simulator, stack) if disturb else asyncio.sleep(0))
            documents = await until_settled(simulator, store, lambda: stack.check_alive(*left))
            assert disturbing.done(), "the matchday was over before the machine was killed"
        check_outcome(simulator, documents)
        await check_pages(stack, documents)
        if disturb is None:
            assert {stack.first.name, stack.second.name} <= await machines_at_work(engines)
        for machine in left:
            assert set((await asyncio.to_thread(machine.stop)).values()) == {0}
            for container in machine.inspect():
                assert container["Mounts"] == []
                assert container["Config"]["User"] == "10001:10001"
        return stack


async def test_a_matchday_on_two_machines_ends_as_scripted(engines: Mapping[str, str]) -> None:
    await play(engines)


async def test_a_matchday_survives_the_loss_of_a_machine(engines: Mapping[str, str]) -> None:
    async def kill_first(simulator: Simulator, stack: Stack) -> None:
        # The second goal, which VAR takes back, waits until polls go on.
        (match,) = simulator.scenario.matches
        simulator.hold_at(match_timeline(match).moment_of(ScriptedMinute(elapsed=3)))
        await until_staged(engines)
        await asyncio.to_thread(stack.first.kill)
        await until_polled(simulator, times=3)
        simulator.hold_at(None)

    stack = await play(engines, kill_first)
    assert not set(stack.first.containers) & stack.running()
