"""Outbox: appends messages in the transaction of a change, and reads them, woken by PostgreSQL notifications.

The reader has its own connections, because the pool's backoff grows while the database is down, and live updates should
resume quickly.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from found_footy.errors import StoreUnavailable
from found_footy.fixtures.models import OutboxEvent
from found_footy.notifications.models import OutboxMessage
from found_footy.storage.connections import TCP_OPTIONS, bounded, connect, limit_statements
from found_footy.storage.postgres import Connection, Query, fetch, load_queries, redacted_url

SQL = load_queries(__package__, "outbox")

log = logging.getLogger(__name__)

INITIAL_BACKOFF, MAX_BACKOFF = 0.25, 10.0

ANSWER_SECONDS = 20.0
PING_SECONDS = 15.0
"""Interval at which an idle listener checks its connection."""


class OutboxReader:
    """Reads messages by position. Listens for notifications while its `async with` block is open."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redacted_url = redacted_url(url)
        self._reading = asyncio.Lock()
        self._connection: Connection | None = None
        self._notified = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._listen(), name="listening for outbox events")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
        await self._disconnect()

    async def latest(self) -> int:
        """Assign positions to new messages and return the last position. All methods raise StoreUnavailable."""
        position: int = (await self._fetch(SQL["place"]))[0]["last"]
        return position

    async def since(self, after: int, limit: int) -> list[OutboxMessage]:
        return [_message_from_row(row) for row in await self._fetch(SQL["since"], after=after, limit=limit)]

    async def oldest(self) -> int | None:
        """Return the first position that is still stored, or None."""
        position: int | None = (await self._fetch(SQL["oldest"]))[0]["position"]
        return position

    async def wait(self, timeout_seconds: float = 1.0) -> None:
        """Wait for a notification, at most `timeout_seconds`: a notification may be lost."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self._notified.wait()
        self._notified.clear()

    async def _fetch(self, query: Query, **params: Any) -> list[DictRow]:
        async with self._reading:
            try:
                return await fetch(self._connection or await self._connect(), query, params)
            except psycopg.Error as error:
                # Every error is translated: the database may be down, restarting, or without tables.
                await self._disconnect()
                raise StoreUnavailable(f"{self._redacted_url}: {str(error).strip()}") from error
            except asyncio.CancelledError:
                await self._disconnect()  # the connection may hold an unread response
                raise

    async def _connect(self) -> Connection:
        connection: Connection = await bounded(ANSWER_SECONDS).connect(
            self._url, autocommit=True, row_factory=dict_row, **TCP_OPTIONS
        )
        self._connection = connection
        await limit_statements(connection, 15)
        return connection

    async def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    async def _listen(self) -> None:
        pause = INITIAL_BACKOFF
        while True:
            try:
                async with await connect(self._url, autocommit=True, answer_seconds=ANSWER_SECONDS) as connection:
                    await connection.execute("listen outbox")
                    pause = INITIAL_BACKOFF
                    self._notified.set()  # messages may have arrived while not listening
                    while True:
                        async for _ in connection.notifies(timeout=PING_SECONDS):
                            self._notified.set()
                        await connection.execute("select 1")
            except psycopg.Error as error:
                if pause == INITIAL_BACKOFF:
                    message = f"{self._redacted_url}: {str(error).strip()}"
                    log.warning(message, extra={"action": "outbox_unreachable"})
            await asyncio.sleep(pause)
            pause = min(MAX_BACKOFF, pause * 2)


def _message_from_row(row: DictRow) -> OutboxMessage:
    return OutboxMessage(**(row | {"at": row["at"].astimezone(UTC)}))


# --- Rows.


Row = dict[str, Any]


def outbox_row(event: OutboxEvent) -> Row:
    return {
        "topic": event.topic,
        "fixture_id": event.fixture_id,
        "event_id": event.event_id,
        "payload": event.payload,
    }


# --- Writing, in the transaction of the change.


async def append_outbox(connection: Connection, events: Sequence[OutboxEvent]) -> None:
    if events:
        await fetch(connection, SQL["add"], {"rows": Jsonb([outbox_row(each) for each in events])})
