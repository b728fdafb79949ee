"""How many answers of each feed were good, how many failed, and how long they took; over all workers."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from found_footy.adapters.storage.redis.cache import RedisCache, Word
from found_footy.adapters.storage.redis.feed_names import FEED_NAMES
from found_footy.ports_feeds import FeedTotals

TOTALS, RECENT = "feed_totals", "feed_recent"

BOUNDS = (0.1, 0.25, 0.5, 1.0, 3.0, 5.0, 10.0, 15.0, 30.0, 45.0, math.inf)
"""Upper bounds of the buckets of durations, in seconds."""
SLOT_SECONDS, SLOTS = 30, 10
"""Five minutes."""


class RedisFeedCounters:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def note(
        self, feed: str, *, ok: int = 0, failed: int = 0, seconds: Sequence[float] = (), navigation_failures: int = 0
    ) -> None:
        took = [max(0.0, one) for one in seconds if math.isfinite(one)]
        buckets = Counter(f"le:{BOUNDS[bisect_left(BOUNDS, one)]}" for one in took)
        more: list[Word] = ["navigation_failures", navigation_failures, "seconds", repr(sum(took))]
        more += [word for pair in buckets.items() for word in pair]
        await self._cache.run_script(
            "count",
            [self._cache.key(TOTALS, feed), self._cache.key(RECENT, feed), self._cache.key(FEED_NAMES)],
            [feed, SLOT_SECONDS, SLOTS, ok, failed, *more],
        )

    async def totals(self) -> Mapping[str, FeedTotals]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        counted = await self._cache.hashes(self._cache.keys(TOTALS, feeds))
        return {feed: _totals(fields) for feed, fields in zip(feeds, counted, strict=True) if fields}

    async def recent(self) -> Mapping[str, tuple[int, int]]:
        feeds = await self._cache.members(self._cache.key(FEED_NAMES))
        oldest = int(await self._cache.seconds_since_epoch()) // SLOT_SECONDS - SLOTS + 1
        counted = await self._cache.hashes(self._cache.keys(RECENT, feeds))
        return {feed: _sums(fields, oldest) for feed, fields in zip(feeds, counted, strict=True) if fields}


def _totals(fields: Mapping[str, str]) -> FeedTotals:
    counts = accumulate(_number(fields, f"le:{bound}") for bound in BOUNDS)
    return FeedTotals(
        ok=int(_number(fields, "ok")),
        failed=int(_number(fields, "failed")),
        navigation_failures=int(_number(fields, "navigation_failures")),
        seconds=_number(fields, "seconds"),
        buckets={bound: int(count) for bound, count in zip(BOUNDS, counts, strict=True)},
    )


def _sums(fields: Mapping[str, str], oldest: int) -> tuple[int, int]:
    sums = Counter[str]()
    for field in fields:
        slot, _, what = field.partition(":")
        if slot.isdecimal() and int(slot) >= oldest:
            sums[what] += int(_number(fields, field))
    return sums["ok"], sums["failed"]


def _number(fields: Mapping[str, str], name: str) -> float:
    """0 for what is missing or broken: a counter that begins again is what its readers know anyway."""
    try:
        found = float(fields.get(name, "0"))
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0
