"""A picture that somebody searches with: read within bounds, decoded elsewhere, and not too often from one place."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request

from found_footy.domain.access import client_of
from found_footy.domain.errors import BadRequest, DecoderUnavailable, MediaError, StreamFull, TooManyRequests
from found_footy.domain.feeds.token_bucket import admit
from found_footy.ports_library import PictureDecoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_BYTES = 1024 * 1024
"""As of every request that is read into memory. The page makes pictures smaller before it sends them."""
AT_ONCE = 8
BURST, INTERVAL = 10, 2_000_000
"""Pictures that one visitor may send together, and microseconds until there is room for another one."""
MOST_VISITORS = 1000


class Pictures:
    """One for each process."""

    def __init__(self, now: Callable[[], int] = lambda: time.monotonic_ns() // 1000) -> None:
        self._now = now
        self._full_at: OrderedDict[str, int] = OrderedDict()
        self._under_way = 0

    async def read(self, request: Request, decoder: PictureDecoder) -> NDArray[np.uint8]:
        """Raises BadRequest, TooManyRequests and StreamFull."""
        self._admit(client_of(request.client.host if request.client else None))
        if self._under_way >= AT_ONCE:
            raise StreamFull(f"{self._under_way} pictures are being looked at already")
        self._under_way += 1
        try:
            return await decoder.picture(await body_of(request))
        except MediaError as error:
            raise BadRequest(f"no search by this picture: {error}") from None
        except DecoderUnavailable as error:
            raise StreamFull(str(error)) from None
        finally:
            self._under_way -= 1

    def _admit(self, client: str) -> None:
        now = self._now()
        admission = admit(self._full_at.get(client, now), now, INTERVAL, BURST)
        self._full_at[client] = admission.full_at
        self._full_at.move_to_end(client)
        if len(self._full_at) > MOST_VISITORS:
            self._full_at.popitem(last=False)
        if admission.wait:
            seconds = max(1, round(admission.wait / 1e6 + 0.5))
            error = TooManyRequests(f"too many pictures from this address; try again in {seconds} s")
            vars(error)["headers"] = {"Retry-After": str(seconds)}
            raise error


async def body_of(request: Request) -> bytes:
    """The picture's bytes, as they are: no form around them. Raises BadRequest."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not kind.startswith("image/") and kind != "application/octet-stream":
        raise BadRequest("a picture is sent as image/jpeg, image/png or the like, without a form around it")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise BadRequest(f"a picture to search with has at most {MOST_BYTES} bytes")
    if not body:
        raise BadRequest("there is no picture in this request")
    return bytes(body)


def pictures_of(request: Request) -> Pictures:
    state = request.app.state
    if not hasattr(state, "search_pictures"):
        state.search_pictures = Pictures()
    found: Pictures = state.search_pictures
    return found
