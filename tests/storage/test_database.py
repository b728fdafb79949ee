"""The pool of connections, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from found_footy.errors import StoreUnavailable
from found_footy.storage.postgres import Database

END_OTHERS = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url, max_size=3)
    await opened.open()
    yield opened
    await opened.close()


async def pid(database: Database) -> int:
    async with database.connection() as connection:
        row = await (await connection.execute("select pg_backend_pid() as pid")).fetchone()
    assert row is not None
    found: int = row["pid"]
    return found


async def test_a_connection_is_used_again(database: Database) -> None:
    assert await pid(database) == await pid(database)


async def test_a_connection_that_the_server_has_ended_is_not_handed_out(database: Database, database_url: str) -> None:
    async with database.connection(), database.connection(), database.connection():
        pass  # three are kept now
    for _ in range(3):
        ended = await pid(database)
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as other:
            await other.execute(END_OTHERS)
        assert await pid(database) != ended


async def test_a_connection_lost_during_use_raises_our_error(database: Database, database_url: str) -> None:
    async def interrupted() -> None:
        async with (
            await psycopg.AsyncConnection.connect(database_url, autocommit=True) as other,
            database.connection() as connection,
        ):
            await connection.execute("select 1")
            await other.execute(END_OTHERS)
            await connection.execute("select 1")

    with pytest.raises(StoreUnavailable):
        await interrupted()
    assert await pid(database)


async def test_a_pending_notice_does_not_discard_the_connection(database: Database) -> None:
    first = await pid(database)
    async with database.connection() as connection:
        await connection.execute("do $$ begin raise notice 'still here'; end $$")
    assert await pid(database) == first
