"""The read pool: snapshot version, broken connections, timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import psycopg
import pytest

from found_footy.errors import NotFound, StoreUnavailable
from found_footy.fixtures.documents import DATES
from found_footy.fixtures.read_store import SQL as FIXTURES_SQL
from found_footy.fixtures.read_store import DocumentReader
from found_footy.storage.read_pool import ReadPool

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
MATCH = """insert into fixtures (id, feed, stage, status, kickoff, league_id, league_name, home_id, home_name, away_id,
    away_name, added_at) values (%s, 'test', 'staging', 'NS', now(), 1, 'L', 1, 'A', 2, 'B', now())"""


@pytest.fixture
async def readers(database_url: str) -> AsyncIterator[ReadPool]:
    opened = ReadPool(database_url)
    await opened.open()
    yield opened
    await opened.close()


async def test_the_snapshot_version_changes_with_commits_only(readers: ReadPool, database_url: str) -> None:
    reading = DocumentReader(readers, 45)
    before = await reading.version()
    async with await psycopg.AsyncConnection.connect(database_url) as writer:
        await writer.execute(MATCH, [1])
        open_ = await reading.version()
        with pytest.raises(NotFound):
            await reading.fixture(1, NOW)
        await writer.commit()
        after = await reading.version()
        assert after not in (before, open_)
        assert (await reading.fixture(1, NOW)).id == 1
        # A version is a snapshot of the whole server, which other tests write to, so compare its cause instead: a
        # transaction that only reads gets no id.
        await writer.execute("select count(*) from fixtures")
        row = await (await writer.execute("select pg_current_xact_id_if_assigned()")).fetchone()
        assert row == (None,)


async def test_concurrent_version_reads_share_a_later_query(readers: ReadPool) -> None:
    asked: list[asyncio.Event] = []

    class Counting:
        async def fetch(self, name: str, *_: object, **__: object) -> list[dict[str, str]]:
            mine = asyncio.Event()
            asked.append(mine)
            number = len(asked)
            await mine.wait()
            return [{"version": str(number)}]

    reading = DocumentReader(Counting(), 45)  # type: ignore[arg-type]
    early = asyncio.create_task(reading.version())
    while not asked:
        await asyncio.sleep(0)
    late = [asyncio.create_task(reading.version()) for _ in range(100)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(asked) == 1
    asked[0].set()
    assert await early == "1"
    while len(asked) < 2:
        await asyncio.sleep(0)
    asked[1].set()
    assert {await each for each in late} == {"2"}


async def test_broken_connections_are_replaced(readers: ReadPool, database_url: str) -> None:
    reading = DocumentReader(readers, 45)
    await asyncio.gather(*(readers.fetch(FIXTURES_SQL["version"]) for _ in range(4)))
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as killer:
        await killer.execute(
            "select pg_terminate_backend(pid, 30000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    assert await reading.version()
    assert await reading.page(DATES, {}, None, 10, NOW) == []


async def test_read_connections_are_read_only_with_a_timeout(readers: ReadPool) -> None:
    async with readers._pool.connection() as connection:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await connection.execute(MATCH, [1])
        row = await (await connection.execute("show statement_timeout")).fetchone()
        assert row == {"statement_timeout": "10s"}


async def test_an_unavailable_database_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("found_footy.storage.read_pool.POOL_TIMEOUT_SECONDS", 0.2)
    away = ReadPool("postgresql://nobody:secret@127.0.0.1:1/nothing")
    await away.open()
    try:
        with pytest.raises(StoreUnavailable) as told:
            await DocumentReader(away, 45).version()
        assert "secret" not in str(told.value)
    finally:
        await away.close()
