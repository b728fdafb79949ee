"""Links that strangers post and that nobody should follow to their end: dead, forbidden, or without one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from found_footy.simulator.social.plan import TRAP

HUGE_BYTES = 10 * 1024**3
LOOPBACK = "http://127.0.0.1:9/goal.mp4"
"""Loopback, and not the simulator: nobody listens at the port for discarded data."""
PRIVATE = ("http://169.254.169.254/latest/meta-data/", "http://10.0.0.7/goal.mp4", "http://[::1]/goal.mp4")
"""Where a cloud tells its machines their secrets, and two addresses behind somebody's router."""

_HEAD = b"\0\0\0\x1cftypmp42\0\0\0\0mp42isommp41"
"""How a video begins, so that only its length gives it away."""
_CHUNK = bytes(256 * 1024)
_DRIP_SECONDS = 1.0
_DRIP_BYTES = 1024 * 1024
_STATUS = {
    "gone": (410, "Gone. This video has been removed by its owner."),
    "geo_blocked": (451, "This video is not available in your country."),
    "private": (403, "This video is private."),
}


def trap_routes(closing: asyncio.Event) -> list[Route]:
    """`closing` ends what has no end of its own."""

    async def trap(request: Request) -> Response:
        kind, name = request.path_params["kind"], request.path_params["name"]
        if kind in _STATUS:
            status, words = _STATUS[kind]
            return PlainTextResponse(words, status_code=status)
        if kind == "loopback":
            return RedirectResponse(LOOPBACK, status_code=302)
        if kind == "redirect_private":
            return RedirectResponse(PRIVATE[sum(name.encode()) % len(PRIVATE)], status_code=302)
        length = {"endless": None, "huge": HUGE_BYTES, "drip": _DRIP_BYTES}
        if kind not in length:
            return PlainTextResponse("Not Found", status_code=404)
        headers = {} if length[kind] is None else {"content-length": str(length[kind])}
        if request.method == "HEAD":
            return Response(media_type="video/mp4", headers=headers)
        body = _drip(closing) if kind == "drip" else _flood(closing, length[kind])
        return StreamingResponse(body, media_type="video/mp4", headers=headers)

    return [Route(f"{TRAP}/{{kind}}/{{name}}", trap)]


async def _flood(closing: asyncio.Event, length: int | None) -> AsyncIterator[bytes]:
    yield _HEAD
    sent = len(_HEAD)
    while not closing.is_set() and sent != length:
        chunk = _CHUNK if length is None else _CHUNK[: length - sent]
        yield chunk
        sent += len(chunk)
        await asyncio.sleep(0)  # Others want to be served too.


async def _drip(closing: asyncio.Event) -> AsyncIterator[bytes]:
    for number in range(_DRIP_BYTES):
        yield _HEAD[number : number + 1] or b"\0"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), _DRIP_SECONDS)
        if closing.is_set():
            return
