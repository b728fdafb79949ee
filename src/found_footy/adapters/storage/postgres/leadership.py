"""One at a time over all machines: a lock of the database that ends with the connection of whoever holds it."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection

from found_footy.adapters.storage.postgres.database import display_url
from found_footy.domain.errors import StoreUnavailable

WATCHDOG = 7_042_027
"""Any number that nobody else uses as an advisory lock in this database."""
PATIENCE: dict[str, Any] = {"connect_timeout": 5, "keepalives_idle": 15, "tcp_user_timeout": 15_000}


class Leadership:
    def __init__(self, url: str, lock: int = WATCHDOG) -> None:
        self._url = url
        self._lock = lock
        self._connection: AsyncConnection | None = None

    async def held(self) -> bool:
        """Takes it if it is free. Raises StoreUnavailable, and then somebody else may hold it."""
        try:
            if self._connection is not None:
                await self._connection.execute("select 1")
                return True
            return await self._take()
        except psycopg.Error as error:
            await self.release()
            raise StoreUnavailable(f"{display_url(self._url)}: {str(error).strip()}") from error

    async def _take(self) -> bool:
        connection = await AsyncConnection.connect(self._url, autocommit=True, **PATIENCE)
        taken = False
        try:
            # The server, too, has to notice a machine that vanished without a word, or nobody would ever follow it.
            await connection.execute("set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5")
            await connection.execute("set tcp_keepalives_count = 3; set statement_timeout = '10s'")
            cursor = await connection.execute("select pg_try_advisory_lock(%s)", [self._lock])
            taken = bool((await cursor.fetchone() or (False,))[0])
        finally:
            if taken:
                self._connection = connection
            else:
                await connection.close()
        return taken

    async def release(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()
