"""In-process cache, and the fallback to it while Redis is unavailable.

Without Redis each worker has its own cache and limits: workers repeat each other's requests, but searches continue and
each worker still obeys the limits it receives.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from found_footy.errors import CacheUnavailable

MAX_KEYS = 1000
WARN_EVERY_SECONDS = 60.0
RETRY_SECONDS = 10.0
"""Pause before the shared cache is tried again after a failure, because each attempt may take seconds."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class SharedCache(Protocol):
    """Expiring values and locks, shared by all workers. Methods raise CacheUnavailable."""

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, value: bytes, seconds: float) -> None: ...

    async def acquire(self, key: str, seconds: float) -> float:
        """Hold the key for `seconds`. Returns 0 if it was free, otherwise the seconds until it expires."""

    async def extend(self, key: str, seconds: float) -> None:
        """Hold the key for at least `seconds` from now, regardless of its holder."""

    async def release(self, key: str) -> None: ...


class LocalCache:
    """Implements `SharedCache` for one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values: dict[str, tuple[float, bytes]] = {}

    async def get(self, key: str) -> bytes | None:
        return self._values[key][1] if self._left(key) > 0 else None

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        if len(self._values) >= MAX_KEYS:
            self._values = {name: kept for name, kept in self._values.items() if kept[0] > self._clock()}
        self._values[key] = (self._clock() + seconds, value)

    async def acquire(self, key: str, seconds: float) -> float:
        left = self._left(key)
        if left <= 0:
            await self.put(key, b"1", seconds)
        return left

    async def extend(self, key: str, seconds: float) -> None:
        if self._left(key) < seconds:
            await self.put(key, b"1", seconds)

    async def release(self, key: str) -> None:
        self._values.pop(key, None)

    def _left(self, key: str) -> float:
        expires, _ = self._values.get(key, (0.0, b""))
        return max(0.0, expires - self._clock())


class CacheWithFallback:
    """The shared cache, with a local cache as fallback while it is unavailable."""

    def __init__(self, shared: SharedCache, local: LocalCache | None = None) -> None:
        self._shared = shared
        self._local = local or LocalCache()
        self._warned_at = -math.inf
        self._away_until = -math.inf

    async def get(self, key: str) -> bytes | None:
        return await self._either(lambda cache: cache.get(key))

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        await self._either(lambda cache: cache.put(key, value, seconds))

    async def acquire(self, key: str, seconds: float) -> float:
        return await self._either(lambda cache: cache.acquire(key, seconds))

    async def extend(self, key: str, seconds: float) -> None:
        await self._either(lambda cache: cache.extend(key, seconds))

    async def release(self, key: str) -> None:
        await self._either(lambda cache: cache.release(key))

    async def _either(self, use: Callable[[SharedCache], Awaitable[T]]) -> T:
        if time.monotonic() < self._away_until:
            return await use(self._local)
        try:
            return await use(self._shared)
        except CacheUnavailable as error:
            now = time.monotonic()
            self._away_until = now + RETRY_SECONDS
            if now - self._warned_at >= WARN_EVERY_SECONDS:
                self._warned_at = now
                log.warning(f"{error}; this process uses its own cache", extra={"action": "shared_cache_away"})
            return await use(self._local)
