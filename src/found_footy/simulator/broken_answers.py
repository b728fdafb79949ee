"""What comes in the place of a feed's answer while the whole feed is in trouble. The same for every feed."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from found_footy.simulator.feed_script import Fault

BOMB_BYTES = 96 * 1024 * 1024
"""More than any reader should unpack; packed it is a hundred thousand."""
LOOP = "/simulator/loop"
CAPTCHA = (
    "<html><head><title>Just a moment...</title></head>"
    "<body><h1>Are you human?</h1><p>Please solve the captcha to continue.</p></body></html>"
)


async def broken(
    fault: Fault, request: Request, answer: Response, limited: Response, closing: asyncio.Event
) -> Response:
    """`answer` is what would have come, `limited` how this feed says that one asks too often.

    A request that was held gets its answer, only too late.
    """
    match fault.kind:
        case "server_error":
            return PlainTextResponse("Internal Server Error", status_code=500)
        case "truncated":
            body = bytes(answer.body)
            return Response(body[: len(body) * 2 // 3], media_type="application/json")
        case "html":
            return HTMLResponse("<html><body><h1>502 Bad Gateway</h1></body></html>")
        case "captcha":
            return HTMLResponse(CAPTCHA, status_code=403, headers={"cf-mitigated": "challenge"})
        case "rate_limit":
            return limited
        case "redirect_loop":
            return await _loop(request)
        case "gzip_bomb":
            return Response(_bomb(), media_type="application/json", headers={"content-encoding": "gzip"})
        case "hour_off":
            answer.headers["date"] = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
            return answer
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(closing.wait(), fault.seconds)
    return answer


async def _loop(request: Request) -> Response:
    return RedirectResponse(LOOP, status_code=302)


def loop_routes() -> list[Route]:
    """Where a redirect that never ends goes round: one poll, however often it is followed."""
    return [Route(LOOP, _loop)]


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * BOMB_BYTES, compresslevel=6)
