"""A thousand live matches on three feeds with 5 % failing responses: data age and rate limits

The whole system runs (engines, two workers, watchdog, pages); the feeds are a separate process on loopback. The age of
the data is compared with the poll interval, which is the lower bound; requests are counted where they arrive and
compared with the limits in `sources.yaml`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
from pydantic import SecretStr

from bench.feed_world import LEAGUES
from bench.table import table
from found_footy.app import Running, running
from found_footy.config import Settings
from found_footy.feeds.cache import FeedCache
from found_footy.feeds.models import RateLimits
from found_footy.feeds.registry import open_cache
from found_footy.fixtures.store import open_store

MATCHES = 1_000
FAILING = 0.05
POLL = 30.0
POLLS = 8
LIMITS = {
    "one": RateLimits(concurrent=4, interval_seconds=0.2, burst=20),
    "two": RateLimits(concurrent=4, interval_seconds=0.2, burst=20),
    "espn": RateLimits(concurrent=4, interval_seconds=0.5, burst=10),
}
JITTER = 0.05
"""Seconds by which two requests may arrive closer together than they were permitted: permits are granted by the cache,
and requests are counted on arrival. Smaller than any interval, so that it cannot hide an excess request. `limits`
measures the permits themselves, on the cache's clock and without tolerance.
"""


async def main() -> None:
    logging.disable(logging.WARNING)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.feed_world", str(MATCHES), str(FAILING), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    url = f"http://127.0.0.1:{int(await process.stdout.readline())}"
    try:
        with tempfile.TemporaryDirectory() as folder:
            await _measure(url, Path(folder))
    finally:
        process.terminate()
        await process.wait()


async def _measure(url: str, folder: Path) -> None:
    settings = _settings(url, folder)
    async with running(settings) as system, open_cache(system.settings) as cache, open_store(system.settings) as store:
        freshness = FeedCache(cache).freshness
        while True:
            found = await store.fixtures(stage="active")
            if len(found) == MATCHES and all(len(each["_feeds"]) == len(LIMITS) for each in found):
                break
            await asyncio.sleep(1)
        while len(await freshness.times()) < MATCHES:
            await asyncio.sleep(1)
        await asyncio.sleep(POLL)
        began, used = time.monotonic(), _cpu_seconds(system)
        ages: list[float] = []
        while time.monotonic() - began < POLLS * POLL:
            now = datetime.now(UTC)
            ages += [(now - heard).total_seconds() for heard in (await freshness.times()).values()]
            await asyncio.sleep(1)
        cpu = {name: seconds - used[name] for name, seconds in _cpu_seconds(system).items() if name in used}
        ended = time.monotonic()
    async with httpx.AsyncClient() as client:
        log = (await client.get(f"{url}/log")).json()
    ages.sort()
    table(
        ["ages of 1,000 matches, each second", "seconds", "against the interval of 30 s"],
        [
            [name, f"{value:.1f}", f"{value / POLL:.2f}×"]
            for name, value in (
                ("median", statistics.median(ages)),
                ("p95", ages[round(0.95 * (len(ages) - 1))]),
                ("max", ages[-1]),
            )
        ],
    )
    print()
    rows = [_requests(feed, [entry for entry in log if entry[0] == feed], began, ended) for feed in LIMITS]
    table(["feed", "requests a poll", "failed", "most at once (limit)", "over interval and burst", "nearest"], rows)
    print()
    whole = ended - began
    table(["process", "share of one core"], [[name, f"{100 * s / whole:.0f} %"] for name, s in cpu.items()])


def _settings(url: str, folder: Path) -> Settings:
    leagues = ", ".join(f"soccer/l{n}" for n in range(LEAGUES))
    metadata = {
        "one": f"{{base_url: '{url}/one'}}",
        "two": f"{{base_url: '{url}/two'}}",
        "espn": f"{{base_url: '{url}/espn', leagues: [{leagues}]}}",
    }
    lines = ["sources:"]
    for number, (feed, limits) in enumerate(LIMITS.items()):
        adapter = "espn" if feed == "espn" else "api_football"
        lines.append(
            f"  - {{domain_id: {feed}, adapter: {adapter}, precedence_weight: {100 - 10 * number}, rate_limits: "
            f"{{max_concurrent_contexts: {limits.concurrent}, min_interval_seconds: {limits.interval_seconds}, "
            f"burst_allowance: {limits.burst}}}, metadata: {metadata[feed]}}}"
        )
    file = folder / "sources.yaml"
    file.write_text("\n".join(lines) + "\n")
    return Settings(
        _env_file=None,
        data_dir=folder / "data",
        feeds_file=file,
        feed=None,
        api_football_key=SecretStr("key"),
        poll_seconds=POLL,
        sources=(),
        web_port=0,
    )


def _requests(feed: str, log: Sequence[tuple[str, float, float, bool]], began: float, ended: float) -> list[object]:
    """Limits are checked for all requests; the other columns count those of the measured period."""
    limits = LIMITS[feed]
    starts = sorted(start for _, start, _, _ in log)
    moments = sorted([(start, 1) for _, start, _, _ in log] + [(end, -1) for _, _, end, _ in log])
    running_, most = 0, 0
    for _, change in moments:
        running_ += change
        most = max(most, running_)
    beyond = _beyond(starts, limits)
    over = sum(each > JITTER / limits.interval_seconds for each in beyond)
    measured = [fails for _, start, _, fails in log if began <= start < ended]
    nearest = f"{max(beyond, default=-limits.burst):+.2f} requests"
    return [feed, f"{len(measured) / POLLS:.0f}", sum(measured), f"{most} ({limits.concurrent})", over, nearest]


def _beyond(starts: Sequence[float], limits: RateLimits) -> list[float]:
    """Return, for each request, the excess in the worst period that ends with it; negative if within the limits.

    A period may contain one burst, plus one request per interval.
    """
    found, lowest = [], math.inf
    for number, start in enumerate(starts):
        place = number - start / limits.interval_seconds
        lowest = min(lowest, place)
        found.append(place - lowest + 1 - limits.burst)
    return found


def _cpu_seconds(system: Running) -> Mapping[str, float]:
    """Return the CPU time by process, including its terminated children."""
    ticks = os.sysconf("SC_CLK_TCK")
    found = {}
    for child in system.supervisor.status():
        if child.pid is not None:
            fields = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
            found[child.name] = sum(int(fields[n]) for n in (11, 12, 13, 14)) / ticks
    return found
