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

from found_footy.clips.download_http import DownloadLimits
from found_footy.library.activities import DispatchActivities, StageActivities, StageRules
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.master_cache import MasterCache
from found_footy.library.models import LibraryClip, SourceKind, Submission, upload_key
from found_footy.library.onnx_embedders import MobileNetEmbedder
from found_footy.library.review import Reviewer
from found_footy.library.review_store import ReviewStore
from found_footy.library.source_download import open_source_fetcher
from found_footy.library.stages import StageInput, find_stage
from found_footy.library.store import LibraryStore
from found_footy.media.processor import MediaProcessor
from found_footy.runtime.worker import activities_of
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import Database
from tests.media.made_clips import scene, write
from tests.support.library_rows import pending

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
    store: LibraryStore
    review: ReviewStore
    objects: ObjectStore
    disk: MasterCache
    activities: dict[str, Any]
    dispatch: DispatchActivities
    workshop: MediaProcessor
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
        work = self.activities[find_stage(stage).activity]
        return bool((await ActivityEnvironment().run(work, StageInput(stage, item))).done)

    async def due(self, stage: str) -> list[int]:
        return await pending(self.store, stage, self.models, self.clock())

    async def spliced(self, content: bytes | None = None, name: str = "film") -> list[LibraryClip]:
        """The clips of a new source, waiting for their sheets."""
        source = await self.submitted(content, name)
        assert await self.run("download", source)
        assert await self.run("splice", source)
        return await self.store.clips_of(source)

    async def in_review(self) -> list[LibraryClip]:
        clips = await self.spliced()
        for clip in clips:
            assert await self.run("sprites", clip.id)
        return await self.store.clips_of(clips[0].source_id)

    async def keys(self) -> list[str]:
        return sorted([each.key async for each in self.objects.list("library/")])

    async def named(self) -> list[str]:
        return sorted([key async for key in self.store.expected_keys()])


@asynccontextmanager
async def library_system(
    database: Database, objects: ObjectStore, folder: Path, private_hosts: Sequence[str] = ()
) -> AsyncIterator[LibrarySystem]:
    async with AsyncExitStack() as stack:
        clock = Clock()
        workshop = MediaProcessor(2048, 120, max_processes=2, max_video_seconds=60, max_video_bytes=10_000_000)
        stack.push_async_callback(workshop.aclose)
        limits = DownloadLimits(10_000_000, 60, 3, private_hosts)
        fetcher = open_source_fetcher(
            limits,
            x_syndication_url="https://x.invalid",
            fxtwitter_url="https://x.invalid",
            x_url="https://x.invalid",
            max_duration_seconds=60,
        )
        stack.push_async_callback(fetcher.aclose)
        # Nothing is kept, so that a test sees what happens when an object is gone.
        disk = MasterCache(objects, folder, max_idle=0)
        stack.push_async_callback(disk.aclose)
        embedder = CountedMobileNet()
        stack.push_async_callback(embedder.aclose)
        store, vectors = LibraryStore(database), EmbeddingStore(database)
        rules = StageRules(10_000_000, 0.6, KEYFRAMES)
        models = {embedder.name: embedder.version}
        stages = StageActivities(store, objects, disk, workshop, fetcher, [embedder], vectors, rules, clock)
        named = {getattr(each, "__temporal_activity_definition").name: each for each in activities_of(stages)}
        review = ReviewStore(database)
        dispatch = DispatchActivities(
            store,
            review,
            objects,
            cast(Client, IdleTemporal()),
            models,
            clock,
            poll_seconds=0.05,
            max_per_stage=50,
            long_poll_seconds=0.1,
        )
        yield LibrarySystem(store, review, objects, disk, named, dispatch, workshop, models, clock, embedder)


async def with_ids_of_its_own(database: Database) -> None:
    """Temporal is shared with other tests, and the items' ids are parts of the workflows'."""
    async with database.connection() as connection:
        for table in ("library_sources", "library_clips", "library_actions"):
            start = uuid4().int % 10**9 + 1000
            await connection.execute(
                sql.SQL("alter table {} alter column id restart with {}").format(sql.Identifier(table), start)
            )


class CountedMobileNet(MobileNetEmbedder):
    asked = 0

    async def embed_images(self, bgr: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        self.asked += 1
        return await super().embed_images(bgr)


class IdleTemporal:
    """A Temporal in which no workflow is under way."""

    async def list_workflows(self, query: str) -> AsyncIterator[WorkflowExecution]:
        executions: list[WorkflowExecution] = []
        for each in executions:
            yield each
