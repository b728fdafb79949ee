"""When each match was last heard of: a sorted set, the stalest first."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from found_footy.adapters.storage.redis.cache import RedisCache

log = logging.getLogger(__name__)

INDEX = "freshness_index"


class RedisFreshness:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def expect(self, since: Mapping[int, datetime]) -> None:
        pairs = [word for fixture_id, at in since.items() for word in (fixture_id, at.timestamp())]
        await self._cache.run_script("expect", [self._cache.key(INDEX)], pairs)

    async def heard(self, fixture_ids: Sequence[int], at: datetime) -> None:
        """Only of those that are expected, and never back in time."""
        if fixture_ids:
            pairs = [word for fixture_id in fixture_ids for word in (at.timestamp(), fixture_id)]
            await self._cache.run("ZADD", self._cache.key(INDEX), "XX", "GT", *pairs)

    async def times(self) -> Mapping[int, datetime]:
        words = await self._cache.run("ZRANGE", self._cache.key(INDEX), 0, -1, "WITHSCORES")
        found = {}
        for member, score in zip(words[::2], words[1::2], strict=True):
            try:
                found[int(member)] = datetime.fromtimestamp(float(score), UTC)
            except (ValueError, OverflowError, OSError):
                extra = {"action": "cache_value_dropped", "key": INDEX}
                log.warning("dropped an entry of %s from the cache", INDEX, extra=extra)
        return found
