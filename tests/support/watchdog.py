"""A watchdog on real engines, with a clock that the test moves and matches that answer when the test says so."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from found_footy.errors import EngineError
from found_footy.feeds.cache import FeedCache, FreshnessIndex, MonitoringRecords
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.operations.feed_health import HealthRules, HealthTransition
from found_footy.operations.models import Recovery
from found_footy.operations.probe import CacheReader, SystemProbe
from found_footy.operations.recovery import BrowserRecycles, RecoveryService
from found_footy.operations.store import HealthCache, OperationsStore
from found_footy.operations.watchdog import Watchdog
from found_footy.storage.postgres import AdvisoryLock, Database
from found_footy.storage.redis import RedisCache

START = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
LAG = timedelta(seconds=68)

INSERT_ACTIVE_FIXTURES = """
    insert into fixtures (id, feed, stage, status, kickoff, league_id, league_name, home_id, home_name, away_id,
        away_name, added_at, activated_at)
    select id, 'espn', 'active', '1H', %(at)s, 1, 'A league', 2, 'Home ' || id, 3, 'Away', %(at)s, %(at)s
    from unnest(%(ids)s::bigint[]) as id
"""

SAVE_POLLS = "update fixtures set last_poll_id = 'a poll', last_poll_at = %(at)s where id = any(%(ids)s)"


@dataclass
class RestartedService:
    """Something to restart, which counts how often it was; or fails, or hangs."""

    fails: str = ""
    hangs: bool = False
    restarts: int = 0
    polling: bool = True
    """Of the poller: whether a worker polls the task queue."""

    async def has_workers(self) -> bool:
        return self.polling

    async def restart(self) -> str:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise EngineError(self.fails)
        self.restarts += 1
        return f"restarted {self.restarts} times"


@dataclass
class WatchdogSystem:
    database: Database
    url: str
    cache: RedisCache
    rules: HealthRules = field(default_factory=HealthRules)
    workers: Any = field(default_factory=RestartedService)
    poller: Any = field(default_factory=RestartedService)
    browser: Any = None
    declared: Any = None
    intervals: dict[int, timedelta] = field(default_factory=dict)
    now: datetime = START
    save_lag: timedelta = LAG

    def __post_init__(self) -> None:
        self.store = OperationsStore(self.database)
        self.copies = HealthCache(self.cache)
        self.freshness = FreshnessIndex(self.cache)
        self.records = MonitoringRecords(self.cache)
        self.leading = AdvisoryLock(self.url)
        self.recovering = self.make_recovering()
        self.watchdog = self.make_watchdog()

    def make_recovering(self) -> RecoveryService:
        return RecoveryService(
            self.store,
            self.copies,
            self.clock,
            browser=self.browser,
            workers=self.workers,
            poller=self.poller,
            records=self.records,
        )

    def make_watchdog(self, leading: AdvisoryLock | None = None, interval: float = 0.01) -> Watchdog:
        probe = self.make_probe()
        recycles = BrowserRecycles(self.browser, self.store, self.recovering) if self.browser else None
        return Watchdog(
            self.store,
            self.copies,
            probe.measure_feeds,
            self.recovering,
            leading or self.leading,
            self.rules,
            interval=interval,
            now=self.clock,
            recycles=recycles,
        )

    def make_probe(self) -> SystemProbe:
        cache = CacheReader(self.cache, FeedCache(self.cache), self.copies)
        return SystemProbe(self.store, cache=cache, declared=self.declared, save_lag=self.save_lag, cached_seconds=0.0)

    def clock(self) -> datetime:
        return self.now

    async def follow(self, ids: Sequence[int]) -> None:
        """These matches are under way from now on."""
        async with self.database.connection() as connection:
            await connection.execute(INSERT_ACTIVE_FIXTURES, {"ids": list(ids), "at": self.now})
        await self.poll()

    async def poll(self) -> None:
        """What every poll does, whoever answers: it says which matches are waited for, and since when."""
        matches = await self.store.active_matches()
        await self.freshness.expect({each.fixture_id: each.saved_at for each in matches}, self.intervals)

    async def answer_unsaved(self, ids: Sequence[int]) -> None:
        """A feed answers for them, and nothing of it is saved yet."""
        await self.freshness.record(list(ids), self.now)
        await self.records.save([self.record(id_) for id_ in ids])

    async def answer(self, ids: Sequence[int]) -> None:
        """A feed answers for them, and a poll saves it."""
        await self.answer_unsaved(ids)
        async with self.database.connection() as connection:
            await connection.execute(SAVE_POLLS, {"ids": list(ids), "at": self.now})

    def record(self, id_: int, **more: Any) -> MatchMonitoringRecord:
        given = {"updated_at": self.now, "asked_at": self.now, **more}
        return MatchMonitoringRecord(
            "espn", id_, given.pop("state", MonitoringState.ACTIVE), MatchPriority.LIVE, START, **given
        )

    async def after(self, seconds: float) -> HealthTransition:
        """The judgement at a later moment, after those that come every 15 s before it."""
        for _ in range(math.ceil(seconds / 15) - 1):
            self.now += timedelta(seconds=15)
            await self.watchdog.round()
        self.now += timedelta(seconds=seconds - 15 * max(0, math.ceil(seconds / 15) - 1))
        judgement = await self.watchdog.round()
        assert judgement is not None
        return judgement

    async def until_recovered(self) -> None:
        """Until the steps of a recovery that is under way are done."""
        acting = self.watchdog._acting
        assert acting is not None
        await asyncio.wait_for(asyncio.shield(acting), 10)

    async def entries(self) -> list[Recovery]:
        return list(await self.store.recoveries())

    async def outbox_messages(self) -> list[str]:
        """Told so far, in short: `failing>recovering`, `begun`, …"""
        async with self.database.connection() as connection:
            rows = await (await connection.execute("select topic, payload from outbox order by id")).fetchall()
        return [
            f"{row['payload']['from']}>{row['payload']['to']}"
            if row["topic"] == "feeds.health"
            else row["payload"]["state"]
            for row in rows
        ]
