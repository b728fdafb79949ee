"""Matches that a feed does not know, so that it is not asked for them again at once."""

from __future__ import annotations

from collections.abc import Sequence

from found_footy.adapters.storage.redis.cache import RedisCache

NEGATIVE = "negative_cache"
SECONDS = 60


class RedisMissingMatches:
    def __init__(self, cache: RedisCache, *, seconds: float = SECONDS) -> None:
        self._cache = cache
        self._milliseconds = max(1, round(seconds * 1000))

    async def note(self, match_ids: Sequence[str]) -> None:
        keys = self._cache.keys(NEGATIVE, match_ids)
        await self._cache.run_all([("SET", key, "1", "PX", self._milliseconds) for key in keys])

    async def among(self, match_ids: Sequence[str]) -> frozenset[str]:
        marks = await self._cache.values(self._cache.keys(NEGATIVE, match_ids))
        return frozenset(name for name, mark in zip(match_ids, marks, strict=True) if mark is not None)
