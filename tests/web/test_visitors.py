"""Who a request comes from, and limits per address."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.errors import StreamFull, TooManyRequests
from found_footy.runtime.http_server import MAX_INCOMPLETE_REQUESTS, HttpServer
from found_footy.web.app import create_app
from found_footy.web.services import WebServices
from found_footy.web.visitors import ConcurrencyLimit, ProxyTrust, Visitor
from tests.conftest import SampleDataCopy
from tests.support.sse import stream_server
from tests.support.web_access import PAGE, make_token
from tests.support.web_world import served

PROXY = "10.0.0.2"


def forwarded(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"x-forwarded-for", value.encode()) for value in values]


@pytest.mark.parametrize(
    ("peer", "headers", "visitor"),
    [
        ("127.0.0.1", [], Visitor("127.0.0.1", is_local=True)),
        ("::1", [], Visitor("::1", is_local=True)),
        ("192.0.2.9", [], Visitor("192.0.2.9")),
        # An untrusted proxy: nobody is local, and what it forwards does not count.
        ("127.0.0.1", forwarded("127.0.0.1"), Visitor("127.0.0.1")),
        ("127.0.0.1", [(b"x-real-ip", b"127.0.0.1")], Visitor("127.0.0.1")),
        ("127.0.0.1", [(b"via", b"1.1 proxy")], Visitor("127.0.0.1")),
        ("192.0.2.9", forwarded("203.0.113.5"), Visitor("192.0.2.9")),
        # A trusted one: the rightmost address that is no proxy; what is left of it may be invented.
        (PROXY, forwarded("203.0.113.5"), Visitor("203.0.113.5")),
        (PROXY, forwarded("127.0.0.1, 203.0.113.5, 10.0.0.3"), Visitor("203.0.113.5")),
        (PROXY, forwarded("198.51.100.1", "203.0.113.5"), Visitor("203.0.113.5")),
        (PROXY, forwarded("203.0.113.5:4711"), Visitor("203.0.113.5")),
        (PROXY, forwarded("[2001:db8::7]:4711"), Visitor("2001:db8::7")),
        (PROXY, forwarded("127.0.0.1"), Visitor("127.0.0.1")),
        (PROXY, forwarded("203.0.113.5, nonsense"), Visitor(None)),
        (PROXY, forwarded("10.0.0.3"), Visitor("10.0.0.3")),
        (PROXY, [], Visitor(PROXY)),
        (f"::ffff:{PROXY}", forwarded("203.0.113.5"), Visitor("203.0.113.5")),
        (
            PROXY,
            [*forwarded("203.0.113.5"), (b"x-forwarded-proto", b"https")],
            Visitor("203.0.113.5", scheme="https"),
        ),
        ("192.0.2.9", [(b"x-forwarded-proto", b"https")], Visitor("192.0.2.9")),
    ],
)
def test_only_trusted_proxies_name_the_visitor(peer: str, headers: list[tuple[bytes, bytes]], visitor: Visitor) -> None:
    assert ProxyTrust(["10.0.0.0/8"]).visitor(peer, headers) == visitor


@pytest.mark.parametrize(
    ("headers", "version", "local"),
    [
        ([(b"host", b"127.0.0.1:8000"), (b"connection", b"keep-alive")], "1.1", True),
        ([(b"host", b"[::1]:8000")], "2", True),
        ([(b"host", b"127.0.0.1:8000")], "1.0", False),  # nginx by default
        ([(b"host", b"localhost:8000"), (b"connection", b"Close")], "1.1", False),  # nginx with proxy_http_version 1.1
        ([(b"host", b"footy.example.org")], "1.1", False),  # HAProxy
    ],
)
def test_a_proxy_without_forwarding_headers_is_recognised(
    headers: list[tuple[bytes, bytes]], version: str, local: bool
) -> None:
    assert ProxyTrust().visitor("127.0.0.1", headers, version) == Visitor("127.0.0.1", is_local=local)


@pytest.mark.parametrize("headers", [{"x-forwarded-for": "127.0.0.1"}, {"connection": "close"}])
async def test_a_proxied_visitor_is_never_treated_as_local(web: httpx.AsyncClient, headers: dict[str, str]) -> None:
    local = (await web.get("/health")).json()
    proxied = (await web.get("/health", headers=headers)).json()
    assert local["engines"]
    assert not proxied.get("engines")


async def test_ten_wrong_logins_do_not_lock_out_other_visitors(small_world: SampleDataCopy) -> None:
    right = await make_token(small_world.store, Role.READER)
    settings = small_world.settings.model_copy(update={"trusted_proxies": ("127.0.0.0/8",)})
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:

        async def log_in(token: str, address: str) -> int:
            headers = {**PAGE, "x-forwarded-for": address}
            return (await web.post("/login", data={"token": token}, headers=headers)).status_code

        answers = [await log_in("wrong", "203.0.113.5") for _ in range(10)]
        assert answers == [401] * 9 + [429]
        assert await log_in("wrong", "203.0.113.6") == 401, "another address"
        assert await log_in(right, "203.0.113.5") == 303, "another person behind the same address"


async def test_guesses_at_one_token_slow_down_over_all_addresses(small_world: SampleDataCopy) -> None:
    right = await make_token(small_world.store, Role.READER)
    guess = right[:-64] + "0" * 64
    settings = small_world.settings.model_copy(update={"trusted_proxies": ("127.0.0.0/8",), "login_failures": 3})
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:

        async def log_in(token: str, number: int) -> int:
            headers = {**PAGE, "x-forwarded-for": f"203.0.113.{number}"}
            return (await web.post("/login", data={"token": token}, headers=headers)).status_code

        assert [await log_in(guess, number) for number in range(4)] == [401, 401, 429, 429]
        assert await log_in(right, 9) == 303, "its owner is not locked out"


# --- limits per address


def test_a_limit_counts_per_address_and_in_total() -> None:
    limit = ConcurrencyLimit(4, "things", per_address=2)
    with limit.entered("a"), limit.entered("a"):
        with pytest.raises(TooManyRequests, match="too many concurrent things from this address"):
            limit.check("a")
        with limit.entered("b"), limit.entered(None), pytest.raises(StreamFull):
            limit.check("c")
    assert limit.running == 0
    limit.check("a")


async def test_live_updates_are_limited_per_address(database_url: str, tmp_path: Path) -> None:
    async with stream_server(database_url, tmp_path, clients_per_address=2) as server:
        proxied = {"x-forwarded-for": "203.0.113.5"}
        path = "/api/v1/stream"
        async with (
            server.client.stream("GET", path, headers=proxied) as first,
            server.client.stream("GET", path, headers=proxied) as second,
        ):
            assert (first.status_code, second.status_code) == (200, 200)
            refused = await server.client.get(path, headers=proxied)
            assert (refused.status_code, refused.json()["error"]["class"]) == (429, "TooManyRequests")
            async with server.client.stream("GET", path) as local:
                assert local.status_code == 200


async def test_downloads_are_limited_per_address(
    server: tuple[str, WebServices], small_world: SampleDataCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = server
    (row,) = await small_world.store.database.fetch("select id from videos where state = 'kept' limit 1")
    limit = ConcurrencyLimit(500, "downloads", per_address=1)
    limit.add("203.0.113.5")
    monkeypatch.setattr("found_footy.web.files.downloads_of", lambda request: limit)
    monkeypatch.setattr("found_footy.web.files.limited_address", lambda connection: "203.0.113.5")
    async with httpx.AsyncClient(base_url=url) as web:
        refused = await web.get(f"/v/{row['id']}")
        limit.remove("203.0.113.5")
        assert (refused.status_code, (await web.get(f"/v/{row['id']}")).status_code) == (429, 200)


# --- slow requests


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Waits for the end of the connection."""
    with suppress(ConnectionResetError):
        await reader.read(-1)
    return True


async def test_a_request_with_slow_headers_is_closed(server: tuple[str, WebServices]) -> None:
    async with HttpServer(create_app(server[1]), head_seconds=0.2) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        writer.write(b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in await reader.readline()
        writer.write(b"GET /login HTTP/1.1\r\nHost: loc")  # the next request on the same connection
        assert await is_closed(reader)
        writer.close()


async def test_one_peer_cannot_hold_many_unfinished_requests(server: tuple[str, WebServices]) -> None:
    async with HttpServer(create_app(server[1])) as running:
        connections = [await asyncio.open_connection("127.0.0.1", running.port) for _ in range(MAX_INCOMPLETE_REQUESTS)]
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert await is_closed(reader)
            writer.close()
        finally:
            for _, each in connections:
                each.close()


async def test_a_request_with_a_slow_body_is_refused(server: tuple[str, WebServices]) -> None:
    services = server[1]
    app = create_app(replace(services, rules=replace(services.rules, request_seconds=0.2)))
    async with HttpServer(app) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        writer.write(head + b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken=")
        assert b"408" in await reader.readline()
        writer.close()
