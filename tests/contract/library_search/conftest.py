"""A database with a shelf to put clips on."""

from __future__ import annotations

import pytest
from tests.contract.library_search.shelf import Shelf

from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.postgres.vectors import PostgresVectors


@pytest.fixture
def shelf(store: PostgresStore) -> Shelf:
    return Shelf(store.database)


@pytest.fixture
def vectors(store: PostgresStore) -> PostgresVectors:
    return PostgresVectors(store.database)


@pytest.fixture
def search_store(store: PostgresStore) -> PostgresLibrarySearch:
    return PostgresLibrarySearch(store.database)
