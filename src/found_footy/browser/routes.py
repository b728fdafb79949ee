"""HTTP API: `/search` and `/canary` for X, `/page` for feeds, `/health`; commands: `/recycle`, `/reset`, `/scale`."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from found_footy.browser.group import MAX_BROWSERS
from found_footy.browser.models import BrowserOptions
from found_footy.browser.page_reader import READERS, PageReadRequest, is_allowed
from found_footy.browser.x_search import XSearchRequest, parse_time
from found_footy.errors import (
    BrowserUnavailable,
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
from found_footy.runtime.addresses import is_loopback
from found_footy.runtime.browser_secret import HEADER

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
    BrowserUnavailable: 503,
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
SECRET_HINT = "Set the same FOOTY_BROWSER_SECRET for `footy browser` and its clients."


class InvalidBrowserRequest(Exception):
    """Invalid request, with a message that states what is allowed."""


def parse_search_request(params: Mapping[str, str]) -> XSearchRequest:
    query = params.get("q", "").strip()
    if not query or len(query) > MAX_QUERY_LENGTH or not query.isprintable():
        raise InvalidBrowserRequest(f"q: expected 1 to {MAX_QUERY_LENGTH} printable characters")
    since = parse_time(params["since"].replace(" ", "+")) if params.get("since") else None
    if params.get("since") and since is None:
        raise InvalidBrowserRequest("since: expected a time with a time zone, such as 2026-08-22T14:03:00+00:00")
    limit = params.get("limit") or str(DEFAULT_POSTS)
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 4 and 1 <= int(limit) <= MAX_POSTS):
        raise InvalidBrowserRequest(f"limit: expected a whole number from 1 to {MAX_POSTS}")
    return XSearchRequest(query, since, int(limit))


def parse_page_request(params: Mapping[str, str], hosts: tuple[str, ...]) -> PageReadRequest:
    url, reader, until = params.get("url", ""), params.get("reader", ""), params.get("until") or None
    if len(url) > MAX_URL_LENGTH or not url.isprintable() or not is_allowed(url, hosts):
        raise InvalidBrowserRequest(f"url: expected a page of {', '.join(hosts) or 'a configured host (none is)'}")
    if reader not in READERS:
        raise InvalidBrowserRequest(f"reader: expected {' or '.join(READERS)}")
    if until is not None and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", until, re.ASCII):
        raise InvalidBrowserRequest("until: expected a date, such as 2026-08-22")
    return PageReadRequest(url, reader, until)


@dataclass(frozen=True, slots=True)
class BrowserCommand:
    reason: str
    is_recovery: bool = False
    """Whether the watchdog sent it."""
    browsers: int | None = None


async def parse_command(request: Request) -> BrowserCommand:
    """Parse the body of a command.

    Only JSON is accepted: a web page can post forms to loopback, but JSON requires a preflight.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidBrowserRequest('body: expected JSON, such as {"reason": "feeds are stale"}')
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise InvalidBrowserRequest(f"body: larger than {MAX_BODY_BYTES} bytes")
    try:
        document = json.loads(body)
        reason, recovery = document.get("reason", ""), document.get("recovery", False)
        browsers = document.get("browsers")
    except (ValueError, AttributeError, RecursionError):
        raise InvalidBrowserRequest('body: expected JSON, such as {"reason": "feeds are stale"}') from None
    if not isinstance(reason, str) or not reason.isprintable() or len(reason) > MAX_REASON_LENGTH:
        raise InvalidBrowserRequest(f"reason: expected up to {MAX_REASON_LENGTH} printable characters")
    if browsers is not None and (type(browsers) is not int or not 1 <= browsers <= MAX_BROWSERS):
        raise InvalidBrowserRequest(f"browsers: expected a whole number from 1 to {MAX_BROWSERS}")
    return BrowserCommand(reason or "on request", recovery is True, browsers)


class SecretMiddleware:
    """Rejects requests without the service's secret, because they use the account. `/health` is open."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._app = app
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health" and not self._is_authorized(scope):
            await _error("NotAllowed", "wrong or missing secret of the browser service", SECRET_HINT, 403)(
                scope, receive, send
            )
            return
        await self._app(scope, receive, send)

    def _is_authorized(self, scope: Scope) -> bool:
        return bool(self._secret) and hmac.compare_digest(_sent_secret(scope), self._secret)


def _sent_secret(scope: Scope) -> bytes:
    return next((value for name, value in scope["headers"] if name == HEADER.lower().encode()), b"")


def browser_app(service: BrowserService) -> Starlette:
    async def search(request: Request) -> Response:
        posts = await service.search(parse_search_request(request.query_params))
        return _json({"posts": [post.to_json(service.options.x_url) for post in posts]})

    async def health(request: Request) -> Response:
        facts = service.health()
        if not hmac.compare_digest(_sent_secret(request.scope), service.options.secret.encode()):
            return _json({"healthy": facts["healthy"]}, 200 if facts["healthy"] else 503)
        if facts["healthy"]:
            return _json(facts)
        return _json({**facts, "error": _error_part("SourceUnavailable", facts["message"], "")}, 503)

    async def canary(_: Request) -> Response:
        return _json(await service.canary.check())

    async def page(request: Request) -> Response:
        page_request = parse_page_request(request.query_params, service.options.page_hosts)
        return _json({"data": await service.read(page_request)})

    async def recycle(request: Request) -> Response:
        command = await parse_command(request)
        return _json(await service.recycle(command.reason, is_recovery=command.is_recovery))

    async def reset(request: Request) -> Response:
        return _json(await service.reset_contexts((await parse_command(request)).reason))

    async def scale(request: Request) -> Response:
        browsers = (await parse_command(request)).browsers
        if browsers is None:
            raise InvalidBrowserRequest('body: expected a number, such as {"browsers": 2}')
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
        middleware=_middleware(service.options),
        exception_handlers={FootyError: _error_response, InvalidBrowserRequest: _bad_request},
    )


def _middleware(options: BrowserOptions) -> list[Middleware]:
    middleware = [Middleware(SecretMiddleware, secret=options.secret)]
    if is_loopback(options.host):
        # A web page can send requests to loopback under its own host name (DNS rebinding).
        middleware.insert(0, Middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL_HOSTS, options.host]))
    return middleware


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
