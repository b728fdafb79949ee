"""The running system, measured once for everybody who looks at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from found_footy.domain.errors import (
    CacheUnavailable,
    EngineError,
    FootyError,
    ObjectStoreError,
    SettingsError,
    SourceError,
    StoreUnavailable,
)
from found_footy.domain.operations.feeds_measured import BrowserSeen, Cached, Declared, HealthKnown
from found_footy.domain.operations.measured import Disk, Engine, Measured, TemporalState
from found_footy.ports import ObjectStore
from found_footy.web.live.hub import Hub
from found_footy.web.ports import (
    BrowserReading,
    CacheReading,
    FeedBook,
    HealthReading,
    OperationsReading,
    TemporalReading,
)

log = logging.getLogger(__name__)

Found = TypeVar("Found")

FRESH_SECONDS = 2.0
ANSWER_SECONDS = 2.0
ANY_KEY = "health"
"""It need not be there: what counts is that somebody says so."""


@dataclass(frozen=True, slots=True)
class FeedLooks:
    """How to look at the score feeds. None is what this system has not."""

    health: HealthReading | None = None
    cache: CacheReading | None = None
    book: FeedBook | None = None
    browser: BrowserReading | None = None


class Watch:
    def __init__(
        self,
        operations: OperationsReading,
        temporal: TemporalReading | None,
        files: ObjectStore,
        live: Hub,
        *,
        feeds: FeedLooks = FeedLooks(),  # noqa: B008 - it is frozen
        disk: Callable[[], Disk | None] = lambda: None,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._operations, self._temporal, self._files, self._live = operations, temporal, files, live
        self._feeds = feeds
        self._disk = disk
        self._fresh_seconds = fresh_seconds
        self._measuring: asyncio.Task[Measured] | None = None
        self._fresh_until = 0.0
        self._asking_files: asyncio.Task[object] | None = None

    async def measured(self, now: datetime) -> Measured:
        """Never fails: what does not answer is part of it. Not older than a few seconds."""
        loop = asyncio.get_running_loop()
        current = self._measuring
        if current is None or (current.done() and loop.time() >= self._fresh_until):
            current = self._measuring = asyncio.create_task(self._measure(now), name="measuring")
        return await asyncio.shield(current)

    async def ready(self) -> list[str]:
        """What keeps this process from answering; empty where nothing does."""
        problems = []
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                lacking = await self._operations.lacking()
                if lacking:
                    problems.append(f"the database lacks {', '.join(lacking)}")
        except (StoreUnavailable, TimeoutError):
            problems.append("the database does not answer")
        if self._live.position is None:
            problems.append("live updates have not begun")
        return problems

    async def _measure(self, now: datetime) -> Measured:
        (recorded, database), (temporal, engine), files, feeds = await asyncio.gather(
            _asked("database", StoreUnavailable, lambda: self._operations.recorded(now)),
            self._temporal_state(now),
            self._files_state(),
            self._feeds_seen(now),
        )
        (health, _), (cached, cache), (browser, service), declared = feeds
        disk = await asyncio.to_thread(self._disk)
        self._fresh_until = asyncio.get_running_loop().time() + self._fresh_seconds
        return Measured(
            at=now,
            engines=(database, cache, engine, files, *(() if service.state == "off" else (service,))),
            recorded=recorded,
            temporal=temporal,
            disk=disk,
            news_read=self._live.position,
            listeners=self._live.listeners,
            health=health,
            cached=cached,
            declared=declared,
            browser=browser,
        )

    async def _feeds_seen(
        self, now: datetime
    ) -> tuple[
        tuple[HealthKnown | None, Engine],
        tuple[Cached | None, Engine],
        tuple[BrowserSeen | None, Engine],
        tuple[Declared, ...] | None,
    ]:
        looks = self._feeds
        return await asyncio.gather(
            _asked("database", StoreUnavailable, lambda: looks.health.known(now) if looks.health else None),
            _asked("cache", CacheUnavailable, lambda: looks.cache.look() if looks.cache else None),
            _asked("browser", SourceError, lambda: looks.browser.seen() if looks.browser else None),
            self._declared(),
        )

    async def _declared(self) -> tuple[Declared, ...] | None:
        if self._feeds.book is None:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return tuple(await self._feeds.book.declared())
        except SettingsError as error:
            log.warning(str(error), extra={"action": "feeds_file_wrong"})
        except TimeoutError:
            log.warning("the switches of the feeds were not read in time", extra={"action": "switches_unknown"})
        return None

    async def _temporal_state(self, now: datetime) -> tuple[TemporalState | None, Engine]:
        if self._temporal is None:
            return None, Engine("temporal", "off", "not configured")
        try:
            return await self._temporal.look(now), Engine("temporal", "ok")
        except EngineError as error:
            return None, _failed("temporal", error)

    async def _files_state(self) -> Engine:
        """Whoever hangs is asked by one thread only, however often somebody wants to know."""
        if self._asking_files is None:
            self._asking_files = asyncio.create_task(self._files.head(ANY_KEY), name="asking the object store")
        done, _ = await asyncio.wait({self._asking_files}, timeout=ANSWER_SECONDS)
        if not done:
            return _silent("object store")
        asked, self._asking_files = self._asking_files, None
        try:
            asked.result()
        except ObjectStoreError as error:
            return _failed("object store", error)
        return Engine("object store", "ok")


async def _asked(
    name: str, refusal: type[FootyError], ask: Callable[[], Awaitable[Found] | None]
) -> tuple[Found | None, Engine]:
    """What an engine answers within its time, and how it is."""
    asked = ask()
    if asked is None:
        return None, Engine(name, "off", "not configured")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await asked, Engine(name, "ok")
    except refusal as error:
        return None, _failed(name, error)
    except TimeoutError:
        return None, _silent(name)


def _failed(name: str, error: FootyError) -> Engine:
    return Engine(name, "failed", error.kind, str(error)[:300])


def _silent(name: str) -> Engine:
    return Engine(name, "failed", f"no answer within {ANSWER_SECONDS:g} s")
