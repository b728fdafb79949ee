"""The composition root of the clip library: what its pages, its commands and its workers are given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker

from found_footy.activities.boundary import activities_of
from found_footy.activities.library_clips import LibraryClipActivities
from found_footy.activities.library_desk import LibraryDesk
from found_footy.activities.library_disk import LibraryDisk
from found_footy.activities.library_embedding import LibraryEmbeddingActivities
from found_footy.activities.library_sources import LibrarySourceActivities, SourceRules
from found_footy.adapters.download.limits import DownloadLimits
from found_footy.adapters.download.source_fetcher import GuardedSourceFetcher, open_source_fetcher
from found_footy.adapters.media.workshop import LimitedWorkshop
from found_footy.adapters.storage.objects import ThreadedObjectStore
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library import PostgresLibrary
from found_footy.adapters.storage.postgres.vectors import PostgresVectors
from found_footy.bootstrap import open_worker
from found_footy.bootstrap_checks import build_canary
from found_footy.bootstrap_embeddings import build_embedders
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.config import Settings
from found_footy.domain.clips.stages import STAGES, Lane
from found_footy.ports_library import Embedder, VectorStore


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Library:
    """What whoever works with the library needs, be it a command or a worker."""

    database: Database
    store: PostgresLibrary
    objects: ThreadedObjectStore
    embedders: tuple[Embedder, ...]
    """The first one is the one that searches use."""
    vectors: VectorStore

    @property
    def models(self) -> dict[str, str]:
        return {each.name: each.version for each in self.embedders}


def source_bytes(settings: Settings) -> int:
    return settings.source_mb * 1_000_000


def build_workshop(settings: Settings) -> LimitedWorkshop:
    return LimitedWorkshop(
        settings.media_memory_mb,
        settings.source_media_seconds,
        at_once=settings.library_at_once,
        most_seconds=settings.source_hours * 3600,
        most_bytes=source_bytes(settings),
    )


def build_source_fetcher(settings: Settings) -> GuardedSourceFetcher:
    limits = DownloadLimits(
        source_bytes(settings),
        settings.source_media_seconds,
        settings.download_redirects,
        settings.private_hosts,
        impersonate=settings.download_impersonate,
    )
    return open_source_fetcher(
        limits,
        x_syndication_url=settings.x_syndication_url,
        fxtwitter_url=settings.fxtwitter_url,
        x_url=settings.x_url,
        longest_seconds=settings.source_hours * 3600,
        plc_url=settings.plc_url,
    )


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[Library]:
    """Raises EngineError where no database is known."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        embedders = tuple(build_embedders(settings))
        for each in embedders:
            stack.push_async_callback(each.aclose)
        library = PostgresLibrary(store.database)
        yield Library(store.database, library, objects, embedders, PostgresVectors(store.database))


@asynccontextmanager
async def open_workers(settings: Settings, client: Client) -> AsyncIterator[list[Worker]]:
    """The first one is for live goals, and also looks what the library has to do. The others are for the library's
    work, for each queue in the table of stages one of each lane. None is started."""
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(open_library(settings))
        desk = LibraryDesk(
            library.store,
            library.objects,
            client,
            library.models,
            _now,
            seconds=settings.library_seconds,
            queue_most=settings.library_queue_most,
        )
        canary = build_canary(settings, library.database)
        live = await stack.enter_async_context(open_worker(settings, client, [desk, canary]))
        others = []
        for lane in Lane:
            # With a workshop of its own: the films' is not there before there is one.
            activities = await stack.enter_async_context(_open_stages(settings, library))
            queues = sorted({stage.queue_for(lane) for stage in STAGES})
            others += [_film_worker(settings, client, queue, activities) for queue in queues]
        yield [live, *others]


@asynccontextmanager
async def _open_stages(settings: Settings, library: Library) -> AsyncIterator[list[Callable[..., Any]]]:
    """The activities of all stages, with what they need."""
    async with AsyncExitStack() as stack:
        workshop = build_workshop(settings)
        stack.push_async_callback(workshop.aclose)
        fetcher = build_source_fetcher(settings)
        stack.push_async_callback(fetcher.aclose)
        store, objects = library.store, library.objects
        disk = LibraryDisk(objects)
        stack.push_async_callback(disk.aclose)
        rules = SourceRules(source_bytes(settings), settings.scene_seconds_least)
        yield activities_of(
            LibrarySourceActivities(store, objects, disk, workshop, fetcher, rules, _now),
            LibraryClipActivities(store, objects, disk, workshop, settings.keyframes, _now),
            LibraryEmbeddingActivities(store, objects, disk, library.embedders, library.vectors, _now),
        )


def _film_worker(settings: Settings, client: Client, queue: str, activities: Sequence[Callable[..., Any]]) -> Worker:
    return Worker(
        client,
        task_queue=f"{settings.task_queue}-{queue}",
        activities=activities,
        max_concurrent_activities=settings.library_at_once,
        # A film that is not finished by then is begun again by another worker.
        graceful_shutdown_timeout=timedelta(seconds=10),
    )
