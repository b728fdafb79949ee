"""How far a source is, written down now and then: films are long, and people want to see them move."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from found_footy.domain.errors import FootyError
from found_footy.ports_library import LibraryStore, Progress

log = logging.getLogger(__name__)

EVERY = 1.0
"""Seconds between two notes."""
STEP = 0.005
"""A smaller one is not worth a note."""


class ProgressNote:
    def __init__(self) -> None:
        self.share = 0.0

    def part(self, first: float, last: float) -> Progress:
        """For one of several things that are done after each other; they fill these shares of the whole."""

        def told(share: float) -> None:
            self.share = first + (last - first) * min(max(share, 0.0), 1.0)

        return told


@asynccontextmanager
async def progress_of(
    store: LibraryStore, source_id: int, now: Callable[[], datetime], every: float = EVERY
) -> AsyncIterator[ProgressNote]:
    note = ProgressNote()
    writing = asyncio.create_task(_write(store, source_id, note, now, every))
    try:
        yield note
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def _write(
    store: LibraryStore, source_id: int, note: ProgressNote, now: Callable[[], datetime], every: float
) -> None:
    written = 0.0
    while True:
        await asyncio.sleep(every)
        share = note.share
        if abs(share - written) < STEP:
            continue
        try:
            await store.note_progress(source_id, share, now())
            written = share
        except FootyError as error:
            # The work itself goes on.
            log.warning(str(error), extra={"action": "progress_not_noted", "error": error.kind, "source": source_id})
