"""Real engines for the whole run, and a database of its own for each test."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql
from temporalio.client import Client

from found_footy.adapters.storage.objects import ThreadedObjectStore, open_object_store
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.migrate import migrate
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.ops.engines import DataFolder, EmbeddedPostgres, EmbeddedTemporal

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    folder = DataFolder(tmp_path_factory.mktemp("engines"))
    with folder.lock():
        yield folder


@pytest.fixture(scope="session")
def postgres_server(engine_folder: DataFolder) -> Iterator[str]:
    """The URL of a migrated database that serves as a template; nobody may stay connected to it."""
    engine = EmbeddedPostgres(engine_folder)
    asyncio.run(engine.start())
    try:
        asyncio.run(migrate(engine.url))
        yield engine.url
    finally:
        asyncio.run(engine.destroy())


@pytest.fixture
def database_url(postgres_server: str) -> Iterator[str]:
    """A migrated, empty database that is gone afterwards."""
    parts = urlsplit(postgres_server)
    name, template = f"test_{next(_numbers)}", parts.path.lstrip("/")
    maintenance = parts._replace(path="/postgres").geturl()
    with psycopg.connect(maintenance, autocommit=True) as connection:
        create = sql.SQL("create database {} template {}")
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    yield parts._replace(path=f"/{name}").geturl()
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    database = Database(database_url)
    await database.open()
    yield PostgresStore(database)
    await database.close()


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncIterator[ThreadedObjectStore]:
    """An empty object store in a folder."""
    opened = open_object_store(
        (tmp_path / "objects").as_uri(), endpoint=None, region="", access_key=None, secret_key=None
    )
    yield opened
    await opened.aclose()


@pytest.fixture(scope="session")
def temporal_address(engine_folder: DataFolder) -> Iterator[str]:
    engine = EmbeddedTemporal(engine_folder)
    asyncio.run(engine.start())
    yield engine.address
    asyncio.run(engine.destroy())


@pytest.fixture
async def temporal(temporal_address: str) -> Client:
    return await Client.connect(temporal_address)
