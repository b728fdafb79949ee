"""Security headers, and requests that are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import NoReturn

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from found_footy.clips.store import LinkStore
from found_footy.errors import StoreUnavailable
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app
from found_footy.web.security import (
    MAX_BODY_BYTES,
    SecurityHeadersMiddleware,
    content_security_policy,
    security_headers,
)
from found_footy.web.services import WebRules, WebServices
from tests.support.web_access import PAGE

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", ["/login", "/nowhere", "/api/v1/nowhere", "/static/footy.css", "/api/v1/openapi.json"])
async def test_every_response_has_the_security_headers(site: httpx.AsyncClient, path: str) -> None:
    answer = await site.get(path, headers=PAGE)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert "strict-transport-security" not in answer.headers
    assert len(answer.headers.get_list("content-security-policy")) == 1


@pytest.mark.parametrize(
    ("rules", "name", "said"),
    [
        (WebRules(public_url="https://goals.example"), b"strict-transport-security", b"max-age="),
        (
            WebRules(video_links="redirect", media_origin="https://s3.example"),
            b"content-security-policy",
            b"img-src 'self' data: https://s3.example; media-src 'self' https://s3.example;",
        ),
        (WebRules(media_origin="https://s3.example"), b"content-security-policy", b"media-src 'self';"),
    ],
)
def test_settings_change_headers(rules: WebRules, name: bytes, said: bytes) -> None:
    assert said in dict(security_headers(rules))[name]


def test_no_csp_allows_inline_script() -> None:
    assert "unsafe" not in content_security_policy("https://s3.example")


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:1234", 200), ("[::1]", 200), ("evil.example", 400), ("", 400), ("a b", 400)],
)
async def test_an_unknown_host_header_is_refused(site: httpx.AsyncClient, host: str, status: int) -> None:
    assert (await site.get("/login", headers={"host": host})).status_code == status


@pytest.mark.parametrize("second", ["elsewhere.example", None])
async def test_of_two_host_headers_none_counts(site: httpx.AsyncClient, second: str | None) -> None:
    own = site.base_url.netloc.decode()
    for pair in ([own, second or own], [second or own, own]):
        reader, writer = await asyncio.open_connection(site.base_url.host, site.base_url.port)
        writer.write(f"GET /login HTTP/1.1\r\nHost: {pair[0]}\r\nHost: {pair[1]}\r\n\r\n".encode())
        assert (await reader.readline()).split()[1] == b"400"
        writer.close()


class _BrokenLinks(LinkStore):
    def __init__(self) -> None:
        pass

    async def video(self, video_id: str) -> NoReturn:
        raise StoreUnavailable("PostgreSQL at db.internal:5432 refused the connection of 10.0.0.7")


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
async def test_error_bodies_shown_to_the_public_contain_no_internal_address(
    server: tuple[str, WebServices], accept: str
) -> None:
    broken = create_app(replace(server[1], links=_BrokenLinks()))
    async with HttpServer(broken) as running, httpx.AsyncClient(base_url=running.url) as web:
        local = await web.get("/v/0123456789abcdef", headers={"accept": accept})
        public = await web.get("/v/0123456789abcdef", headers={"accept": accept, "x-forwarded-for": "203.0.113.5"})
    assert (local.status_code, public.status_code) == (503, 503)
    assert "db.internal" in local.text
    assert "cannot be reached" in public.text
    for secret in ("db.internal", "5432", "10.0.0.7"):
        assert secret not in public.text


async def test_a_large_body_is_refused_before_it_is_read(web: httpx.AsyncClient) -> None:
    answer = await web.post("/login", content=b"x" * (MAX_BODY_BYTES + 1))
    assert (answer.status_code, answer.json()["error"]["class"]) == (413, "BadRequest")


async def test_a_chunked_body_is_counted() -> None:
    async def reads_everything(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass

    async def endless() -> Message:
        return {"type": "http.request", "body": b"x" * 65536, "more_body": True}

    async def unheard(message: Message) -> None:
        raise AssertionError(message)

    headers = [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    with pytest.raises(HTTPException) as refused:
        await SecurityHeadersMiddleware(reads_everything, WebRules())(scope, endless, unheard)
    assert refused.value.status_code == 413


async def test_a_chunked_form_over_the_limit_is_refused(web: httpx.AsyncClient) -> None:
    async def long() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"back=" + b"x" * 16384

    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = await web.post("/preferences", content=long(), headers=headers)
    assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")
