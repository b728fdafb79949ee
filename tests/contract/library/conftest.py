"""An empty clip library in a real database, and short ways to fill it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.conftest import cloned
from tests.support.library_rows import Bench

from found_footy.adapters.storage.postgres.database import Database


@pytest.fixture(scope="package")
def library_url(postgres_server: str) -> Iterator[str]:
    with cloned(postgres_server) as url:
        yield url


@pytest.fixture
async def bench(library_url: str) -> AsyncIterator[Bench]:
    """One database for all of these tests, emptied before each: that takes less time than a new one."""
    database = Database(library_url)
    await database.open()
    async with database.connection() as connection:
        await connection.execute(
            "truncate fixtures, library_sources, library_actions, library_scenes, library_deletions, outbox"
            " restart identity cascade"
        )
    yield Bench(database)
    await database.close()
