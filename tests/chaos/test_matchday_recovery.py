"""Kill workers, engines and services during a matchday: the outcome is that of the undisturbed run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from footy_simulator.football import match_timeline
from footy_simulator.scenario import ScriptedMinute
from footy_simulator.server import Simulator
from found_footy.app import Running
from found_footy.clips.activities import (
    DownloadActivities,
    UploadActivities,
    VerificationActivities,
)
from found_footy.config import Settings
from found_footy.discovery.activities import SearchActivities
from found_footy.errors import ObjectStoreUnavailable, VisionUnavailable
from found_footy.runtime import system as system_module
from found_footy.runtime.supervisor import WorkerSpec
from found_footy.runtime.system import environment_of
from tests.chaos.killed_worker import STEPS_FOLDER, activity_name, activity_names
from tests.chaos.matchday import (
    Disturbance,
    Outcome,
    kill,
    pids_of,
    play_matchday,
    until_polled,
    until_restarted,
    until_retried,
    until_staged,
)
from tests.chaos.vision_server import VisionServer
from tests.support.seaweed import SeaweedServer

pytestmark = pytest.mark.timeout(600)


REPRESENTATIVE_STEPS = [
    activity_name(activity)
    for activity in (
        SearchActivities.set_monitor_complete,
        DownloadActivities.fetch_clip,
        VerificationActivities.verify_clip,
        DownloadActivities.hash_clip,
        UploadActivities.publish_clip,
        UploadActivities.settle_event,
    )
]
ONLY_ON_FAILURE = {
    activity_name(activity)
    for activity in (
        DownloadActivities.reject_candidate,
        DownloadActivities.reject_video,
    )
}
"""Steps that run only after a permanent failure."""
ALL_STEPS = [
    name
    for name in activity_names(SearchActivities, DownloadActivities, VerificationActivities, UploadActivities)
    if name not in ONLY_ON_FAILURE
]


@pytest.fixture
def kill_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder whose files name the steps at which a worker kills itself."""
    folder = tmp_path / "kill"
    folder.mkdir()

    def specs(settings: Settings) -> list[WorkerSpec]:
        environment = {**environment_of(settings), STEPS_FOLDER: str(folder)}
        command = [sys.executable, "-m", "tests.chaos.killed_worker"]
        return [WorkerSpec(f"worker-{number}", command, environment) for number in (1, 2)]

    monkeypatch.setattr(system_module, "worker_specs", specs)
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@asynccontextmanager
async def object_server(folder: Path) -> AsyncIterator[tuple[SeaweedServer, dict[str, Any]]]:
    """Yield an S3 server and the settings that select it."""
    server = SeaweedServer(folder)
    await asyncio.to_thread(server.start)
    settings = {
        "object_store_url": f"s3://{server.bucket}",
        "s3_endpoint": server.endpoint,
        "s3_access_key": SecretStr(server.access_key),
        "s3_secret_key": SecretStr(server.secret_key),
    }
    try:
        yield server, settings
    finally:
        await asyncio.to_thread(server.kill)


@asynccontextmanager
async def vision_server(folder: Path) -> AsyncIterator[tuple[VisionServer, dict[str, Any]]]:
    server = VisionServer(folder)
    await server.start()
    try:
        yield server, {"llama_url": server.url}
    finally:
        server.stop()


