"""A source's stages: from wherever it lies to its master, and from the master to its scenes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from found_footy.activities.library_disk import LibraryDisk
from found_footy.activities.library_progress import progress_of
from found_footy.activities.library_stages import does, through
from found_footy.domain.clips.keys import master_key
from found_footy.domain.clips.submitting import name_of_address
from found_footy.domain.clips.values import Source, SourceKind
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import MediaTooLarge, ProgramFault
from found_footy.domain.videos.keys import clip_key
from found_footy.ports import ObjectStore
from found_footy.ports_library import LibraryStore, Progress, SourceFetcher, Workshop
from found_footy.workflows.library_contracts import StageDone, StageInput

log = logging.getLogger(__name__)

LONGEST_TITLE = 200
FETCHED = 0.5
"""The share of a download that is over when the file is here; the rest is making the master."""


@dataclass(frozen=True, slots=True)
class SourceRules:
    most_bytes: int
    scene_seconds_least: float


class LibrarySourceActivities:
    def __init__(
        self,
        store: LibraryStore,
        objects: ObjectStore,
        disk: LibraryDisk,
        workshop: Workshop,
        fetcher: SourceFetcher,
        rules: SourceRules,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._objects = objects
        self._disk = disk
        self._workshop = workshop
        self._fetcher = fetcher
        self._rules = rules
        self._now = now

    @does("download_source")
    async def download_source(self, order: StageInput) -> StageDone:
        return await through(self._store, order, self._download, self._now)

    async def _download(self, source_id: int) -> None:
        source = await self._store.source(source_id)
        if not await self._has_master(source):
            await self._make_master(source)

    async def _has_master(self, source: Source) -> bool:
        """An earlier try may have got as far as that."""
        if source.master is None:
            return False
        stored = await self._objects.head(master_key(source.id))
        return stored is not None and stored.size == source.master.size

    async def _make_master(self, source: Source) -> None:
        with self._disk.folder() as folder:
            async with progress_of(self._store, source.id, self._now) as note:
                raw, made = folder / "raw", folder / "master.mp4"
                title = await self._fetched(source, raw, note.part(0, FETCHED))
                master = await self._workshop.normalise(raw, made, note.part(FETCHED, 1))
                await self._objects.put(
                    master_key(source.id), made, metadata={"source": str(source.id), "title": title or source.title}
                )
        await self._store.save_master(source.id, master, title)
        log.info(f"source {source.id} has its master", extra={"action": "source_ready", "source": source.id})

    async def _fetched(self, source: Source, to: Path, progress: Progress) -> str | None:
        """Returns a better title, where its place tells one and nobody chose one."""
        if source.kind is SourceKind.URL and source.url is not None:
            told = clean_text(await self._fetcher.fetch(source.url, to, progress), LONGEST_TITLE)
            return told if told and source.title == name_of_address(source.url) else None
        key = _key_of(source)
        stored = await self._objects.head(key)
        if stored is not None and stored.size > self._rules.most_bytes:
            raise MediaTooLarge(f"it has {stored.size} bytes, and {self._rules.most_bytes} are the most")
        await self._objects.get(key, to)
        return None

    @does("splice_source")
    async def splice_source(self, order: StageInput) -> StageDone:
        return await through(self._store, order, self._splice, self._now)

    async def _splice(self, source_id: int) -> None:
        source = await self._store.source(source_id)
        if source.master is None:
            raise ProgramFault(f"source {source_id} has no master to cut")
        least = self._rules.scene_seconds_least
        # The shortest scene is part of how they are found.
        detector = f"{self._workshop.detector} {least:g}s"
        cuts = await self._store.known_scenes(source.master.md5, detector)
        if cuts is None:
            async with (
                self._disk.master(source) as path,
                progress_of(self._store, source_id, self._now) as note,
            ):
                cuts = list(await self._workshop.scenes(path, least, note.part(0, 1)))
        count = await self._store.save_scenes(source_id, source.master.md5, detector, cuts)
        log.info(f"source {source_id} has {count} clips", extra={"action": "source_spliced", "source": source_id})


def _key_of(source: Source) -> str:
    if source.kind is SourceKind.GOAL and source.event_id and source.video_md5:
        return clip_key(int(source.facts["fixture_id"]), source.event_id, source.video_md5)
    if source.upload_key is None:
        raise ProgramFault(f"nobody knows where source {source.id} lies")
    return source.upload_key
