"""Security headers on every response; rejection of unknown Host headers and oversized bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.web.errors import error_response
from found_footy.web.requests import is_known_host
from found_footy.web.services import WebRules

MAX_BODY_BYTES = 1024 * 1024
MIN_BYTES_PER_SECOND = 1024
"""Of a request body, after the first FOOTY_REQUEST_SECONDS."""
UPLOAD_PATHS = frozenset({"/api/v1/sources"})
"""Paths whose bodies are streamed to disk; all others are read into memory."""
MAX_CACHED_HOSTS = 64
HSTS_SECONDS = 182 * 24 * 3600

HeaderPairs = Sequence[tuple[bytes, bytes]]


def content_security_policy(media_origin: str | None) -> str:
    """Own origin only, no inline script or style. Signed links point to the object store's origin."""
    media = f" {media_origin}" if media_origin else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:{media}; media-src 'self'{media}; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def security_headers(rules: WebRules) -> HeaderPairs:
    headers = {
        "content-security-policy": content_security_policy(
            rules.media_origin if rules.video_links == "redirect" else None
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "x-frame-options": "DENY",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    if (rules.public_url or "").startswith("https://"):
        headers["strict-transport-security"] = f"max-age={HSTS_SECONDS}"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class SecurityHeadersMiddleware:
    """Pure ASGI, outermost: errors raised outside of all routes get the headers too."""

    def __init__(self, app: ASGIApp, rules: WebRules) -> None:
        self._app = app
        self._rules = rules
        self._headers = security_headers(rules)
        self._names = {name for name, _ in self._headers}
        self._hosts: dict[tuple[bytes, str | None], bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = self._with_headers(send)
        hosts: list[bytes] = []
        length, has_body = b"0", False
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value)
            elif name == b"content-length":
                length, has_body = value, True
            elif name == b"transfer-encoding":
                has_body = True
        reached_at = scope["server"][0] if scope.get("server") else None
        # With several, a proxy and this server could choose different ones.
        if len(hosts) != 1 or not self._is_known(hosts[0], reached_at):
            hint = "Use the address that `footy web` printed, or set FOOTY_PUBLIC_URL or FOOTY_ALLOWED_HOSTS."
            refusal = error_response(Request(scope), 400, "BadRequest", "unknown Host header", hint, {})
            await refusal(scope, receive, send)
            return
        limit = self._max_bytes(scope)
        if not length.isdigit() or int(length[:20]) > limit:
            headers = {"Connection": "close"}
            refusal = error_response(Request(scope), 413, "BadRequest", _too_large(limit), "", headers)
            await refusal(scope, receive, send)
            return
        await self._app(scope, _bounded(receive, limit, self._rules.request_seconds) if has_body else receive, send)

    def _max_bytes(self, scope: Scope) -> int:
        is_upload = scope["method"] == "POST" and scope["path"] in UPLOAD_PATHS
        return self._rules.source_mb * 1_000_000 if is_upload else MAX_BODY_BYTES

    def _is_known(self, host: bytes, reached_at: str | None) -> bool:
        is_known = self._hosts.get((host, reached_at))
        if is_known is None:
            rules = self._rules
            is_known = is_known_host(
                host.decode("latin-1"), rules.web_host, rules.public_url, rules.allowed_hosts, reached_at
            )
            if len(self._hosts) < MAX_CACHED_HOSTS:
                self._hosts[host, reached_at] = is_known
        return is_known

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = message["headers"] = list(message.get("headers", ()))
                names = {name for name, _ in response_headers}
                if self._names.isdisjoint(names):
                    response_headers.extend(self._headers)
                else:
                    response_headers.extend(pair for pair in self._headers if pair[0] not in names)
            await send(message)

        return send_with_headers


def _bounded(receive: Receive, limit: int, seconds: float) -> Receive:
    """Count received bytes, because chunked bodies have no Content-Length, and the time spent waiting for them.

    A body may take `seconds`, and longer only while it arrives at MIN_BYTES_PER_SECOND or faster.
    """
    size, waited, complete = 0, 0.0, False
    loop = asyncio.get_running_loop()

    async def receive_bounded() -> Message:
        nonlocal size, waited, complete
        if complete:  # only a disconnect can follow
            return await receive()
        began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, seconds + size / MIN_BYTES_PER_SECOND - waited)):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the request body arrives too slowly", {"Connection": "close"}) from None
        waited += loop.time() - began
        size += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if size > limit:
            raise HTTPException(413, _too_large(limit), {"Connection": "close"})
        return message

    return receive_bounded


def _too_large(limit: int) -> str:
    return f"request body is larger than {limit} bytes"
