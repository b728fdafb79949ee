"""JSON that a reader may already have: tags of the content, and "not modified" instead of the same again."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from found_footy.web.answers.kept import KeptAnswer, Made
from found_footy.web.services import Services

FRESH_SECONDS = 5
"""What an answer or a page says of the time may be so old."""

_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?:,|$)", re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?("[^"]*")')


async def answer(request: Request, services: Services, make: Made, *, ages: bool = False) -> Response:
    """The JSON for this path and query, made anew only when something has changed.

    One that tells ages is also made anew every few seconds.
    """
    scope = request.scope
    moment = int(services.now().timestamp() // FRESH_SECONDS) if ages else None
    known = await services.kept.answer((scope["path"], scope["query_string"], moment), make)
    return await response_of(request, known, is_private=services.rules.read_access != "open")


async def listed(
    request: Request, services: Services, make: Callable[[], Awaitable[bytes]], *, ages: bool = False
) -> Response:
    """The same for what does not say itself which version it was made of."""
    return await answer(request, services, services.kept.after_version(make), ages=ages)


async def response_of(
    request: Request, known: KeptAnswer, *, is_private: bool, media_type: str = "application/json"
) -> Response:
    packs = known.is_worth_packing and accepts_gzip(request.headers.get("accept-encoding"))
    tag = f'"{known.etag}-gz"' if packs else f'"{known.etag}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache" if is_private else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if is_known(tag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    if packs:
        headers["Content-Encoding"] = "gzip"
        return Response(await known.packed(), headers=headers, media_type=media_type)
    return Response(known.body, headers=headers, media_type=media_type)


def accepts_gzip(accepted: str | None) -> bool:
    return accepted is not None and _GZIP.search(accepted) is not None


def is_known(tag: str, if_none_match: str | None) -> bool:
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)
