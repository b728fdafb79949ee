"""Copies of the feeds' health for quick readers; the database has the originals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from found_footy.adapters.storage.redis import json_values as read
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.health_json import (
    recovery_fields,
    recovery_of,
    summary_fields,
    summary_of,
)
from found_footy.domain.feeds.health_values import HealthSummary, Recovery

SUMMARY, AUDIT = "health_summary", "audit_log"
AUDIT_LENGTH = 100
JUDGEMENTS = 3
"""A summary lasts for so many judgements: the watchdog may miss two before there is none."""


class RedisHealthCache:
    def __init__(self, cache: RedisCache, *, every: timedelta = timedelta(seconds=15)) -> None:
        """`every`: between two judgements."""
        self._cache = cache
        self._milliseconds = max(1, round(JUDGEMENTS * every.total_seconds() * 1000))

    async def publish(self, summary: HealthSummary) -> None:
        text = read.dump(summary_fields(summary))
        await self._cache.run("SET", self._cache.key(SUMMARY), text, "PX", self._milliseconds)

    async def summary(self) -> HealthSummary | None:
        key = self._cache.key(SUMMARY)
        return read.readable(key, await self._cache.run("GET", key), summary_of)

    async def publish_recovery(self, recovery: Recovery) -> None:
        """An entry of the same id is written over, in its place."""
        text = read.dump(recovery_fields(recovery))
        await self._cache.run_script("note_recovery", [self._cache.key(AUDIT)], [text, recovery.id, AUDIT_LENGTH])

    async def recoveries(self, limit: int = AUDIT_LENGTH) -> Sequence[Recovery]:
        """The newest first."""
        key = self._cache.key(AUDIT)
        texts = await self._cache.run("LRANGE", key, 0, limit - 1)
        found = [read.readable(key, text, recovery_of) for text in texts]
        return [recovery for recovery in found if recovery is not None]
