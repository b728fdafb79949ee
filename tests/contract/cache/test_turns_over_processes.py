"""Several workers at one feed, and some of them killed: no limit is exceeded once."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from found_footy.adapters.storage.redis import RedisCache, RedisTurns
from found_footy.adapters.storage.redis.turns import under_way
from found_footy.domain.feeds.source import RateLimits
from found_footy.domain.feeds.token_bucket import admit

TAKER = Path(__file__).with_name("turn_taker.py")


@dataclass
class Hold:
    begun: float
    granted: int
    ended: float


async def a_worker(url: str, cache: RedisCache, limits: RateLimits, turns: int, hold: float, lease: float) -> Process:
    process = await create_subprocess_exec(sys.executable, str(TAKER), stdin=PIPE, stdout=PIPE)
    order = {
        "url": url,
        "prefix": cache.key(""),
        "concurrent": limits.concurrent,
        "interval": limits.interval_seconds,
        "burst": limits.burst,
        "turns": turns,
        "hold": hold,
        "lease": lease,
    }
    assert process.stdin is not None
    process.stdin.write(json.dumps(order).encode() + b"\n")
    await process.stdin.drain()
    return process


async def first_line(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(await process.stdout.readline())
    return found


async def holds_of(process: Process, killed_at: float = 0.0, *read: dict[str, Any]) -> list[Hold]:
    """All its turns. Those that were not ended, ended when it was killed; `read` are lines that were read before."""
    assert process.stdout is not None
    lines = [*read, *(json.loads(line) for line in (await process.stdout.read()).decode().splitlines())]
    await process.wait()
    ends = {line["begun"]: line["ended"] for line in lines if "ended" in line}
    begun = [line for line in lines if "granted" in line]
    return [Hold(line["begun"], line["granted"], ends.get(line["begun"], killed_at)) for line in begun]


def most_at_once(holds: list[Hold]) -> int:
    changes = sorted([(one.begun, 1) for one in holds] + [(one.ended, -1) for one in holds])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def too_early(holds: list[Hold], limits: RateLimits) -> list[int]:
    """Turns that the rule would not have granted at their moment."""
    full_at, found = 0, []
    for granted in sorted(one.granted for one in holds):
        said = admit(full_at, granted, round(limits.interval_seconds * 1_000_000), limits.burst)
        full_at = said.full_at
        if said.wait:
            found.append(granted)
    return found


async def test_four_workers_keep_to_the_limits_and_a_killed_one_changes_nothing(
    cache: RedisCache, valkey_server: str
) -> None:
    limits = RateLimits(concurrent=3, interval_seconds=0.004, burst=5)
    workers = [await a_worker(valkey_server, cache, limits, turns=60, hold=0.01, lease=3.0) for _ in range(4)]
    first = await first_line(workers[0])
    killed_at = time.monotonic()
    workers[0].kill()
    rest = [hold for holds in await asyncio.gather(*map(holds_of, workers[1:])) for hold in holds]
    killed = await holds_of(workers[0], killed_at, first)
    assert len(rest) == 3 * 60, "everybody else had all turns"
    assert most_at_once(rest + killed) <= 3
    assert too_early(rest + killed, limits) == []
    assert {worker.returncode for worker in workers[1:]} == {0}


async def test_a_killed_worker_gives_its_place_back(cache: RedisCache, valkey_server: str) -> None:
    limits = RateLimits(concurrent=1)
    worker = await a_worker(valkey_server, cache, limits, turns=1, hold=600, lease=3)
    await first_line(worker)
    turns = RedisTurns(cache, lease=3)
    assert await under_way(cache, "feed") == 1
    worker.kill()
    await worker.wait()
    async with turns.turn("feed", limits):
        assert await under_way(cache, "feed") == 1


async def test_a_worker_that_holds_its_turn_for_longer_than_a_lease_keeps_it(
    cache: RedisCache, valkey_server: str
) -> None:
    limits = RateLimits(concurrent=1)
    workers = [await a_worker(valkey_server, cache, limits, turns=1, hold=4, lease=2.5) for _ in range(2)]
    holds = [hold for found in await asyncio.gather(*map(holds_of, workers)) for hold in found]
    assert len(holds) == 2
    assert most_at_once(holds) == 1
