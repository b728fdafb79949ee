"""The proxy through which pages of strangers go out: public addresses, and the named private ones, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from found_footy.browser.proxy import EgressProxy
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.http_server import HttpServer

Proxied = tuple[httpx.AsyncClient, HttpServer]


async def hello(request: Request) -> Response:
    return PlainTextResponse(
        f"{request.method} {request.url.path}?{request.url.query} {request.headers.get('connection')}"
    )


async def away(request: Request) -> Response:
    return RedirectResponse("http://169.254.169.254/latest/meta-data/")


@asynccontextmanager
async def proxied(
    *named: str, answers: Sequence[str] | None = None
) -> AsyncIterator[tuple[httpx.AsyncClient, HttpServer]]:
    """A client that goes through the proxy, and a server on loopback. `answers` are what every name leads to."""
    routes = [Route("/away", away), Route("/{rest:path}", hello, methods=["GET", "POST"])]
    async with HttpServer(Starlette(routes=routes)) as server:
        hosts = [name.format(port=server.port) for name in named]

        async def resolve(host: str, port: int) -> Sequence[str]:
            return [host] if answers is None else answers

        outgoing = EgressProxy(AddressPolicy(hosts), resolve)
        await outgoing.start()
        try:
            async with httpx.AsyncClient(proxy=outgoing.url, timeout=20) as client:
                yield client, server
        finally:
            await outgoing.stop()


async def test_an_allowed_private_host_is_resolved_once_per_connection() -> None:
    async with proxied("127.0.0.1:{port}") as (client, server):
        answers = [
            await client.get(f"{server.url}/a?b=1"),
            await client.post(f"{server.url}/c", content=b"x" * 100_000),
        ]
    assert [each.text for each in answers] == ["GET /a?b=1 close", "POST /c? close"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:{port}/",
        "http://[fd00::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0/",
        "http://100.64.0.1/",
        # Public, but no port of the web.
        "http://93.184.216.34:22/",
    ],
)
async def test_a_private_address_is_refused(url: str) -> None:
    async with proxied() as (client, server):
        answer = await client.get(url.format(port=server.port))
    assert answer.status_code == 403


async def test_a_tunnel_to_a_private_address_is_refused() -> None:
    async with proxied() as (client, _):
        with pytest.raises(httpx.ProxyError, match="403"):
            await client.get("https://10.0.0.1/")


async def test_a_redirect_to_a_private_address_is_refused() -> None:
    async with proxied("127.0.0.1:{port}") as (client, server):
        answer = await client.get(f"{server.url}/away", follow_redirects=True)
    assert (answer.status_code, answer.url.host) == (403, "169.254.169.254")


async def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    async with proxied(answers=["93.184.216.34", "127.0.0.1"]) as (client, _):
        assert (await client.get("http://rebound.example/")).status_code == 403


async def test_an_unresolvable_name_is_not_a_refusal() -> None:
    async with proxied("gone.example:80", answers=[]) as (client, _):
        assert (await client.get("http://gone.example/")).status_code == 502


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET ftp://example.com/ HTTP/1.1\r\n\r\n",
        b"CONNECT example.com HTTP/1.1\r\n\r\n",
        b"CONNECT :443 HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\n\r\n",
        b"GET http://example.com:99999/ HTTP/1.1\r\n\r\n",
        b"\xff\xfe\x00 \x01 \x02\r\n\r\n",
    ],
)
async def test_invalid_proxy_requests_are_rejected(said: bytes) -> None:
    outgoing = EgressProxy(AddressPolicy())
    await outgoing.start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(outgoing.url.rsplit(":", 1)[1]))
        writer.write(said)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    finally:
        await outgoing.stop()
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert outgoing.refused == 1


async def test_a_head_without_an_end_is_cut_off() -> None:
    outgoing = EgressProxy(AddressPolicy())
    await outgoing.start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(outgoing.url.rsplit(":", 1)[1]))
        writer.write(b"GET http://example.com/ HTTP/1.1\r\nX: " + b"x" * 200_000)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
    finally:
        await outgoing.stop()
