"""One poll cycle: SQL statements and time, against the same work fixture by fixture

The feed is a separate process on loopback; adapter, cache, comparison and store are the real ones. The baseline is the
naive implementation: load, decide and save each fixture in a separate transaction.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, cast

import httpx
from psycopg import AsyncCursor
from tests.support.football import follow_matches
from tests.support.polling import FeedSystem

from bench.processes import Usage, usage_of
from bench.static_feed import fixture
from bench.table import table
from found_footy.feeds.api_football import ApiFootball, parse_fixture
from found_footy.feeds.models import FeedPollInput
from found_footy.fixtures.comparison import apply_poll
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import DebounceRules, Poll, PollInput
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.worker import tune_garbage_collection
from found_footy.storage.migrations import migrate
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache

SIZES = (100, 1_000)
INTERVAL = 30.0
START = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
CYCLES = 5


class Counting(AsyncCursor[Any]):
    statements: ClassVar[int] = 0

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        Counting.statements += bool(query)
        return await super().execute(query, *args, **kwargs)


async def main() -> None:
    tune_garbage_collection()  # as in a worker
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(folder)
        with data.lock():
            engine, valkey = EmbeddedPostgres(data), EmbeddedValkey(data)
            await engine.start()
            await valkey.start()
            try:
                pids = {"worker": os.getpid(), "PostgreSQL": engine.pid or 0, "Valkey": valkey.pid or 0}
                for size in SIZES:
                    rows.append(await _measure(engine.url, valkey.url, folder, size, pids))
            finally:
                await engine.destroy()
                await valkey.destroy()
    table(
        [
            "fixtures",
            "SQL statements",
            "seconds (median of 5)",
            "share of 30 s",
            "of it: feed",
            "CPU seconds: worker, PostgreSQL, Valkey",
            "Valkey's memory, evicted keys",
            "peer's statements",
            "peer's seconds for the store alone",
        ],
        rows,
    )


async def _measure(url: str, cache_url: str, folder: str, size: int, pids: Mapping[str, int]) -> list[object]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.static_feed", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    base = f"http://127.0.0.1:{int(await process.stdout.readline())}"
    feed = ApiFootball(base, "key", timeout=30, now=lambda: datetime.now(UTC))
    await migrate(url)
    database = Database(url, cursor_factory=Counting)
    await database.open()
    try:
        async with database.connection() as connection:
            await connection.execute("truncate fixtures, outbox cascade")
        store = FixtureStore(database)
        fixtures = [(parse_fixture(fixture(id_, 0)), "active") for id_ in range(1, size + 1)]
        await follow_matches(store, fixtures, START)
        rules = (DebounceRules(), LifecycleRules())
        place = Path(folder, "objects").as_uri()
        objects = open_object_store(place, endpoint=None, region="", access_key=None, secret_key=None)
        cache = RedisCache(cache_url, prefix=f"{size}:")
        system = FeedSystem(store, cache, objects, cast(Any, {"api_football": feed}))
        times, counts = [], []
        before: Mapping[int, Usage] = {}
        async with httpx.AsyncClient(base_url=base) as client:
            for number in range(3 + CYCLES):
                if number == 3:
                    before = usage_of(pids.values())
                await client.put("/changed", params={"step": number})
                Counting.statements = 0
                began = time.perf_counter()
                order = PollInput(f"monitor-{number}", START + timedelta(seconds=INTERVAL * number))
                await system.call(system.feed_activities.poll_feed, FeedPollInput("api_football", order.at))
                result = await system.call(system.monitor.poll_active_fixtures, order)
                assert result.answered == size
                if number >= 3:  # the first three make the goals stable
                    times.append(time.perf_counter() - began)
                    counts.append(Counting.statements)
        after = usage_of(pids.values())
        cpu = [(after[pid].cpu_seconds - before[pid].cpu_seconds) / CYCLES for pid in pids.values()]
        memory, stats = await cache.run("INFO", "memory"), await cache.run("INFO", "stats")
        began = time.perf_counter()
        await feed.fixtures_by_ids(list(range(1, size + 1)))
        asking = time.perf_counter() - began
        peer_count, peer_time = await _one_by_one(store, size, *rules)
        await objects.aclose()
        await cache.aclose()
        seconds = sorted(times)[len(times) // 2]
        return [
            f"{size:,}",
            max(counts),
            f"{seconds:.2f}",
            f"{100 * seconds / INTERVAL:.1f} %",
            f"{asking:.2f}",
            ", ".join(f"{each:.2f}" for each in cpu),
            f"{memory['used_memory'] / 1e6:.0f} MB, {stats['evicted_keys']}",
            f"{peer_count:,}",
            f"{peer_time:.2f} ({peer_time / max(seconds - asking, 0.001):.0f}×)",
        ]
    finally:
        await database.close()
        await feed.aclose()
        process.terminate()
        await process.wait()


async def _one_by_one(
    store: FixtureStore, size: int, certainty: DebounceRules, life: LifecycleRules
) -> tuple[int, float]:
    poll = Poll("peer", START + timedelta(hours=1))
    sample = min(size, 1_000)
    answers = {id_: parse_fixture(fixture(id_, 99)) for id_ in range(1, sample + 1)}
    Counting.statements = 0
    began = time.perf_counter()
    for id_, answer in answers.items():
        async with store.poll() as transaction:
            (state,) = await transaction.load([id_])
            outcome = apply_poll(state, answer, poll, certainty, life)
            assert outcome is not None
            await transaction.save([outcome])
    scale = size / sample
    return round(Counting.statements * scale), (time.perf_counter() - began) * scale
