"""HTTP API: `/search` and `/canary` for X, `/page` for feeds, `/health`; commands: `/recycle`, `/reset`, `/scale`."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from found_footy.browser.client import SECRET_HEADER
from found_footy.browser.group import MAX_BROWSERS
from found_footy.browser.page_reader import READERS, PageReadRequest, allowed
from found_footy.browser.x_search import XSearchRequest, parse_time
from found_footy.errors import (
    BrowserAway,
    FeedBlocked,
    FeedBusy,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedUnavailable,
    FootyError,
    NotFound,
    SourceChanged,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)

if TYPE_CHECKING:
    from found_footy.browser.service import BrowserService

STATUSES: dict[type[FootyError], int] = {
    SourceLoggedOut: 401,
    SourceRateLimited: 429,
    SourceChanged: 502,
    SourceUnavailable: 503,
    NotFound: 404,
    FeedBlocked: 403,
    FeedRateLimited: 429,
    BrowserAway: 503,
    FeedBusy: 429,
    FeedRejected: 502,
    FeedMalformed: 502,
    FeedUnavailable: 503,
}
MAX_QUERY_LENGTH = 512
"""X's own limit."""
MAX_POSTS = 200
DEFAULT_POSTS = 50
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
MAX_URL_LENGTH = 1000
MAX_BODY_BYTES = 4096
MAX_REASON_LENGTH = 200


class InvalidBrowserRequest(Exception):
    """Invalid request, with a message that states what is allowed."""


def parse_search_request(params: Mapping[str, str]) -> XSearchRequest:
    query = params.get("q", "").strip()
    if not query or len(query) > MAX_QUERY_LENGTH or not query.isprintable():
        raise InvalidBrowserRequest(f"q: a printable text of 1 to {MAX_QUERY_LENGTH} characters is allowed")
    since = parse_time(params["since"].replace(" ", "+")) if params.get("since") else None
    if params.get("since") and since is None:
        raise InvalidBrowserRequest("since: a time with its zone is allowed, such as 2026-08-22T14:03:00+00:00")
    limit = params.get("limit") or str(DEFAULT_POSTS)
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 4 and 1 <= int(limit) <= MAX_POSTS):
        raise InvalidBrowserRequest(f"limit: a whole number from 1 to {MAX_POSTS} is allowed")
    return XSearchRequest(query, since, int(limit))


def parse_page_request(params: Mapping[str, str], hosts: tuple[str, ...]) -> PageReadRequest:
    url, reader, until = params.get("url", ""), params.get("reader", ""), params.get("until") or None
    if len(url) > MAX_URL_LENGTH or not url.isprintable() or not allowed(url, hosts):
        raise InvalidBrowserRequest(f"url: a page of {', '.join(hosts) or 'no host at all'} is allowed")
    if reader not in READERS:
        raise InvalidBrowserRequest(f"reader: {' or '.join(READERS)} is allowed")
    if until is not None and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", until, re.ASCII):
        raise InvalidBrowserRequest("until: a day is allowed, such as 2026-08-22")
    return PageReadRequest(url, reader, until)


@dataclass(frozen=True, slots=True)
class BrowserCommand:
    reason: str
    is_recovery: bool = False
    """Whether the watchdog sends it."""
    browsers: int | None = None


async def parse_command(request: Request) -> BrowserCommand:
    """Parse the body of a command.

    Only JSON is accepted: a web page can post forms to loopback, but JSON requires a preflight.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidBrowserRequest('the body: JSON is allowed, such as {"reason": "feeds are stale"}')
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise InvalidBrowserRequest(f"the body: {MAX_BODY_BYTES} bytes are allowed")
    try:
        document = json.loads(body)
        reason, recovery = document.get("reason", ""), document.get("recovery", False)
        browsers = document.get("browsers")
    except (ValueError, AttributeError, RecursionError):
        raise InvalidBrowserRequest('the body: JSON is allowed, such as {"reason": "feeds are stale"}') from None
    if not isinstance(reason, str) or not reason.isprintable() or len(reason) > MAX_REASON_LENGTH:
        raise InvalidBrowserRequest(f"reason: a printable text of up to {MAX_REASON_LENGTH} characters is allowed")
    if browsers is not None and (type(browsers) is not int or not 1 <= browsers <= MAX_BROWSERS):
        raise InvalidBrowserRequest(f"browsers: a whole number from 1 to {MAX_BROWSERS} is allowed")
    return BrowserCommand(reason or "on request", recovery is True, browsers)


def browser_app(service: BrowserService) -> Starlette:
    async def search(request: Request) -> Response:
        posts = await service.search(parse_search_request(request.query_params))
        return _json({"posts": [post.to_json(service.options.x_url) for post in posts]})

    async def health(_: Request) -> Response:
        facts = service.health()
        if facts["healthy"]:
            return _json(facts)
        return _json({**facts, "error": _error_part("SourceUnavailable", facts["message"], "")}, 503)

    async def canary(_: Request) -> Response:
        return _json(await service.canary.check())

    async def page(request: Request) -> Response:
        order = parse_page_request(request.query_params, service.options.page_hosts)
        return _json({"data": await service.read(order)})

    async def recycle(request: Request) -> Response:
        command = await parse_command(request)
        return _json(await service.recycle(command.reason, is_recovery=command.is_recovery))

    async def reset(request: Request) -> Response:
        return _json(await service.reset_contexts((await parse_command(request)).reason))

    async def scale(request: Request) -> Response:
        browsers = (await parse_command(request)).browsers
        if browsers is None:
            raise InvalidBrowserRequest('the body: a number is required, such as {"browsers": 2}')
        return _json(await service.scale(browsers))

    return Starlette(
        routes=[
            Route("/search", search),
            Route("/canary", canary),
            Route("/page", page),
            Route("/health", health),
            Route("/recycle", recycle, methods=["POST"]),
            Route("/reset", reset, methods=["POST"]),
            Route("/scale", scale, methods=["POST"]),
        ],
        middleware=[_guard(service.options.secret)],
        exception_handlers={FootyError: _error_response, InvalidBrowserRequest: _bad_request},
    )


def _guard(secret: str | None) -> Middleware:
    if secret is not None:
        return Middleware(SecretMiddleware, secret=secret)
    # A web page can send requests to loopback under its own host name (DNS rebinding).
    return Middleware(TrustedHostMiddleware, allowed_hosts=list(LOCAL_HOSTS))


class SecretMiddleware:
    """Refuses every request without the secret."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._app = app
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get(SECRET_HEADER, "").encode()
        if hmac.compare_digest(given, self._secret):
            await self._app(scope, receive, send)
        else:
            refused = _error("NotAllowed", f"the header {SECRET_HEADER} has to be FOOTY_BROWSER_SECRET", "", 403)
            await refused(scope, receive, send)


async def _error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, FootyError)
    status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
    return _error(error.kind, str(error), error.hint, status)


async def _bad_request(_: Request, error: Exception) -> Response:
    return _error("BadRequest", str(error), "", 400)


def _error(kind: str, message: str, hint: str, status: int) -> Response:
    return _json({"error": _error_part(kind, message, hint)}, status)


def _error_part(kind: str, message: str, hint: str) -> dict[str, str]:
    return {"class": kind, "message": message, "hint": hint}


def _json(value: Any, status: int = 200) -> Response:
    """Return a JSON response with times in ISO 8601."""
    return Response(
        json.dumps(value, ensure_ascii=False, default=lambda time: time.isoformat()),
        status,
        media_type="application/json",
    )
