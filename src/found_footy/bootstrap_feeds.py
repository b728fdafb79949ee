"""The score feeds: which are declared, how each is built, and what is remembered of asking them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from found_footy.activities.feed_asking import AskingRules
from found_footy.adapters.feeds.api_football import ApiFootball
from found_footy.adapters.feeds.crex import Crex
from found_footy.adapters.feeds.espn import Espn
from found_footy.adapters.feeds.http import at_once
from found_footy.adapters.feeds.recording import recording_feed
from found_footy.adapters.feeds.sources import load_sources
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.counters import RedisFeedCounters
from found_footy.adapters.storage.redis.freshness import RedisFreshness
from found_footy.adapters.storage.redis.missing import RedisMissingMatches
from found_footy.adapters.storage.redis.records import RedisMonitorRecords
from found_footy.adapters.storage.redis.snapshots import RedisSnapshots
from found_footy.adapters.storage.redis.switches import RedisSwitches
from found_footy.adapters.storage.redis.turns import RedisTurns
from found_footy.config import Settings
from found_footy.domain.errors import EngineError, SettingsError
from found_footy.domain.feeds.lives import LifeRules
from found_footy.domain.feeds.quota_estimate import PollingPlan
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.feeds.scheduling import SchedulingRules
from found_footy.domain.feeds.source import FeedSource, origin_of
from found_footy.domain.fixtures.following import Following, following_of
from found_footy.feed_registry import FeedRegistry
from found_footy.follow_book import REFRESH_SECONDS, FollowBook
from found_footy.ports import ScoreFeed
from found_footy.ports_feeds import FeedMemory, Turns

SOURCES = (
    FeedSource("api_football", "api_football", precedence=100),
    FeedSource("espn", "espn", precedence=80),
)
"""Where no file declares any: whichever of these has what it needs."""
ADAPTERS = ("api_football", "espn", "crex", "recording")
CREX_URL = "https://crex.com"


@dataclass(frozen=True, slots=True)
class Feeds:
    registry: FeedRegistry
    memory: FeedMemory
    cache: RedisCache


@asynccontextmanager
async def open_feeds(settings: Settings, follows: FollowBook | None = None) -> AsyncIterator[Feeds]:
    """Without `follows` the follow list is that of the settings, whatever was changed at run time."""

    async def refresh() -> None:
        if follows is not None:
            await follows.refresh(REFRESH_SECONDS)

    following = None if follows is None else lambda: follows.current
    async with open_cache(settings) as cache:
        turns = RedisTurns(cache, patience=settings.turn_seconds)
        registry = FeedRegistry(
            declared_feeds(settings),
            lambda source: build_feed(settings, source, turns, following),
            RedisSwitches(cache),
            refresh,
        )
        try:
            yield Feeds(registry, feed_memory(cache), cache)
        finally:
            await registry.aclose()


@asynccontextmanager
async def open_cache(settings: Settings) -> AsyncIterator[RedisCache]:
    if settings.redis_url is None:
        raise EngineError("no cache is known; start `footy up`, or set REDIS_URL")
    cache = RedisCache(settings.redis_url.get_secret_value())
    try:
        yield cache
    finally:
        await cache.aclose()


def feed_memory(cache: RedisCache) -> FeedMemory:
    return FeedMemory(
        snapshots=RedisSnapshots(cache),
        records=RedisMonitorRecords(cache),
        freshness=RedisFreshness(cache),
        counters=RedisFeedCounters(cache),
        missing=RedisMissingMatches(cache),
    )


def declared_feeds(settings: Settings) -> Callable[[], tuple[FeedSource, ...]]:
    """What is declared at the moment; the file is read again when it has changed. Raises SettingsError."""
    if settings.feed is not None:
        only = _with_origins(settings, [FeedSource(settings.feed, settings.feed, precedence=100)])
        return lambda: only
    path = settings.feeds_file
    if not path.exists() and "feeds_file" not in settings.model_fields_set:
        default = _with_origins(settings, SOURCES)
        return lambda: default
    read: tuple[tuple[int, int], tuple[FeedSource, ...]] | None = None

    def declared() -> tuple[FeedSource, ...]:
        nonlocal read
        try:
            found = path.stat()
        except OSError as error:
            raise SettingsError(f"FOOTY_FEEDS_FILE: {path} cannot be read: {error.strerror}") from error
        stamp = (found.st_mtime_ns, found.st_size)
        if read is None or read[0] != stamp:
            read = (stamp, _with_origins(settings, load_sources(path)))
        return read[1]

    return declared


def _with_origins(settings: Settings, sources: Sequence[FeedSource]) -> tuple[FeedSource, ...]:
    """By the address that is asked in the end, also where the file leaves it to the settings."""
    urls = {"api_football": str(settings.api_football_url), "espn": str(settings.espn_url), "crex": CREX_URL}
    asked = {each.id: each.metadata.get("base_url") or urls.get(each.adapter) for each in sources}
    return tuple(
        replace(_with_leagues(settings, each), origin=origin_of(each.id, each.adapter, asked[each.id]))
        for each in sources
    )


def _with_leagues(settings: Settings, source: FeedSource) -> FeedSource:
    """FOOTY_ESPN_LEAGUES stands for the leagues of an ESPN feed that declares none."""
    if source.adapter != "espn" or not settings.espn_leagues or source.metadata.get("leagues"):
        return source
    return replace(source, metadata={**source.metadata, "leagues": list(settings.espn_leagues)})


def espn_leagues(declared: Sequence[str], following: Following) -> tuple[str, ...]:
    """Football leagues as declared, else those of the follow list; cricket leagues of both."""
    listed = following.espn_leagues()
    football = [league for league in declared if not league.startswith("cricket/")]
    cricket = [league for league in (*declared, *listed) if league.startswith("cricket/")]
    football = football or [league for league in listed if not league.startswith("cricket/")]
    return tuple(dict.fromkeys([*football, *cricket]))


async def check_feeds(settings: Settings) -> None:
    """Before anything is started: at least one feed must have what it needs."""
    sources = [source for source in declared_feeds(settings)() if source.enabled]
    lacking = {}
    for source in sources:
        try:
            await build_feed(settings, source, None).aclose()
        except SettingsError as error:
            lacking[source.id] = str(error)
    if len(lacking) == len(sources):
        reasons = "; ".join(f"{feed}: {reason}" for feed, reason in lacking.items())
        raise SettingsError(
            f"no score feed can be used ({reasons or 'all are switched off in FOOTY_FEEDS_FILE'}). "
            "Set FOOTY_FEED=espn, which needs no key, or set API_FOOTBALL_KEY."
        )


def build_feed(
    settings: Settings,
    source: FeedSource,
    turns: Turns | None,
    following: Callable[[], Following] | None = None,
) -> ScoreFeed:
    """`following` is the follow list at the moment. Raises SettingsError where something is missing."""
    said = source.metadata
    if following is None:
        fixed = following_of(settings.follow)
        following = lambda: fixed  # noqa: E731
    turn = partial(turns.turn, source.id, source.limits, source.origin) if turns is not None else at_once
    retry = RetryRules(base_seconds=settings.retry_seconds)
    match source.adapter:
        case "api_football":
            if settings.api_football_key is None:
                raise SettingsError("API_FOOTBALL_KEY is not set")
            return ApiFootball(
                said.get("base_url", settings.api_football_url),
                settings.api_football_key.get_secret_value(),
                timeout=settings.feed_timeout_seconds,
                now=_now,
                retry=retry,
                turn=turn,
                name=source.id,
            )
        case "espn":
            return Espn(
                said.get("base_url", settings.espn_url),
                lambda: espn_leagues(said.get("leagues", ()), following()),
                timeout=settings.feed_timeout_seconds,
                now=_now,
                retry=retry,
                turn=turn,
                name=source.id,
                cricinfo_url=said.get("cricinfo_url"),
            )
        case "crex":
            return Crex(
                said.get("base_url", CREX_URL),
                settings.browser_url,
                timeout=settings.scrape_seconds,
                now=_now,
                retry=retry,
                turn=turn,
                name=source.id,
            )
        case "recording":
            return recording_feed(source.id, said, _now)
    raise SettingsError(f"{source.id}: given the adapter {source.adapter!r}; allowed are {', '.join(ADAPTERS)}")


def polling_plan(settings: Settings) -> PollingPlan:
    return PollingPlan(
        live=timedelta(seconds=settings.poll_seconds),
        waiting=timedelta(seconds=settings.staging_poll_seconds),
        finished=timedelta(seconds=settings.completed_poll_seconds),
        archive=timedelta(hours=settings.archive_hours),
    )


def asking_rules(settings: Settings) -> AskingRules:
    archive = timedelta(hours=settings.archive_hours)
    return AskingRules(
        poll=timedelta(seconds=settings.poll_seconds),
        patience=timedelta(seconds=settings.feed_patience_seconds),
        scheduling=SchedulingRules(
            staging_poll=timedelta(seconds=settings.staging_poll_seconds),
            completed_poll=timedelta(seconds=settings.completed_poll_seconds),
            archive=archive,
        ),
        lives=LifeRules(settings.pause_failures, timedelta(seconds=settings.pause_seconds), archive),
    )


def _now() -> datetime:
    return datetime.now(UTC)
