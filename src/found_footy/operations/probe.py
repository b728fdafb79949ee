"""Measures the system: the feeds for the watchdog, everything for the health report. Assesses nothing."""

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
from found_footy.feeds.poll_state import is_paused
from found_footy.operations.feed_health import (
    FeedMeasurement,
    count_unsaved,
    missing_answers,
    persisted_updates,
    unanswered_matches,
)
from found_footy.operations.models import (
    NO_USABLE_FEED,
    AnswersCounted,
    BrowserSeen,
    CacheFacts,
    Disk,
    EngineStatus,
    FeedDeclaration,
    HealthGrade,
    HealthKnown,
    HealthSample,
    HealthSpan,
    MatchUpdate,
    Measurement,
    MemoryUse,
    TemporalState,
    Volume,
)
from found_footy.storage.objects.backend import ObjectStore
from found_footy.text import clean_text, shorten

if TYPE_CHECKING:
    from found_footy.browser.client import BrowserClient
    from found_footy.feeds.cache import FeedCache
    from found_footy.feeds.registry import FeedDeclarations
    from found_footy.operations.store import HealthCache, OperationsStore
    from found_footy.operations.temporal_status import TemporalStatus
    from found_footy.storage.redis import RedisCache

log = logging.getLogger(__name__)

Found = TypeVar("Found")

CACHED_SECONDS = 2.0
"""How long a measurement is cached."""
ENGINE_TIMEOUT = 2.0
CACHE_TIMEOUT = 5.0
"""Timeout of the watchdog, which prefers the cache to the database."""
ANY_KEY = "health"
"""Key of the availability check; the object need not exist."""
MAX_RECOVERIES = 20
HISTORY = timedelta(hours=6)
SPAN = timedelta(minutes=3)
HISTORY_SECONDS = 15.0
"""How long the history is cached in memory."""


