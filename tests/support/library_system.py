"""The library's activities around a real database, object store, workshop and model, at a time that a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from temporalio.client import Client, WorkflowExecution
from temporalio.testing import ActivityEnvironment

from found_footy.activities.boundary import activities_of
from found_footy.activities.library_clips import LibraryClipActivities
from found_footy.activities.library_desk import LibraryDesk
from found_footy.activities.library_disk import LibraryDisk
from found_footy.activities.library_embedding import LibraryEmbeddingActivities
from found_footy.activities.library_sources import LibrarySourceActivities, SourceRules
from found_footy.adapters.download.limits import DownloadLimits
from found_footy.adapters.download.source_fetcher import open_source_fetcher
from found_footy.adapters.embeddings.mobilenet import MobileNet
from found_footy.adapters.media.workshop import LimitedWorkshop
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library import PostgresLibrary
from found_footy.adapters.storage.postgres.review import PostgresReview
from found_footy.adapters.storage.postgres.vectors import PostgresVectors
from found_footy.domain.clips.keys import upload_key
from found_footy.domain.clips.review import Reviewer
from found_footy.domain.clips.stages import stage_called
from found_footy.domain.clips.values import Clip, SourceKind
from found_footy.ports import ObjectStore
from found_footy.ports_library import Submission
from found_footy.workflows.library_contracts import StageInput
from tests.media.made_clips import scene, write

START = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
KEYFRAMES = ("25%", "75%")
SCENES = 3
SCENE_SECONDS = 1.6
FRAMES = SCENES * round(SCENE_SECONDS * 25)


@cache
def film_bytes(scenes: int = SCENES, seeds: tuple[int, ...] = ()) -> bytes:
    """A film of so many scenes that a browser plays as it is; the same seed is the same scene."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        pictures = chain.from_iterable(scene(SCENE_SECONDS, seed=seed) for seed in seeds or range(10, 10 + scenes))
        write(path, pictures, muxer={"movflags": "faststart"}, g="20")
        return path.read_bytes()


@dataclass
class Clock:
    time: datetime = START

    def __call__(self) -> datetime:
        return self.time

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class LibrarySystem:
    store: PostgresLibrary
    review: PostgresReview
    objects: ObjectStore
    disk: LibraryDisk
    activities: dict[str, Any]
    desk: LibraryDesk
    workshop: LimitedWorkshop
    models: dict[str, str]
    clock: Clock
    embedder: CountedMobileNet

    @property
    def who(self) -> Reviewer:
        return Reviewer("window-1", "Ann", self.clock())

    async def put(self, key: str, content: bytes) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "object")
            await asyncio.to_thread(path.write_bytes, content)
            await self.objects.put(key, path)

    async def submitted(self, content: bytes | None = None, name: str = "film") -> int:
        key = upload_key(name)
        await self.put(key, film_bytes() if content is None else content)
        return await self.store.submit(Submission(SourceKind.FILE, "A film", upload_key=key, by="Ann"), self.clock())

    async def run(self, stage: str, item: int) -> bool:
        """The stage's activity, once."""
        work = self.activities[stage_called(stage).activity]
        return bool((await ActivityEnvironment().run(work, StageInput(stage, item))).done)

    async def due(self, stage: str) -> list[int]:
        return await self.store.work_for(stage_called(stage), self.models, self.clock(), 100)

    async def spliced(self, content: bytes | None = None, name: str = "film") -> list[Clip]:
        """The clips of a new source, waiting for their sheets."""
        source = await self.submitted(content, name)
        assert await self.run("download", source)
        assert await self.run("splice", source)
        return await self.store.clips_of(source)

    async def in_review(self) -> list[Clip]:
        clips = await self.spliced()
        for clip in clips:
            assert await self.run("sprites", clip.id)
        return await self.store.clips_of(clips[0].source_id)

    async def keys(self) -> list[str]:
        return sorted([each.key async for each in self.objects.list("library/")])

    async def named(self) -> list[str]:
        return sorted([key async for key in self.store.keys()])  # noqa: SIM118 - no dictionary


@asynccontextmanager
async def library_system(
    database: Database, objects: ObjectStore, folder: Path, private_hosts: Sequence[str] = ()
) -> AsyncIterator[LibrarySystem]:
    async with AsyncExitStack() as stack:
        clock = Clock()
        workshop = LimitedWorkshop(2048, 120, at_once=2, most_seconds=60, most_bytes=10_000_000)
        stack.push_async_callback(workshop.aclose)
        limits = DownloadLimits(10_000_000, 60, 3, private_hosts)
        fetcher = open_source_fetcher(
            limits,
            x_syndication_url="https://x.invalid",
            fxtwitter_url="https://x.invalid",
            x_url="https://x.invalid",
            longest_seconds=60,
        )
        stack.push_async_callback(fetcher.aclose)
        # Nothing is kept, so that a test sees what happens when an object is gone.
        disk = LibraryDisk(objects, folder, kept=0)
        stack.push_async_callback(disk.aclose)
        embedder = CountedMobileNet()
        stack.push_async_callback(embedder.aclose)
        store, vectors = PostgresLibrary(database), PostgresVectors(database)
        rules = SourceRules(10_000_000, 0.6)
        models = {embedder.name: embedder.version}
        owners = (
            LibrarySourceActivities(store, objects, disk, workshop, fetcher, rules, clock),
            LibraryClipActivities(store, objects, disk, workshop, KEYFRAMES, clock),
            LibraryEmbeddingActivities(store, objects, disk, [embedder], vectors, clock),
        )
        named = {getattr(each, "__temporal_activity_definition").name: each for each in activities_of(*owners)}
        desk = LibraryDesk(
            store, objects, cast(Client, NothingRuns()), models, clock, seconds=0.05, queue_most=50, wait=0.1
        )
        yield LibrarySystem(
            store, PostgresReview(database), objects, disk, named, desk, workshop, models, clock, embedder
        )  # fmt: skip


async def with_ids_of_its_own(database: Database) -> None:
    """Temporal is shared with other tests, and the items' ids are parts of the workflows'."""
    async with database.connection() as connection:
        for table in ("library_sources", "library_clips", "library_actions"):
            start = uuid4().int % 10**9 + 1000
            await connection.execute(
                sql.SQL("alter table {} alter column id restart with {}").format(sql.Identifier(table), start)
            )


class CountedMobileNet(MobileNet):
    asked = 0

    async def pictures(self, bgr: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        self.asked += 1
        return await super().pictures(bgr)


class NothingRuns:
    """A Temporal in which no workflow is under way."""

    async def list_workflows(self, query: str) -> AsyncIterator[WorkflowExecution]:
        executions: list[WorkflowExecution] = []
        for each in executions:
            yield each
