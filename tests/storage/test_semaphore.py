"""Permits: who waits, who goes first, and what happens when a holder or the data of Redis is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from found_footy.errors import CacheUnavailable, PermitTimeout
from found_footy.storage.limits import LeaseSemaphore, RateLimit
from found_footy.storage.redis import RedisCache


@pytest.fixture
def semaphore(cache: RedisCache) -> LeaseSemaphore:
    return LeaseSemaphore(cache)


def permit(
    semaphore: LeaseSemaphore,
    limit: int = 1,
    *,
    wait_seconds: float = 20,
    rate: RateLimit | None = None,
    strict: bool = False,
) -> AbstractAsyncContextManager[None]:
    return semaphore.permit("feed", limit, wait_seconds=wait_seconds, rate=rate, strict=strict)


def key(cache: RedisCache, part: str) -> str:
    return cache.key("semaphore:{feed}", part)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.005)


async def waiters(cache: RedisCache, number: int) -> None:
    async def reached() -> bool:
        return int(await cache.run("ZCARD", key(cache, "queue"))) == number

    await until(reached)


async def is_clean(cache: RedisCache) -> bool:
    return int(await cache.run("EXISTS", *(key(cache, part) for part in ("leases", "queue", "seen")))) == 0


async def test_no_more_permits_than_the_limit_are_held_at_once(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    running = most = 0
    processes = [semaphore, LeaseSemaphore(cache), LeaseSemaphore(cache)]

    async def hold(process: LeaseSemaphore) -> None:
        nonlocal running, most
        async with permit(process, 3):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

    await asyncio.gather(*(hold(processes[number % 3]) for number in range(90)))
    assert most == 3
    assert await is_clean(cache)


async def test_semaphores_of_different_names_are_independent(semaphore: LeaseSemaphore) -> None:
    async with semaphore.permit("espn", 1, wait_seconds=5), semaphore.permit("crex", 1, wait_seconds=5):
        assert await semaphore.holders("espn") == await semaphore.holders("crex") == 1
    assert await semaphore.holders("espn") == 0


async def test_holders_of_one_name_are_counted_one_by_one_and_together(semaphore: LeaseSemaphore) -> None:
    async with (
        semaphore.permit("its.host", 3, wait_seconds=5, holder="espn"),
        semaphore.permit("its.host", 3, wait_seconds=5, holder="espn-2"),
    ):
        assert await semaphore.holders("its.host", "espn") == 1
        assert await semaphore.holders("its.host") == 2


async def test_a_waiter_that_times_out_leaves_the_queue(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    async with permit(semaphore):
        with pytest.raises(PermitTimeout, match=r"feed: no permit within 0\.1 s \(limit: 1 concurrent\)"):
            async with permit(LeaseSemaphore(cache), wait_seconds=0.1):
                raise AssertionError("not reached")
        assert await cache.run("ZCARD", key(cache, "queue")) == 0
    assert await is_clean(cache)


async def test_an_empty_bucket_makes_wait_too(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    slow = RateLimit(3600, burst=2)
    for _ in range(2):
        async with permit(semaphore, 9, rate=slow):
            pass
    with pytest.raises(PermitTimeout, match="9 concurrent, 1 per 3600 s, burst 2"):
        async with permit(semaphore, 9, rate=slow, wait_seconds=0.1):
            raise AssertionError("not reached")


async def test_permits_are_granted_first_come_first_served_over_processes(
    cache: RedisCache, semaphore: LeaseSemaphore
) -> None:
    processes = [LeaseSemaphore(cache) for _ in range(4)]
    order: list[int] = []

    async def hold(number: int) -> None:
        async with permit(processes[number]):
            order.append(number)

    async with permit(semaphore):
        tasks = []
        for number in range(4):
            tasks.append(asyncio.create_task(hold(number)))
            await waiters(cache, number + 1)
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3]


async def test_permits_are_granted_first_come_first_served_within_a_process(semaphore: LeaseSemaphore) -> None:
    order: list[int] = []

    async def hold(number: int) -> None:
        async with permit(semaphore):
            order.append(number)

    await asyncio.gather(*(hold(number) for number in range(50)))
    assert order == list(range(50))


@pytest.mark.parametrize(
    ("limit", "rate", "granted"),
    [
        (1, None, False),  # one permit is free, for the waiter ahead
        (2, None, True),
        (9, RateLimit(3600, burst=1), False),  # one token, for the waiter ahead
        (9, RateLimit(3600, burst=2), True),
    ],
)
async def test_a_free_permit_and_a_token_are_kept_for_each_waiter_ahead(
    cache: RedisCache, semaphore: LeaseSemaphore, limit: int, rate: RateLimit | None, granted: bool
) -> None:
    in_a_minute = round((await cache.seconds_since_epoch() + 60) * 1_000_000)
    await cache.run("ZADD", key(cache, "queue"), 1, "ahead/1")
    await cache.run("ZADD", key(cache, "seen"), in_a_minute, "ahead/1")
    try:
        async with permit(semaphore, limit, rate=rate, wait_seconds=20 if granted else 0.2):
            assert granted
    except PermitTimeout:
        assert not granted


async def test_a_dead_waiter_blocks_no_others(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    await cache.run("ZADD", key(cache, "queue"), 1, "gone")
    await cache.run("ZADD", key(cache, "seen"), 1, "gone")
    async with permit(semaphore):
        pass
    assert await is_clean(cache)


async def test_an_error_and_a_cancellation_release_the_permit(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    with pytest.raises(ValueError, match="of the block"):
        async with permit(semaphore):
            raise ValueError("of the block")
    with pytest.raises(TimeoutError):
        async with permit(semaphore):
            raise TimeoutError  # of the block as well, and not mistaken for an expired lease
    inside = asyncio.Event()

    async def hold() -> None:
        async with permit(semaphore):
            inside.set()
            await asyncio.Event().wait()

    holder = asyncio.create_task(hold())
    await inside.wait()
    waiter = asyncio.create_task(hold())
    await waiters(cache, 1)
    for task in (waiter, holder):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await is_clean(cache)


async def test_a_lease_in_the_far_future_expires_after_one_lease(cache: RedisCache) -> None:
    """The server's clock went back after a holder was killed."""
    await cache.run("ZADD", key(cache, "leases"), 9e15, "killed")
    async with permit(LeaseSemaphore(cache, lease_seconds=0.5)):
        pass


