"""Files of clips: cut from their source's master, stored, and fetched by later stages.

A long clip is encoded in pieces, each stored when it is finished, so that the successor of a killed worker continues
after the last one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from found_footy.library.master_cache import MasterCache
from found_footy.library.models import LibraryClip, SourceVideo, clip_file_key, piece_key
from found_footy.media.processor import MediaProcessor
from found_footy.runtime.sandbox import Progress
from found_footy.storage.objects.backend import ObjectStore

PIECE_SECONDS = 120
"""Length of a piece. A slow machine encodes one in a few minutes."""


def piece_ranges(first: int, end: int, rate: Fraction) -> list[tuple[int, int]]:
    """Return (first, end) of each piece of these frames."""
    step = max(1, round(PIECE_SECONDS * rate))
    return list(pairwise([*range(first, end, step), end]))


def piece_keys(clip: LibraryClip, source: SourceVideo) -> list[str]:
    """Keys under which pieces of the clip may be stored."""
    if source.master is None or is_whole(clip, source):
        return []
    count = len(piece_ranges(clip.first, clip.end, source.master.rate))
    return [piece_key(source.id, clip.id, number) for number in range(count)] if count > 1 else []


def is_whole(clip: LibraryClip, source: SourceVideo) -> bool:
    """Whether the clip covers its source. The master is its file then."""
    return source.master is not None and clip.frames == source.master.frames


class ClipFiles:
    """All methods raise MediaError and ObjectStoreError."""

    def __init__(self, objects: ObjectStore, cache: MasterCache, media: MediaProcessor) -> None:
        self._objects = objects
        self._cache = cache
        self._media = media

    @asynccontextmanager
    async def file(
        self, clip: LibraryClip, source: SourceVideo, progress: Progress | None = None
    ) -> AsyncIterator[tuple[Path, int]]:
        """Yield the clip's file and the number of the clip's first frame in it. It is cut and stored unless an earlier
        attempt has done so.
        """
        if is_whole(clip, source):
            async with self._cache.master(source) as path:
                yield path, clip.first
            return
        with self._cache.temporary_folder() as folder:
            path, key = folder / "clip.mp4", clip_file_key(source.id, clip.id)
            if await self._objects.head(key) is not None:
                await self._objects.get(key, path)
            else:
                async with self._cache.master(source) as master:
                    await self._cut(clip, source, master, path, progress or (lambda share: None))
                await self.put(key, path, "video/mp4", clip)
            if pieces := piece_keys(clip, source):
                await self._objects.delete(pieces)
            yield path, 0

    async def put(self, key: str, path: Path, content_type: str, clip: LibraryClip) -> None:
        frames = f"{clip.first}-{clip.end - 1}"
        metadata = {"source": str(clip.source_id), "clip": str(clip.id), "frames": frames}
        await self._objects.put(key, path, content_type=content_type, metadata=metadata)

    async def _cut(self, clip: LibraryClip, source: SourceVideo, master: Path, to: Path, progress: Progress) -> None:
        keys = piece_keys(clip, source)
        if not keys or await self._media.can_copy(master, clip.first, clip.end):
            await self._media.cut_clip(master, clip.first, clip.end, to, progress)
            return
        assert source.master is not None
        pieces = []
        for number, (first, end) in enumerate(piece_ranges(clip.first, clip.end, source.master.rate)):
            piece = to.with_name(f"{number}.mp4")
            if await self._objects.head(keys[number]) is not None:
                await self._objects.get(keys[number], piece)
            else:
                await self._media.encode_piece(master, first, end, piece, _part_progress(progress, number, len(keys)))
                await self.put(keys[number], piece, "video/mp4", clip)
            progress((number + 1) / len(keys))
            pieces.append(piece)
        await self._media.join_pieces(master, pieces, clip.first, clip.end, to)


def _part_progress(progress: Progress, number: int, count: int) -> Progress:
    return lambda share: progress((number + share) / count)
