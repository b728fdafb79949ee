"""Whatever dies on the way from a certain goal to its clips: in the end there are the same clips, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from found_footy.adapters.storage.objects import ThreadedObjectStore
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.config import Settings, load_settings
from found_footy.domain.errors import StoreUnavailable
from found_footy.ops import running as running_module
from found_footy.ops.demo import clear, demo_settings
from found_footy.ops.engines.worker import WorkerSpec
from found_footy.ops.running import Running, environment_of, running
from found_footy.simulator import Simulator, load_scenario
from found_footy.simulator.clip_verdict import judge_clips
from found_footy.simulator.verdict import has_settled, judge
from found_footy.workflows import clip_contracts, contracts
from found_footy.workflows.contracts import Call
from tests.chaos.dying_worker import FOLDER
from tests.chaos.vision_server import VisionServer
from tests.support.seaweed import SeaweedServer

pytestmark = pytest.mark.timeout(600)

SCENARIO = Path(__file__).parent / "one_match.yaml"
FINAL = {"kept", "replaced", "refused"}
"""Of a clip, when all is done."""

Disturbance = Callable[[Running], Awaitable[None]]


@dataclass(frozen=True)
class End:
    """All that must be the same: ids of posts are not, as they hold the time."""

    clips: Mapping[str, Any]
    posts: Mapping[str, Any]
    objects: tuple[str, ...]


async def play(folder: Path, clips_folder: Path, disturb: Disturbance | None = None, **updates: Any) -> End:
    scenario = load_scenario(str(SCENARIO))
    async with Simulator(scenario, clips_folder=clips_folder) as simulator:
        own = {"data_dir": folder, "web_port": 0, **updates}
        settings = demo_settings(load_settings(), simulator).model_copy(update=own)
        try:
            async with running(settings) as system, open_store(system.settings) as store:
                trouble = asyncio.create_task(disturb(system)) if disturb else None
                documents: list[dict[str, Any]] = []
                async with asyncio.timeout(480):
                    while not (simulator.state().settled and has_settled(simulator.truth, documents)):
                        await asyncio.sleep(0.3)
                        with contextlib.suppress(StoreUnavailable):
                            documents = await store.fixtures()
                    await _withdrawn_one_is_complete(documents, store)
                if trouble is not None:
                    assert trouble.done(), "it was over before the disturbance"
                    await trouble
                documents = await store.fixtures()
                verdict = judge_clips(scenario, documents, simulator.clip_of)
                assert judge(simulator.truth, documents).mismatches + verdict.mismatches == ()
                return await _end(settings, PostgresClips(store.database), documents)
        finally:
            await clear(settings)


async def _withdrawn_one_is_complete(documents: list[dict[str, Any]], store: Any) -> None:
    """The match does not wait for the search of a goal that no longer counts; this test does."""
    withdrawn = [event["_event_id"] for document in documents for event in document["events"] if event["_removed"]]
    for event_id in withdrawn:
        while not (await store.event(event_id))["_download_complete"]:
            await asyncio.sleep(0.3)
    # The last thing that a search does comes after it has said so.
    await asyncio.sleep(3)


async def _end(settings: Settings, clips: PostgresClips, documents: list[dict[str, Any]]) -> End:
    events = [event for document in documents for event in document["events"]]
    async with contextlib.aclosing(build_objects(settings)) as objects:
        files = await _files(objects, clips, events)
        # On a busy machine, what comes last comes late.
        for _ in range(240):
            if files.tidy:
                break
            await asyncio.sleep(0.5)
            files = await _files(objects, clips, events)
    stored = files.stored
    assert files.states <= FINAL
    assert stored == files.kept, "an orphan in the object store, or a clip without its file"
    standing = [event for event in events if not event["_removed"]]
    return End(
        clips={event["_event_id"]: [_clip(video) for video in event["_s3_videos"]] for event in standing},
        posts={event["_event_id"]: _posts(event) for event in standing},
        objects=tuple(key for key in stored if not any(e["_removed"] and e["_event_id"] in key for e in events)),
    )


@dataclass(frozen=True)
class Files:
    """What there is in the object store, and what the database says of it."""

    stored: list[str]
    kept: list[str]
    states: set[str]

    @property
    def tidy(self) -> bool:
        return self.states <= FINAL and self.stored == self.kept


async def _files(objects: ThreadedObjectStore, clips: PostgresClips, events: list[dict[str, Any]]) -> Files:
    others = ("recordings/", "library/")
    stored = sorted([each.key async for each in objects.list() if not each.key.startswith(others)])
    kept: list[str] = []
    found: set[str] = set()
    for event in events:
        states = await clips.video_states(event["_event_id"])
        names = (md5 for md5, state in states.items() if state == "kept")
        kept += [f"{event['_event_id'].split('_')[0]}/{event['_event_id']}/{md5}.mp4" for md5 in names]
        found.update(states.values())
    return Files(stored, sorted(kept), found)


def _clip(video: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("md5", "rank", "popularity", "timestamp_status", "extracted_minute", "duration", "file_size", "copies")
    return {name: video[name] for name in names}


def _posts(event: Mapping[str, Any]) -> Mapping[Any, int]:
    return Counter((each["source"], each["state"], each["loss"]) for each in event["_discovered_videos"])


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, rendered: Path) -> End:
    return asyncio.run(play(tmp_path_factory.mktemp("undisturbed"), rendered))


def test_there_is_something_to_lose(undisturbed: End) -> None:
    assert [len(clips) for clips in undisturbed.clips.values()] == [1, 1]
    assert [clip["popularity"] for clips in undisturbed.clips.values() for clip in clips] == [4, 4]


STEPS = sorted(
    {
        value.name
        for value in vars(clip_contracts).values()
        if isinstance(value, Call) and value.name not in ("lose_candidate", "refuse_video", "teams_without_aliases")
    }
    | {contracts.SET_MONITOR_COMPLETE.name}
)
"""Every step that a run without failures takes."""


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Workers that die at the steps that are named in a folder."""
    folder = tmp_path / "dies"
    folder.mkdir()

    def specs(settings: Settings) -> list[WorkerSpec]:
        environment = {**environment_of(settings), FOLDER: str(folder)}
        command = [sys.executable, "-m", "tests.chaos.dying_worker"]
        return [WorkerSpec(f"worker-{number}", command, environment) for number in (1, 2, 3)]

    monkeypatch.setattr(running_module, "worker_specs", specs)
    return folder


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_worker_killed_at_every_step_changes_nothing(
    tmp_path: Path, rendered: Path, undisturbed: End, dying: Path, when: str
) -> None:
    for step in STEPS:
        (dying / f"{when} {step}").touch()
    end = await play(tmp_path / "data", rendered, search_attempts=15)
    assert [step for step in STEPS if (dying / f"{when} {step}").exists()] == [], "steps at which nobody died"
    assert end == undisturbed