async def test_one_matchday_survives_killed_workers_engines_and_services(tmp_path: Path, kill_steps: Path) -> None:
    for step in REPRESENTATIVE_STEPS:
        (kill_steps / f"after {step}").touch()

    async with object_server(tmp_path / "s3") as (s3, s3_settings), vision_server(tmp_path / "v") as (vision, llama):

        async def interrupt_object_store(system: Running) -> None:
            await until_staged(system)
            await asyncio.to_thread(s3.kill)
            await until_retried(system.client, ObjectStoreUnavailable.__name__, urlsplit(s3.endpoint).netloc)
            await asyncio.to_thread(s3.start)

        async def interrupt_vision(system: Running) -> None:
            await vision.until_killed_after_a_response()
            await until_retried(system.client, VisionUnavailable.__name__, urlsplit(vision.url).netloc)
            await vision.start()

        async def kill_engines(system: Running, simulator: Simulator) -> None:
            for engine in ("postgres", "temporal", "valkey"):
                before = pids_of(system, engine)
                kill(system, engine)
                await until_restarted(system, engine, before)
                await until_polled(simulator, times=2)

        async def disturb(system: Running, simulator: Simulator) -> None:
            (match,) = simulator.scenario.matches
            # The match stays in play until all engines were killed.
            simulator.hold_at(match_timeline(match).moment_of(ScriptedMinute(elapsed=11)))
            await asyncio.gather(interrupt_object_store(system), interrupt_vision(system))
            while names_in(kill_steps):
                await asyncio.sleep(0.1)
            await kill_engines(system, simulator)
            simulator.hold_at(None)

        outcome = await play_matchday(tmp_path / "data", disturb, search_attempts=15, **s3_settings, **llama)
    assert [len(clips) for clips in outcome.clips.values()] == [1, 1]
    assert [clip["popularity"] for clips in outcome.clips.values() for clip in clips] == [4, 4]


# --- The same disturbances one by one, at every step and for a long time.


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return asyncio.run(play_matchday(tmp_path_factory.mktemp("baseline")))


@pytest.mark.chaos
@pytest.mark.parametrize("when", ["before", "after"])
async def test_killing_a_worker_at_any_step_does_not_change_the_outcome(
    tmp_path: Path, baseline: Outcome, kill_steps: Path, when: str
) -> None:
    for step in ALL_STEPS:
        (kill_steps / f"{when} {step}").touch()
    outcome = await play_matchday(tmp_path / "data", search_attempts=15)
    assert names_in(kill_steps) == [], "steps at which no worker was killed"
    assert outcome == baseline


@pytest.mark.chaos
async def test_an_object_store_outage_of_30_seconds_does_not_change_the_outcome(
    tmp_path: Path, baseline: Outcome
) -> None:
    async with object_server(tmp_path / "s3") as (s3, settings):

        async def disturb(system: Running, _: Simulator) -> None:
            await until_staged(system)
            await asyncio.to_thread(s3.kill)
            await asyncio.sleep(30)
            await asyncio.to_thread(s3.start)

        assert await play_matchday(tmp_path / "data", disturb, **settings) == baseline


@pytest.mark.chaos
async def test_a_vision_outage_of_30_seconds_does_not_change_the_outcome(tmp_path: Path, baseline: Outcome) -> None:
    """Nor does an uploader that goes idle at once."""
    async with vision_server(tmp_path / "vision") as (vision, settings):

        async def disturb(_: Running, __: Simulator) -> None:
            await vision.until_killed_after_a_response()
            await asyncio.sleep(30)
            await vision.start()

        assert await play_matchday(tmp_path / "data", disturb, upload_idle_seconds=0.1, **settings) == baseline


@pytest.fixture(scope="module")
def quick_baseline(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return asyncio.run(play_matchday(tmp_path_factory.mktemp("quick"), scenario="quick"))


def killer(victims: Sequence[str], polls_between: int) -> Disturbance:
    async def disturb(system: Running, simulator: Simulator) -> None:
        for victim in victims:
            await until_polled(simulator, polls_between)
            kill(system, victim)

    return disturb


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("victims", "polls_between"),
    [
        pytest.param(["worker"] * 3, 4, id="all workers at once, in the middle of a poll"),
        pytest.param(["postgres", "temporal", "valkey", "watchdog"], 3, id="one engine after the other"),
        pytest.param([""], 8, id="everything at once"),
    ],
)
async def test_killed_processes_do_not_change_the_fixtures(
    tmp_path: Path, quick_baseline: Outcome, victims: Sequence[str], polls_between: int
) -> None:
    outcome = await play_matchday(tmp_path, killer(victims, polls_between), scenario="quick")
    assert outcome.fixtures == quick_baseline.fixtures
