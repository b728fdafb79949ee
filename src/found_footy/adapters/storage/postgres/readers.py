"""Connections for reading only: one round trip a query, and bounded in time whatever was asked for."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from found_footy.adapters.storage.postgres.database import display_url, translated
from found_footy.adapters.storage.postgres.queries import query

MOST_SECONDS = 10
PATIENCE = 5
"""Seconds until somebody who waits for a connection hears that there is none."""
ROOM = 4
"""Connections. More would only make the queries of one machine's database wait for each other."""


async def _for_reading(connection: AsyncConnection[DictRow]) -> None:
    # Not with the request to connect: poolers in between refuse what they do not know there.
    await connection.execute(f"set statement_timeout = '{MOST_SECONDS}s'; set default_transaction_read_only = on")


class Readers:
    """A pool without transactions and without a question before each query. A dead connection costs a second try."""

    def __init__(self, url: str, *, size: int = ROOM) -> None:
        self._where = display_url(url)
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            min_size=0,
            max_size=size,
            timeout=PATIENCE,
            open=False,
            kwargs={"autocommit": True, "row_factory": dict_row, "connect_timeout": 5},
            configure=_for_reading,
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    async def fetch(self, name: str, params: dict[str, Any] | None = None, *, prepare: bool = True) -> list[DictRow]:
        """One named query. Those with many wishes are planned anew for what was really asked: `prepare=False`."""
        with translated(self._where):
            try:
                return await self._fetch(name, params, prepare)
            except (PoolTimeout, psycopg.errors.QueryCanceled):
                raise
            except (psycopg.OperationalError, psycopg.InterfaceError):
                # The server was restarted, and every connection of before is dead.
                await self._pool.check()
                return await self._fetch(name, params, prepare)

    async def _fetch(self, name: str, params: dict[str, Any] | None, prepare: bool) -> list[DictRow]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(query(name), params, prepare=None if prepare else False)
            return await cursor.fetchall()
