"""Records histories of the clip library's workflows, with one film: `python -m tests.e2e.record_library`.

Takes the names of changed workflows, as `record.py` does.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr
from temporalio.client import Client

from found_footy.app import open_workers
from found_footy.config import Settings
from found_footy.library.activities import Library, open_library
from found_footy.library.models import ClipState, SourceKind, Submission, upload_key
from found_footy.library.review import Reviewer
from found_footy.library.review_store import ReviewStore
from found_footy.library.stages import LibraryInput
from found_footy.library.workflow import LibraryWorkflow
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.storage.migrations import migrate
from tests.e2e.record import HISTORIES, _save
from tests.support.library_system import film_bytes


async def record() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = DataFolder(Path(name))
        with folder.lock():
            postgres, temporal, valkey = EmbeddedPostgres(folder), EmbeddedTemporal(folder), EmbeddedValkey(folder)
            engines = (postgres, temporal, valkey)
            try:
                await asyncio.gather(*(engine.start() for engine in engines))
                await migrate(postgres.url)
                settings = Settings(
                    database_url=SecretStr(postgres.url),
                    temporal_address=temporal.address,
                    redis_url=SecretStr(valkey.environment()["REDIS_URL"]),
                    api_football_key=SecretStr("key"),
                    data_dir=Path(name),
                    llama_url="http://127.0.0.1:9",
                    library_seconds=0.5,
                    undo_seconds=3,
                )
                client = await Client.connect(temporal.address)
                async with AsyncExitStack() as stack:
                    for worker in await stack.enter_async_context(open_workers(settings, client)):
                        await stack.enter_async_context(worker)
                    library = await stack.enter_async_context(open_library(settings))
                    await _play(library, settings, client, Path(name))
                    await _save(client)
            finally:
                for engine in engines:
                    await engine.destroy()


async def _play(library: Library, settings: Settings, client: Client, folder: Path) -> None:
    film = folder / "film.mp4"
    await asyncio.to_thread(film.write_bytes, film_bytes())
    await library.objects.put(upload_key("film"), film)
    now = datetime.now(UTC)
    source = await library.store.submit(Submission(SourceKind.FILE, "film", upload_key=upload_key("film")), now)
    # An address that may not be asked: its stage fails.
    await library.store.submit(Submission(SourceKind.URL, "nothing", url="http://127.0.0.1:9/film.mp4"), now)
    while not (clips := await library.store.clips_of(source)) or any(
        clip.state is not ClipState.PENDING_REVIEW for clip in clips
    ):
        await _dispatch(settings, client)
    review = ReviewStore(library.database, timedelta(seconds=settings.undo_seconds))
    await review.split(clips[0].id, 20, Reviewer("window", "somebody", datetime.now(UTC)))
    while await _dispatch(settings, client):
        pass  # until there is nothing left to do
    await _dispatch(settings, client, rounds=2)


async def _dispatch(settings: Settings, client: Client, rounds: int = 1) -> int:
    done = await client.execute_workflow(
        LibraryWorkflow.run,
        LibraryInput(rounds, seconds=settings.library_seconds),
        id="library-manual",
        task_queue=settings.task_queue,
    )
    return done.started


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    sys.exit(asyncio.run(record()))
