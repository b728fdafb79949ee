"""Measures the feeds for the watchdog, and the whole system for the health report."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from found_footy.errors import (
    CacheUnavailable,
    EngineError,
    FootyError,
    ObjectStoreError,
    SettingsError,
    SourceError,
    StoreUnavailable,
)
from found_footy.operations.feed_health import FeedMeasurement, arrived, is_paused, unsaved
from found_footy.operations.models import (
    AnswersCounted,
    BrowserSeen,
    CacheFacts,
    Disk,
    EngineStatus,
    FeedDeclaration,
    HealthGrade,
    HealthKnown,
    HealthSpan,
    Measurement,
    TemporalState,
)
from found_footy.operations.ports import BrowserControl, HealthCache, HealthSample, HealthStore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.web.ports import (
    BrowserReading,
    CacheReading,
    FeedBook,
    HealthReading,
    OperationsReading,
    TemporalReading,
)

CACHE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FeedMeasurer:
    store: HealthStore
    freshness: FreshnessIndex
    records: MonitoringRecords
    counters: FeedCounters
    lag: timedelta
    """Maximum time between a response and its save."""

    async def measured(self, now: datetime) -> FeedMeasurement:
        """Measure the feeds. Raises StoreUnavailable, because only the database knows which matches are followed."""
        active = await self.store.active()
        try:
            async with asyncio.timeout(CACHE_SECONDS):
                return await self._with_cache(active, now)
        except CacheUnavailable as error:
            return _by_database(active, str(error))
        except TimeoutError:
            return _by_database(active, f"no answer within {CACHE_SECONDS:g} s")

    async def _with_cache(self, active: Mapping[int, datetime], now: datetime) -> FeedMeasurement:
        heard, records, recent, queues = await asyncio.gather(
            self.freshness.times(), self.records.all(), self.counters.recent(), self.records.queues()
        )
        waiting = total(queues.values())
        return FeedMeasurement(
            heard=arrived(heard, active, self.lag),
            unsaved=unsaved(heard, active, self.lag),
            last_success=max((each.updated_at for each in records if each.updated_at), default=None),
            queue={name: number for name, number in waiting.items() if name != "active"},
            active=waiting.get("active", 0),
            ok=sum(ok for ok, _ in recent.values()),
            failed=sum(failed for _, failed in recent.values()),
            paused=tuple(sorted(each.match_id for each in records if is_paused(each, now))),
        )


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    summed = dict.fromkeys(("live", "imminent", "completed"), 0)
    for part in parts:
        for name, number in part.items():
            summed[name] = summed.get(name, 0) + number
    return summed


def _by_database(active: Mapping[int, datetime], said: str) -> FeedMeasurement:
    note = f"the cache does not answer, so the ages are those of the database ({said[:200]})"
    return FeedMeasurement(heard=active, last_success=max(active.values(), default=None), notes=(note,))


# --- Score feeds: cache, watchdog's records, browser service.


MOST_RECORDS = 5000
MOST_RECOVERIES = 20
HISTORY = timedelta(hours=6)
SPAN = timedelta(minutes=3)
SAMPLES_SECONDS = 15.0
"""Cache lifetime of the history, which covers hours and need not be read each time."""
WORST = (HealthGrade.HEALTHY, HealthGrade.RECOVERING, HealthGrade.DEGRADED, HealthGrade.FAILING)


class CacheProbe:
    def __init__(
        self,
        records: MonitoringRecords,
        freshness: FreshnessIndex,
        counters: FeedCounters,
        health: HealthCache,
        check_writable: Callable[[], Awaitable[None]],
    ) -> None:
        self._records, self._freshness, self._counters, self._health = records, freshness, counters, health
        self._check_writable = check_writable

    async def look(self) -> CacheFacts:
        await self._check_writable()  # a full cache is readable but stops all polling
        records, queues, heard, totals, recent, summary = await asyncio.gather(
            self._records.all(),
            self._records.queues(),
            self._freshness.times(),
            self._counters.totals(),
            self._counters.recent(),
            self._health.summary(),
        )
        answers = {
            feed: AnswersCounted(
                each.ok, each.failed, each.navigation_failures, each.seconds, dict(sorted(each.buckets.items()))
            )
            for feed, each in sorted(totals.items())
        }
        return CacheFacts(tuple(records[:MOST_RECORDS]), queues, heard, answers, recent, summary)


class HealthProbe:
    def __init__(self, store: HealthStore) -> None:
        self._store = store
        self._spans: tuple[HealthSpan, ...] = ()
        self._spans_until = 0.0

    async def known(self, now: datetime) -> HealthKnown:
        summary = await self._store.summary()
        recoveries = await self._store.recoveries(MOST_RECOVERIES)
        loop = asyncio.get_running_loop()
        if loop.time() >= self._spans_until:
            self._spans = spans(await self._store.samples(now - HISTORY))
            self._spans_until = loop.time() + SAMPLES_SECONDS
        return HealthKnown(summary, self._spans, tuple(recoveries))


def spans(samples: Iterable[HealthSample], length: timedelta = SPAN) -> tuple[HealthSpan, ...]:
    """Group the samples so that a chart of hours can show them, keeping the worst value of each group."""
    seconds = length.total_seconds()
    ordered = sorted(samples, key=lambda sample: sample.at)
    grouped = groupby(ordered, key=lambda sample: sample.at.timestamp() // seconds)
    return tuple(_span(list(group)) for _, group in grouped)


def _span(samples: Sequence[HealthSample]) -> HealthSpan:
    return HealthSpan(
        at=samples[0].at,
        grade=max((sample.grade for sample in samples), key=WORST.index),
        median=max(sample.median for sample in samples),
        p95=max(sample.p95 for sample in samples),
        maximum=max(sample.maximum for sample in samples),
    )


class BrowserProbe:
    def __init__(self, control: BrowserControl) -> None:
        self._control = control

    async def seen(self) -> BrowserSeen:
        return browser_seen(await self._control.facts())


def browser_seen(facts: Mapping[str, Any]) -> BrowserSeen:
    """Parse the service's facts; missing values and non-numbers become 0."""
    recycles = facts.get("recycles_total", {})
    return BrowserSeen(
        processes=int(_number(facts.get("processes"))),
        contexts=int(_number(facts.get("contexts"))),
        pages=int(_number(facts.get("pages"))),
        uptime_seconds=_number(facts.get("uptime_seconds")),
        recycles={str(reason)[:40]: int(_number(number)) for reason, number in sorted(recycles.items())[:20]}
        if isinstance(recycles, Mapping)
        else {},
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0.0


# --- Whole system, measured once for all concurrent readers.


if TYPE_CHECKING:
    from found_footy.feeds.cache import FeedCounters, FreshnessIndex, MonitoringRecords

log = logging.getLogger(__name__)

Found = TypeVar("Found")

FRESH_SECONDS = 2.0
ANSWER_SECONDS = 2.0
ANY_KEY = "health"
"""Key of the availability check; the object need not exist."""


class LiveUpdates(Protocol):
    """The web process's reader of the outbox."""

    @property
    def position(self) -> int | None: ...

    @property
    def clients(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FeedProbe:
    """Readers of the score feeds; None if not configured."""

    health: HealthReading | None = None
    cache: CacheReading | None = None
    book: FeedBook | None = None
    browser: BrowserReading | None = None


class SystemProbe:
    """Measures the whole system. Nothing is connected before the first measurement."""

    def __init__(
        self,
        operations: OperationsReading,
        temporal: TemporalReading | None,
        files: ObjectStore,
        live: LiveUpdates | None = None,
        *,
        feeds: FeedProbe = FeedProbe(),  # noqa: B008 - it is frozen
        disk: Callable[[], Disk | None] = lambda: None,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._operations, self._temporal, self._files, self._live = operations, temporal, files, live
        self._feeds = feeds
        self._disk = disk
        self._fresh_seconds = fresh_seconds
        self._measuring: asyncio.Task[Measurement] | None = None
        self._fresh_until = 0.0
        self._asking_files: asyncio.Task[object] | None = None

    async def measure(self, now: datetime) -> Measurement:
        """Measure the system, or return a recent measurement. Never fails: outages are part of the result."""
        loop = asyncio.get_running_loop()
        current = self._measuring
        if current is None or (current.done() and loop.time() >= self._fresh_until):
            current = self._measuring = asyncio.create_task(self._measure(now), name="measuring")
        return await asyncio.shield(current)

    async def readiness(self) -> list[str]:
        """Return what keeps this process from serving requests; empty if nothing does."""
        problems = []
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                lacking = await self._operations.lacking()
                if lacking:
                    problems.append(f"the database schema is missing {', '.join(lacking)}")
        except (StoreUnavailable, TimeoutError):
            problems.append("the database does not answer")
        if self._live is not None and self._live.position is None:
            problems.append("live updates have not started")
        return problems

    async def _measure(self, now: datetime) -> Measurement:
        (recorded, database), (temporal, engine), files, feeds = await asyncio.gather(
            _probe_engine("database", StoreUnavailable, lambda: self._operations.recorded(now)),
            self._temporal_state(now),
            self._files_state(),
            self._feeds_seen(now),
        )
        (health, _), (cached, cache), (browser, service), declared = feeds
        disk = await asyncio.to_thread(self._disk)
        self._fresh_until = asyncio.get_running_loop().time() + self._fresh_seconds
        return Measurement(
            at=now,
            engines=(database, cache, engine, files, *(() if service.state == "off" else (service,))),
            recorded=recorded,
            temporal=temporal,
            disk=disk,
            news_read=self._live.position if self._live else None,
            listeners=self._live.clients if self._live else 0,
            health=health,
            cached=cached,
            declared=declared,
            browser=browser,
        )

    async def _feeds_seen(
        self, now: datetime
    ) -> tuple[
        tuple[HealthKnown | None, EngineStatus],
        tuple[CacheFacts | None, EngineStatus],
        tuple[BrowserSeen | None, EngineStatus],
        tuple[FeedDeclaration, ...] | None,
    ]:
        looks = self._feeds
        return await asyncio.gather(
            _probe_engine("database", StoreUnavailable, lambda: looks.health.known(now) if looks.health else None),
            _probe_engine("cache", CacheUnavailable, lambda: looks.cache.look() if looks.cache else None),
            _probe_engine("browser", SourceError, lambda: looks.browser.seen() if looks.browser else None),
            self._declared(),
        )

    async def _declared(self) -> tuple[FeedDeclaration, ...] | None:
        if self._feeds.book is None:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return tuple(await self._feeds.book.declared())
        except SettingsError as error:
            log.warning(str(error), extra={"action": "feeds_file_invalid"})
        except TimeoutError:
            log.warning("the switches of the feeds were not read in time", extra={"action": "switches_unavailable"})
        return None

    async def _temporal_state(self, now: datetime) -> tuple[TemporalState | None, EngineStatus]:
        if self._temporal is None:
            return None, EngineStatus("temporal", "off", "not configured")
        try:
            return await self._temporal.look(now), EngineStatus("temporal", "ok")
        except EngineError as error:
            return None, _unavailable("temporal", error)

    async def _files_state(self) -> EngineStatus:
        """Check the object store. A hanging one is probed by a single task, however often this is called."""
        if self._asking_files is None:
            self._asking_files = asyncio.create_task(self._files.head(ANY_KEY), name="asking the object store")
        done, _ = await asyncio.wait({self._asking_files}, timeout=ANSWER_SECONDS)
        if not done:
            return _timed_out("object store")
        asked, self._asking_files = self._asking_files, None
        try:
            asked.result()
        except ObjectStoreError as error:
            return _unavailable("object store", error)
        return EngineStatus("object store", "ok")


async def _probe_engine(
    name: str, refusal: type[FootyError], ask: Callable[[], Awaitable[Found] | None]
) -> tuple[Found | None, EngineStatus]:
    """Return an engine's result within the time limit, and its status."""
    asked = ask()
    if asked is None:
        return None, EngineStatus(name, "off", "not configured")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await asked, EngineStatus(name, "ok")
    except refusal as error:
        return None, _unavailable(name, error)
    except TimeoutError:
        return None, _timed_out(name)


def _unavailable(name: str, error: FootyError) -> EngineStatus:
    return EngineStatus(name, "failed", error.kind, str(error)[:300])


def _timed_out(name: str) -> EngineStatus:
    return EngineStatus(name, "failed", f"no answer within {ANSWER_SECONDS:g} s")