class LiveUpdates(Protocol):
    """The outbox reader of the web process, implemented by `Hub`. Other processes have none."""

    @property
    def position(self) -> int | None: ...

    @property
    def clients(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CacheReader:
    """Reads feed data and health from the cache. Raises CacheUnavailable."""

    redis: RedisCache
    feeds: FeedCache
    health: HealthCache

    async def facts(self) -> CacheFacts:
        used, limit = await self.redis.check_writable()  # a full cache is readable but stops all polling
        feeds = self.feeds
        (records, queues, updates, intervals, paces), (totals, recent, summary) = await asyncio.gather(
            asyncio.gather(
                feeds.records.all(),
                feeds.records.queues(),
                feeds.freshness.times(),
                feeds.freshness.intervals(),
                feeds.paces.all(),
            ),
            asyncio.gather(feeds.counters.totals(), feeds.counters.recent(), self.health.summary()),
        )
        answers = {
            feed: AnswersCounted(
                each.ok, each.failed, each.navigation_failures, each.seconds, dict(sorted(each.buckets.items()))
            )
            for feed, each in sorted(totals.items())
        }
        memory = MemoryUse(used, limit)
        return CacheFacts(tuple(records), queues, updates, intervals, paces, answers, recent, summary, memory)


class SystemProbe:
    """Connects on the first measurement. Parts that are None are not configured."""

    def __init__(
        self,
        store: OperationsStore,
        *,
        cache: CacheReader | None = None,
        declared: FeedDeclarations | None = None,
        browser: BrowserClient | None = None,
        temporal: TemporalStatus | None = None,
        objects: ObjectStore | None = None,
        live: LiveUpdates | None = None,
        disk: Callable[[], Disk | None] = lambda: None,
        volumes: Callable[[], tuple[Volume, ...]] = tuple,
        save_lag: timedelta = timedelta(seconds=80),
        cached_seconds: float = CACHED_SECONDS,
    ) -> None:
        self._store, self._cache, self._declared_feeds, self._browser = store, cache, declared, browser
        self._temporal, self._objects, self._live, self._disk = temporal, objects, live, disk
        self._save_lag, self._volumes = save_lag, volumes
        self._cached_seconds = cached_seconds
        self._measuring: asyncio.Task[Measurement] | None = None
        self._fresh_until = 0.0
        self._checking_objects: asyncio.Task[object] | None = None
        self._spans: tuple[HealthSpan, ...] = ()
        self._spans_until = 0.0

    # --- Whole system.

    async def measure(self, now: datetime) -> Measurement:
        """Measure the system, or return a recent measurement. Never raises: outages are part of the result."""
        loop = asyncio.get_running_loop()
        current = self._measuring
        if current is None or (current.done() and loop.time() >= self._fresh_until):
            current = self._measuring = asyncio.create_task(self._measure(now), name="measuring")
        return await asyncio.shield(current)

    async def readiness(self) -> list[str]:
        """Return the problems that prevent this process from serving requests."""
        problems = []
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                missing = await self._store.missing_migrations()
                if missing:
                    problems.append(f"the database schema is missing {', '.join(missing)}")
        except (StoreUnavailable, TimeoutError):
            problems.append("the database does not respond")
        if self._live is not None and self._live.position is None:
            problems.append("live updates have not started")
        return problems

    async def _measure(self, now: datetime) -> Measurement:
        stored, cached_facts, (temporal, temporal_status), objects, declared, browser_facts = await asyncio.gather(
            asyncio.gather(
                _probe("database", StoreUnavailable, self._store.facts(now)),
                _probe("database", StoreUnavailable, self._health_history(now)),
            ),
            _probe("cache", CacheUnavailable, self._cache.facts() if self._cache else None),
            self._temporal_state(now),
            self._objects_state(),
            self._declared(),
            _probe("browser", SourceError, self._browser.facts() if self._browser else None),
        )
        ((recorded, database), (health, _)), (cached, cache), (facts, browser) = stored, cached_facts, browser_facts
        disk, volumes = await asyncio.to_thread(lambda: (self._disk(), self._volumes()))
        self._fresh_until = asyncio.get_running_loop().time() + self._cached_seconds
        return Measurement(
            at=now,
            engines=(database, cache, temporal_status, objects, *(() if browser.state == "off" else (browser,))),
            recorded=recorded,
            temporal=temporal,
            disk=disk,
            volumes=volumes,
            outbox_read=self._live.position if self._live else None,
            listeners=self._live.clients if self._live else 0,
            health=health,
            cached=cached,
            declared=declared,
            browser=None if facts is None else browser_seen(facts),
        )

    async def _health_history(self, now: datetime) -> HealthKnown:
        summary = await self._store.summary()
        recoveries = await self._store.recoveries(MAX_RECOVERIES)
        loop = asyncio.get_running_loop()
        if loop.time() >= self._spans_until:
            self._spans = spans(await self._store.samples(now - HISTORY))
            self._spans_until = loop.time() + HISTORY_SECONDS
        return HealthKnown(summary, self._spans, tuple(recoveries))

    async def _declared(self) -> tuple[FeedDeclaration, ...] | None:
        if self._declared_feeds is None:
            return None
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                return tuple(await self._declared_feeds.declared())
        except SettingsError as error:
            log.warning(str(error), extra={"action": "feeds_file_invalid"})
        except TimeoutError:
            log.warning("could not read the feed switches in time", extra={"action": "switches_unavailable"})
        return None

    async def _temporal_state(self, now: datetime) -> tuple[TemporalState | None, EngineStatus]:
        if self._temporal is None:
            return None, EngineStatus("temporal", "off", "not configured")
        try:
            return await self._temporal.read(now), EngineStatus("temporal", "ok")
        except EngineError as error:
            return None, _unavailable("temporal", error)

    async def _objects_state(self) -> EngineStatus:
        """Check the object store. A hanging store is probed by a single task across calls."""
        if self._objects is None:
            return EngineStatus("object store", "off", "not configured")
        if self._checking_objects is None:
            self._checking_objects = asyncio.create_task(self._objects.head(ANY_KEY), name="check of the object store")
        done, _ = await asyncio.wait({self._checking_objects}, timeout=ENGINE_TIMEOUT)
        if not done:
            return _timed_out("object store")
        checked, self._checking_objects = self._checking_objects, None
        try:
            checked.result()
        except ObjectStoreError as error:
            return _unavailable("object store", error)
        return EngineStatus("object store", "ok")

    # --- Feeds only, from the database, the cache and the declared feeds.

    async def measure_feeds(self, now: datetime) -> FeedMeasurement:
        """Raises StoreUnavailable, because only the database knows which matches are followed."""
        matches = await self._store.active_matches()
        uses = await self._store.feed_uses()
        declared = await self._declared()
        usable = None if declared is None else {each.feed for each in declared if each.usable}
        used = [use for use in uses if usable is None or use.feed in usable]
        no_answer = ""
        if usable is not None:
            if not usable:
                no_answer = NO_USABLE_FEED
            elif used:
                no_answer = missing_answers(used, now, following=bool(matches))
        saved = {match.fixture_id: match.saved_at for match in matches}
        answered = max((use.answered_at for use in used if use.answered_at), default=None)
        try:
            async with asyncio.timeout(CACHE_TIMEOUT):
                if self._cache is None:
                    raise CacheUnavailable("no cache is configured")
                facts = await self._cache.facts()
        except (CacheUnavailable, TimeoutError) as error:
            reason = str(error) or f"no response within {CACHE_TIMEOUT:g} s"
            note = f"the cache does not respond, so ages are based on the database ({shorten(reason, 200)})"
            return FeedMeasurement(
                saved,
                max([*saved.values(), *([answered] if answered else [])], default=None),
                no_answer=no_answer,
                unanswered=_unlisted(matches, usable),
                notes=(note,),
            )
        waiting = total(facts.queues.values())
        updated = [each.updated_at for each in facts.records if each.updated_at]
        return FeedMeasurement(
            updates=persisted_updates(facts.last_updates, saved, self._save_lag),
            unsaved=count_unsaved(facts.last_updates, saved, self._save_lag),
            last_success=max([*updated, *([answered] if answered else [])], default=None),
            queue={name: number for name, number in waiting.items() if name != "active"},
            active=waiting.get("active", 0),
            ok=sum(ok for ok, _ in facts.recent.values()),
            failed=sum(failed for _, failed in facts.recent.values()),
            paused=tuple(sorted(each.match_id for each in facts.records if is_paused(each, now))),
            intervals=facts.intervals,
            unanswered=unanswered_matches({each.fixture_id: each.listings for each in matches}, facts.records, usable),
            no_answer=no_answer,
        )


def _unlisted(matches: Sequence[MatchUpdate], usable: set[str] | None) -> frozenset[int]:
    return unanswered_matches({match.fixture_id: match.listings for match in matches}, (), usable)


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    summed = dict.fromkeys(("live", "imminent", "completed"), 0)
    for part in parts:
        for name, number in part.items():
            summed[name] = summed.get(name, 0) + number
    return summed


# --- History of the watchdog's checks.


GRADES_BY_SEVERITY = (HealthGrade.HEALTHY, HealthGrade.RECOVERING, HealthGrade.DEGRADED, HealthGrade.FAILING)


def spans(samples: Iterable[HealthSample], length: timedelta = SPAN) -> tuple[HealthSpan, ...]:
    """Group the samples for a chart of hours, with the worst value of each group."""
    seconds = length.total_seconds()
    ordered = sorted(samples, key=lambda sample: sample.at)
    grouped = groupby(ordered, key=lambda sample: sample.at.timestamp() // seconds)
    return tuple(_span(list(group)) for _, group in grouped)


def _span(samples: Sequence[HealthSample]) -> HealthSpan:
    return HealthSpan(
        at=samples[0].at,
        grade=max((sample.grade for sample in samples), key=GRADES_BY_SEVERITY.index),
        median=max(sample.median for sample in samples),
        p95=max(sample.p95 for sample in samples),
        maximum=max(sample.maximum for sample in samples),
    )


# --- Engines.


def browser_seen(facts: Mapping[str, Any]) -> BrowserSeen:
    """Parse the service's facts; missing values and non-numbers become 0."""
    recycles = facts.get("recycles_total", {})
    canary = facts.get("canary")
    canary = canary if isinstance(canary, Mapping) else {}
    return BrowserSeen(
        processes=int(_number(facts.get("processes"))),
        contexts=int(_number(facts.get("contexts"))),
        pages=int(_number(facts.get("pages"))),
        uptime_seconds=_number(facts.get("uptime_seconds")),
        recycles={str(reason)[:40]: int(_number(number)) for reason, number in sorted(recycles.items())[:20]}
        if isinstance(recycles, Mapping)
        else {},
        canary_error=clean_text(str(canary.get("class") or ""), 40),
        canary_message=clean_text(str(canary.get("message") or ""), 300),
        canary_since=_moment(canary.get("since")),
    )


def _moment(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else None


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0.0


async def _probe(
    name: str, refusal: type[FootyError], answer: Awaitable[Found] | None
) -> tuple[Found | None, EngineStatus]:
    """Return an engine's result within the time limit, and its status."""
    if answer is None:
        return None, EngineStatus(name, "off", "not configured")
    try:
        async with asyncio.timeout(ENGINE_TIMEOUT):
            return await answer, EngineStatus(name, "ok")
    except refusal as error:
        return None, _unavailable(name, error)
    except TimeoutError:
        return None, _timed_out(name)


def _unavailable(name: str, error: FootyError) -> EngineStatus:
    return EngineStatus(name, "failed", error.kind, shorten(str(error)))


def _timed_out(name: str) -> EngineStatus:
    return EngineStatus(name, "failed", f"no response within {ENGINE_TIMEOUT:g} s")
