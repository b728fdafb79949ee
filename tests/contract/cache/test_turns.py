"""Turns at a feed: who waits, who goes first, and what happens when something ends in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from found_footy.adapters.storage.redis import RedisCache, RedisTurns
from found_footy.adapters.storage.redis.turns import under_way
from found_footy.domain.errors import CacheUnavailable, FeedBusy
from found_footy.domain.feeds.source import RateLimits

ONE = RateLimits(concurrent=1)


@pytest.fixture
def turns(cache: RedisCache) -> RedisTurns:
    return RedisTurns(cache)


def key(cache: RedisCache, part: str) -> str:
    return cache.key("turns:{feed}", part)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.005)


async def waiting(cache: RedisCache, number: int) -> None:
    async def reached() -> bool:
        return int(await cache.run("ZCARD", key(cache, "queue"))) == number

    await until(reached)


async def is_tidy(cache: RedisCache) -> bool:
    return int(await cache.run("EXISTS", *(key(cache, part) for part in ("leases", "queue", "seen")))) == 0


async def test_no_more_than_so_many_are_under_way_at_once(cache: RedisCache, turns: RedisTurns) -> None:
    running = most = 0
    others = [turns, RedisTurns(cache), RedisTurns(cache)]

    async def one(taker: RedisTurns) -> None:
        nonlocal running, most
        async with taker.turn("feed", RateLimits(concurrent=3)):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

    await asyncio.gather(*(one(others[number % 3]) for number in range(90)))
    assert most == 3
    assert await is_tidy(cache)


async def test_feeds_do_not_wait_for_each_other(cache: RedisCache, turns: RedisTurns) -> None:
    async with turns.turn("espn", ONE), turns.turn("crex", ONE):
        assert await under_way(cache, "espn") == await under_way(cache, "crex") == 1
    assert await under_way(cache, "espn") == 0


async def test_feeds_of_one_origin_share_its_limits(cache: RedisCache) -> None:
    turns = RedisTurns(cache, patience=0.1)
    async with turns.turn("espn", ONE, "espn@its.host:443"):
        with pytest.raises(FeedBusy):
            async with turns.turn("espn-2", ONE, "espn@its.host:443"):
                pass
        async with turns.turn("espn-3", ONE, "espn@other.host:443"):
            assert await under_way(cache, "espn-3", "espn@other.host:443") == 1


async def test_who_waits_too_long_is_told_so_and_leaves_the_queue(cache: RedisCache, turns: RedisTurns) -> None:
    hasty = RedisTurns(cache, patience=0.1)
    async with turns.turn("feed", ONE):
        with pytest.raises(FeedBusy, match=r"feed: no turn within 0\.1 s; at most 1 at once"):
            async with hasty.turn("feed", ONE):
                raise AssertionError("nobody may come here")
        assert await cache.run("ZCARD", key(cache, "queue")) == 0
    assert await is_tidy(cache)


async def test_an_empty_bucket_is_a_reason_to_wait_too(cache: RedisCache, turns: RedisTurns) -> None:
    hasty = RedisTurns(cache, patience=0.1)
    slow = RateLimits(concurrent=9, interval_seconds=3600, burst=2)
    for _ in range(2):
        async with turns.turn("feed", slow):
            pass
    with pytest.raises(FeedBusy, match="one in 3600 s and 2 in a burst"):
        async with hasty.turn("feed", slow):
            raise AssertionError("nobody may come here")


async def test_who_came_first_goes_first_whichever_worker_it_is(cache: RedisCache, turns: RedisTurns) -> None:
    workers = [RedisTurns(cache) for _ in range(4)]
    order: list[int] = []

    async def one(number: int) -> None:
        async with workers[number].turn("feed", ONE):
            order.append(number)

    async with turns.turn("feed", ONE):
        tasks = []
        for number in range(4):
            tasks.append(asyncio.create_task(one(number)))
            await waiting(cache, number + 1)
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3]


async def test_within_one_worker_the_order_stays(turns: RedisTurns) -> None:
    order: list[int] = []

    async def one(number: int) -> None:
        async with turns.turn("feed", ONE):
            order.append(number)

    await asyncio.gather(*(one(number) for number in range(50)))
    assert order == list(range(50))


async def test_a_waiter_that_is_gone_holds_nobody_up(cache: RedisCache, turns: RedisTurns) -> None:
    await cache.run("ZADD", key(cache, "queue"), 1, "gone")
    await cache.run("ZADD", key(cache, "seen"), 1, "gone")
    async with turns.turn("feed", ONE):
        pass
    assert await is_tidy(cache)


async def test_an_error_and_a_cancellation_give_the_turn_back(cache: RedisCache, turns: RedisTurns) -> None:
    with pytest.raises(ValueError, match="of the feed"):
        async with turns.turn("feed", ONE):
            raise ValueError("of the feed")
    with pytest.raises(TimeoutError):
        async with turns.turn("feed", ONE):
            raise TimeoutError  # of the feed as well, and not taken for a lease that ran out
    inside = asyncio.Event()

    async def hold() -> None:
        async with turns.turn("feed", ONE):
            inside.set()
            await asyncio.Event().wait()

    holder = asyncio.create_task(hold())
    await inside.wait()
    waiter = asyncio.create_task(hold())
    await waiting(cache, 1)
    for task in (waiter, holder):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await is_tidy(cache)


async def test_a_lease_in_the_far_future_ends_with_the_length_of_a_lease(cache: RedisCache) -> None:
    """The server's clock went back after a worker had been killed."""
    await cache.run("ZADD", key(cache, "leases"), 9e15, "killed")
    async with RedisTurns(cache, lease=2.0).turn("feed", ONE):
        pass


async def test_a_bucket_from_the_far_future_costs_one_interval_at_most(cache: RedisCache, turns: RedisTurns) -> None:
    await cache.run("SET", key(cache, "bucket"), "9000000000000000")
    async with turns.turn("feed", RateLimits(concurrent=1, interval_seconds=0.05, burst=3)):
        pass


async def test_a_turn_that_was_lost_to_another_ends_what_is_done_in_it(cache: RedisCache) -> None:
    """All leases vanish from the server, and the place is taken before the holder can renew its own."""

    async def hold() -> None:
        async with RedisTurns(cache, lease=0.3).turn("feed", ONE):
            await cache.run("DEL", key(cache, "leases"))
            await cache.run("ZADD", key(cache, "leases"), 9e15, "another")
            await asyncio.Event().wait()

    with pytest.raises(CacheUnavailable, match="the turn at feed was lost"):
        await hold()


async def test_a_turn_that_vanished_is_taken_up_again_where_there_is_room(cache: RedisCache) -> None:
    turns = RedisTurns(cache, lease=5.0)
    async with turns.turn("feed", ONE):
        await cache.run("DEL", key(cache, "leases"))

        async def held() -> bool:
            return await under_way(cache, "feed") == 1

        await until(held)


async def test_limits_of_nothing_still_let_one_through(turns: RedisTurns) -> None:
    async with turns.turn("feed", RateLimits(concurrent=0, interval_seconds=-1, burst=0)):
        pass


async def test_nothing_of_a_feed_stays_in_the_cache_for_ever(cache: RedisCache, turns: RedisTurns) -> None:
    async with turns.turn("feed", RateLimits(concurrent=2, interval_seconds=10, burst=3)):
        for part in ("leases", "bucket"):
            assert 0 < await cache.run("PTTL", key(cache, part)) <= 31_000
