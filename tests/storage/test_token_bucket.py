"""The token bucket, as a pure function and in Redis: however requests arrive, no more start than the rate allows."""

from __future__ import annotations

import asyncio
import uuid

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from found_footy.storage.limits import ACQUIRE_LEASE, take_token
from found_footy.storage.redis import RedisCache


def starts(arrivals: list[int], interval: int, burst: int) -> list[int]:
    """When each request starts: one after the other, as soon as the bucket allows."""
    full_at, now, found = 0, 0, []
    for arrival in sorted(arrivals):
        now = max(now, arrival)
        while (bucket := take_token(full_at, now, interval, burst)).wait:
            now += bucket.wait
        full_at = bucket.full_at
        found.append(now)
    return found


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 500), st.integers(1, 12))
def test_any_span_has_at_most_a_burst_plus_one_per_interval(arrivals: list[int], interval: int, burst: int) -> None:
    found = starts(arrivals, interval, burst)
    for first, begin in enumerate(found):
        for last, end in enumerate(found[first:], first):
            assert last - first + 1 <= burst + (end - begin) // interval


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 500), st.integers(1, 12))
def test_no_request_waits_longer_than_needed(arrivals: list[int], interval: int, burst: int) -> None:
    found = starts(arrivals, interval, burst)
    for number, (arrival, start) in enumerate(zip(sorted(arrivals), found, strict=True)):
        if start > arrival and number and start > found[number - 1]:
            earlier = [*found[:number], start - 1]
            assert any(
                len(earlier) - first > burst + (earlier[-1] - earlier[first]) // interval for first in range(number)
            ), "one moment earlier would have been too early"


def test_a_burst_starts_together_and_the_next_request_waits_one_interval() -> None:
    assert starts([0, 0, 0, 0, 0], interval=10, burst=3) == [0, 0, 0, 10, 20]


def test_without_an_interval_nothing_waits() -> None:
    assert starts([0] * 100, interval=0, burst=1) == [0] * 100


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.integers(1, 10**9), st.integers(0, 100))
def test_no_state_makes_a_request_wait_longer_than_one_interval(
    full_at: int, now: int, interval: int, burst: int
) -> None:
    """Not even a clock that went back by a year, or a burst of none."""
    assert 0 <= take_token(full_at, now, interval, burst).wait <= interval


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.integers(0, 2_000_000), min_size=1, max_size=25),
    interval=st.integers(1, 500_000),
    burst=st.integers(1, 6),
)
def test_redis_follows_the_pure_rule(valkey_server: str, steps: list[int], interval: int, burst: int) -> None:
    """The script runs with a given clock instead of the server's; otherwise as it is."""
    asyncio.run(_compare_with_redis(valkey_server, steps, interval, burst))


async def _compare_with_redis(url: str, steps: list[int], interval: int, burst: int) -> None:
    clock = "local clock = redis.call('TIME')"
    assert clock in ACQUIRE_LEASE
    script = ACQUIRE_LEASE.replace(clock, "local clock = {'0', ARGV[9]}")
    redis = RedisCache(url, prefix=f"test:{uuid.uuid4()}:")
    keys = [redis.key("semaphore:{rate}", part) for part in ("leases", "bucket", "queue", "seen", "since")]
    now = full_at = 0
    try:
        for number, step in enumerate(steps):
            now += step
            expected = take_token(full_at, now, interval, burst)
            full_at = expected.full_at
            arguments = [f"token-{number}", 0, 10**6, interval, burst, 10**12, 10**12, 0, now]
            answer = await redis.run("EVAL", script, len(keys), *keys, *arguments)
            assert (answer[0] == 1, 0 if answer[0] == 1 else int(answer[2])) == (expected.wait == 0, expected.wait)
            await redis.run("ZREM", keys[2], f"token-{number}")  # one request at a time: no waiter stays ahead
    finally:
        await redis.run("DEL", *keys)
        await redis.aclose()
