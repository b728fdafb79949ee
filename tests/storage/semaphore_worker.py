"""Takes permits in a process of its own, so that it can be killed, and prints when it held each.

Each line on standard output is one JSON object. Times are those of the monotonic clock, which all processes of the
machine share; `granted` is the server's own, in microseconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from found_footy.storage.limits import ACQUIRE_LEASE, LeaseSemaphore, RateLimit
from found_footy.storage.redis import RedisCache, Word


class WatchedRedis(RedisCache):
    granted = 0

    async def run_script(self, script: str, keys: Sequence[str], arguments: Sequence[Word]) -> Any:
        answer = await super().run_script(script, keys, arguments)
        if script == ACQUIRE_LEASE and answer[0] == 1:
            self.granted = int(answer[1])
        return answer


def report(**fields: Any) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


async def main(
    url: str, prefix: str, limit: int, interval: float, burst: int, permits: int, hold: float, lease: float
) -> None:
    redis = WatchedRedis(url, prefix=prefix)
    semaphore = LeaseSemaphore(redis, lease_seconds=lease)

    async def take() -> None:
        async with semaphore.permit("feed", limit, wait_seconds=60, rate=RateLimit(interval, burst)):
            granted, began = redis.granted, time.monotonic()
            report(began=began, granted=granted)
            await asyncio.sleep(hold)
            report(began=began, ended=time.monotonic())

    try:
        await asyncio.gather(*(take() for _ in range(permits)))
    finally:
        await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(**json.loads(sys.stdin.readline())))
