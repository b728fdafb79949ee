"""The HTTP server of our processes."""

from __future__ import annotations

import asyncio

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from found_footy.runtime.http_server import KEEP_ALIVE_SECONDS, HttpServer

NGINX_KEEP_ALIVE_SECONDS = 60


async def reply(_: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


def app() -> Starlette:
    return Starlette(routes=[Route("/", reply)])


def test_clients_and_proxies_drop_an_idle_connection_before_the_server_does() -> None:
    # A request on a connection that the server is closing fails at the client.
    assert max(NGINX_KEEP_ALIVE_SECONDS, httpx.Limits().keepalive_expiry or 0) < KEEP_ALIVE_SECONDS


async def test_the_server_keeps_connections_for_that_long_and_closes_them_when_it_stops() -> None:
    loop = asyncio.get_running_loop()
    async with HttpServer(app()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        await reader.readuntil(b"here")
        timers = [timer.when() - loop.time() for timer in loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        assert max(timers) > KEEP_ALIVE_SECONDS - 10
    assert await reader.read() == b""
    writer.close()
