"""Cost and correctness of the shared semaphore: permits of several processes

The baseline is redis-py's lock, which has one holder, no rate and no order. A limit is exceeded if more permits are
held than allowed, or if one is granted before the token bucket has a token.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from bench.table import table
from found_footy.feeds.models import RateLimits
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.storage.limits import ACQUIRE_LEASE, LeaseSemaphore, RateLimit, take_token
from found_footy.storage.redis import RedisCache, Word

LIMITS = (RateLimits(8, 0.0, 1), RateLimits(8, 0.01, 10), RateLimits(2, 0.05, 1))
ALONE, PROCESSES, EACH, HOLD_SECONDS = 500, 4, 50, 0.02


class WatchedCache(RedisCache):
    """Cache that records the server's time of each granted permit."""

    granted = 0

    async def run_script(self, script: str, keys: Sequence[str], arguments: Sequence[Word]) -> Any:
        answer = await super().run_script(script, keys, arguments)
        if script == ACQUIRE_LEASE and answer[0] == 1:
            self.granted = int(answer[1])
        return answer


async def main() -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = DataFolder(path)
        with folder.lock():
            engine = EmbeddedValkey(folder)
            await engine.start()
            try:
                table(["one process, uncontended", "ms per permit"], await _alone(engine.url))
                print()
                head = ["limits", "permits", "seconds", "at least", "most at once", "too early"]
                table(head, [await _hammered(engine.url, limits) for limits in LIMITS])
            finally:
                await engine.destroy()


async def _alone(url: str) -> list[list[str]]:
    cache, client = RedisCache(url), Redis.from_url(url)
    semaphore, lock = LeaseSemaphore(cache), client.lock("peer", timeout=30)

    async def ours() -> None:
        async with semaphore.permit("alone", 1000, wait_seconds=20):
            pass

    async def peer() -> None:
        async with lock:
            pass

    rows = []
    for name, once in (("ours", ours), ("lock of redis-py", peer)):
        began = time.monotonic()
        for _ in range(ALONE):
            await once()
        rows.append([name, f"{(time.monotonic() - began) / ALONE * 1000:.2f}"])
    await cache.aclose()
    await client.aclose()
    return rows


async def _hammered(url: str, limits: RateLimits) -> list[str]:
    words = [url, str(limits.concurrent), str(limits.interval_seconds), str(limits.burst)]
    workers = [
        await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.limits", *words, stdout=PIPE)
        for _ in range(PROCESSES)
    ]
    said = await asyncio.gather(*(worker.communicate() for worker in workers))
    holds = [json.loads(line) for out, _ in said for line in out.splitlines()]
    took = max(end for _, end, _ in holds) - min(begin for begin, _, _ in holds)
    count = len(holds)
    least = max(count * HOLD_SECONDS / limits.concurrent, (count - limits.burst) * limits.interval_seconds)
    name = f"{limits.concurrent} at once, one in {limits.interval_seconds:g} s, bursts of {limits.burst}"
    early = _too_early(sorted(granted for _, _, granted in holds), limits)
    return [name, str(count), f"{took:.1f}", f"{least:.1f}", str(_most(holds)), str(early)]


def _most(holds: Sequence[Sequence[float]]) -> int:
    running = most = 0
    for _, change in sorted([(begin, 1) for begin, _, _ in holds] + [(end, -1) for _, end, _ in holds]):
        running += change
        most = max(most, running)
    return most


def _too_early(granted: Sequence[int], limits: RateLimits) -> int:
    full_at = found = 0
    for moment in granted:
        bucket = take_token(full_at, moment, round(limits.interval_seconds * 1_000_000), limits.burst)
        full_at, found = bucket.full_at, found + (bucket.wait > 0)
    return found


async def _take(url: str, limits: RateLimits) -> None:
    cache = WatchedCache(url)
    semaphore = LeaseSemaphore(cache)
    rate = RateLimit(limits.interval_seconds, limits.burst)

    async def one() -> None:
        async with semaphore.permit(f"{limits}", limits.concurrent, wait_seconds=120, rate=rate):
            granted, begin = cache.granted, time.monotonic()
            await asyncio.sleep(HOLD_SECONDS)
            print(json.dumps([begin, time.monotonic(), granted]), flush=True)

    await asyncio.gather(*(one() for _ in range(EACH)))
    await cache.aclose()


if __name__ == "__main__":
    asyncio.run(_take(sys.argv[1], RateLimits(int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))))
