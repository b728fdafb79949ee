"""Read-only connections with time limits and one round trip per query."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from found_footy.storage.connections import TCP_OPTIONS, bounded, limit_statements
from found_footy.storage.migrations import SchemaFence
from found_footy.storage.postgres import Query, redacted_url, translate_errors

STATEMENT_TIMEOUT_SECONDS = 10
ANSWER_TIMEOUT_SECONDS = 15.0
POOL_TIMEOUT_SECONDS = 5
"""Maximum wait for a free connection."""
MAX_CONNECTIONS = 4
"""More connections would not make queries faster on a single database machine."""


async def _make_read_only(connection: AsyncConnection[DictRow]) -> None:
    await limit_statements(connection, STATEMENT_TIMEOUT_SECONDS, read_only=True)


class ReadPool:
    """A pool without transactions or connection checks. A query on a dead connection is retried once."""

    def __init__(self, url: str, *, size: int = MAX_CONNECTIONS) -> None:
        self._redacted_url = redacted_url(url)
        self._schema = SchemaFence()
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            min_size=0,
            max_size=size,
            timeout=POOL_TIMEOUT_SECONDS,
            open=False,
            connection_class=bounded(ANSWER_TIMEOUT_SECONDS),
            kwargs={"autocommit": True, "row_factory": dict_row, **TCP_OPTIONS},
            configure=_make_read_only,
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    async def fetch(self, query: Query, params: dict[str, Any] | None = None, *, prepare: bool = True) -> list[DictRow]:
        """Run one query. `prepare=False` plans it for the given parameters, which suits queries with many
        filters.
        """
        with translate_errors(self._redacted_url):
            try:
                return await self._fetch(query, params, prepare)
            except (PoolTimeout, psycopg.errors.QueryCanceled):
                raise
            except (psycopg.OperationalError, psycopg.InterfaceError):
                # After a restart of the server all existing connections are dead.
                await self._pool.check()
                return await self._fetch(query, params, prepare)

    async def _fetch(self, query: Query, params: dict[str, Any] | None, prepare: bool) -> list[DictRow]:
        async with self._pool.connection() as connection:
            await self._schema.check(connection)
            cursor = await connection.execute(query, params, prepare=None if prepare else False)
            return await cursor.fetchall()
