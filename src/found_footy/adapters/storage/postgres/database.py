"""The connection pool, and the database's failures in our own words."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from found_footy.adapters.storage.postgres.queries import query
from found_footy.domain.errors import StoreUnavailable

Connection = AsyncConnection[DictRow]


class Database:
    """A pool of connections. Nothing is opened before `open`."""

    def __init__(self, url: str, *, max_size: int = 8, cursor_factory: type[AsyncCursor[Any]] = AsyncCursor) -> None:
        self._where = display_url(url)
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            timeout=10,
            open=False,
            kwargs={"row_factory": dict_row, "cursor_factory": cursor_factory, "connect_timeout": 5},
            check=_check,
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """One transaction: committed at the end, rolled back when an error leaves it."""
        with translated(self._where):
            async with self._pool.connection() as connection:
                yield connection

    async def fetch(self, name: str, **params: Any) -> list[DictRow]:
        """One named query in a transaction of its own."""
        async with self.connection() as connection:
            return await fetch(connection, name, params)


async def _check(connection: Connection) -> None:
    """A server that was restarted leaves dead connections behind. Its last words, or the end, wait to be read from
    them though nobody has asked anything: only then the server is asked whether it is there."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


async def fetch(connection: Connection, name: str, params: Mapping[str, Any]) -> list[DictRow]:
    cursor = await connection.execute(query(name), params)
    return await cursor.fetchall() if cursor.description else []


@contextmanager
def translated(where: str) -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable(f"{where}: {str(error).strip()}") from error


def display_url(url: str) -> str:
    """The URL without its password, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
