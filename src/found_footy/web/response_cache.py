"""Response cache keyed by request and database snapshot; an entry is valid while `pg_current_snapshot()` is unchanged.

A list of fifty matches costs the database some ten milliseconds, and on a matchday all clients request the same one.
Reading the snapshot version costs a tenth of a millisecond, shared by concurrent requests.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

if TYPE_CHECKING:
    from found_footy.web.services import WebServices

MAX_CACHE_BYTES = 32 * 1024 * 1024
MIN_GZIP_BYTES = 1024
GZIP_IN_THREAD_BYTES = 64 * 1024
ENTRY_OVERHEAD_BYTES = 1000
AGE_STEP_SECONDS = 5
"""How long a response that contains ages may be reused."""


@dataclass(slots=True)
class CachedResponse:
    version: str
    body: bytes
    status: int = 200
    etag: str = field(init=False)
    _gzipped: bytes | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.etag = hashlib.blake2b(self.body, digest_size=12).hexdigest()

    @property
    def memory_bytes(self) -> int:
        """Includes the gzipped body and overhead."""
        return ENTRY_OVERHEAD_BYTES + 2 * len(self.body)

    @property
    def should_gzip(self) -> bool:
        return len(self.body) >= MIN_GZIP_BYTES

    async def gzipped(self) -> bytes:
        if self._gzipped is None:
            if len(self.body) >= GZIP_IN_THREAD_BYTES:
                self._gzipped = await asyncio.to_thread(gzip.compress, self.body, 3, mtime=0)
            else:
                self._gzipped = gzip.compress(self.body, 3, mtime=0)
        return self._gzipped


@dataclass(frozen=True, slots=True)
class Body:
    content: bytes
    status: int = 200


Build = Callable[[], Awaitable[Body]]


class ResponseCache:
    def __init__(self, version: Callable[[], Awaitable[str]], max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._version = version
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, CachedResponse] = OrderedDict()
        self._bytes = 0
        self._building: dict[tuple[Hashable, str], asyncio.Task[CachedResponse]] = {}

    async def get(self, key: Hashable, build: Build) -> CachedResponse:
        """Return the cached response, or build it. `key` holds everything the response depends on besides the database.
        Concurrent callers share one build.

        The version is read before the build: a change in between makes the entry newer than its version, so it is
        rebuilt once too often, never too rarely.
        """
        version = await self._version()
        cached = self._entries.get(key)
        if cached is not None and cached.version == version:
            self._entries.move_to_end(key)
            return cached
        task = self._building.get((key, version))
        if task is None:
            task = self._building[key, version] = asyncio.create_task(self._build(version, build))
            task.add_done_callback(lambda done: self._store(key, version, done))
        return await asyncio.shield(task)

    async def _build(self, version: str, build: Build) -> CachedResponse:
        body = await build()
        return CachedResponse(version, body.content, body.status)

    def _store(self, key: Hashable, version: str, done: asyncio.Task[CachedResponse]) -> None:
        del self._building[key, version]
        if done.cancelled() or done.exception() is not None:
            return
        self._evict(key)
        entry = done.result()
        self._entries[key] = entry
        self._bytes += entry.memory_bytes
        while self._bytes > self._max_bytes:
            self._evict(next(iter(self._entries)))

    def _evict(self, key: Hashable) -> None:
        cached = self._entries.pop(key, None)
        if cached is not None:
            self._bytes -= cached.memory_bytes


# --- Conditional responses: ETag, 304 and gzip.


_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?:,|$)", re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?("[^"]*")')


async def cached_json(
    request: Request, services: WebServices, build: Callable[[], Awaitable[bytes]], *, has_ages: bool = False
) -> Response:
    """JSON of this path and query. A response with ages is rebuilt every few seconds."""

    async def build_body() -> Body:
        return Body(await build())

    scope = request.scope
    step = int(services.now().timestamp() // AGE_STEP_SECONDS) if has_ages else None
    cached = await services.cache.get((scope["path"], scope["query_string"], step), build_body)
    return await conditional_response(request, cached, is_private=services.rules.read_access != "open")


async def cached_page(
    request: Request, services: WebServices, key: Hashable, render_page: Callable[[], Awaitable[HTMLResponse]]
) -> Response:
    """Page shared by all anonymous readers with the same `key`."""

    async def build_body() -> Body:
        response = await render_page()
        return Body(bytes(response.body), response.status_code)

    cached = await services.cache.get(key, build_body)
    response = await conditional_response(request, cached, is_private=True, media_type="text/html")
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response


async def conditional_response(
    request: Request, cached: CachedResponse, *, is_private: bool, media_type: str = "application/json"
) -> Response:
    gzips = cached.should_gzip and accepts_gzip(request.headers.get("accept-encoding"))
    tag = f'"{cached.etag}-gz"' if gzips else f'"{cached.etag}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache" if is_private else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if cached.status == 200 and etag_matches(tag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    if gzips:
        headers["Content-Encoding"] = "gzip"
        return Response(await cached.gzipped(), cached.status, headers, media_type=media_type)
    return Response(cached.body, cached.status, headers, media_type=media_type)


def accepts_gzip(accepted: str | None) -> bool:
    return accepted is not None and _GZIP.search(accepted) is not None


def etag_matches(tag: str, if_none_match: str | None) -> bool:
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)
