"""The service over HTTP: `/search`, `/health` and `/canary`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from found_footy.adapters.social.browser.reading import moment
from found_footy.adapters.social.browser.search import SearchOrder
from found_footy.domain.errors import (
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)

if TYPE_CHECKING:
    from found_footy.adapters.social.browser.service import BrowserService

STATUSES: dict[type[SourceError], int] = {
    SourceLoggedOut: 401,
    SourceRateLimited: 429,
    SourceChanged: 502,
    SourceUnavailable: 503,
}
LONGEST_QUERY = 512
"""As X itself has it."""
MOST_POSTS = 200
DEFAULT_POSTS = 50


class BadRequest(Exception):
    """The caller's fault, in a sentence that says what is allowed."""


def parse_order(params: Mapping[str, str]) -> SearchOrder:
    query = params.get("q", "").strip()
    if not query or len(query) > LONGEST_QUERY or not query.isprintable():
        raise BadRequest(f"q: a printable text of 1 to {LONGEST_QUERY} characters is allowed")
    since = moment(params["since"].replace(" ", "+")) if params.get("since") else None
    if params.get("since") and since is None:
        raise BadRequest("since: a time with its zone is allowed, such as 2026-08-22T14:03:00+00:00")
    limit = params.get("limit") or str(DEFAULT_POSTS)
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 4 and 1 <= int(limit) <= MOST_POSTS):
        raise BadRequest(f"limit: a whole number from 1 to {MOST_POSTS} is allowed")
    return SearchOrder(query, since, int(limit))


def browser_app(service: BrowserService) -> Starlette:
    async def search(request: Request) -> Response:
        posts = await service.search(parse_order(request.query_params))
        return _json({"posts": [post.to_json(service.options.x_url) for post in posts]})

    async def health(_: Request) -> Response:
        facts = service.health()
        if facts["healthy"]:
            return _json(facts)
        return _json({**facts, "error": _error_part("SourceUnavailable", facts["message"], "")}, 503)

    async def canary(_: Request) -> Response:
        return _json(await service.canary.ask())

    return Starlette(
        routes=[Route("/search", search), Route("/health", health), Route("/canary", canary)],
        # A page in somebody's browser can send requests to loopback, under a host name of its own.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={SourceError: _source_error, BadRequest: _bad_request},
    )


async def _source_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, SourceError)
    status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
    return _error(error.kind, str(error), error.hint, status)


async def _bad_request(_: Request, error: Exception) -> Response:
    return _error("BadRequest", str(error), "", 400)


def _error(kind: str, message: str, hint: str, status: int) -> Response:
    return _json({"error": _error_part(kind, message, hint)}, status)


def _error_part(kind: str, message: str, hint: str) -> dict[str, str]:
    return {"class": kind, "message": message, "hint": hint}


def _json(value: Any, status: int = 200) -> Response:
    """Times as ISO texts."""
    return Response(
        json.dumps(value, ensure_ascii=False, default=lambda time: time.isoformat()),
        status,
        media_type="application/json",
    )
