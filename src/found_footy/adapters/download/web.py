"""GET from a stranger's server: every hop checked, nothing kept between two requests, every byte counted.

httpcore itself and not httpx's client: no cookies, no proxies of the environment, no redirects and no unpacking
happen behind our back.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpcore
import httpx

from found_footy.adapters.download.contents import HEAD_BYTES
from found_footy.adapters.download.limits import DownloadLimits, Trip
from found_footy.adapters.download.statuses import trouble
from found_footy.adapters.download.unpacking import unpacker
from found_footy.adapters.download.urls import checked_url, shown
from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.adapters.guarded.connections import GuardedBackend, Resolve, system_resolve
from found_footy.domain.errors import ClipLost
from found_footy.domain.videos.losses import Loss
from found_footy.http_exchanges import note_exchange
from found_footy.user_agent import USER_AGENT

REDIRECTS = frozenset({301, 302, 303, 307, 308})
ERROR_BYTES = 65_536
HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}

BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
"""What a connection ends with that does not hold."""


class Answer:
    """An answer whose body is still to come."""

    def __init__(self, url: httpx.URL, response: httpcore.Response) -> None:
        self.url = url
        self.status = response.status
        self.headers = httpx.Headers(response.headers)
        self.raw_bytes = 0
        """As they came over the line."""
        self._unpack = unpacker(self.headers.get("content-encoding", ""))
        self._pieces = self._unpacked(response)
        self._head: list[bytes] = []

    @property
    def packed(self) -> bool:
        return self._unpack is not None

    @property
    def length(self) -> int | None:
        """As the server announces it."""
        text = self.headers.get("content-length", "")
        return int(text) if text.isdecimal() and len(text) < 20 else None

    async def head(self) -> bytes:
        """The first bytes, which stay in the body."""
        while sum(map(len, self._head)) < HEAD_BYTES:
            piece = await anext(self._pieces, None)
            if piece is None:
                break
            self._head.append(piece)
        return b"".join(self._head)

    async def body(self) -> AsyncIterator[bytes]:
        while self._head:
            yield self._head.pop(0)
        async for piece in self._pieces:
            yield piece

    async def read(self, most: int) -> bytes:
        """At most so many bytes; the rest is left."""
        pieces, size = [], 0
        async for piece in self.body():
            pieces.append(piece)
            size += len(piece)
            if max(size, self.raw_bytes) >= most:
                break
        return b"".join(pieces)[:most]

    async def text(self, most: int) -> str:
        return (await self.read(most)).decode("utf-8", "replace")

    async def _unpacked(self, response: httpcore.Response) -> AsyncIterator[bytes]:
        async for data in response.aiter_stream():
            self.raw_bytes += len(data)
            if self._unpack is None:
                yield data
                continue
            for piece in self._unpack(data):
                yield piece


class Web:
    def __init__(self, limits: DownloadLimits, resolve: Resolve = system_resolve) -> None:
        self._timeouts = limits.timeouts
        # A connection serves one request: what a stranger's server left in it reaches nobody else.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=None,
            max_keepalive_connections=0,
            network_backend=GuardedBackend(AddressRule(limits.private_hosts), _forbidden, resolve),
        )

    @asynccontextmanager
    async def get(
        self, url: httpx.URL, trip: Trip, headers: Mapping[str, str] | None = None, *, judged: bool = True
    ) -> AsyncIterator[Answer]:
        """The answer at the end of all redirects. Where `judged`, one that is no success is raised as what it means."""
        while True:
            began = time.monotonic()
            async with self._pool.stream(
                "GET",
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=[("Host", url.netloc.decode("ascii")), *HEADERS.items(), *(headers or {}).items()],
                extensions={"timeout": self._timeouts},
            ) as response:
                trip.answered = True
                answer = Answer(url, response)
                # The body is still to come: it can be hundreds of megabytes.
                took = time.monotonic() - began
                note_exchange("GET", str(url), took, status=answer.status, headers=answer.headers)
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    if judged:
                        await _judge(answer)
                    yield answer
                    return
            if trip.redirects_left <= 0:
                raise ClipLost(Loss.UNREACHABLE, f"{shown(url)} sends us elsewhere once too often")
            trip.redirects_left -= 1
            url = checked_url(answer.headers["location"], url)

    async def aclose(self) -> None:
        await self._pool.aclose()


def _forbidden(reason: str) -> ClipLost:
    return ClipLost(Loss.FORBIDDEN_ADDRESS, reason)


async def _judge(answer: Answer) -> None:
    if trouble(answer.status, "") is None:
        return
    words = await answer.text(ERROR_BYTES) if answer.status == 403 else ""
    if (error := trouble(answer.status, shown(answer.url), words)) is not None:
        raise error
