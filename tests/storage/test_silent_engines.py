"""An engine that accepts connections and never answers: every call fails in bounded time, and no worker hangs."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from urllib.parse import urlsplit

import pytest
from temporalio.service import KeepAliveConfig

from found_footy.config import Settings
from found_footy.errors import CacheUnavailable, EngineError, ObjectStoreUnavailable, StoreUnavailable
from found_footy.notifications import outbox
from found_footy.notifications.outbox import OutboxReader
from found_footy.runtime import temporal
from found_footy.runtime.embedded_postgres import _SETTINGS as EMBEDDED
from found_footy.runtime.temporal import connect_temporal
from found_footy.storage import postgres
from found_footy.storage.connections import (
    ANSWER_SECONDS,
    STATEMENT_SECONDS,
    connect,
    connections_allowed,
    connections_needed,
    workers_that_fit,
)
from found_footy.storage.migrations import inspect
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.postgres import AdvisoryLock, Database
from found_footy.storage.read_pool import ReadPool
from found_footy.storage.redis import RedisCache
from tests.support.silent_proxy import SilentProxy

BOUND = 30.0
"""Seconds: what a busy machine may take for a limit of one second. Without limits the calls never end."""


def proxied(url: str, proxy: SilentProxy) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}").geturl()


def proxy_to(url: str) -> SilentProxy:
    parts = urlsplit(url)
    return SilentProxy(parts.hostname, parts.port)


async def test_a_pool_times_out_on_a_silent_database(database_url: str) -> None:
    async with proxy_to(database_url) as proxy:
        database = Database(proxied(database_url, proxy), answer_seconds=1)
        await database.open()
        try:
            assert await database.fetch(b"select 1 as one") == [{"one": 1}]
            proxy.silence()
            async with asyncio.timeout(BOUND):
                with pytest.raises(StoreUnavailable, match="no response for 1 s"):
                    await database.fetch(b"select 1 as one")
            assert proxy.swallowed > 0, "the statement was sent"
        finally:
            await database.close()


async def test_a_transaction_that_loses_its_database_ends(database_url: str) -> None:
    async with proxy_to(database_url) as proxy:
        database = Database(proxied(database_url, proxy), answer_seconds=1)
        await database.open()
        try:
            async with asyncio.timeout(BOUND):
                with pytest.raises(StoreUnavailable):
                    await _commit_into_silence(database, proxy)
        finally:
            await database.close()


async def _commit_into_silence(database: Database, proxy: SilentProxy) -> None:
    async with database.connection() as connection:
        await connection.execute("select 1")
        proxy.silence()  # the commit is not answered


async def test_readers_locks_schema_checks_and_the_outbox_time_out_too(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("found_footy.storage.read_pool.ANSWER_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr("found_footy.storage.migrations.INSPECTION_SECONDS", 1.0)
    monkeypatch.setattr(postgres, "LOCK_ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(outbox, "ANSWER_SECONDS", 1.0)
    async with proxy_to(database_url) as proxy:
        url = proxied(database_url, proxy)
        readers, lock, news = ReadPool(url), AdvisoryLock(url), OutboxReader(url)
        await readers.open()
        try:
            await readers.fetch(b"select 1")
            assert await lock.try_acquire()
            await news.latest()
            proxy.silence()
            async with asyncio.timeout(BOUND):
                calls = (readers.fetch(b"select 1"), lock.try_acquire(), news.latest(), inspect(url))
                failures = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(failure) for failure in failures] == [StoreUnavailable] * 4
        finally:
            await readers.close()


async def test_redis_s3_and_temporal_time_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporal, "KEEPALIVE", KeepAliveConfig(interval_millis=500, timeout_millis=500))
    async with SilentProxy(None, None) as proxy:
        cache = RedisCache(f"redis://127.0.0.1:{proxy.port}", answer_seconds=1)
        objects = open_object_store(
            "s3://bucket", endpoint=f"http://127.0.0.1:{proxy.port}", region="eu", access_key="a", secret_key="s",
            timeout_seconds=1,
        )  # fmt: skip
        async with asyncio.timeout(BOUND), aclosing(cache), aclosing(objects):
            with pytest.raises(CacheUnavailable):
                await cache.run("PING")
            with pytest.raises(ObjectStoreUnavailable):
                await objects.head("a")
            settings = Settings().model_copy(update={"temporal_address": f"127.0.0.1:{proxy.port}"})
            with pytest.raises(EngineError, match="unreachable"):
                await connect_temporal(settings)


async def test_connections_have_keepalives_and_a_statement_timeout(database_url: str) -> None:
    database = Database(database_url)
    await database.open()
    try:
        async with database.connection() as connection:
            for name, value in (("statement_timeout", "1min"), ("idle_in_transaction_session_timeout", "5min")):
                (row,) = await (await connection.execute(f"show {name}".encode())).fetchall()
                assert row[name] == value
            options = connection.info.get_parameters()
            assert (options["tcp_user_timeout"], options["keepalives_idle"]) == ("15000", "15")
    finally:
        await database.close()
    assert ANSWER_SECONDS > STATEMENT_SECONDS, "the server's message comes first"
    async with await connect(database_url) as line:
        assert line.info.get_parameters()["keepalives_count"] == "3"


def test_64_workers_fit_the_limit_of_the_embedded_database() -> None:
    """With a web server, a watchdog, a command and the schema checks of all of them."""
    reserved_for_superusers = 3
    needed = connections_needed(64, Settings().database_connections)
    assert needed + reserved_for_superusers <= int(EMBEDDED["max_connections"])


@pytest.mark.parametrize(
    ("allowed", "pool", "workers"),
    [(297, 4, 67), (97, 4, 17), (97, 2, 38), (20, 4, 0)],
)
def test_workers_that_fit_a_limit_of_connections(allowed: int, pool: int, workers: int) -> None:
    assert workers_that_fit(allowed, pool) == workers
    if workers:
        assert connections_needed(workers, pool) <= allowed < connections_needed(workers + 1, pool)


async def test_the_limit_of_the_server_is_read(database_url: str) -> None:
    assert await connections_allowed(database_url) == 397  # of the tests' server
