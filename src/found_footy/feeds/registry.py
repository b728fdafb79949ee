"""Declared feeds, their run-time switches, and the clients built from them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from found_footy.config import Settings
from found_footy.errors import CacheUnavailable, EngineError, FeedBusy, NotFound, PermitTimeout, SettingsError
from found_footy.feeds.alignment import id_offset
from found_footy.feeds.api_football import ApiFootball
from found_footy.feeds.cache import FeedCache, FeedSwitches
from found_footy.feeds.crex import Crex
from found_footy.feeds.espn import Espn
from found_footy.feeds.http import unlimited
from found_footy.feeds.models import FeedSource, OpenFeed, ScoreFeed, vendor_of
from found_footy.feeds.quota_estimate import PollingPlan
from found_footy.feeds.sources_file import load_sources
from found_footy.fixtures.follow_list import REFRESH_SECONDS, FollowBook
from found_footy.fixtures.following import Following, following_of
from found_footy.operations.models import FeedDeclaration
from found_footy.recordings.playback import recording_feed
from found_footy.runtime.browser_secret import browser_headers
from found_footy.runtime.clock import utc_now
from found_footy.runtime.retry import RetryRules
from found_footy.storage.limits import LeaseSemaphore, RateLimit
from found_footy.storage.redis import RedisCache

log = logging.getLogger(__name__)

PRIMARY_ADAPTER = "api_football"
"""Adapter whose ids are used unchanged if several feeds are declared."""


@dataclass(frozen=True, slots=True)
class DeclaredFeed:
    """State of a feed for operators: whether it is polled, and if not, why."""

    source: FeedSource
    is_on: bool
    switched: bool | None
    """The operator's switch, if any."""
    missing: str = ""


