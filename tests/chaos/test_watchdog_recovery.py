"""Kill watchdogs during a recovery: the next one completes it, and the audit log has one entry."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from found_footy.feeds.cache import FreshnessIndex, MonitoringRecords
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.operations.models import HealthGrade, RecoveryOutcome
from found_footy.operations.store import OperationsStore
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from tests.support.cli import FOOTY, clean_environment
from tests.support.processes import stopped_with_parent
from tests.support.watchdog import INSERT_ACTIVE_FIXTURES, SAVE_POLLS

MATCHES = [1, 2, 3]

pytestmark = pytest.mark.timeout(600)


class FakeBrowserService:
    """Its `/recycle` hangs until `may_recycle` is set."""

    def __init__(self) -> None:
        self.recycle_requested = asyncio.Event()
        self.may_recycle = asyncio.Event()

    async def health(self, _: Request) -> JSONResponse:
        return JSONResponse({"healthy": False, "message": "60 processes", "browser": {"processes": 60, "recycles": []}})

    async def recycle(self, _: Request) -> JSONResponse:
        self.recycle_requested.set()
        await self.may_recycle.wait()
        return JSONResponse({"before": {}, "after": {}, "recycle": {"pids_before": 60, "pids_after": 9}})

    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/health", self.health), Route("/recycle", self.recycle, methods=["POST"])],
        )


class WatchedMatches:
    """Matches without answers, and the watchdog processes that monitor them."""

    def __init__(self, database: Database, cache: RedisCache, environment: dict[str, str]) -> None:
        self.database = database
        self.health = OperationsStore(database)
        self.freshness = FreshnessIndex(cache)
        self.records = MonitoringRecords(cache)
        self._environment = environment
        self._processes: list[asyncio.subprocess.Process] = []

    async def watchdog(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *stopped_with_parent([FOOTY, "watchdog"]), env=self._environment, stderr=asyncio.subprocess.DEVNULL
        )
        self._processes.append(process)
        return process

    async def staleness(self, seconds: float) -> None:
        at = datetime.now(UTC) - timedelta(seconds=seconds)
        async with self.database.connection() as connection:
            await connection.execute(INSERT_ACTIVE_FIXTURES, {"ids": MATCHES, "at": at})
        await self.freshness.expect(dict.fromkeys(MATCHES, at))

    async def answer(self) -> None:
        now = datetime.now(UTC)
        await self.freshness.record(MATCHES, now)
        records = [
            MatchMonitoringRecord(
                "espn", match, MonitoringState.ACTIVE, MatchPriority.LIVE, now, updated_at=now, asked_at=now
            )
            for match in MATCHES
        ]
        await self.records.save(records)
        async with self.database.connection() as connection:
            await connection.execute(SAVE_POLLS, {"ids": MATCHES, "at": now})

    async def until(self, grade: HealthGrade) -> None:
        async with asyncio.timeout(90):
            while (state := await self.health.state()) is None or state.grade is not grade:
                await asyncio.sleep(0.05)

    async def answer_until_healthy(self) -> None:
        """Answer repeatedly, as feeds do."""
        async with asyncio.timeout(90):
            while (state := await self.health.state()) is None or state.grade is not HealthGrade.HEALTHY:
                await self.answer()
                await asyncio.sleep(0.2)

    async def until_assessed_again(self) -> None:
        before = await self.health.state()
        async with asyncio.timeout(90):
            while before is None or (await self.health.state() or before).revision < before.revision + 3:
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@pytest.fixture
async def browser() -> AsyncIterator[tuple[FakeBrowserService, str]]:
    service = FakeBrowserService()
    async with HttpServer(service.app(), grace_seconds=1) as server:
        yield service, server.url
        service.may_recycle.set()


@pytest.fixture
async def system(
    database_url: str,
    valkey_server: str,
    temporal_settings: dict[str, str],
    tmp_path: Path,
    browser: tuple[FakeBrowserService, str],
) -> AsyncIterator[WatchedMatches]:
    redis_url = valkey_server
    cache = RedisCache(redis_url)
    await cache.run("FLUSHDB")
    database = Database(database_url)
    await database.open()
    environment = clean_environment(tmp_path) | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_settings["temporal_address"],
        "TEMPORAL_NAMESPACE": temporal_settings["temporal_namespace"],
        "BROWSER_URL": browser[1],
        "FOOTY_TASK_QUEUE": f"chaos-{os.getpid()}-no-worker",
        "FOOTY_HEALTH_SECONDS": "0.2",
        "FOOTY_STALL_SECONDS": "3",
    }
    matches = WatchedMatches(database, cache, environment)
    yield matches
    await matches.stop()
    await database.close()
    await cache.run("FLUSHDB")
    await cache.aclose()


async def test_a_recovery_whose_watchdog_is_killed_is_completed_by_the_next(
    system: WatchedMatches, browser: tuple[FakeBrowserService, str]
) -> None:
    await system.staleness(100)
    first = await system.watchdog()
    async with asyncio.timeout(90):
        await browser[0].recycle_requested.wait()
    first.kill()
    await first.wait()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, entry.seconds) == (None, None), "begun, and without an outcome"

    browser[0].may_recycle.set()
    await system.watchdog()
    await until_steps_done(system, 2)
    await system.answer_until_healthy()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, entry.healthy_at is None) == (RecoveryOutcome.SUCCESS, False)
    cut_off, done = entry.after["attempts"]
    assert "steps" not in cut_off
    assert {step["name"]: step["ok"] for step in done["steps"]}["browser"] is True


@pytest.mark.chaos
async def test_another_watchdog_takes_over_when_the_leader_is_killed(
    system: WatchedMatches, browser: tuple[FakeBrowserService, str]
) -> None:
    browser[0].may_recycle.set()
    both = [await system.watchdog(), await system.watchdog()]
    await system.until(HealthGrade.HEALTHY)
    await system.staleness(100)
    await system.until(HealthGrade.RECOVERING)
    await until_steps_done(system, 1)
    first = await leader(system, both)
    os.kill(first, signal.SIGKILL)
    await system.until_assessed_again()
    assert await leader(system, both) != first
    await system.answer_until_healthy()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, len(entry.after["attempts"])) == (RecoveryOutcome.SUCCESS, 1)


async def until_steps_done(system: WatchedMatches, attempts: int) -> None:
    async with asyncio.timeout(120):
        while True:
            (entry,) = await system.health.recoveries()
            made = entry.after["attempts"]
            if len(made) == attempts and "steps" in made[-1]:
                return
            await asyncio.sleep(0.05)


async def leader(system: WatchedMatches, processes: Sequence[asyncio.subprocess.Process]) -> int:
    """Return the pid of the process whose connection holds the lock."""
    async with system.database.connection() as connection:
        cursor = await connection.execute(
            "select a.client_port from pg_locks l join pg_stat_activity a on a.pid = l.pid"
            " where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database"
            " where datname = current_database())"
        )
        (row,) = await cursor.fetchall()
    (found,) = [each.pid for each in processes if row["client_port"] in ports_of(each.pid)]
    return found


def ports_of(pid: int) -> set[int]:
    """Return the local ports of a process's TCP connections."""
    inodes = set()
    with suppress(FileNotFoundError, PermissionError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                inodes.add(os.readlink(entry))
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if f"socket:[{row[9]}]" in inodes}
