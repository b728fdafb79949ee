"""The outbox as readers follow it: what came after a position, and a bell that rings when there may be more.

It has connections of its own. The pool waits longer and longer with a database that is away, and a reader of live
news should be back as soon as the database is.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from found_footy.adapters.storage.postgres.database import Connection, display_url, fetch
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.errors import StoreUnavailable

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0

PATIENCE: dict[str, Any] = {"connect_timeout": 5, "keepalives_idle": 15, "tcp_user_timeout": 15_000}
"""A server that vanished without a word is noticed, too."""


class PostgresNews:
    """Listens while its `async with` block is open."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._where = display_url(url)
        self._reading = asyncio.Lock()
        self._connection: Connection | None = None
        self._bell = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._listen(), name="listening for news")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
        await self._hang_up()

    async def latest(self) -> int:
        """The last position; whatever had none yet gets one. Raises StoreUnavailable, as the others do."""
        position: int = (await self._fetch("outbox.place"))[0]["last"]
        return position

    async def since(self, after: int, limit: int) -> list[NewsItem]:
        return [_item(row) for row in await self._fetch("outbox.since", after=after, limit=limit)]

    async def oldest(self) -> int | None:
        """The first position that is still kept; None where nothing is."""
        position: int | None = (await self._fetch("outbox.oldest"))[0]["position"]
        return position

    async def wait(self, most_seconds: float = 1.0) -> None:
        """Until somebody announced something, or so long: what nobody was told of must not stay unseen for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_seconds):
                await self._bell.wait()
        self._bell.clear()

    async def _fetch(self, name: str, **params: Any) -> list[DictRow]:
        async with self._reading:
            try:
                return await fetch(self._connection or await self._connect(), name, params)
            except psycopg.Error as error:
                # Whatever it says: away, restarting, or without its tables yet.
                await self._hang_up()
                raise StoreUnavailable(f"{self._where}: {str(error).strip()}") from error
            except asyncio.CancelledError:
                await self._hang_up()  # in the middle of an answer, which nobody else should get
                raise

    async def _connect(self) -> Connection:
        self._connection = await AsyncConnection.connect(self._url, autocommit=True, row_factory=dict_row, **PATIENCE)
        await self._connection.execute("set statement_timeout = '15s'")
        return self._connection

    async def _hang_up(self) -> None:
        if self._connection is not None:
            gone, self._connection = self._connection, None
            await gone.close()

    async def _listen(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True, **PATIENCE) as connection:
                    await connection.execute("listen news")
                    pause = FIRST_PAUSE
                    self._bell.set()  # for what came while nobody listened
                    async for _ in connection.notifies():
                        self._bell.set()
            except psycopg.Error as error:
                if pause == FIRST_PAUSE:
                    said = f"{self._where}: {str(error).strip()}"
                    log.warning(said, extra={"action": "news_unheard"})
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)


def _item(row: DictRow) -> NewsItem:
    return NewsItem(**(row | {"at": row["at"].astimezone(UTC)}))
