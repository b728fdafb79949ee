"""What an operator has switched on or off at run time. Lost with the cache: then the file decides again."""

from __future__ import annotations

from collections.abc import Mapping

from found_footy.adapters.storage.redis import json_values as read
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.feed_names import FEED_NAMES

CONFIG = "domain_config"


class RedisSwitches:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def switched(self) -> Mapping[str, bool]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        keys = self._cache.keys(CONFIG, feeds)
        found = {
            feed: read.readable(key, text, lambda fields: read.flag(fields, "enabled"))
            for feed, key, text in zip(feeds, keys, await self._cache.values(keys), strict=True)
        }
        return {feed: on for feed, on in found.items() if on is not None}

    async def switch(self, feed: str, on: bool | None) -> None:
        key = self._cache.key(CONFIG, feed)
        if on is None:
            await self._cache.run("DEL", key)
            return
        await self._cache.run_all(
            [("SET", key, read.dump({"enabled": on})), ("SADD", self._cache.key(FEED_NAMES), feed)], together=True
        )
