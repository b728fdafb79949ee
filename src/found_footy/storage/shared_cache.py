"""Expiring values and locks, shared by all workers. The server's clock decides expiry."""

from __future__ import annotations

import math

from found_footy.storage.redis import RedisCache, load_script

ACQUIRE_KEY = load_script(__package__, "acquire_key")
EXTEND_KEY = load_script(__package__, "extend_key")


class RedisSharedCache:
    """Implements `SharedCache`. `area` is the key namespace of one user."""

    def __init__(self, cache: RedisCache, area: str) -> None:
        self._cache = cache
        self._area = area

    async def get(self, key: str) -> bytes | None:
        value: bytes | None = await self._cache.run("GET", self._key(key))
        return value

    async def put(self, key: str, value: bytes, seconds: float) -> None:
        await self._cache.run("SET", self._key(key), value, "PX", _milliseconds(seconds))

    async def acquire(self, key: str, seconds: float) -> float:
        left = await self._cache.run_script(ACQUIRE_KEY, [self._key(key)], [_milliseconds(seconds)])
        return int(left) / 1000

    async def extend(self, key: str, seconds: float) -> None:
        await self._cache.run_script(EXTEND_KEY, [self._key(key)], [_milliseconds(seconds)])

    async def release(self, key: str) -> None:
        await self._cache.run("DEL", self._key(key))

    def _key(self, key: str) -> str:
        return self._cache.key(self._area, key)


def _milliseconds(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1000))
