"""Values, held keys and call budgets of `SourceLimits`, over Redis and in one process, and the fallback."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import SourceUnavailable
from found_footy.runtime.engine import free_port
from found_footy.storage.limits import CallBudget, Cooldown, LocalSourceLimits, RedisSourceLimits, SourceLimits
from found_footy.storage.redis import RedisCache

BUDGET = CallBudget(2, timedelta(minutes=10))


@pytest.fixture(params=["redis", "local"])
def limits(request: pytest.FixtureRequest, cache: RedisCache) -> SourceLimits:
    if request.param == "redis":
        return RedisSourceLimits(cache, "test", budget=BUDGET)
    return LocalSourceLimits(budget=BUDGET)


async def test_a_value_expires(limits: SourceLimits) -> None:
    assert await limits.get("a") is None
    await limits.put("a", b"\x00value", 0.05)
    assert await limits.get("a") == b"\x00value"
    async with asyncio.timeout(10):
        while await limits.get("a") is not None:
            await asyncio.sleep(0.01)


async def test_one_of_many_callers_holds_a_key_and_the_others_learn_how_long_to_wait(limits: SourceLimits) -> None:
    waits = await asyncio.gather(*(limits.hold("key", 60) for _ in range(20)))
    assert sorted(waits)[0] == 0
    assert all(55 < wait <= 60 for wait in sorted(waits)[1:])


async def test_a_released_key_is_free(limits: SourceLimits) -> None:
    await limits.hold("key", 60)
    await limits.release("key")
    assert await limits.hold("key", 60) == 0


async def test_a_held_key_is_extended_and_never_shortened(limits: SourceLimits) -> None:
    for seconds, at_least, at_most in ((30, 25, 30), (5, 25, 30), (90, 80, 90)):
        await limits.extend("key", seconds)
        assert at_least < await limits.hold("key", 1) <= at_most


async def test_a_call_beyond_the_budget_waits_for_the_oldest_to_expire(limits: SourceLimits) -> None:
    began = datetime.now(UTC)
    assert [await limits.take_call() for _ in range(2)] == [None, None]
    free_at = await limits.take_call()
    assert free_at is not None
    assert timedelta(minutes=9) < free_at - began < timedelta(minutes=11)


async def test_a_cooldown_ends_by_itself_or_by_hand(limits: SourceLimits) -> None:
    cooldown = Cooldown(datetime.now(UTC) + timedelta(minutes=5), "SourceRateLimited", "HTTP 429")
    await limits.cool_down(cooldown)
    assert await limits.cooldown() == cooldown
    await limits.clear_cooldown()
    assert await limits.cooldown() is None
    await limits.cool_down(Cooldown(datetime.now(UTC) - timedelta(seconds=1), "SourceRateLimited", "HTTP 429"))
    assert await limits.cooldown() is None


async def test_without_redis_the_limits_of_the_process_apply(caplog: pytest.LogCaptureFixture) -> None:
    away = RedisCache(f"redis://127.0.0.1:{free_port()}")
    limits = RedisSourceLimits(away, "test", budget=BUDGET, fallback=LocalSourceLimits(budget=BUDGET))
    await limits.put("a", b"1", 60)
    assert await limits.get("a") == b"1"
    assert await limits.hold("key", 60) == 0
    assert await limits.hold("key", 60) > 0
    assert [await limits.take_call() is None for _ in range(3)] == [True, True, False]
    assert caplog.text.count("apply to this process only") == 1
    with pytest.raises(SourceUnavailable):
        await RedisSourceLimits(away, "test", budget=BUDGET).take_call()
    await away.aclose()
