"""A worker that kills itself, once at each of the steps of the library that it is told.

TEST_DIES names a folder with one file for each death that is still to be died: `before download_source`, `begun …` (its
state is the working one, and nothing is made), `made …` (all is made and written down, and the state is still the
working one), `after …` (it is done, and nobody has heard of it).
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.worker import Worker

from found_footy import bootstrap, bootstrap_library
from found_footy.activities import boundary
from found_footy.adapters.storage.postgres.library import PostgresLibrary
from found_footy.config import load_settings
from found_footy.domain.clips import stages
from found_footy.domain.clips.stages import Stage
from found_footy.ops.logging import configure
from found_footy.ops.work import work
from found_footy.workflows import contracts, library_stage
from tests.chaos.dying_worker import FOLDER, Dying, _die_if_told


class MortalLibrary(PostgresLibrary):
    async def begin(self, stage: Stage, item: int, now: datetime) -> bool:
        begun = await super().begin(stage, item, now)
        if begun:
            _die_if_told(f"begun {stage.activity}")
        return begun

    async def finish(self, stage: Stage, item: int, now: datetime) -> bool:
        _die_if_told(f"made {stage.activity}")
        return await super().finish(stage, item, now)


def main(environment: Mapping[str, str], folder: Path) -> None:
    os.environ.update(environment)
    os.environ[FOLDER] = str(folder / "dies")
    tempfile.tempdir = str(folder / "tmp")
    settings = load_settings()
    configure(settings.log_format, settings.log_level)
    # A killed worker is missed sooner than in life, so that a test can afford many deaths.
    contracts.HEARTBEAT = boundary.HEARTBEAT = timedelta(seconds=2)
    library_stage.FIRST_WAIT = timedelta(milliseconds=100)
    # One who dies takes others along: three deaths in a row are a failure, which rests before it is tried again.
    stages.RETRY_AFTER = timedelta(seconds=1)

    def dying(*args: Any, **kwargs: Any) -> Worker:
        return Worker(*args, interceptors=[Dying()], **kwargs)

    bootstrap.Worker = bootstrap_library.Worker = dying  # type: ignore[assignment,misc]
    bootstrap_library.PostgresLibrary = MortalLibrary  # type: ignore[misc]

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await work(settings, stop)

    asyncio.run(run())
