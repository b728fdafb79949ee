"""Kept answers: never older than the database, made once for everybody, and within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from found_footy.domain.errors import NotFound
from found_footy.web.answers.etags import accepts_gzip, is_known
from found_footy.web.answers.kept import KeptAnswers, Made


class Database:
    """A value that changes, and how often it was read."""

    def __init__(self) -> None:
        self.value = 1
        self.reads = 0

    async def version(self) -> str:
        return str(self.value)

    def make(self, size: int = 10, waits: asyncio.Event | None = None) -> Made:
        async def make() -> tuple[str, bytes]:
            self.reads += 1
            seen = self.value
            if waits is not None:
                await waits.wait()
            return str(seen), str(seen).encode().rjust(size)

        return make


@pytest.fixture
def database() -> Database:
    return Database()


async def test_an_answer_is_made_again_when_something_has_changed_and_only_then(database: Database) -> None:
    kept = KeptAnswers(database.version)
    first = await kept.answer("a", database.make())
    assert await kept.answer("a", database.make()) is first
    assert database.reads == 1
    database.value = 2
    second = await kept.answer("a", database.make())
    assert (second.body.strip(), database.reads) == (b"2", 2)
    assert second.etag != first.etag


async def test_everybody_who_asks_at_once_shares_one_reading(database: Database) -> None:
    kept = KeptAnswers(database.version)
    go = asyncio.Event()
    asked = [asyncio.create_task(kept.answer("a", database.make(waits=go))) for _ in range(50)]
    await asyncio.sleep(0)
    go.set()
    assert {(await each).body.strip() for each in asked} == {b"1"}
    assert database.reads == 1
    database.value = 2
    asked = [asyncio.create_task(kept.answer("a", database.make())) for _ in range(50)]
    assert {(await each).body.strip() for each in asked} == {b"2"}
    assert database.reads == 2


async def test_who_comes_after_a_change_never_gets_what_was_read_before_it(database: Database) -> None:
    kept = KeptAnswers(database.version)
    go = asyncio.Event()
    before = asyncio.create_task(kept.answer("a", database.make(waits=go)))
    await asyncio.sleep(0)  # it has read, and is not back yet
    await asyncio.sleep(0)
    assert database.reads == 1
    database.value = 2
    after = asyncio.create_task(kept.answer("a", database.make()))
    await asyncio.sleep(0)
    go.set()
    assert (await before).body.strip() == b"1"
    assert (await after).body.strip() == b"2"


async def test_a_failure_is_told_to_who_asked_and_not_kept(database: Database) -> None:
    kept = KeptAnswers(database.version)

    async def fails() -> tuple[str, bytes]:
        raise NotFound("nothing there")

    for _ in range(2):
        with pytest.raises(NotFound):
            await kept.answer("a", fails)
    assert (await kept.answer("a", database.make())).body.strip() == b"1"


async def test_somebody_who_goes_away_does_not_take_the_answer_with_them(database: Database) -> None:
    kept = KeptAnswers(database.version)
    go = asyncio.Event()
    impatient = asyncio.create_task(kept.answer("a", database.make(waits=go)))
    patient = asyncio.create_task(kept.answer("a", database.make()))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    go.set()
    assert (await patient).body.strip() == b"1"
    assert database.reads == 1


async def test_no_more_is_kept_than_there_is_room_for(database: Database) -> None:
    kept = KeptAnswers(database.version, most_bytes=10_000)
    for number in range(20):
        await kept.answer(number, database.make(size=1000))
    assert database.reads == 20
    await kept.answer(19, database.make(size=1000))
    assert database.reads == 20
    await kept.answer(0, database.make(size=1000))
    assert database.reads == 21
    await kept.answer("too large", database.make(size=100_000))
    await kept.answer("too large", database.make(size=100_000))
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
def test_an_answer_is_packed_for_those_who_can_unpack_it(accepted: str | None, packs: bool) -> None:
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
def test_a_tag_is_known_where_it_is_named(if_none_match: str | None, known: bool) -> None:
    assert is_known('"a"', if_none_match) == known


def test_what_is_read_by_several_queries_says_the_version_of_before_them(database: Database) -> None:
    async def run(change: Callable[[], None]) -> tuple[str, bytes]:
        async def make() -> bytes:
            change()
            return str(database.value).encode()

        return await KeptAnswers(database.version).after_version(make)()

    def change() -> None:
        database.value = 2

    assert asyncio.run(run(change)) == ("1", b"2")
