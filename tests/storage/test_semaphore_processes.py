"""Several processes at one semaphore, some of them killed: no limit is exceeded once."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from found_footy.storage.limits import LeaseSemaphore, take_token
from found_footy.storage.redis import RedisCache

WORKER = Path(__file__).with_name("semaphore_worker.py")
INTERVAL, BURST = 0.004, 5


@dataclass
class Hold:
    began: float
    granted: int
    ended: float


async def start_worker(
    url: str,
    cache: RedisCache,
    *,
    limit: int,
    permits: int,
    hold: float,
    lease: float,
    interval: float = 0,
    burst: int = 1,
) -> Process:
    process = await create_subprocess_exec(sys.executable, str(WORKER), stdin=PIPE, stdout=PIPE)
    order = {
        "url": url,
        "prefix": cache.key(""),
        "limit": limit,
        "interval": interval,
        "burst": burst,
        "permits": permits,
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
    """All its permits; those without an end ended when it was killed. `read` are lines that were read before."""
    assert process.stdout is not None
    lines = [*read, *(json.loads(line) for line in (await process.stdout.read()).decode().splitlines())]
    await process.wait()
    ends = {line["began"]: line["ended"] for line in lines if "ended" in line}
    return [
        Hold(line["began"], line["granted"], ends.get(line["began"], killed_at)) for line in lines if "granted" in line
    ]


def max_concurrent(holds: list[Hold]) -> int:
    changes = sorted([(one.began, 1) for one in holds] + [(one.ended, -1) for one in holds])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    return most


def granted_too_early(holds: list[Hold]) -> list[int]:
    """Permits that the pure token bucket would not have granted at their time."""
    full_at, found = 0, []
    for granted in sorted(one.granted for one in holds):
        bucket = take_token(full_at, granted, round(INTERVAL * 1_000_000), BURST)
        full_at = bucket.full_at
        if bucket.wait:
            found.append(granted)
    return found


async def test_four_processes_keep_both_limits_and_a_killed_one_changes_nothing(
    cache: RedisCache, valkey_server: str
) -> None:
    workers = [
        await start_worker(
            valkey_server, cache, limit=3, permits=60, hold=0.01, lease=3.0, interval=INTERVAL, burst=BURST
        )
        for _ in range(4)
    ]
    first = await first_line(workers[0])
    killed_at = time.monotonic()
    workers[0].kill()
    rest = [hold for holds in await asyncio.gather(*map(holds_of, workers[1:])) for hold in holds]
    killed = await holds_of(workers[0], killed_at, first)
    assert len(rest) == 3 * 60, "the others got all their permits"
    assert max_concurrent(rest + killed) <= 3
    assert granted_too_early(rest + killed) == []
    assert {worker.returncode for worker in workers[1:]} == {0}


async def test_the_permit_of_a_killed_process_is_granted_again(cache: RedisCache, valkey_server: str) -> None:
    worker = await start_worker(valkey_server, cache, limit=1, permits=1, hold=600, lease=2)
    await first_line(worker)
    semaphore = LeaseSemaphore(cache, lease_seconds=2)
    assert await semaphore.holders("feed") == 1
    worker.kill()
    await worker.wait()
    async with semaphore.permit("feed", 1, wait_seconds=60):
        assert await semaphore.holders("feed") == 1


async def test_a_permit_held_for_longer_than_a_lease_stays_with_its_holder(
    cache: RedisCache, valkey_server: str
) -> None:
    workers = [await start_worker(valkey_server, cache, limit=1, permits=1, hold=2.5, lease=1.5) for _ in range(2)]
    holds = [hold for found in await asyncio.gather(*map(holds_of, workers)) for hold in found]
    assert len(holds) == 2
    assert max_concurrent(holds) == 1
