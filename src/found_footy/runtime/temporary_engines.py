"""Temporary engines for one replay, deleted together with their data."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.config import Settings
from found_footy.errors import AlreadyRunning, EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.supervisor import Supervisor
from found_footy.runtime.temporal import EVENT_ID, connect_temporal, ensure_namespace
from found_footy.storage.migrations import migrate

PREFIX = "replay-"
WORKFLOW_RETENTION = timedelta(days=1)
READY_SECONDS = 15.0


@contextmanager
def temporary_folder(below: Path) -> Iterator[Path]:
    """Create a temporary folder beside the engines' data, where there is enough space."""
    below.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=below) as folder:
        yield Path(folder).absolute()


async def delete_leftovers(below: Path) -> None:
    """Delete the folders of killed replays. Running replays hold the lock of their folder."""
    for path in await asyncio.to_thread(lambda: [*below.glob(f"{PREFIX}*/")]):
        folder = DataFolder(path)
        try:
            with folder.lock():
                await _destroy(_engines(folder))
        except AlreadyRunning:
            continue
        await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)


@asynccontextmanager
async def temporary_engines(settings: Settings) -> AsyncIterator[tuple[Settings, Client]]:
    """Yield settings with the engines' addresses, and a client for the replay's own namespace."""
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        engines = _engines(folder)
        try:
            async with Supervisor(folder, engines) as supervisor:
                await supervisor.start_engines()
                found = supervisor.environment
                settings = settings.model_copy(
                    update={
                        "database_url": SecretStr(found["DATABASE_URL"]),
                        "temporal_address": found["TEMPORAL_ADDRESS"],
                        "redis_url": SecretStr(found["REDIS_URL"]),
                    }
                )
                await migrate(found["DATABASE_URL"])
                yield settings, await _connect_to_namespace(settings)
        finally:
            await _destroy(engines)


Engines = tuple[EmbeddedPostgres, EmbeddedTemporal, EmbeddedValkey]


def _engines(folder: DataFolder) -> Engines:
    return EmbeddedPostgres(folder), EmbeddedTemporal(folder), EmbeddedValkey(folder)


async def _destroy(engines: Engines) -> None:
    postgres, temporal, valkey = engines
    await postgres.destroy()
    await temporal.destroy()
    await valkey.destroy()


async def _connect_to_namespace(settings: Settings) -> Client:
    name = settings.temporal_namespace
    client = await connect_temporal(settings)
    await ensure_namespace(client, WORKFLOW_RETENTION)
    attribute = {EVENT_ID.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=name, search_attributes=attribute)
        )
    except RPCError as error:
        raise EngineError(f"could not prepare the namespace {name}: {error}") from error
    deadline = asyncio.get_running_loop().time() + READY_SECONDS
    while True:
        try:
            await client.count_workflows(f"{EVENT_ID.name} = 'none'")
            return client
        except RPCError as error:
            if asyncio.get_running_loop().time() > deadline:
                raise EngineError(f"the namespace {name} cannot be used: {error}") from error
        await asyncio.sleep(0.1)
