"""Live updates when somebody does not read, nothing happens, or the database is away."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from found_footy.errors import StoreUnavailable
from found_footy.notifications.outbox import OutboxReader
from tests.runtime.engine_helpers import eventually
from tests.support.sse import SseClient, StreamServer, stream_server

LARGE = "x" * 300_000


async def deaf(server: StreamServer, query: str = "") -> socket.socket:
    """Asks for the stream, hears the first of it, and reads nothing more."""
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.setblocking(False)
    loop = asyncio.get_running_loop()
    host = urlsplit(server.url)
    await loop.sock_connect(stream, (host.hostname, host.port))
    await loop.sock_sendall(stream, f"GET /api/v1/stream?{query} HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode())
    assert await loop.sock_recv(stream, 12) == b"HTTP/1.1 200"
    return stream


async def heard_of(server: StreamServer, stream: SseClient, count: int) -> list[str]:
    """So much news, each told when the one before was heard."""
    heard = []
    for _ in range(count):
        await server.publish(("goal.changed", 1, None, {"changed": LARGE}))
        heard.append((await stream.event()).id)
    return heard


async def test_a_client_that_does_not_read_is_closed_without_affecting_others(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        stream_server(database_url, tmp_path, buffer_messages=10) as server,
        server.open_stream("after=0") as stream,
    ):
        await stream.event()
        with await deaf(server):
            await eventually(lambda: server.hub.clients == 2)
            heard = await heard_of(server, stream, 60)
            await eventually(lambda: server.hub.clients == 1)
        heard += await heard_of(server, stream, 2)
    assert heard == [str(number) for number in range(1, 63)]


async def test_a_client_that_does_not_read_while_catching_up_is_closed(database_url: str, tmp_path: Path) -> None:
    options = {"buffer_messages": 10, "heartbeat_seconds": 0.4, "stall_seconds": 0.5}
    async with stream_server(database_url, tmp_path, **options) as server:
        await server.publish(*[("goal.changed", 1, None, {"changed": LARGE})] * 40)
        async with server.open_stream("after=0") as stream:
            await stream.events(41)
            with await deaf(server, "after=0"):
                await eventually(lambda: server.hub.clients == 2)
                await eventually(lambda: server.hub.clients == 1)
            assert await heard_of(server, stream, 1) == ["41"]


async def test_the_message_buffer_is_bounded(database_url: str, tmp_path: Path) -> None:
    async with (
        stream_server(database_url, tmp_path, buffer_bytes=1_000_000) as server,
        server.open_stream("after=0") as stream,
    ):
        await stream.event()
        await heard_of(server, stream, 10)
        assert len(server.hub.recent) == 3
        async with server.open_stream("after=0") as other:
            assert [event.id for event in await other.events(11)] == [str(number) for number in range(11)]


async def test_idle_streams_get_heartbeats(database_url: str, tmp_path: Path) -> None:
    async with stream_server(database_url, tmp_path, heartbeat_seconds=0.2) as server, server.open_stream() as stream:
        await stream.event()
        assert [(each.name, each.id) for each in (await stream.next(), await stream.next())] == [("", "0"), ("", "0")]


async def test_a_heartbeat_advances_the_last_id_of_a_filtered_stream(database_url: str, tmp_path: Path) -> None:
    async with (
        stream_server(database_url, tmp_path, heartbeat_seconds=0.2) as server,
        server.open_stream() as all_ears,
        server.open_stream("fixture=2") as stream,
    ):
        assert ((await all_ears.event()).id, (await stream.event()).id) == ("0", "0")
        await server.publish(*[("goal.seen", 1)] * 3)
        assert (await all_ears.events(3))[-1].id == "3"
        while stream.last_id != "3":
            assert (await stream.next()).name == ""
        await server.publish(("goal.seen", 2))
        assert (await stream.event()).id == "4"


async def hang_up(database_url: str, *, locked: bool) -> None:
    """Ends all connections to a database, and lets nobody in while it is locked."""
    parts = urlsplit(database_url)
    name = parts.path.lstrip("/")
    async with await psycopg.AsyncConnection.connect(
        parts._replace(path="/postgres").geturl(), autocommit=True
    ) as connection:
        lock = sql.SQL("alter database {} with allow_connections {}")
        await connection.execute(lock.format(sql.Identifier(name), sql.Literal(not locked)))
        await connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])


@pytest.mark.parametrize("away", [False, True])
async def test_clients_stay_connected_while_the_database_is_down_and_miss_nothing(
    database_url: str, tmp_path: Path, away: bool
) -> None:
    options = {"heartbeat_seconds": 0.2, "buffer_messages": 5}
    async with stream_server(database_url, tmp_path, **options) as server, server.open_stream() as stream:
        await stream.event()
        await server.publish(*[("goal.seen", 1)] * 8)
        assert (await stream.events(8))[-1].id == "8"
        await hang_up(database_url, locked=away)
        if away:
            async with server.open_stream("after=8") as newcomer, server.open_stream("after=1") as behind:
                for each in (stream, newcomer, behind):
                    while (await each.next()).name:
                        pass
                assert (await server.client.get("/api/v1/stream?after=9")).status_code == 503
                await hang_up(database_url, locked=False)
                assert [event.id for event in await behind.events(7)] == [str(number) for number in range(2, 9)]
        for number in range(9, 12):
            await server.publish(("goal.seen", 1))
            assert (await stream.event()).id == str(number)


async def test_a_database_without_tables_is_unavailable(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("drop function assign_outbox_positions")
    async with OutboxReader(database_url) as news:
        with pytest.raises(StoreUnavailable, match="assign_outbox_positions"):
            await news.latest()
        assert await news.oldest() is None
