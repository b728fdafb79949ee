"""A worker that kills itself once at each of the given steps of the library.

TEST_KILL_STEPS names a folder with one file for each step at which a worker is still to be killed: `before
download_source`, `begun …` (the state is the working one, and nothing is made), `made …` (everything is made and saved,
and the state is still the working one), `after …` (it is done, and Temporal has not heard of it).
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from found_footy.app import work
from found_footy.config import load_settings
from found_footy.library import activities as library_activities
from found_footy.library import stages
from found_footy.library import workflow as library_stage
from found_footy.library.stages import LibraryStage
from found_footy.library.store import LibraryStore
from found_footy.runtime import activity_policy, worker
from found_footy.runtime.logging import configure
from tests.chaos.killed_worker import STEPS_FOLDER, kill_at, killed_worker


class KilledLibraryStore(LibraryStore):
    async def begin(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        begun = await super().begin(stage, item, now)
        if begun:
            kill_at(f"begun {stage.activity}")
        return begun

    async def finish(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        kill_at(f"made {stage.activity}")
        return await super().finish(stage, item, now)


def main(environment: Mapping[str, str], folder: Path) -> None:
    os.environ.update(environment)
    os.environ[STEPS_FOLDER] = str(folder / "kill")
    tempfile.tempdir = str(folder / "tmp")
    settings = load_settings()
    configure(settings.log_format, settings.log_level)
    # Activities of a killed worker are retried sooner than in production, so that a test can afford many kills.
    activity_policy.HEARTBEAT_TIMEOUT = timedelta(seconds=2)
    library_stage.INITIAL_BACKOFF = timedelta(milliseconds=100)
    # A killed worker takes other activities along: three kills in a row count as a failure, retried after this.
    stages.FIRST_RETRY_DELAY = timedelta(seconds=1)

    worker.Worker = killed_worker  # type: ignore[assignment,misc]
    library_activities.LibraryStore = KilledLibraryStore  # type: ignore[misc]

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await work(settings, stop)

    asyncio.run(run())