class FeedRegistry:
    """Builds and caches feed clients. `declared` is called before each poll; it reloads a changed file."""

    def __init__(
        self,
        declared: Callable[[], tuple[FeedSource, ...]],
        build: Callable[[FeedSource], ScoreFeed],
        switches: FeedSwitches,
        refresh: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`refresh` is called before each poll, to reload other dependencies of the feeds."""
        self._load_sources = declared
        self._build = build
        self._switches = switches
        self._refresh_dependencies = refresh
        self._sources = declared()
        self._clients: dict[str, tuple[FeedSource, ScoreFeed]] = {}
        self._leases: Counter[int] = Counter()
        """Requests in progress, by identity of the client."""
        self._retired: list[ScoreFeed] = []
        """Clients of removed or changed feeds; each is closed after its last request."""
        self._switched: dict[str, bool] = {}
        """Switches at the last successful read of the cache."""

    async def feeds(self) -> list[OpenFeed]:
        """Return the feeds that are enabled and configured, by precedence."""
        feeds = []
        for each in await self.declared():
            if each.is_on and not each.missing:
                feeds.append(self._open(each.source))
        return feeds

    @asynccontextmanager
    async def lease(self, feed_id: str | None = None) -> AsyncIterator[list[OpenFeed]]:
        """Yield the enabled feeds, or only this one, for requests: their clients stay open until the block ends."""
        leased = [each for each in await self.feeds() if feed_id in (None, each.id)]
        self._leases.update(id(each.feed) for each in leased)
        try:
            yield leased
        finally:
            self._leases.subtract(id(each.feed) for each in leased)
            await self._close_retired()

    async def declared(self) -> list[DeclaredFeed]:
        await self._refresh()
        declared_feeds = []
        for source in sorted(self._sources, key=lambda source: (-source.precedence, source.id)):
            switched = self._switched.get(source.id)
            is_on = source.enabled if switched is None else switched
            declared_feeds.append(DeclaredFeed(source, is_on, switched, self._missing_setting(source) if is_on else ""))
        return declared_feeds

    async def aclose(self) -> None:
        for feed in [*(feed for _, feed in self._clients.values()), *self._retired]:
            await feed.aclose()
        self._clients.clear()
        self._retired.clear()

    async def _refresh(self) -> None:
        if self._refresh_dependencies is not None:
            await self._refresh_dependencies()
        try:
            self._sources = self._load_sources()
        except SettingsError as error:
            # Keep the last valid feeds: an unfinished edit must not disable everything.
            log.error(str(error), extra={"action": "feeds_file_invalid"})
        try:
            self._switched = dict(await self._switches.switched())
        except CacheUnavailable as error:
            log.warning(str(error), extra={"action": "switches_unavailable"})
        declared = {source.id: source for source in self._sources}
        for feed_id, (source, feed) in list(self._clients.items()):
            if declared.get(feed_id) != source:
                del self._clients[feed_id]
                self._retired.append(feed)
        await self._close_retired()

    async def _close_retired(self) -> None:
        unused = [feed for feed in self._retired if not self._leases[id(feed)]]
        self._retired = [feed for feed in self._retired if self._leases[id(feed)]]
        for feed in unused:
            await feed.aclose()

    def _open(self, source: FeedSource) -> OpenFeed:
        feed = self._client(source)
        return OpenFeed(source, feed, id_offset(source.id, is_primary=self._is_primary(source)))

    def _client(self, source: FeedSource) -> ScoreFeed:
        if source.id not in self._clients:
            self._clients[source.id] = (source, self._build(source))
        return self._clients[source.id][1]

    def _missing_setting(self, source: FeedSource) -> str:
        try:
            self._client(source)
        except SettingsError as error:
            return str(error)
        return ""

    def _is_primary(self, source: FeedSource) -> bool:
        return source == self.primary_source(self._sources)

    @staticmethod
    def primary_source(sources: Sequence[FeedSource]) -> FeedSource | None:
        """Return the feed whose ids are used unchanged: the only one, or the first API-Football feed."""
        if len(sources) == 1:
            return sources[0]
        return next((source for source in sources if source.adapter == PRIMARY_ADAPTER), None)


# --- Composition of the score feeds: declarations, adapters, caches and limits.


SOURCES = (
    FeedSource("api_football", "api_football", precedence=100),
    FeedSource("espn", "espn", precedence=80),
)
"""Feeds used without a sources file, if they are configured."""
ADAPTERS = ("api_football", "espn", "crex", "recording")
CREX_URL = "https://crex.com"


@dataclass(frozen=True, slots=True)
class OpenFeeds:
    registry: FeedRegistry
    memory: FeedCache
    cache: RedisCache


@asynccontextmanager
async def open_feeds(settings: Settings, follows: FollowBook | None = None) -> AsyncIterator[OpenFeeds]:
    """Open the declared feeds. Without `follows`, the follow list of the settings is used."""

    async def refresh() -> None:
        if follows is not None:
            await follows.refresh(REFRESH_SECONDS)

    following = None if follows is None else lambda: follows.current
    async with open_cache(settings) as cache:
        semaphore = LeaseSemaphore(cache)
        registry = FeedRegistry(
            declared_feeds(settings),
            lambda source: build_feed(settings, source, semaphore, following),
            FeedSwitches(cache),
            refresh,
        )
        try:
            yield OpenFeeds(registry, FeedCache(cache), cache)
        finally:
            await registry.aclose()


@asynccontextmanager
async def open_cache(settings: Settings) -> AsyncIterator[RedisCache]:
    if settings.redis_url is None:
        raise EngineError("no cache is configured: start `footy up` or set REDIS_URL")
    cache = RedisCache(settings.redis_url.get_secret_value())
    try:
        yield cache
    finally:
        await cache.aclose()


def declared_feeds(settings: Settings) -> Callable[[], tuple[FeedSource, ...]]:
    """Return a function that returns the declared feeds and reloads a changed file. Raises SettingsError."""
    if settings.feed is not None:
        only = _with_vendors(settings, [FeedSource(settings.feed, settings.feed, precedence=100)])
        return lambda: only
    path = settings.feeds_file
    if not path.exists() and "feeds_file" not in settings.model_fields_set:
        default = _with_vendors(settings, SOURCES)
        return lambda: default
    loaded: tuple[tuple[int, int], tuple[FeedSource, ...]] | None = None

    def declared() -> tuple[FeedSource, ...]:
        nonlocal loaded
        try:
            status = path.stat()
        except OSError as error:
            raise SettingsError(f"FOOTY_FEEDS_FILE: {path} cannot be read: {error.strerror}") from error
        version = (status.st_mtime_ns, status.st_size)
        if loaded is None or loaded[0] != version:
            loaded = (version, _with_vendors(settings, load_sources(path)))
        return loaded[1]

    return declared


def _with_vendors(settings: Settings, sources: Sequence[FeedSource]) -> tuple[FeedSource, ...]:
    """Set each feed's vendor from its effective address, including one from the settings."""
    urls = {"api_football": str(settings.api_football_url), "espn": str(settings.espn_url), "crex": CREX_URL}
    addresses = {each.id: each.metadata.get("base_url") or urls.get(each.adapter) for each in sources}
    return tuple(
        replace(_with_leagues(settings, each), vendor=vendor_of(each.id, each.adapter, addresses[each.id]))
        for each in sources
    )


def _with_leagues(settings: Settings, source: FeedSource) -> FeedSource:
    """Use FOOTY_ESPN_LEAGUES for an ESPN feed that declares no leagues."""
    if source.adapter != "espn" or not settings.espn_leagues or source.metadata.get("leagues"):
        return source
    return replace(source, metadata={**source.metadata, "leagues": list(settings.espn_leagues)})


def espn_leagues(declared: Sequence[str], following: Following) -> tuple[str, ...]:
    """Return the declared football leagues, else those of the follow list; cricket leagues of both."""
    listed = following.espn_leagues()
    football = [league for league in declared if not league.startswith("cricket/")]
    cricket = [league for league in (*declared, *listed) if league.startswith("cricket/")]
    football = football or [league for league in listed if not league.startswith("cricket/")]
    return tuple(dict.fromkeys([*football, *cricket]))


async def check_feeds(settings: Settings) -> None:
    """Check before startup that at least one feed is configured."""
    sources = [source for source in declared_feeds(settings)() if source.enabled]
    missing = {}
    for source in sources:
        try:
            await build_feed(settings, source, None).aclose()
        except SettingsError as error:
            missing[source.id] = str(error)
    if len(missing) == len(sources):
        reasons = "; ".join(f"{feed}: {reason}" for feed, reason in missing.items())
        raise SettingsError(
            f"no usable score feed ({reasons or 'all are disabled in FOOTY_FEEDS_FILE'}). "
            "Set FOOTY_FEED=espn, which needs no key, or set API_FOOTBALL_KEY."
        )


@asynccontextmanager
async def feed_permit(semaphore: LeaseSemaphore, source: FeedSource, wait_seconds: float) -> AsyncIterator[None]:
    """Hold a permit for one request to the feed. Feeds of one vendor share its limits. Raises FeedBusy."""
    limits = source.limits
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(
                semaphore.permit(
                    source.vendor or source.id,
                    limits.concurrent,
                    wait_seconds=wait_seconds,
                    holder=source.id,
                    rate=RateLimit(limits.interval_seconds, limits.burst),
                )
            )
        except PermitTimeout as error:
            raise FeedBusy(str(error)) from None
        yield


def build_feed(
    settings: Settings,
    source: FeedSource,
    semaphore: LeaseSemaphore | None,
    following: Callable[[], Following] | None = None,
) -> ScoreFeed:
    """`following` returns the current follow list. Raises SettingsError if a setting is missing."""
    options = source.metadata
    if following is None:
        fixed = following_of(settings.follow)
        following = lambda: fixed  # noqa: E731
    permit = unlimited if semaphore is None else partial(feed_permit, semaphore, source, settings.turn_seconds)
    retry = RetryRules(base_seconds=settings.retry_seconds)
    match source.adapter:
        case "api_football":
            if settings.api_football_key is None:
                raise SettingsError("API_FOOTBALL_KEY is not set")
            return ApiFootball(
                options.get("base_url", settings.api_football_url),
                settings.api_football_key.get_secret_value(),
                timeout=settings.feed_timeout_seconds,
                now=utc_now,
                retry=retry,
                permit=permit,
                name=source.id,
            )
        case "espn":
            return Espn(
                options.get("base_url", settings.espn_url),
                lambda: espn_leagues(options.get("leagues", ()), following()),
                timeout=settings.feed_timeout_seconds,
                now=utc_now,
                retry=retry,
                permit=permit,
                name=source.id,
                cricinfo_url=options.get("cricinfo_url"),
            )
        case "crex":
            return Crex(
                options.get("base_url", CREX_URL),
                settings.browser_url,
                browser_headers(settings) if settings.browser_url else None,
                timeout=settings.scrape_seconds,
                now=utc_now,
                retry=retry,
                permit=permit,
                name=source.id,
            )
        case "recording":
            return recording_feed(source.id, options, utc_now)
    raise SettingsError(f"{source.id}: unknown adapter {source.adapter!r}: expected one of {', '.join(ADAPTERS)}")


def polling_plan(settings: Settings) -> PollingPlan:
    return PollingPlan(
        live=timedelta(seconds=settings.poll_seconds),
        waiting=timedelta(seconds=settings.staging_poll_seconds),
        finished=timedelta(seconds=settings.completed_poll_seconds),
        archive=timedelta(hours=settings.archive_hours),
    )


async def feeds_declared(settings: Settings) -> Sequence[DeclaredFeed]:
    """Return the declared feeds, with the operator's switches if a cache is configured. Raises SettingsError."""
    if settings.redis_url is not None:
        async with open_feeds(settings) as feeds:
            return await feeds.registry.declared()
    declared = []
    for source in declared_feeds(settings)():
        try:
            await build_feed(settings, source, None).aclose()
            missing = ""
        except SettingsError as error:
            missing = str(error)
        declared.append(DeclaredFeed(source, source.enabled, None, missing if source.enabled else ""))
    return declared


# --- Declared feeds for pages, API and health.


class FeedDeclarations:
    """Declared feeds and their switches. The file is read on first use, so that an unreadable file breaks no page."""

    def __init__(self, settings: Settings, switches: FeedSwitches) -> None:
        self._settings, self._switches = settings, switches
        self._client: FeedRegistry | None = None

    async def declared(self) -> Sequence[FeedDeclaration]:
        if self._client is None:
            settings = self._settings
            # Building a feed reveals missing settings; no request is made.
            self._client = FeedRegistry(
                declared_feeds(settings), lambda source: build_feed(settings, source, None), self._switches
            )
        return [_declared(each) for each in await self._client.declared()]

    async def switch(self, feed: str, is_on: bool | None) -> FeedDeclaration:
        if not any(each.feed == feed for each in await self.declared()):
            raise NotFound(f"feed {feed!r} is not declared")
        await self._switches.switch(feed, is_on)
        return next(each for each in await self.declared() if each.feed == feed)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def _declared(each: DeclaredFeed) -> FeedDeclaration:
    source = each.source
    return FeedDeclaration(
        source.id, source.adapter, source.precedence, source.enabled, each.is_on, each.switched, each.missing
    )
