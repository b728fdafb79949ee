"""What the pages and the API are given of the score feeds. All of it may be away while pages are served."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from found_footy.adapters.storage.postgres.health import PostgresHealth
from found_footy.adapters.storage.postgres.listings import PostgresListings
from found_footy.adapters.storage.postgres.match_words import PostgresMatchWords
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis import RedisCache, RedisSwitches
from found_footy.bootstrap_feeds import build_feed, declared_feeds, feed_memory, open_cache
from found_footy.bootstrap_health import build_browser_control, build_health_cache, build_recovering
from found_footy.config import Settings
from found_footy.domain.errors import CacheUnavailable, NotFound
from found_footy.domain.operations.feeds_measured import Declared
from found_footy.feed_registry import DeclaredFeed, FeedRegistry
from found_footy.ports_feeds import Switches
from found_footy.web.operating.looking import BrowserLook, CacheLook, HealthLook
from found_footy.web.operating.watching import FeedLooks
from found_footy.web.services import ScoreFeeds


@dataclass(frozen=True, slots=True)
class WebFeeds:
    scores: ScoreFeeds
    looks: FeedLooks


class NoSwitches:
    """Where there is no cache to keep them in."""

    async def switched(self) -> Mapping[str, bool]:
        return {}

    async def switch(self, feed: str, on: bool | None) -> None:
        raise CacheUnavailable("this system has no cache, where switches are kept")


class RegistryBook:
    """The file is read when somebody asks: one that cannot be read stops no page."""

    def __init__(self, settings: Settings, switches: Switches) -> None:
        self._settings, self._switches = settings, switches
        self._made: FeedRegistry | None = None

    async def declared(self) -> Sequence[Declared]:
        if self._made is None:
            settings = self._settings
            # The feeds are built to know what they lack; nothing is asked of them here.
            self._made = FeedRegistry(
                declared_feeds(settings), lambda source: build_feed(settings, source, None), self._switches
            )
        return [_declared(each) for each in await self._made.declared()]

    async def switch(self, feed: str, on: bool | None) -> Declared:
        if not any(each.feed == feed for each in await self.declared()):
            raise NotFound(f"no feed {feed!r} is declared")
        await self._switches.switch(feed, on)
        return next(each for each in await self.declared() if each.feed == feed)

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()


def _declared(each: DeclaredFeed) -> Declared:
    source = each.source
    return Declared(source.id, source.adapter, source.precedence, source.enabled, each.on, each.switched, each.lacks)


@asynccontextmanager
async def open_web_feeds(settings: Settings, store: PostgresStore) -> AsyncIterator[WebFeeds]:
    if settings.redis_url is None:
        async with aclosing(RegistryBook(settings, NoSwitches())) as book:
            yield _without_cache(settings, store, book)
        return
    async with open_cache(settings) as cache, aclosing(RegistryBook(settings, RedisSwitches(cache))) as book:
        yield await _with_cache(settings, store, book, cache)


def _without_cache(settings: Settings, store: PostgresStore, book: RegistryBook) -> WebFeeds:
    database = store.database
    return WebFeeds(
        ScoreFeeds(book, PostgresListings(database), PostgresMatchWords(database)),
        FeedLooks(HealthLook(PostgresHealth(database)), None, book, _browser(settings)),
    )


async def _with_cache(settings: Settings, store: PostgresStore, book: RegistryBook, cache: RedisCache) -> WebFeeds:
    database, memory = store.database, feed_memory(cache)
    health, copies = PostgresHealth(database), build_health_cache(settings, cache)
    return WebFeeds(
        ScoreFeeds(
            book,
            PostgresListings(database),
            PostgresMatchWords(database),
            memory.snapshots,
            memory.records,
            await build_recovering(settings, health, copies, memory.records),
        ),
        FeedLooks(
            HealthLook(health),
            CacheLook(memory.records, memory.freshness, memory.counters, copies),
            book,
            _browser(settings),
        ),
    )


def _browser(settings: Settings) -> BrowserLook | None:
    control = build_browser_control(settings)
    return BrowserLook(control) if control else None
