from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from found_footy.fixtures.store import FixtureStore
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.search import LibrarySearch
from found_footy.storage.postgres import Database
from tests.library.clip_rows import ClipRows
from tests.support.library_rows import LibraryStores


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[LibraryStores]:
    database = Database(database_url)
    await database.open()
    yield LibraryStores(database)
    await database.close()


@pytest.fixture
def clip_rows(store: FixtureStore) -> ClipRows:
    return ClipRows(store.database)


@pytest.fixture
def vectors(store: FixtureStore) -> EmbeddingStore:
    return EmbeddingStore(store.database)


@pytest.fixture
def search_store(store: FixtureStore) -> LibrarySearch:
    return LibrarySearch(store.database)
