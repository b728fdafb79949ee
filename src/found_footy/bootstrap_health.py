"""Composition of what watches over the feeds' health, for the watchdog, the pages and the commands.

The watchdog runs for good beside everything else, so it loads no more than it needs: no feed, no decoder, no model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from found_footy.adapters.browser_control import HttpBrowserControl
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.health import PostgresHealth
from found_footy.adapters.storage.postgres.leadership import Leadership
from found_footy.adapters.storage.redis import (
    RedisCache,
    RedisFeedCounters,
    RedisFreshness,
    RedisHealthCache,
    RedisMonitorRecords,
)
from found_footy.adapters.temporal_poller import TemporalPoller
from found_footy.bootstrap_temporal import connect_temporal
from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.domain.feeds.health import HealthRules
from found_footy.ops.engines.local_workers import LocalWorkers
from found_footy.ports_feeds import FeedCounters, Freshness, MonitorRecords
from found_footy.ports_health import HealthCache, HealthStore
from found_footy.recovering import Recovering
from found_footy.workflows.feed import FeedWorkflow
from found_footy.workflows.monitor import MonitorWorkflow

MONITOR_SCHEDULE = "monitor-every-30s"


@dataclass(frozen=True, slots=True)
class Health:
    store: PostgresHealth
    cache: HealthCache
    freshness: Freshness
    records: MonitorRecords
    counters: FeedCounters
    recovering: Recovering
    leading: Leadership
    browser: HttpBrowserControl | None


@asynccontextmanager
async def open_health(settings: Settings) -> AsyncIterator[Health]:
    """Nothing is connected before it is needed: the watchdog starts also where something is away."""
    if settings.database_url is None or settings.redis_url is None:
        raise EngineError("no database or no cache is known; start `footy up`, or set DATABASE_URL and REDIS_URL")
    url = settings.database_url.get_secret_value()
    async with AsyncExitStack() as stack:
        cache = RedisCache(settings.redis_url.get_secret_value())
        stack.push_async_callback(cache.aclose)
        database = Database(url, max_size=4)
        await database.open()
        stack.push_async_callback(database.close)
        leading = Leadership(url)
        stack.push_async_callback(leading.release)
        store, copies = PostgresHealth(database), build_health_cache(settings, cache)
        records = RedisMonitorRecords(cache)
        yield Health(
            store=store,
            cache=copies,
            freshness=RedisFreshness(cache),
            records=records,
            counters=RedisFeedCounters(cache),
            recovering=await build_recovering(settings, store, copies, records),
            leading=leading,
            browser=build_browser_control(settings),
        )


async def build_recovering(
    settings: Settings, store: HealthStore, cache: HealthCache, records: MonitorRecords
) -> Recovering:
    poller = None
    if settings.temporal_address is not None:
        polls = [MonitorWorkflow.__name__, FeedWorkflow.__name__]
        client = await connect_temporal(settings, lazy=True)
        poller = TemporalPoller(client, settings.task_queue, polls, MONITOR_SCHEDULE)
    return Recovering(
        store,
        cache,
        _now,
        browser=build_browser_control(settings),
        workers=LocalWorkers(settings.data_dir),
        poller=poller,
        records=records,
    )


def build_health_cache(settings: Settings, cache: RedisCache) -> RedisHealthCache:
    return RedisHealthCache(cache, every=timedelta(seconds=settings.health_seconds))


def build_browser_control(settings: Settings) -> HttpBrowserControl | None:
    return HttpBrowserControl(settings.browser_url) if settings.browser_url else None


def health_rules(settings: Settings) -> HealthRules:
    return HealthRules(
        fresh=settings.fresh_seconds,
        failing=settings.failing_seconds,
        stall=settings.stall_seconds,
        recovery=settings.recovery_seconds,
        recovery_pause=settings.recovery_pause_seconds,
        gap=max(HealthRules().gap, 4 * settings.health_seconds),
    )


def saving_lag(settings: Settings) -> timedelta:
    """Two polls: what comes too late for one of them counts at the next."""
    return timedelta(seconds=2 * settings.poll_seconds + settings.feed_patience_seconds)


def _now() -> datetime:
    return datetime.now(UTC)
