"""A worker that takes turns at a feed and writes down when: run as a process of its own, so that it can be killed.

Each line on its standard output is one JSON object. Moments are those of the monotonic clock, which all processes of
the machine share; `granted` is the server's own, in microseconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from found_footy.adapters.storage.redis import RedisCache, RedisTurns
from found_footy.adapters.storage.redis.cache import Word
from found_footy.domain.feeds.source import RateLimits


class WatchedCache(RedisCache):
    granted = 0

    async def run_script(self, name: str, keys: Sequence[str], arguments: Sequence[Word]) -> Any:
        answer = await super().run_script(name, keys, arguments)
        if name == "take_turn" and answer[0] == 1:
            self.granted = int(answer[1])
        return answer


def say(**fields: Any) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


async def main(url: str, prefix: str, limits: RateLimits, turns: int, hold: float, lease: float) -> None:
    cache = WatchedCache(url, prefix=prefix)
    taker = RedisTurns(cache, patience=60.0, lease=lease)

    async def take() -> None:
        async with taker.turn("feed", limits):
            granted, begun = cache.granted, time.monotonic()
            say(begun=begun, granted=granted)
            await asyncio.sleep(hold)
            say(begun=begun, ended=time.monotonic())

    try:
        await asyncio.gather(*(take() for _ in range(turns)))
    finally:
        await cache.aclose()


if __name__ == "__main__":
    order = json.loads(sys.stdin.readline())
    limits = RateLimits(order["concurrent"], order["interval"], order["burst"])
    asyncio.run(main(order["url"], order["prefix"], limits, order["turns"], order["hold"], order["lease"]))
