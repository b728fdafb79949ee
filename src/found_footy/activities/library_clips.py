"""A clip's stages: its file and sheet for review, its keyframes once it is approved, its end when it is archived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from found_footy.activities.library_disk import LibraryDisk
from found_footy.activities.library_stages import does, through
from found_footy.domain.clips.keys import clip_file_key, keyframe_key, sprite_key
from found_footy.domain.clips.values import Clip, Source
from found_footy.domain.errors import ObjectStoreError, ProgramFault
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.pairs import pairs_of
from found_footy.ports import ObjectStore
from found_footy.ports_library import LibraryStore, Workshop
from found_footy.workflows.library_contracts import StageDone, StageInput


class LibraryClipActivities:
    def __init__(
        self,
        store: LibraryStore,
        objects: ObjectStore,
        disk: LibraryDisk,
        workshop: Workshop,
        keyframes: Sequence[str],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._objects = objects
        self._disk = disk
        self._workshop = workshop
        self._keyframes = keyframes
        self._now = now

    @does("make_sprites")
    async def make_sprites(self, order: StageInput) -> StageDone:
        return await through(self._store, order, self._sprites, self._now)

    async def _sprites(self, clip_id: int) -> None:
        clip, source = await self._found(clip_id)
        whole = source.master is not None and clip.frames == source.master.frames
        async with self._disk.master(source) as path:
            with self._disk.folder() as folder:
                file, sheet = folder / "clip.mp4", folder / "sheet.webp"
                if not whole:
                    await self._workshop.cut(path, clip.first, clip.end, file)
                sprite = await self._workshop.sprite(path, clip.first, clip.end, sheet)
                fingerprint = await self._workshop.fingerprint(path, clip.first, clip.end)
                # All at the end, and the row after them: what a row names is there.
                if not whole:
                    await self._put(clip_file_key(source.id, clip.id), file, "video/mp4", clip)
                await self._put(sprite_key(source.id, clip.id), sheet, "image/webp", clip)
        await self._store.save_sprite(clip.id, sprite, not whole, fingerprint)
        await self._pair(clip.id, fingerprint)

    async def _pair(self, clip_id: int, fingerprint: Fingerprint) -> None:
        """Again where another clip got its fingerprint meanwhile: neither may have seen the other."""
        beside, seen = await self._store.fingerprints_beside(clip_id), None
        while seen is None or beside.keys() != seen:
            named = {str(id_): each for id_, each in beside.items()}
            me = str(clip_id)
            pairs = await asyncio.to_thread(pairs_of, list(named), [me], {**named, me: fingerprint})
            await self._store.save_pairs(clip_id, sorted({int(pair.b) for pair in pairs}))
            beside, seen = await self._store.fingerprints_beside(clip_id), beside.keys()

    @does("take_keyframes")
    async def take_keyframes(self, order: StageInput) -> StageDone:
        return await through(self._store, order, self._take_keyframes, self._now)

    async def _take_keyframes(self, clip_id: int) -> None:
        clip, source = await self._found(clip_id)
        async with self._disk.master(source) as path:
            with self._disk.folder() as folder:
                taken = await self._workshop.keyframes(path, clip.first, clip.end, self._keyframes, folder)
                for each in taken:
                    key = keyframe_key(source.id, clip.id, each.number)
                    await self._put(key, folder / f"{each.number}.jpg", "image/jpeg", clip)
        await self._store.save_keyframes(clip.id, taken)

    @does("clean_up_clip")
    async def clean_up_clip(self, order: StageInput) -> StageDone:
        return await through(self._store, order, self._clean_up, self._now)

    async def _clean_up(self, clip_id: int) -> None:
        # Rows first: nothing is shown any more that is about to go, and what is left to delete is known.
        keys = await self._store.forget_files(clip_id)
        source_id = (await self._store.clip(clip_id)).source_id
        # Whoever took pictures may have died before it could say so.
        pictures = [keyframe_key(source_id, clip_id, number) for number in range(len(self._keyframes))]
        try:
            await self._objects.delete([*keys, *pictures])
        except ObjectStoreError as error:
            await self._store.note_not_deleted(keys, error)
            raise
        await self._store.note_deleted(keys)

    async def _found(self, clip_id: int) -> tuple[Clip, Source]:
        clip = await self._store.clip(clip_id)
        source = await self._store.source(clip.source_id)
        if source.master is None:
            raise ProgramFault(f"clip {clip_id} is of a source without a master")
        return clip, source

    async def _put(self, key: str, path: Path, content_type: str, clip: Clip) -> None:
        frames = f"{clip.first}-{clip.end - 1}"
        metadata = {"source": str(clip.source_id), "clip": str(clip.id), "frames": frames}
        await self._objects.put(key, path, content_type=content_type, metadata=metadata)
