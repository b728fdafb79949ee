"""Real engines for the whole run, and a database of its own for each test."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from temporalio.client import Client

from found_footy.adapters.storage.objects import ThreadedObjectStore, open_object_store
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.migrate import migrate
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.bootstrap_stores import build_objects, open_store
from found_footy.config import Settings
from found_footy.ops.engines import DataFolder, EmbeddedPostgres, EmbeddedTemporal, EmbeddedValkey
from tests.support.databases import Databases
from tests.support.web_world import World, populate_at, settings_for

_numbers = itertools.count(1)

# The file of the checkout declares feeds of the real world; tests name theirs.
os.environ.setdefault("FOOTY_FEED", "api_football")
# Searched without any setting, so a test that names no simulator must reach nobody.
os.environ.setdefault("FOOTY_FXTWITTER_URL", "http://127.0.0.1:9")
# Nothing here talks to the real world; to read its authorities takes each client of httpx as long as a test.
os.environ.setdefault("SSL_CERT_FILE", str(Path(__file__).parent / "support" / "nobody.pem"))

# A busy machine must not decide over a property: an example may take its time, and so may their making. At a desk, each
# run tries new examples, and chance finds bugs; elsewhere a change must not fail by the chance of another's: there they
# are always the same ones.
settings.register_profile(
    "footy", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("footy")


@pytest.fixture(autouse=True)
def unchanged_logging() -> Iterator[None]:
    """Commands that run in this process configure the root logger; the next test must not notice."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if each in handlers or "pytest" in type(each).__module__]


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


@pytest.fixture(scope="session")
def databases(postgres_server: str) -> Iterator[Databases]:
    """Migrated and empty ones."""
    with contextlib.closing(Databases(postgres_server)) as opened:
        yield opened


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A migrated, empty database of one's own."""
    with databases.borrowed() as url:
        yield url


@pytest.fixture(scope="session")
def worlds(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Databases, Path]]:
    """The small world of `tests/support/web_world.py`: databases with it, and its files."""
    folder = tmp_path_factory.mktemp("world")
    with databases.borrowed() as url:
        asyncio.run(populate_at(url, folder))
        with contextlib.closing(Databases(url)) as opened:
            yield opened, folder


@dataclass(frozen=True)
class WorldCopy:
    """A world of one's own, to look at and to change."""

    settings: Settings
    store: PostgresStore
    world: World


@pytest.fixture
async def small_world(worlds: tuple[Databases, Path], tmp_path: Path) -> AsyncIterator[WorldCopy]:
    async with world_copy(worlds, tmp_path) as copy:
        yield copy


@contextlib.asynccontextmanager
async def world_copy(worlds: tuple[Databases, Path], tmp_path: Path) -> AsyncIterator[WorldCopy]:
    copies, files = worlds
    shutil.copytree(files / "objects", tmp_path / "objects")
    with copies.borrowed() as url:
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
