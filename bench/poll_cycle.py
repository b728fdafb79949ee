"""One poll cycle: SQL statements and time, against the same work fixture by fixture

The feed is a process of its own on loopback; adapter, cache, comparison and store are the real ones. The
peer does what one would write first: load, decide and save each fixture in a transaction of its own.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, cast

import httpx
from psycopg import AsyncCursor
from tests.support.following import follow
from tests.support.polling import System

from bench.static_feed import fixture
from bench.table import table
from found_footy.adapters.feeds.api_football import ApiFootball
from found_footy.adapters.feeds.api_football_schema import parse_fixture
from found_footy.adapters.storage.objects import open_object_store
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.migrate import migrate
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.domain.fixtures.comparison import CertaintyRules, Poll
from found_footy.domain.fixtures.lifecycle import LifecycleRules
from found_footy.domain.fixtures.polling import apply_poll
from found_footy.ops.engines import DataFolder, EmbeddedPostgres, EmbeddedValkey
from found_footy.workflows.contracts import PollInput
from found_footy.workflows.feed_contracts import FeedPoll

SIZES = (100, 1_000, 10_000)
INTERVAL = 30.0
START = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
CYCLES = 5


class Counting(AsyncCursor[Any]):
    statements: ClassVar[int] = 0

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        Counting.statements += bool(query)
        return await super().execute(query, *args, **kwargs)


async def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(folder)
        with data.lock():
            engine, valkey = EmbeddedPostgres(data), EmbeddedValkey(data)
            await engine.start()
            await valkey.start()
            try:
                for size in SIZES:
                    rows.append(await _measure(engine.url, valkey.url, folder, size))
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
            "peer's statements",
            "peer's seconds for the store alone",
        ],
        rows,
    )


async def _measure(url: str, cache_url: str, folder: str, size: int) -> list[object]:
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
        store = PostgresStore(database)
        fixtures = [(parse_fixture(fixture(id_, 0)), "active") for id_ in range(1, size + 1)]
        await follow(store, fixtures, START)
        rules = (CertaintyRules(), LifecycleRules())
        place = Path(folder, "objects").as_uri()
        objects = open_object_store(place, endpoint=None, region="", access_key=None, secret_key=None)
        cache = RedisCache(cache_url, prefix=f"{size}:")
        system = System(store, cache, objects, cast(Any, {"api_football": feed}))
        times, counts = [], []
        async with httpx.AsyncClient(base_url=base) as client:
            for number in range(3 + CYCLES):
                await client.put("/changed", params={"step": number})
                Counting.statements = 0
                began = time.perf_counter()
                order = PollInput(f"monitor-{number}", START + timedelta(seconds=INTERVAL * number))
                await system.call(system.feed_activities.poll_feed, FeedPoll("api_football", order.at))
                result = await system.call(system.monitor.poll_active_fixtures, order)
                assert result.answered == size
                if number >= 3:  # the first three make the goals certain
                    times.append(time.perf_counter() - began)
                    counts.append(Counting.statements)
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
            f"{peer_count:,}",
            f"{peer_time:.2f} ({peer_time / max(seconds - asking, 0.001):.0f}×)",
        ]
    finally:
        await database.close()
        await feed.aclose()
        process.terminate()
        await process.wait()


async def _one_by_one(
    store: PostgresStore, size: int, certainty: CertaintyRules, life: LifecycleRules
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
