"""What `SharedCache` promises, over Redis and over the cache of one process, and the fallback from one to the other."""

from __future__ import annotations

import asyncio

import pytest

from found_footy.discovery.shared_cache import CacheWithFallback, LocalCache, SharedCache
from found_footy.storage.redis import RedisCache
from found_footy.storage.shared_cache import RedisSharedCache
from tests.discovery.serving import free_port


@pytest.fixture(params=["redis", "local"])
def shared(request: pytest.FixtureRequest, cache: RedisCache) -> SharedCache:
    return RedisSharedCache(cache, "test") if request.param == "redis" else LocalCache()


async def test_a_value_is_there_until_it_expires(shared: SharedCache) -> None:
    assert await shared.get("a") is None
    await shared.put("a", b"\x00value", 0.05)
    assert await shared.get("a") == b"\x00value"
    async with asyncio.timeout(10):
        while await shared.get("a") is not None:
            await asyncio.sleep(0.01)


async def test_of_many_who_acquire_a_key_one_gets_it_and_the_others_learn_how_long_to_wait(shared: SharedCache) -> None:
    waits = await asyncio.gather(*(shared.acquire("key", 60) for _ in range(20)))
    assert sorted(waits)[0] == 0
    assert all(55 < wait <= 60 for wait in sorted(waits)[1:])


async def test_a_released_key_is_free(shared: SharedCache) -> None:
    await shared.acquire("key", 60)
    await shared.release("key")
    assert await shared.acquire("key", 60) == 0


async def test_a_hold_is_extended_and_never_shortened(shared: SharedCache) -> None:
    await shared.extend("key", 30)
    assert 25 < await shared.acquire("key", 1) <= 30
    await shared.extend("key", 5)
    assert 25 < await shared.acquire("key", 1) <= 30
    await shared.extend("key", 90)
    assert 80 < await shared.acquire("key", 1) <= 90


async def test_while_redis_is_away_the_process_uses_its_own_cache(caplog: pytest.LogCaptureFixture) -> None:
    away = RedisCache(f"redis://127.0.0.1:{free_port()}")
    shared = CacheWithFallback(RedisSharedCache(away, "test"))
    await shared.put("a", b"1", 60)
    assert await shared.get("a") == b"1"
    assert await shared.acquire("key", 60) == 0
    assert await shared.acquire("key", 60) > 0
    assert caplog.text.count("this process uses its own cache") == 1
    await away.aclose()
