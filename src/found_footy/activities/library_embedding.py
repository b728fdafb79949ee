"""A clip's place among all others: its keyframes' vectors, one mean for each model that is switched on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.activities.library_disk import LibraryDisk
from found_footy.activities.library_stages import does, through
from found_footy.domain.clips.keys import keyframe_key
from found_footy.domain.clips.stages import Condition, stage_called
from found_footy.domain.errors import EmbeddingError
from found_footy.ports import ObjectStore
from found_footy.ports_library import Embedder, LibraryStore, VectorStore
from found_footy.workflows.library_contracts import StageDone, StageInput

Picture = NDArray[np.uint8]


class LibraryEmbeddingActivities:
    def __init__(
        self,
        store: LibraryStore,
        objects: ObjectStore,
        disk: LibraryDisk,
        embedders: Sequence[Embedder],
        vectors: VectorStore,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._objects = objects
        self._disk = disk
        self._embedders = embedders
        self._vectors = vectors
        self._now = now
        self._prepared = False

    @does("embed_clip")
    async def embed_clip(self, order: StageInput) -> StageDone:
        again = stage_called(order.stage).condition is Condition.LACKS_EMBEDDING
        return await through(self._store, order, partial(self._embed, only_lacking=again), self._now)

    async def _embed(self, clip_id: int, *, only_lacking: bool) -> None:
        pictures = await self._pictures(clip_id)
        if not self._prepared:
            await self._vectors.prepare(self._embedders)
            self._prepared = True
        # Whoever comes for the first time has new keyframes, whatever was known of older ones.
        known = await self._vectors.versions(clip_id, [each.name for each in self._embedders]) if only_lacking else {}
        for embedder in self._embedders:
            if known.get(embedder.name) == embedder.version:
                continue
            rows = await embedder.pictures(pictures)
            await self._vectors.save(clip_id, embedder.name, embedder.version, mean_of(rows))

    async def _pictures(self, clip_id: int) -> list[Picture]:
        clip = await self._store.clip(clip_id)
        keyframes = await self._store.keyframes(clip_id)
        if not keyframes:
            raise EmbeddingError(f"clip {clip_id} has no keyframes")
        found = []
        with self._disk.folder() as folder:
            for each in keyframes:
                path = folder / f"{each.number}.jpg"
                await self._objects.get(keyframe_key(clip.source_id, clip_id, each.number), path)
                found.append(await asyncio.to_thread(_read, path))
        return found


def mean_of(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of unit length. Raises EmbeddingError for what has no direction."""
    mean = rows.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if not np.isfinite(length) or length < 1e-6:
        raise EmbeddingError("the keyframes' vectors have no direction in common")
    return np.asarray(mean / length, dtype=np.float32)


def _read(path: Path) -> Picture:
    # Our own picture, made by ourselves.
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise EmbeddingError(f"keyframe {path.name} cannot be read")
    return np.asarray(picture, dtype=np.uint8)
