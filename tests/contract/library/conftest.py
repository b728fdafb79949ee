"""An empty clip library in a real database, and short ways to fill it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.support.library_rows import Bench

from found_footy.adapters.storage.postgres.database import Database


@pytest.fixture
async def bench(database_url: str) -> AsyncIterator[Bench]:
    database = Database(database_url)
    await database.open()
    yield Bench(database)
    await database.close()
