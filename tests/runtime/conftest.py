from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """A locked data folder. For root, pytest's tmp_path is closed to other users: the harder case comes for free."""
    data_folder = DataFolder(tmp_path / "data")
    with data_folder.lock():
        yield data_folder


@pytest.fixture
async def postgres(folder: DataFolder) -> AsyncIterator[EmbeddedPostgres]:
    """Not started yet."""
    engine = EmbeddedPostgres(folder)
    yield engine
    await engine.destroy()


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    """A locked folder for all tests of a file: making a database is what takes longest."""
    data_folder = DataFolder(tmp_path_factory.mktemp("shared") / "data")
    with data_folder.lock():
        yield data_folder
        asyncio.run(EmbeddedPostgres(data_folder).destroy())


@pytest.fixture
async def shared_postgres(shared_folder: DataFolder) -> AsyncIterator[EmbeddedPostgres]:
    """Started, on data that other tests have used and will use."""
    engine = EmbeddedPostgres(shared_folder)
    await engine.start()
    yield engine
    await engine.stop()


@pytest.fixture
async def temporal(folder: DataFolder) -> AsyncIterator[EmbeddedTemporal]:
    """Not started yet."""
    engine = EmbeddedTemporal(folder)
    yield engine
    await engine.destroy()
