"""The stream of one listener as an ASGI answer.

A task of its own writes. The request's task only waits for the reader to leave: it stands at the end of a long chain
of calls, and going down that chain for each message costs more than the message itself.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from found_footy.web.live.hub import Hub
from found_footy.web.live.listener import End
from found_footy.web.live.wishes import Wishes

FAREWELL_SECONDS = 1.0


class NewsStream(Response):
    media_type = "text/event-stream"

    def __init__(self, hub: Hub, wants: Wishes, position: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._hub, self._wants, self._position = hub, wants, position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def write(content: bytes) -> None:
            await send({"type": "http.response.body", "body": content, "more_body": True})

        listener = self._hub.enter(self._wants, self._position)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            writing = asyncio.create_task(listener.run(write))
            try:
                await _until_left(receive, writing)
            finally:
                listener.end(End.LEFT)
                await writing
        finally:
            self._hub.leave(listener)
        if listener.ended is not End.LEFT:
            await _finish(send)


async def _until_left(receive: Receive, writing: asyncio.Task[None]) -> None:
    """Until the other side has hung up, or there is nothing more to write."""

    def stop(_: asyncio.Task[None]) -> None:
        limit.reschedule(0)

    with suppress(TimeoutError):
        async with asyncio.timeout(None) as limit:
            writing.add_done_callback(stop)
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:
                writing.remove_done_callback(stop)


async def _finish(send: Send) -> None:
    """In good order, unless the other side takes not even that; then the server cuts the connection."""
    with suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL_SECONDS):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
