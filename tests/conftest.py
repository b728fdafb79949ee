"""Real engines for the whole run, and a database of its own for each test."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
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
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.bootstrap import build_objects, open_store
from found_footy.config import Settings
from found_footy.ops.engines import DataFolder, EmbeddedPostgres, EmbeddedTemporal, EmbeddedValkey
from tests.support.web_world import World, populate_at, settings_for

_numbers = itertools.count(1)

# The file of the checkout declares feeds of the real world; tests name theirs.
os.environ.setdefault("FOOTY_FEED", "api_football")


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


@contextlib.contextmanager
def cloned(template_url: str) -> Iterator[str]:
    """A copy of a database that nobody is connected to; gone afterwards."""
    parts = urlsplit(template_url)
    name, template = f"test_{next(_numbers)}", parts.path.lstrip("/")
    maintenance = parts._replace(path="/postgres").geturl()
    with psycopg.connect(maintenance, autocommit=True) as connection:
        create = sql.SQL("create database {} template {}")
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    yield parts._replace(path=f"/{name}").geturl()
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def database_url(postgres_server: str) -> Iterator[str]:
    """A migrated, empty database that is gone afterwards."""
    with cloned(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def populated(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The small world of `tests/support/web_world.py`: a template of its database, and its files."""
    folder = tmp_path_factory.mktemp("world")
    with cloned(postgres_server) as url:
        asyncio.run(populate_at(url, folder))
        yield url, folder


@dataclass(frozen=True)
class WorldCopy:
    """A world of one's own, to look at and to change."""

    settings: Settings
    store: PostgresStore
    world: World


@pytest.fixture
async def small_world(populated: tuple[str, Path], tmp_path: Path) -> AsyncIterator[WorldCopy]:
    template, files = populated
    shutil.copytree(files / "objects", tmp_path / "objects")
    with cloned(template) as url:
        settings = settings_for(url, tmp_path)
        async with open_store(settings) as store, contextlib.aclosing(build_objects(settings)) as objects:
            yield WorldCopy(settings, store, World(store, objects, first_poll=1000))


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
def valkey_server(engine_folder: DataFolder) -> Iterator[str]:
    engine = EmbeddedValkey(engine_folder)
    asyncio.run(engine.start())
    yield engine.environment()["REDIS_URL"]
    asyncio.run(engine.destroy())


@pytest.fixture
async def cache(valkey_server: str) -> AsyncIterator[RedisCache]:
    """With keys of its own."""
    opened = RedisCache(valkey_server, prefix=f"test-{os.getpid()}-{next(_numbers)}:")
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
