"""A stage that fails, through all engines at once: the dispatcher, the worker, the database, the object store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from temporalio.client import Client

from found_footy.app import open_workers
from found_footy.config import Settings
from found_footy.library.activities import Library, open_library
from found_footy.library.models import ClipState, SourceKind, SourceState, Submission, master_key, upload_key
from found_footy.library.stages import LibraryInput
from found_footy.library.workflow import LibraryWorkflow
from tests.support.library_system import SCENES, film_bytes, with_ids_of_its_own

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def settings(database_url: str, temporal_settings: dict[str, str], valkey_server: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        **temporal_settings,
        redis_url=SecretStr(valkey_server),
        api_football_key=SecretStr("key"),
        data_dir=tmp_path,
        task_queue=f"test-{uuid4()}",
        llama_url="http://127.0.0.1:9",
        library_seconds=0.3,
    )


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(240):
        while not await holds():
            await asyncio.sleep(0.2)


async def test_a_missing_file_fails_until_it_is_stored(settings: Settings, temporal: Client, tmp_path: Path) -> None:
    async with open_library(settings) as library, open_workers(settings, temporal) as workers:
        await with_ids_of_its_own(library.database)
        key = upload_key(uuid4().hex)
        running = [asyncio.create_task(worker.run()) for worker in workers]
        order = LibraryInput(rounds=10**6, seconds=settings.library_seconds)
        dispatcher = await temporal.start_workflow(
            LibraryWorkflow.run, order, id=f"library-{uuid4()}", task_queue=settings.task_queue
        )
        try:
            source = await submit(library, key)
            await until(lambda: is_in(library, source, SourceState.DOWNLOAD_FAILED))
            failed = await library.store.source(source)
            assert failed.error is not None
            assert key in failed.error, "it says what is missing"

            path = tmp_path / "film.mp4"
            await asyncio.to_thread(path.write_bytes, film_bytes())
            await library.objects.put(key, path)
            await library.store.retry(source, None, datetime.now(UTC))
            await until(lambda: is_ready(library, source))
            assert (await library.store.source(source)).error is None
            assert await library.objects.head(master_key(source)) is not None
        finally:
            await dispatcher.terminate()
            await asyncio.gather(*(worker.shutdown() for worker in workers))
            await asyncio.gather(*running)


async def submit(library: Library, key: str) -> int:
    return await library.store.submit(Submission(SourceKind.FILE, "A film", upload_key=key), datetime.now(UTC))


async def is_in(library: Library, source: int, state: SourceState) -> bool:
    return (await library.store.source(source)).state is state


async def is_ready(library: Library, source: int) -> bool:
    states = [clip.state for clip in await library.store.clips_of(source)]
    return states == [ClipState.PENDING_REVIEW] * SCENES
