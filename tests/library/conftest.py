from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from found_footy.fixtures.store import FixtureStore
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.search import LibrarySearch
from found_footy.storage.postgres import Database
from tests.library.shelf import Shelf
from tests.support.library_rows import Bench


@pytest.fixture
async def bench(database_url: str) -> AsyncIterator[Bench]:
    database = Database(database_url)
    await database.open()
    yield Bench(database)
    await database.close()


@pytest.fixture
def shelf(store: FixtureStore) -> Shelf:
    return Shelf(store.database)


@pytest.fixture
def vectors(store: FixtureStore) -> EmbeddingStore:
    return EmbeddingStore(store.database)


@pytest.fixture
def search_store(store: FixtureStore) -> LibrarySearch:
    return LibrarySearch(store.database)
