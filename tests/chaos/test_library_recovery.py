"""Kill workers at every step of the library: the outcome is that of the undisturbed run."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr
from temporalio.client import Client

from found_footy.config import Settings
from found_footy.library.activities import DispatchActivities, Library, open_library
from found_footy.library.master_cache import MasterCache
from found_footy.library.models import ClipState, LibraryClip, SourceKind, SourceState, Submission, upload_key
from found_footy.library.review import ActionKind, Reviewer
from found_footy.library.review_store import ReviewStore
from found_footy.library.stages import STAGES, LibraryInput
from found_footy.library.store import SQL as LIBRARY_SQL
from found_footy.library.workflow import LibraryWorkflow
from found_footy.runtime.system import environment_of
from found_footy.runtime.temporal import connect_temporal
from tests.chaos import killed_library_worker
from tests.chaos.killed_worker import STEPS_FOLDER, activity_name, activity_names
from tests.support.databases import Databases
from tests.support.library_rows import tiling_error
from tests.support.library_system import FRAMES, film_bytes, with_ids_of_its_own
from tests.support.processes import WorkerProcesses, wait_until

pytestmark = pytest.mark.timeout(600)

WORKERS = 2
SETTLED_SECONDS = 480.0
UNDO_SECONDS = 1.0

STAGE_STEPS = sorted({stage.activity for stage in STAGES})
DISPATCH_STEPS = activity_names(DispatchActivities)
DISPATCH_STEPS.remove(activity_name(DispatchActivities.fail_stage))  # no stage fails


@dataclass(frozen=True)
class LibraryOutcome:
    """What must be equal. Ids are left out: a kill during a transaction leaves a gap."""

    clips: Mapping[str, Any]
    objects: Mapping[str, str]


@asynccontextmanager
async def dispatching(client: Client, settings: Settings) -> AsyncIterator[None]:
    order = LibraryInput(rounds=10**6, seconds=settings.library_seconds)
    handle = await client.start_workflow(
        LibraryWorkflow.run, order, id=f"library-{uuid4()}", task_queue=settings.task_queue
    )
    yield
    await handle.terminate()


async def play(settings: Settings, client: Client, folder: Path) -> LibraryOutcome:
    (folder / "tmp").mkdir()
    async with open_library(settings) as library:
        await with_ids_of_its_own(library.database)
        environment = {**environment_of(settings), STEPS_FOLDER: str(folder / "kill")}
        workers = WorkerProcesses(
            killed_library_worker.main, environment, folder / "tmp", log=folder / "workers.log", count=WORKERS
        )
        async with dispatching(client, settings), workers:
            source = await _submit(library, folder)
            clips = await _review(library, settings, source)
            await wait_until(lambda: _is_settled(library, source, clips), SETTLED_SECONDS)
        # The next worker that starts deletes what killed ones left on the disk.
        await MasterCache(library.objects, folder / "tmp").aclose()
        assert list((folder / "tmp").glob("*")) == []
        return await _outcome(library, source)


async def _submit(library: Library, folder: Path) -> int:
    key = upload_key(uuid4().hex)
    path = folder / "film.mp4"
    await asyncio.to_thread(path.write_bytes, film_bytes())
    await library.objects.put(key, path)
    return await library.store.submit(Submission(SourceKind.FILE, "A film", upload_key=key), datetime.now(UTC))


async def _review(library: Library, settings: Settings, source: int) -> list[LibraryClip]:
    """Approve one clip, archive one, and split one in the middle."""

    async def all_pending() -> bool:
        clips = await library.store.clips_of(source)
        return bool(clips) and all(clip.state is ClipState.PENDING_REVIEW for clip in clips)

    await wait_until(all_pending, SETTLED_SECONDS)
    clips = await library.store.clips_of(source)
    review = ReviewStore(library.database, timedelta(seconds=settings.undo_seconds))
    await review.decide(ActionKind.APPROVE, [clips[0].id], _reviewer())
    await review.decide(ActionKind.ARCHIVE, [clips[1].id], _reviewer())
    await review.split(clips[2].id, (clips[2].first + clips[2].end) // 2, _reviewer())
    return clips


def _reviewer() -> Reviewer:
    return Reviewer("window-1", "Ann", datetime.now(UTC))


async def _is_settled(library: Library, source: int, clips: list[LibraryClip]) -> bool:
    now = await library.store.clips_of(source)
    states = {clip.id: clip.state for clip in now}
    expected = dict(
        zip((clip.id for clip in clips), (ClipState.EMBEDDED, ClipState.ARCHIVED, ClipState.ARCHIVED), strict=True)
    )
    new = [states[id_] for id_ in states if id_ not in expected]
    done = all(states[id_] is state for id_, state in expected.items()) and new == [ClipState.PENDING_REVIEW] * 2
    return done and not await library.store.pending_deletions(1)


async def _outcome(library: Library, source: int) -> LibraryOutcome:
    clips = await library.store.clips_of(source)
    assert tiling_error(FRAMES, clips) is None
    names = {clip.id: f"{clip.first}-{clip.end}{'' if clip.live else ' retired'}" for clip in clips}
    async with aclosing(library.store.expected_keys()) as keys:  # type: ignore[type-var]
        named = sorted([key async for key in keys])
    stored = sorted([each.key async for each in library.objects.list("library/")])
    assert stored == named, "an orphan in the object store, or a row without its object"
    objects = {}
    for key in stored:
        name = key.removeprefix(f"library/{source}/")
        id_ = int(name.split(".")[0].split("-")[0]) if name[0].isdecimal() else None
        content = await library.objects.read(key)
        plain = name if id_ is None else name.replace(str(id_), names[id_], 1)
        objects[plain] = hashlib.sha256(content).hexdigest()
    return LibraryOutcome({names[clip.id]: await _facts(library, clip) for clip in clips}, objects)


async def _facts(library: Library, clip: LibraryClip) -> Any:
    rows = await library.database.fetch(LIBRARY_SQL["keyframes"], id=clip.id)
    async with library.database.connection() as connection:
        cursor = await connection.execute(
            "select mobilenet_v3_small::text as vector from library_embeddings where clip_id = %s", (clip.id,)
        )
        vectors = [row["vector"] for row in await cursor.fetchall()]
    return (clip.state, clip.has_file, clip.sprite, clip.failures, clip.error, rows, vectors)


ALL_STATES = {str(state) for state in (*SourceState, *ClipState)} - {
    *(str(state) for state in (*SourceState, *ClipState) if state.endswith("_failed")),
    # No clip is skipped here.
    "review_skipped",
}


async def _states(settings: Settings) -> set[str]:
    """Return all states that sources and clips went through, from the outbox."""
    async with open_library(settings) as library, library.database.connection() as connection:
        cursor = await connection.execute(
            "select payload ->> 'state' as state from outbox where topic like 'library.%%'"
        )
        return {row["state"] for row in await cursor.fetchall()}


def settings_for(database_url: str, temporal_settings: dict[str, str], valkey_server: str, folder: Path) -> Settings:
    (folder / "kill").mkdir()
    return Settings(
        database_url=SecretStr(database_url),
        **temporal_settings,
        redis_url=SecretStr(valkey_server),
        api_football_key=SecretStr("key"),
        data_dir=folder,
        task_queue=f"test-{uuid4()}",
        # No clip is verified here, and every worker would load the models.
        llama_url="http://127.0.0.1:9",
        library_seconds=0.3,
        library_at_once=1,
        undo_seconds=UNDO_SECONDS,
        keyframes=("25%", "75%"),
        log_level="ERROR",
    )


@pytest.fixture
def settings(database_url: str, temporal_settings: dict[str, str], valkey_server: str, tmp_path: Path) -> Settings:
    return settings_for(database_url, temporal_settings, valkey_server, tmp_path)


@dataclass(frozen=True)
class Undisturbed:
    """Outcome without a kill, and the states on the way."""

    outcome: LibraryOutcome
    states: set[str]


@pytest.fixture(scope="module")
def undisturbed(
    databases: Databases,
    temporal_settings: dict[str, str],
    valkey_server: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Undisturbed:
    async def run(settings: Settings) -> Undisturbed:
        outcome = await play(settings, await connect_temporal(settings), settings.data_dir)
        return Undisturbed(outcome, await _states(settings))

    with databases.borrowed() as url:
        folder = tmp_path_factory.mktemp("undisturbed")
        return asyncio.run(run(settings_for(url, temporal_settings, valkey_server, folder)))


def test_an_undisturbed_source_reaches_the_library(undisturbed: Undisturbed) -> None:
    outcome = undisturbed.outcome
    assert sorted(outcome.clips) == ["0-40", "100-120", "40-80", "80-100", "80-120 retired"]
    assert len(outcome.objects) == 1 + 2 + 2 + 2 * 2, "the master, file and sheet and two pictures of one, two others"
    assert undisturbed.states == ALL_STATES


@pytest.mark.parametrize(
    ("moments", "steps"),
    [
        pytest.param(["after"], STAGE_STEPS, id="after each stage"),
        pytest.param(["begun", "made"], STAGE_STEPS, marks=pytest.mark.chaos, id="within each stage"),
        pytest.param(
            ["before", "after"],
            [*STAGE_STEPS, *DISPATCH_STEPS],
            marks=pytest.mark.chaos,
            id="before and after each step",
        ),
    ],
)
async def test_killing_a_worker_does_not_change_the_library(
    settings: Settings, temporal: Client, tmp_path: Path, undisturbed: Undisturbed, moments: list[str], steps: list[str]
) -> None:
    kills = [tmp_path / "kill" / f"{moment} {step}" for moment in moments for step in steps]
    for each in kills:
        each.touch()
    outcome = await play(settings, temporal, tmp_path)
    assert [each.name for each in kills if each.exists()] == [], "steps at which no worker was killed"
    assert outcome == undisturbed.outcome
