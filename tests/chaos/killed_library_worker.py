"""A worker that also kills itself inside the stages of the library.

Beyond `before …` and `after …` of `killed_worker`, steps are `begun download_source` (the state is the working one, and
nothing is made) and `made download_source` (everything is saved, and the state is still the working one).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from found_footy.library import activities as library_activities
from found_footy.library import stages
from found_footy.library import workflow as library_stage
from found_footy.library.stages import LibraryStage
from found_footy.library.store import LibraryStore
from tests.chaos import killed_worker
from tests.chaos.killed_worker import kill_at


class KilledLibraryStore(LibraryStore):
    async def begin(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        begun = await super().begin(stage, item, now)
        if begun:
            kill_at(f"begun {stage.activity}")
        return begun

    async def finish(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        kill_at(f"made {stage.activity}")
        return await super().finish(stage, item, now)


def main(environment: Mapping[str, str], temporary_folder: Path) -> None:
    tempfile.tempdir = str(temporary_folder)
    library_stage.INITIAL_BACKOFF = timedelta(milliseconds=100)
    # A killed worker interrupts its other activities: three kills in a row count as a failure, retried after this.
    stages.FIRST_RETRY_DELAY = timedelta(seconds=1)
    library_activities.LibraryStore = KilledLibraryStore  # type: ignore[misc]
    killed_worker.main(environment)
