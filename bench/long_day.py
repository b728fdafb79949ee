"""Twenty-four hours in minutes, with every kind of failure: growth of memory, files and cache

72 matches on two feeds from midnight to midnight, and the next day, in which they are archived. Polls run back to back
on simulated time. The adapters send HTTP requests to a separate process, in which one response in ten fails in some
way; poll, comparison, store and cache are the real ones.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from tests.support.polling import FeedSystem

from bench.day_world import GOALS, MATCHES, START
from bench.table import table
from found_footy.discovery.models import CloseRequest, WorkflowRef
from found_footy.feeds.api_football import ApiFootball
from found_footy.feeds.espn import Espn
from found_footy.feeds.models import FeedPollInput
from found_footy.fixtures.models import IngestDayInput, PollInput
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.retry import RetryRules
from found_footy.storage.migrations import migrate
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache

FAILING = 0.1
POLL = timedelta(minutes=2)
DAY, NEXT_DAY = 24 * 30, 27 * 12
"""Number of polls: every two minutes of the day, then every five minutes until all matches are archived."""


async def main() -> None:
    logging.disable(logging.CRITICAL)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.day_world", str(FAILING), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    url = f"http://127.0.0.1:{int(await process.stdout.readline())}"
    with tempfile.TemporaryDirectory() as name:
        data = DataFolder(Path(name) / "data")
        with data.lock():
            postgres, valkey = EmbeddedPostgres(data), EmbeddedValkey(data)
            await postgres.start()
            await valkey.start()
            try:
                await migrate(postgres.url)
                await _measure(url, postgres.url, valkey, Path(name))
            finally:
                await postgres.destroy()
                await valkey.destroy()
                process.terminate()
                await process.wait()


class Day:
    def __init__(self, system: FeedSystem, client: httpx.AsyncClient) -> None:
        self.system, self.client = system, client
        self.number = 0
        self.answered = self.failed = 0
        self.faults: dict[str, int] = {}

    async def poll(self, passed: timedelta) -> None:
        self.number += 1
        system, at = self.system, START + passed
        self.faults = (await self.client.put("/now", params={"seconds": passed.total_seconds()})).json()
        order = PollInput(f"monitor-{self.number}", at)
        await system.call(system.monitor.pre_activate_upcoming_fixtures, order)
        for feed in system.feeds:
            polled = await system.call(system.feed_activities.poll_feed, FeedPollInput(feed, at))
            self.answered += polled.answered
            self.failed += polled.failed
        await system.call(system.monitor.poll_staging_fixtures, order)
        found = await system.call(system.monitor.poll_active_fixtures, order)
        for event in found.to_search:  # no search runs here: a stable goal is done
            mark = WorkflowRef(event, f"search-{event}")
            await system.call(system.search.set_monitor_complete, mark)
            await system.call(system.search.close_event, CloseRequest(event))


async def _measure(url: str, database_url: str, valkey: EmbeddedValkey, folder: Path) -> None:
    database = Database(database_url)
    await database.open()
    cache = RedisCache(valkey.url)
    objects = open_object_store((folder / "o").as_uri(), endpoint=None, region="", access_key=None, secret_key=None)
    fast: Any = {"timeout": 0.5, "retry": RetryRules(base_seconds=0.001)}
    day: Day
    now = lambda: START + POLL * day.number  # noqa: E731
    feeds: Any = {
        "one": ApiFootball(url, "key", now=now, name="one", **fast),
        "two": Espn(url, ["soccer/eng.1"], now=now, name="two", **fast),
    }
    system = FeedSystem(FixtureStore(database), cache, objects, feeds)
    rows = []
    async with httpx.AsyncClient(base_url=url) as client:
        day = Day(system, client)
        for date in (START, START + timedelta(days=1)):
            await system.call(system.ingest.ingest_day, IngestDayInput(date.date().isoformat(), START))
        for number in range(DAY + NEXT_DAY + 1):
            over = max(0, number - DAY)
            await day.poll(min(number, DAY) * POLL + over * timedelta(minutes=5))
            if number in (DAY // 12, DAY // 2, DAY, DAY + NEXT_DAY):
                rows.append(await _row(number, valkey, cache))
        documents = await system.store.fixtures()
        await system.registry.aclose()
    table(["after", "memory", "open files", "processes", "keys without an end", "Valkey's memory"], rows)
    goals = [event for document in documents for event in document["events"] if not event["_removed"]]
    certain = sum(event["_debounce_complete"] for event in goals)
    done = sum(document["stage"] == "completed" for document in documents)
    print(
        f"\n{day.answered:,} answers, {day.failed:,} failures of {len(day.faults)} kinds; "
        f"{done} of {MATCHES} matches completed, {certain} of {MATCHES * len(GOALS)} goals, "
        f"{len(goals) - certain} invented."
    )
    await objects.aclose()
    await cache.aclose()
    await database.close()


async def _row(number: int, valkey: EmbeddedValkey, cache: RedisCache) -> list[object]:
    gc.collect()
    pid = os.getpid()
    resident = _resident(pid)
    files = len(os.listdir(f"/proc/{pid}/fd"))
    children = _children(pid)
    endless = 0
    for key in await cache.run("KEYS", "*"):
        endless += await cache.run("TTL", key) == -1
    assert valkey.pid is not None
    hours = min(number, DAY) / 30 + max(0, number - DAY) / 12
    return [f"{hours:.0f} h", f"{resident:.0f} MB", files, len(children), endless, f"{_resident(valkey.pid):.0f} MB"]


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
