"""A reader of server-sent events that keeps to the standard, and one that writes news."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg.types.json import Jsonb

from found_footy.app import open_web
from found_footy.notifications.outbox import OutboxReader
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app
from found_footy.web.live import Hub
from tests.support.web_world import settings_for


@dataclass(frozen=True)
class SseEvent:
    """One event, or a comment (`name` is empty then)."""

    name: str
    id: str
    data: Any = None


class SseClient:
    """One connection. `last_id` is what a browser would send when it comes back."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.last_id = ""
        self._events = self._parse()

    async def next(self) -> SseEvent:
        """The next event or comment. Raises StopAsyncIteration where the stream has ended."""
        async with asyncio.timeout(20):
            return await anext(self._events)

    async def event(self) -> SseEvent:
        while not (heard := await self.next()).name:
            pass
        return heard

    async def events(self, count: int) -> list[SseEvent]:
        return [await self.event() for _ in range(count)]

    async def _parse(self) -> AsyncIterator[SseEvent]:
        name = data = ""
        id_, comment = self.last_id, False
        async for line in self.response.aiter_lines():
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                self.last_id = id_  # not before: an event that is cut off does not count
                if data:
                    yield SseEvent(name or "message", self.last_id, json.loads(data))
                elif comment:
                    yield SseEvent("", self.last_id)
                name, data, comment = "", "", False
            elif not field:
                comment = True
            elif field == "id":
                id_ = value
            elif field == "event":
                name = value
            elif field == "data":
                data += value


@asynccontextmanager
async def open_stream(
    client: httpx.AsyncClient, query: str = "", last_id: str | int | None = None
) -> AsyncIterator[SseClient]:
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    async with client.stream("GET", f"/api/v1/stream?{query}", headers=headers, timeout=30) as response:
        assert response.status_code == 200, (await response.aread()).decode()
        yield SseClient(response)


@dataclass(frozen=True)
class StreamServer:
    """A server with a hub of its own kind."""

    url: str
    client: httpx.AsyncClient
    hub: Hub
    database_url: str

    def open_stream(self, query: str = "", last_id: str | int | None = None) -> AbstractAsyncContextManager[SseClient]:
        return open_stream(self.client, query, last_id)

    async def publish(self, *rows: Any) -> None:
        await write_outbox(self.database_url, *rows)


@asynccontextmanager
async def stream_server(database_url: str, folder: Path, **options: Any) -> AsyncIterator[StreamServer]:
    options = {"max_clients": 100, "heartbeat_seconds": 15.0} | options
    limits = httpx.Limits(max_connections=None)
    async with (
        open_web(settings_for(database_url, folder)) as services,
        OutboxReader(database_url) as news,
        Hub(news, **options) as hub,
        HttpServer(create_app(replace(services, live=hub)), grace_seconds=2) as server,
        httpx.AsyncClient(base_url=server.url, limits=limits) as client,
    ):
        try:
            yield StreamServer(server.url, client, hub, database_url)
        finally:
            hub.close()  # the server waits for open answers


ADD = "insert into outbox (topic, fixture_id, event_id, payload) values (%s, %s, %s, %s)"


async def write_outbox(url: str, *rows: Any) -> None:
    """Rows of topic, fixture and, where it matters, event and payload; all in one transaction."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await insert_outbox_rows(connection, rows)


async def insert_outbox_rows(connection: psycopg.AsyncConnection[Any], rows: Sequence[Any]) -> None:
    for topic, fixture, *more in rows:
        event, payload = more or (None, {})
        await connection.execute(ADD, [topic, fixture, event, Jsonb(payload)])
