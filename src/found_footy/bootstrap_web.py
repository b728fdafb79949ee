"""The composition root of the web process."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.storage.objects import ThreadedObjectStore
from found_footy.adapters.storage.postgres.access import PostgresAccess
from found_footy.adapters.storage.postgres.feed_rows import PostgresFeeds
from found_footy.adapters.storage.postgres.follows import PostgresFollows
from found_footy.adapters.storage.postgres.links import PostgresLinks
from found_footy.adapters.storage.postgres.matchday import PostgresMatchday
from found_footy.adapters.storage.postgres.news_reader import PostgresNews
from found_footy.adapters.storage.postgres.operations import PostgresOperations
from found_footy.adapters.storage.postgres.readers import Readers
from found_footy.adapters.storage.postgres.reading import PostgresReading
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.postgres.subscriptions import PostgresSubscriptions
from found_footy.adapters.temporal_look import TemporalLook
from found_footy.bootstrap import build_messengers
from found_footy.bootstrap_embeddings import open_search
from found_footy.bootstrap_feeds import polling_plan
from found_footy.bootstrap_overview import setup_overview
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.bootstrap_temporal import connect_temporal, trigger_ingest
from found_footy.bootstrap_web_feeds import open_web_feeds
from found_footy.bootstrap_web_library import build_web_library
from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.domain.operations.measured import Disk
from found_footy.follow_book import FollowBook
from found_footy.web.answers.kept import KeptAnswers
from found_footy.web.live.hub import Hub
from found_footy.web.live.room import room_for
from found_footy.web.operating.watching import FeedLooks, Watch
from found_footy.web.services import FollowServices, Services, WebRules
from found_footy.workflows.registry import WORKFLOWS


def web_rules(settings: Settings) -> WebRules:
    derived = {"media_origin", "temporal_ui_url"}
    plain = {name: getattr(settings, name) for name in WebRules.__dataclass_fields__ if name not in derived}
    embedded = f"http://127.0.0.1:{settings.temporal_ui_port}" if settings.temporal_ui_port else None
    return WebRules(**plain, media_origin=media_origin(settings), temporal_ui_url=settings.temporal_ui_url or embedded)


def media_origin(settings: Settings) -> str | None:
    """The site that signed links lead to."""
    if not (settings.object_store_url or "").startswith("s3://"):
        return None
    server = urlsplit(settings.s3_endpoint or f"https://s3.{settings.s3_region}.amazonaws.com")
    return f"{server.scheme}://{server.netloc}"


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_hub(settings: Settings) -> AsyncIterator[Hub]:
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    listeners, heartbeat = room_for(settings.stream_clients), settings.stream_heartbeat_seconds
    async with (
        PostgresNews(settings.database_url.get_secret_value()) as news,
        Hub(news, most_listeners=listeners, heartbeat_seconds=heartbeat) as hub,
    ):
        yield hub


@asynccontextmanager
async def open_readers(settings: Settings) -> AsyncIterator[Readers]:
    assert settings.database_url is not None  # or the store would not have opened
    readers = Readers(settings.database_url.get_secret_value())
    await readers.open()
    try:
        yield readers
    finally:
        await readers.close()


async def build_watch(
    settings: Settings, store: PostgresStore, objects: ThreadedObjectStore, live: Hub, feeds: FeedLooks
) -> Watch:
    """Temporal is connected when somebody looks: pages are served without it."""
    temporal = None
    if settings.temporal_address is not None:
        client = await connect_temporal(settings, lazy=True)
        temporal = TemporalLook(client, settings.task_queue, [each.__name__ for each in WORKFLOWS])
    kept_here = settings.object_store_url is None or settings.object_store_url.startswith("file:")
    folder = settings.data_dir.absolute()

    def disk() -> Disk | None:
        if not kept_here or not folder.exists():
            return None
        usage = shutil.disk_usage(folder)
        return Disk(usage.free, usage.total)

    operations = PostgresOperations(store.database)
    return Watch(operations, temporal, objects, live, feeds=feeds, disk=disk)


async def build_follow(settings: Settings, store: PostgresStore) -> FollowServices:
    """Temporal is connected when something is added."""
    book = FollowBook(settings.follow, PostgresFollows(store.database))
    if settings.temporal_address is None:
        return FollowServices(book, polling_plan(settings))
    client = await connect_temporal(settings, lazy=True)
    return FollowServices(book, polling_plan(settings), lambda: trigger_ingest(client))


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncIterator[Services]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        media = LimitedMedia(settings.media_memory_mb, settings.media_seconds)
        stack.push_async_callback(media.aclose)
        live = await stack.enter_async_context(open_hub(settings))
        readers = await stack.enter_async_context(open_readers(settings))
        reading = PostgresReading(readers, settings.stale_seconds)
        feeds = await stack.enter_async_context(open_web_feeds(settings, store))
        search = await stack.enter_async_context(open_search(settings, store.database))
        messengers = build_messengers(settings)
        for each in messengers.values():
            stack.push_async_callback(each.aclose)
        yield Services(
            rules=web_rules(settings),
            now=_now,
            goals=store,
            files=objects,
            media=media,
            access=PostgresAccess(store.database),
            watch=await build_watch(settings, store, objects, live, feeds.looks),
            live=live,
            feeds=PostgresFeeds(store.database),
            scores=feeds.scores,
            links=PostgresLinks(store.database),
            reading=reading,
            kept=KeptAnswers(reading.version),
            matchday=PostgresMatchday(store.database),
            follow=await build_follow(settings, store),
            overview=lambda: setup_overview(settings, store.database, _now()),
            subscriptions=PostgresSubscriptions(store.database),
            messengers=messengers,
            library=replace(build_web_library(settings, store, readers), search=search),
        )
