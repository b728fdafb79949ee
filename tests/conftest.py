"""Real engines for the whole run, and a database for each test."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import itertools
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from temporalio.client import Client
from xdist.scheduler import LoadScopeScheduling

from found_footy.config import Settings
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.runtime.embedded_temporal import NAMESPACE
from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from found_footy.storage.stores import build_objects
from tests.support.databases import Databases
from tests.support.engines import VALKEY_DATABASES, EngineHost, client_in_namespace, only_process, request_engine
from tests.support.recorded import MISSING, TESTDATA

if TYPE_CHECKING:
    from tests.support.web_world import SampleData

_numbers = itertools.count(1)

# The file of the checkout declares feeds of the real world; tests name theirs.
os.environ.setdefault("FOOTY_FEED", "api_football")
# Searched without any setting, so a test that names no simulator must reach nobody.
os.environ.setdefault("FOOTY_FXTWITTER_URL", "http://127.0.0.1:9")
# Nothing here talks to the real world; to read its authorities takes each client of httpx as long as a test.
os.environ.setdefault("SSL_CERT_FILE", str(Path(__file__).parent / "support" / "nobody.pem"))

# Each client would read them for itself, unless they are read once.
httpx._transports.default.create_ssl_context = functools.cache(httpx.create_ssl_context)
# A busy machine must not fail a test; httpx gives up after 5 s unless told otherwise.
httpx._config.DEFAULT_TIMEOUT_CONFIG.read = 60.0

# No deadlines: an example may take its time on a busy machine. The examples of `make test` are always the same, so that
# a change does not fail by chance; `make chaos` looks for new ones.
_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("footy", _UNHURRIED, max_examples=30, derandomize=True, database=None)
settings.register_profile("chaos", _UNHURRIED, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "footy"))

ROOT = Path(__file__).parent
ENGINE_FIXTURES = {
    "postgres_server",
    "valkey_server",
    "temporal_address",
    "shared_engines",
    "seaweed",
    "postgres",
    "temporal",
}
MEDIA_FIXTURES = {"ocr_engine", "vision", "llama_url", "media"}
FOLDER_MARKERS = {
    "browser": "chromium",
    "chaos": "system",
    "cli": "processes",
    "e2e": "system",
    "media": "media",
    "runtime": "processes",
    "simulator/clips": "media",
    "simulator/social": "processes",
    "storage": "engines",
    "web/pages": "chromium",
}
ONE_PROCESS = ("browser", "chaos", "e2e", "web/pages")
"""Folders whose tests share a browser or start whole systems: one process runs them, one test after the other."""
GROUP_ORDER = ("e2e", "chaos", "web/pages", "browser", "clips/test_accuracy", "media", "clips", "web", "library", "cli")
"""What takes longest starts first, so that no worker is left with it at the end."""


def group_of(path: str) -> str:
    """Return the tests that run in the same process as this file: its folder or the file itself."""
    module = path.removeprefix("tests/").removesuffix(".py")
    return next((folder for folder in ONE_PROCESS if module.startswith(f"{folder}/")), module)


class GroupScheduling(LoadScopeScheduling):
    """Sends each group of tests to one worker, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.split("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    """A hook of xdist. Its own `loadgroup` renames tests, which pytest 9.2 ignores."""
    return GroupScheduling(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """Collection only allocates, so there is no garbage to look for."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Twelve thousand tests stay until the end: garbage collection need not go through them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Derive markers from folders and fixtures, and start with what takes longest."""
    for item in items:
        folder = item.path.parent.relative_to(ROOT).as_posix()
        markers = {marker for prefix, marker in FOLDER_MARKERS.items() if f"{folder}/".startswith(f"{prefix}/")}
        used = set(getattr(item, "fixturenames", ()))
        if used & ENGINE_FIXTURES:
            markers.add("engines")
        if used & MEDIA_FIXTURES:
            markers.add("media")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            markers.add("property")
        for marker in sorted(markers):
            item.add_marker(marker)

    def rank(item: pytest.Item) -> int:
        group = group_of(item.path.relative_to(ROOT).as_posix())
        return next((n for n, name in enumerate(GROUP_ORDER) if f"{group}/".startswith(f"{name}/")), len(GROUP_ORDER))

    items.sort(key=rank)


@pytest.fixture(autouse=True)
def unchanged_logging() -> Iterator[None]:
    """Commands that run in this process configure the root logger; the next test must not notice."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if each in handlers or "pytest" in type(each).__module__]


HOST = pytest.StashKey[EngineHost]()


def pytest_configure_node(node: Any) -> None:
    """A hook of xdist, called in the process that owns the engines for each of its workers."""
    node.workerinput["engines"] = str(_engines(node.config))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for want of recorded data: without it, nothing was tried on real clips."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if MISSING in str(report.longrepr)]
    if skipped:
        terminalreporter.write_sep("=", f"{len(skipped)} tests skipped: {MISSING} ({TESTDATA})", red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    if HOST in config.stash:
        config.stash[HOST].close()


def _engines(config: pytest.Config) -> Path:
    if HOST not in config.stash:
        config.stash[HOST] = EngineHost()
    return config.stash[HOST].folder


@dataclass(frozen=True)
class SharedEngines:
    """The engines that all test processes share; `worker` is the number of this one."""

    folder: Path
    worker: int

    def address(self, name: str) -> Any:
        return request_engine(self.folder, name)

    @property
    def namespace(self) -> str:
        """Workflow ids repeat from test to test, so each process has a namespace."""
        return f"test-{self.worker}" if self.worker else NAMESPACE


@pytest.fixture(scope="session")
def shared_engines(pytestconfig: pytest.Config) -> SharedEngines:
    given: dict[str, Any] | None = getattr(pytestconfig, "workerinput", None)
    if given is None:
        return SharedEngines(_engines(pytestconfig), 0)
    return SharedEngines(Path(given["engines"]), int(given["workerid"].removeprefix("gw")))


@pytest.fixture(scope="session")
def postgres_server(shared_engines: SharedEngines) -> str:
    """URL of a migrated database that serves as a template; nothing may stay connected to it."""
    url: str = shared_engines.address("postgres")
    return url


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


@pytest.fixture
def empty_database(postgres_server: str) -> str:
    """As after `createdb`: without our schema."""
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(urlsplit(postgres_server)._replace(path="/postgres").geturl(), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
    return urlsplit(postgres_server)._replace(path=f"/{name}").geturl()


@pytest.fixture(scope="session")
def worlds(postgres_server: str, shared_engines: SharedEngines) -> Iterator[tuple[Databases, Path]]:
    """The small world of `tests/support/web_world.py`: databases with it, and its files. One process fills it."""
    from tests.support.web_world import populate_at

    url, folder = urlsplit(postgres_server)._replace(path="/small_world").geturl(), shared_engines.folder / "world"
    with only_process(shared_engines.folder / "world.lock"):
        if not folder.exists():
            made = Path(tempfile.mkdtemp(dir=shared_engines.folder))
            asyncio.run(populate_at(Databases(postgres_server).create("small_world"), made))
            made.rename(folder)
    with contextlib.closing(Databases(url)) as opened:
        yield opened, folder


@dataclass(frozen=True)
class SampleDataCopy:
    """A world of one's own, to look at and to change."""

    settings: Settings
    store: FixtureStore
    world: SampleData


@pytest.fixture
async def small_world(worlds: tuple[Databases, Path], tmp_path: Path) -> AsyncIterator[SampleDataCopy]:
    async with world_copy(worlds, tmp_path) as copy:
        yield copy


@contextlib.asynccontextmanager
async def world_copy(worlds: tuple[Databases, Path], tmp_path: Path) -> AsyncIterator[SampleDataCopy]:
    # The web stack takes seconds to load, and most test modules do without.
    from tests.support.web_world import SampleData, settings_for

    copies, files = worlds
    shutil.copytree(files / "objects", tmp_path / "objects", copy_function=os.link)
    with copies.borrowed() as url:
        settings = settings_for(url, tmp_path)
        async with open_store(settings) as store, contextlib.aclosing(build_objects(settings)) as objects:
            yield SampleDataCopy(settings, store, SampleData(store, objects, first_poll=1000))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[FixtureStore]:
    database = Database(database_url)
    await database.open()
    yield FixtureStore(database)
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
def valkey_server(shared_engines: SharedEngines) -> str:
    """URL of a numbered database that no other test process uses."""
    server, number = divmod(shared_engines.worker, VALKEY_DATABASES)
    return urlsplit(shared_engines.address(f"valkey-{server}"))._replace(path=f"/{number}").geturl()


@pytest.fixture
async def cache(valkey_server: str) -> AsyncIterator[RedisCache]:
    """With keys of its own."""
    opened = RedisCache(valkey_server, prefix=f"test-{os.getpid()}-{next(_numbers)}:")
    yield opened
    await opened.aclose()


@pytest.fixture(scope="session")
def temporal_address(shared_engines: SharedEngines) -> str:
    address: str = shared_engines.address("temporal")
    asyncio.run(client_in_namespace(address, shared_engines.namespace))
    return address


@pytest.fixture(scope="session")
def temporal_settings(temporal_address: str, shared_engines: SharedEngines) -> dict[str, str]:
    return {"temporal_address": temporal_address, "temporal_namespace": shared_engines.namespace}


@pytest.fixture
async def temporal(temporal_address: str, shared_engines: SharedEngines) -> Client:
    return await Client.connect(temporal_address, namespace=shared_engines.namespace)
