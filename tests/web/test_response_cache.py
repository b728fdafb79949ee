"""The response cache: never older than the database, built once for concurrent callers, bounded in memory."""

from __future__ import annotations

import asyncio

import pytest

from found_footy.errors import NotFound
from found_footy.web.response_cache import Body, Build, ResponseCache, accepts_gzip, etag_matches


class Database:
    """A value that changes, and how often it was read."""

    def __init__(self) -> None:
        self.value = 1
        self.reads = 0

    async def version(self) -> str:
        return str(self.value)

    def make(self, size: int = 10, waits: asyncio.Event | None = None) -> Build:
        async def make() -> Body:
            self.reads += 1
            seen = self.value
            if waits is not None:
                await waits.wait()
            return Body(str(seen).encode().rjust(size))

        return make


@pytest.fixture
def database() -> Database:
    return Database()


async def test_a_response_is_rebuilt_only_after_a_change(database: Database) -> None:
    cache = ResponseCache(database.version)
    first = await cache.get("a", database.make())
    assert await cache.get("a", database.make()) is first
    assert database.reads == 1
    database.value = 2
    second = await cache.get("a", database.make())
    assert (second.body.strip(), database.reads) == (b"2", 2)
    assert second.etag != first.etag


async def test_concurrent_callers_share_one_build(database: Database) -> None:
    cache = ResponseCache(database.version)
    go = asyncio.Event()
    asked = [asyncio.create_task(cache.get("a", database.make(waits=go))) for _ in range(50)]
    await asyncio.sleep(0)
    go.set()
    assert {(await each).body.strip() for each in asked} == {b"1"}
    assert database.reads == 1
    database.value = 2
    asked = [asyncio.create_task(cache.get("a", database.make())) for _ in range(50)]
    assert {(await each).body.strip() for each in asked} == {b"2"}
    assert database.reads == 2


async def test_a_caller_after_a_change_never_gets_the_older_build(database: Database) -> None:
    cache = ResponseCache(database.version)
    go = asyncio.Event()
    before = asyncio.create_task(cache.get("a", database.make(waits=go)))
    await asyncio.sleep(0)  # it has read, and is not back yet
    await asyncio.sleep(0)
    assert database.reads == 1
    database.value = 2
    after = asyncio.create_task(cache.get("a", database.make()))
    await asyncio.sleep(0)
    go.set()
    assert (await before).body.strip() == b"1"
    assert (await after).body.strip() == b"2"


async def test_an_error_is_raised_and_not_cached(database: Database) -> None:
    cache = ResponseCache(database.version)

    async def fails() -> Body:
        raise NotFound("nothing there")

    for _ in range(2):
        with pytest.raises(NotFound):
            await cache.get("a", fails)
    assert (await cache.get("a", database.make())).body.strip() == b"1"


async def test_a_cancelled_caller_does_not_cancel_the_build(database: Database) -> None:
    cache = ResponseCache(database.version)
    go = asyncio.Event()
    impatient = asyncio.create_task(cache.get("a", database.make(waits=go)))
    patient = asyncio.create_task(cache.get("a", database.make()))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    go.set()
    assert (await patient).body.strip() == b"1"
    assert database.reads == 1


async def test_the_cache_evicts_the_least_recently_used_entries(database: Database) -> None:
    cache = ResponseCache(database.version, max_bytes=10_000)
    for number in range(20):
        await cache.get(number, database.make(size=1000))
    assert database.reads == 20
    await cache.get(19, database.make(size=1000))
    assert database.reads == 20
    await cache.get(0, database.make(size=1000))
    assert database.reads == 21
    await cache.get("too large", database.make(size=100_000))
    await cache.get("too large", database.make(size=100_000))
    assert database.reads == 23


@pytest.mark.parametrize(
    ("accepted", "packs"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("GZIP", True),
        ("gzip;q=0", False),
        ("gzip;q=0.0", False),
        ("gzip; q=0.001", True),
        ("br, zstd", False),
        ("x-gzip", False),
        ("*", True),
    ],
)
def test_accept_encoding(accepted: str | None, packs: bool) -> None:
    assert accepts_gzip(accepted) == packs


@pytest.mark.parametrize(
    ("if_none_match", "known"),
    [
        (None, False),
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ('"b"', False),
        ("a", False),
        ("*", True),
        ('"' * 1000, False),
    ],
)
def test_if_none_match(if_none_match: str | None, known: bool) -> None:
    assert etag_matches('"a"', if_none_match) == known


async def test_an_entry_has_the_version_read_before_it_was_built(database: Database) -> None:
    async def changes_meanwhile() -> Body:
        database.value = 2
        return Body(b"2")

    assert (await ResponseCache(database.version).get("a", changes_meanwhile)).version == "1"


async def test_a_status_is_cached_with_the_body(database: Database) -> None:
    async def gone() -> Body:
        return Body(b"withdrawn", 410)

    cache = ResponseCache(database.version)
    assert [(await cache.get("a", gone)).status for _ in range(2)] == [410, 410]
