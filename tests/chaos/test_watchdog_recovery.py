"""Watchdogs that are killed: what one has begun the next one ends, and the audit log has one entry of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
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
from found_footy.operations.store import PostgresHealth
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from tests.support.watchdog import INSERT_ACTIVE_FIXTURES, SAVE_POLLS

FOOTY = str(Path(sys.executable).parent / "footy")
MATCHES = [1, 2, 3]

pytestmark = pytest.mark.timeout(600)


class Browser:
    """The browser service as the watchdog sees it; `recycle` hangs until it may go on."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def health(self, _: Request) -> JSONResponse:
        return JSONResponse({"healthy": True, "message": "", "browser": {"processes": 9, "recycles": []}})

    async def recycle(self, _: Request) -> JSONResponse:
        self.asked.set()
        await self.may_go_on.wait()
        return JSONResponse({"before": {}, "after": {}, "recycle": {"pids_before": 60, "pids_after": 9}})

    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/health", self.health), Route("/recycle", self.recycle, methods=["POST"])],
        )


class System:
    """Matches of which nothing is heard, and processes that watch over it."""

    def __init__(self, database: Database, cache: RedisCache, environment: dict[str, str]) -> None:
        self.database = database
        self.health = PostgresHealth(database)
        self.freshness = FreshnessIndex(cache)
        self.records = MonitoringRecords(cache)
        self._environment = environment
        self._processes: list[asyncio.subprocess.Process] = []

    async def watchdog(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            FOOTY, "watchdog", env=self._environment, stderr=asyncio.subprocess.DEVNULL
        )
        self._processes.append(process)
        return process

    async def silence(self, seconds: float) -> None:
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
        """As feeds do that are back: again and again."""
        async with asyncio.timeout(90):
            while (state := await self.health.state()) is None or state.grade is not HealthGrade.HEALTHY:
                await self.answer()
                await asyncio.sleep(0.2)

    async def until_judged_anew(self) -> None:
        before = await self.health.state()
        async with asyncio.timeout(90):
            while before is None or (await self.health.state() or before).turn < before.turn + 3:
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@pytest.fixture
async def browser() -> AsyncIterator[tuple[Browser, str]]:
    made = Browser()
    async with HttpServer(made.app(), grace_seconds=1) as server:
        yield made, server.url
        made.may_go_on.set()


@pytest.fixture
async def system(
    database_url: str,
    valkey_server: str,
    temporal_settings: dict[str, str],
    tmp_path: Path,
    browser: tuple[Browser, str],
) -> AsyncIterator[System]:
    redis_url = valkey_server
    cache = RedisCache(redis_url)
    await cache.run("FLUSHDB")
    database = Database(database_url)
    await database.open()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")}
    environment = kept | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_settings["temporal_address"],
        "TEMPORAL_NAMESPACE": temporal_settings["temporal_namespace"],
        "BROWSER_URL": browser[1],
        "FOOTY_DATA_DIR": str(tmp_path),
        "FOOTY_TASK_QUEUE": f"chaos-{os.getpid()}-nobody",
        "FOOTY_HEALTH_SECONDS": "0.2",
        "FOOTY_STALL_SECONDS": "3",
    }
    made = System(database, cache, environment)
    yield made
    await made.stop()
    await database.close()
    await cache.run("FLUSHDB")
    await cache.aclose()


async def test_a_recovery_whose_watchdog_is_killed_in_the_middle_is_ended_by_the_next(
    system: System, browser: tuple[Browser, str]
) -> None:
    await system.staleness(100)
    first = await system.watchdog()
    async with asyncio.timeout(90):
        await browser[0].asked.wait()
    first.kill()
    await first.wait()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, entry.seconds) == (None, None), "begun, and nothing more is known of it"

    browser[0].may_go_on.set()
    await system.watchdog()
    await steps_done(system, 2)
    await system.answer_until_healthy()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, entry.healthy_at is None) == (RecoveryOutcome.SUCCESS, False)
    cut_off, done = entry.after["attempts"]
    assert "steps" not in cut_off
    assert {step["name"]: step["ok"] for step in done["steps"]}["browser"] is True


@pytest.mark.chaos
async def test_when_the_one_that_judges_is_killed_another_one_goes_on_at_once(
    system: System, browser: tuple[Browser, str]
) -> None:
    browser[0].may_go_on.set()
    both = [await system.watchdog(), await system.watchdog()]
    await system.until(HealthGrade.HEALTHY)
    await system.staleness(100)
    await system.until(HealthGrade.RECOVERING)
    await steps_done(system, 1)
    first = await leader(system, both)
    os.kill(first, signal.SIGKILL)
    await system.until_judged_anew()
    assert await leader(system, both) != first
    await system.answer_until_healthy()
    (entry,) = await system.health.recoveries()
    assert (entry.outcome, len(entry.after["attempts"])) == (RecoveryOutcome.SUCCESS, 1)


async def steps_done(system: System, attempts: int) -> None:
    async with asyncio.timeout(120):
        while True:
            (entry,) = await system.health.recoveries()
            made = entry.after["attempts"]
            if len(made) == attempts and "steps" in made[-1]:
                return
            await asyncio.sleep(0.05)


async def leader(system: System, processes: Sequence[asyncio.subprocess.Process]) -> int:
    """The process at the other end of the connection that holds the lock."""
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
    """Of the TCP connections of a process, as the kernel lists them."""
    inodes = set()
    with suppress(FileNotFoundError, PermissionError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                inodes.add(os.readlink(entry))
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if f"socket:[{row[9]}]" in inodes}