async def test_a_bucket_in_the_far_future_costs_one_interval_at_most(
    cache: RedisCache, semaphore: LeaseSemaphore
) -> None:
    await cache.run("SET", key(cache, "bucket"), "9000000000000000")
    async with permit(semaphore, rate=RateLimit(0.05, burst=3)):
        pass


async def test_a_permit_lost_to_another_cancels_its_holder(cache: RedisCache) -> None:
    """Redis lost all leases, and another holder has the permit before the first can renew."""

    async def hold() -> None:
        async with permit(LeaseSemaphore(cache, lease_seconds=0.3)):
            await cache.run("DEL", key(cache, "leases"))
            await cache.run("ZADD", key(cache, "leases"), 9e15, "another")
            await asyncio.Event().wait()

    with pytest.raises(CacheUnavailable, match="lost the permit of feed"):
        await hold()


async def test_a_lease_that_redis_lost_is_registered_again_by_its_holder(cache: RedisCache) -> None:
    semaphore = LeaseSemaphore(cache, lease_seconds=2)
    async with permit(semaphore):
        await cache.run("DEL", key(cache, "leases"))

        async def is_held() -> bool:
            return await semaphore.holders("feed") == 1

        await until(is_held)


async def test_a_strict_semaphore_grants_nothing_for_one_lease_after_redis_lost_its_data(cache: RedisCache) -> None:
    """Within that lease the holders of before renew theirs, so the limit holds."""
    first, second = LeaseSemaphore(cache, lease_seconds=1), LeaseSemaphore(cache, lease_seconds=1)
    running = most = 0

    async def hold(process: LeaseSemaphore, seconds: float) -> None:
        nonlocal running, most
        async with permit(process, strict=True):
            running += 1
            most = max(most, running)
            if running == 1 and process is first:
                await cache.run("DEL", *(key(cache, part) for part in ("leases", "since", "bucket", "queue", "seen")))
            await asyncio.sleep(seconds)
            running -= 1

    await first.prepare("feed")
    await asyncio.gather(hold(first, 1.5), hold(second, 0))
    assert most == 1


async def test_a_semaphore_that_was_prepared_one_lease_ago_grants_at_once(cache: RedisCache) -> None:
    semaphore = LeaseSemaphore(cache)
    await cache.run("SET", key(cache, "since"), 1)
    await semaphore.prepare("feed")
    async with permit(semaphore, strict=True, wait_seconds=5):
        assert await cache.run("GET", key(cache, "since")) == b"1"


async def test_a_limit_of_nothing_still_grants_one(semaphore: LeaseSemaphore) -> None:
    async with permit(semaphore, 0, rate=RateLimit(-1, burst=0)):
        pass


async def test_all_keys_of_a_semaphore_expire(cache: RedisCache, semaphore: LeaseSemaphore) -> None:
    async with permit(semaphore, 2, rate=RateLimit(10, burst=3)):
        for part in ("leases", "bucket"):
            assert 0 < await cache.run("PTTL", key(cache, part)) <= 31_000