async def test_an_object_store_that_is_away_for_30_seconds_changes_nothing(
    tmp_path: Path, rendered: Path, undisturbed: End
) -> None:
    server = SeaweedServer(tmp_path / "weed")
    await asyncio.to_thread(server.start)

    async def away(system: Running) -> None:
        async with open_store(system.settings) as store:
            while not any(event["_discovered_videos"] for f in await store.fixtures() for event in f["events"]):
                await asyncio.sleep(0.1)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(30)
        await asyncio.to_thread(server.start)

    try:
        end = await play(
            tmp_path / "data",
            rendered,
            away,
            object_store_url=f"s3://{server.bucket}",
            s3_endpoint=server.endpoint,
            s3_access_key=SecretStr(server.access_key),
            s3_secret_key=SecretStr(server.secret_key),
        )
    finally:
        await asyncio.to_thread(server.stop)
    assert end == undisturbed


async def test_a_vision_server_that_is_away_for_30_seconds_changes_nothing(
    tmp_path: Path, rendered: Path, undisturbed: End
) -> None:
    """Nor does an uploader that goes idle at once: the last copy of the last goal comes long after its end."""
    async with VisionServer() as server:

        async def away(system: Running) -> None:
            while not server.asked:
                await asyncio.sleep(0.1)
            await server.stop()
            await asyncio.sleep(30)
            await server.start()

        end = await play(tmp_path / "data", rendered, away, llama_url=server.url, upload_idle_seconds=0.1)
    assert end == undisturbed
