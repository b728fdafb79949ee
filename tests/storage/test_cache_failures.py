"""A cache that is away, refuses, or comes back: always CacheUnavailable, never a password in the message."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from found_footy.errors import CacheFull, CacheUnavailable, SettingsError
from found_footy.feeds.cache import SnapshotCache
from found_footy.feeds.models import NewSnapshot
from found_footy.feeds.snapshot import encode_payload
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.engine import free_port
from found_footy.storage.limits import LeaseSemaphore
from found_footy.storage.redis import RedisCache

NOW = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
SECRET = "p%40ss"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[EmbeddedValkey]:
    """One that may be killed."""
    folder = DataFolder(tmp_path / "data")
    with folder.lock():
        engine = EmbeddedValkey(folder)
        await engine.start()
        yield engine
        await engine.destroy()


@pytest.fixture
async def own(engine: EmbeddedValkey) -> AsyncIterator[RedisCache]:
    cache = RedisCache(engine.url)
    yield cache
    await cache.aclose()


def snapshot() -> NewSnapshot:
    hour = timedelta(hours=1)
    return NewSnapshot("espn_1", "espn", encode_payload({"goals": 1}), NOW, ttl=hour, fresh_for=hour)


async def kill(engine: EmbeddedValkey) -> None:
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    await engine.wait()


async def test_a_killed_server_is_unavailable_and_comes_back_with_all_keys(
    engine: EmbeddedValkey, own: RedisCache
) -> None:
    snapshots = SnapshotCache(own)
    await snapshots.save([snapshot()])
    await asyncio.gather(*(own.run("PING") for _ in range(10)))  # several connections, all of which will be dead
    await kill(engine)
    with pytest.raises(CacheUnavailable, match="cannot be reached"):
        await snapshots.load(["espn_1"])
    await engine.start()
    found = await asyncio.gather(*(snapshots.load(["espn_1"]) for _ in range(10)))
    assert all(one["espn_1"].payload == {"goals": 1} for one in found)


async def test_a_holder_is_cancelled_before_a_lease_expires_that_cannot_be_renewed(
    engine: EmbeddedValkey, own: RedisCache
) -> None:
    semaphore = LeaseSemaphore(own, lease_seconds=0.8)

    async def hold() -> None:
        async with semaphore.permit("espn", 1, wait_seconds=20):
            await kill(engine)
            await asyncio.Event().wait()

    with pytest.raises(CacheUnavailable, match="lost the permit of espn"):
        await hold()
    with pytest.raises(CacheUnavailable, match="cannot be reached"):
        async with semaphore.permit("espn", 1, wait_seconds=20):
            raise AssertionError("not reached")
    await engine.start()
    async with semaphore.permit("espn", 1, wait_seconds=20):
        assert await semaphore.holders("espn") == 1


async def test_a_full_cache_rejects_writes_with_its_own_error_and_can_still_be_read(own: RedisCache) -> None:
    await own.run("SET", own.key("kept"), "1")
    await own.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
    await own.run("CONFIG", "SET", "maxmemory", "1mb")
    large = [("SET", own.key("large", number), "x" * 100_000) for number in range(100)]
    with pytest.raises(CacheFull, match="is full: it rejects writes"):
        await own.run_all(large)
    with pytest.raises(CacheFull):
        await own.check_writable()
    assert await own.run("GET", own.key("kept")) == b"1"


async def test_a_full_cache_drops_histories_before_it_stops_polling(own: RedisCache) -> None:
    """On a server that evicts nothing."""
    await own.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
    snapshots = SnapshotCache(own)
    await own.run("RPUSH", own.key("match_history", "old"), "x" * 3_000_000)
    used = int((await own.run("INFO", "memory"))["used_memory"])
    await own.run("CONFIG", "SET", "maxmemory", str(used - 500_000))
    with pytest.raises(CacheFull):
        await own.run("SET", own.key("any"), "1")
    await snapshots.save([snapshot()])
    assert set(await snapshots.load(["espn_1"])) == {"espn_1"}
    assert await own.run("EXISTS", own.key("match_history", "old")) == 0


async def test_a_hanging_server_times_out(engine: EmbeddedValkey) -> None:
    impatient = RedisCache(engine.url, answer_seconds=1.0)
    await impatient.run("PING")
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGSTOP)
    try:
        with pytest.raises(CacheUnavailable, match="did not respond in time"):
            await impatient.run("PING")
    finally:
        os.kill(engine.pid, signal.SIGCONT)
    assert await impatient.run("PING")
    await impatient.aclose()


async def test_a_wrong_password_is_reported_without_it(engine: EmbeddedValkey) -> None:
    parts = urlsplit(engine.url)
    for netloc in (f":{SECRET}@{parts.hostname}:{parts.port}", f"{parts.hostname}:{parts.port}"):
        cache = RedisCache(parts._replace(netloc=netloc).geturl())
        with pytest.raises(CacheUnavailable, match=r"rejects the user or the password|requires a password") as caught:
            await cache.check()
        assert "p@ss" not in str(caught.value)
        assert SECRET not in str(caught.value)
        await cache.aclose()


async def test_an_unreachable_address_is_reported_without_the_password() -> None:
    port = free_port()
    cache = RedisCache(f"redis://user:{SECRET}@127.0.0.1:{port}/0")
    with pytest.raises(CacheUnavailable) as caught:
        await cache.run("PING")
    assert str(caught.value) == f"redis://127.0.0.1:{port} cannot be reached, or closed the connection"
    assert caught.value.__cause__ is None
    await cache.aclose()


@pytest.mark.parametrize("url", ["redis://:pa/ss@host:1", "redis://:x@host:port", "http://h", "redis://[::1", "unix"])
def test_an_address_that_cannot_be_read_is_a_wrong_setting_and_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        RedisCache(url)
    assert url not in str(caught.value)
    assert "pa" not in str(caught.value).replace("password", "")


async def test_a_server_of_another_protocol_is_unavailable() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n<html>")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        cache = RedisCache(f"redis://127.0.0.1:{port}")
        with pytest.raises(CacheUnavailable):
            await cache.run("PING")
        await cache.aclose()


async def test_check_reports_the_server_and_its_address(engine: EmbeddedValkey, own: RedisCache) -> None:
    assert await own.check() == f"Valkey 9.1.2 at redis://127.0.0.1:{engine.ports()['valkey']}"


async def test_the_protocol_parameter_of_a_url_is_ignored(engine: EmbeddedValkey) -> None:
    cache = RedisCache(f"{engine.url}?protocol=3&client_name=x")
    await cache.run("ZADD", cache.key("set"), 1, "a")
    assert await cache.run("ZRANGE", cache.key("set"), 0, -1, "WITHSCORES") == [b"a", b"1"]
    await cache.aclose()


@pytest.mark.parametrize("failure", [None, OSError("connection reset")])
async def test_a_cancellation_that_the_client_swallows_is_not_lost(
    cache: RedisCache, monkeypatch: pytest.MonkeyPatch, failure: OSError | None
) -> None:
    async def swallow(*_: object) -> bytes:
        """What `asyncio.wait_for` does before Python 3.12 if the result arrives together with the cancellation."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if failure is not None:
                raise failure from None
        return b"PONG"

    monkeypatch.setattr(cache._client, "execute_command", swallow)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await cache.run("PING")
