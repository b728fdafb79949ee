"""A clip library to look at: sources with real small films, cut into clips that wait for review.

Each picture carries its number in the source, so that a test can see which frame a page shows.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.library.models import (
    LibraryClip,
    SourceKind,
    Submission,
    clip_file_key,
    master_key,
    sprite_key,
    upload_key,
)
from found_footy.library.stages import find_stage
from found_footy.library.store import LibraryStore
from found_footy.media.models import MasterVideo, SpriteSheet
from found_footy.storage.objects.backend import ObjectStore
from tests.media.made_clips import scene, write
from tests.support.clips import fingerprint

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
RATE = Fraction(25)
DETECTOR = "test-1"
SHEET_WIDTH, SHEET_HEIGHT, SHEET_COLUMNS = 160, 90, 8

SALAH: Mapping[str, Any] = {
    "sport": "football",
    "competition": "Premier League",
    "home": "Liverpool",
    "away": "Manchester City",
    "team": "Liverpool",
    "player": "Mohamed Salah",
    "minute": "23'",
    "kind": "goal",
    "score": "1–0",
    "kickoff": "2026-08-22T14:00:00+00:00",
    "verified": True,
}
TITLE = "Mohamed Salah 23' · Liverpool 1–0 Manchester City"

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class CutSource:
    """A source that was cut, and its clips from the first to the last."""

    source_id: int
    clips: tuple[int, ...]


async def film(
    library: LibraryStore,
    objects: ObjectStore,
    scenes: Sequence[float] = (2.0, 2.0, 2.0, 2.0),
    *,
    seed: int = 1,
    title: str = TITLE,
    facts: Mapping[str, Any] = SALAH,
    ready: bool = True,
    now: datetime = NOW,
) -> CutSource:
    """A source with scenes of so many seconds. Where it is not `ready`, its clips still wait for their sheets."""
    pictures = _numbered(tuple(scenes), seed)
    edges = edges_of(scenes)
    content = _film(tuple(scenes), seed, 0, edges[-1])
    key = upload_key(f"test-{seed}")
    source_id = await library.submit(Submission(SourceKind.FILE, title, facts, upload_key=key, by="test"), now)
    for stage in ("download", "splice"):
        assert await library.begin(find_stage(stage), source_id, now)
        if stage == "download":
            await put(objects, master_key(source_id), content)
            md5 = hashlib.md5(content + str(source_id).encode(), usedforsecurity=False).hexdigest()
            height, width = pictures[0].shape[:2]
            master = MasterVideo(len(pictures), RATE, width, height, False, len(content), md5)
            await library.save_master(source_id, master)
        else:
            assert await library.save_scenes(source_id, md5, DETECTOR, edges[1:-1]) == len(scenes)
        assert await library.finish(find_stage(stage), source_id, now)
    clips = await library.clips_of(source_id)
    if ready:
        for clip in clips:
            await prepare(library, objects, clip, tuple(scenes), seed, now)
    return CutSource(source_id, tuple(clip.id for clip in clips))


async def prepare(
    library: LibraryStore, objects: ObjectStore, clip: LibraryClip, scenes: tuple[float, ...], seed: int = 1,
    now: datetime = NOW,
) -> None:  # fmt: skip
    """What the stage `sprites` does for a clip."""
    stage = find_stage("sprites")
    assert await library.begin(stage, clip.id, now)
    whole = clip.frames == edges_of(scenes)[-1]
    if not whole:
        await put(objects, clip_file_key(clip.source_id, clip.id), _film(scenes, seed, clip.first, clip.end))
    sheet, sprite = _sheet(scenes, seed, clip.first, clip.end)
    await put(objects, sprite_key(clip.source_id, clip.id), sheet)
    moment = fingerprint(f"{seed}-{clip.first}", seconds=float(clip.frames / RATE))
    await library.save_sprite(clip.id, sprite, not whole, moment)
    assert await library.finish(stage, clip.id, now)


async def put(objects: ObjectStore, key: str, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, Path(key).name)
        await asyncio.to_thread(path.write_bytes, content)
        await objects.put(key, path)


def edges_of(scenes: Sequence[float]) -> list[int]:
    """The first frame of each scene, and one past the last."""
    edges = [0]
    for seconds in scenes:
        edges.append(edges[-1] + round(seconds * float(RATE)))
    return edges


@cache
def _numbered(scenes: tuple[float, ...], seed: int) -> tuple[Picture, ...]:
    found: list[Picture] = []
    for number, (first, end) in enumerate(pairwise(edges_of(scenes))):
        for picture in scene((end - first) / float(RATE), float(RATE), seed=100 * seed + number):
            cv2.rectangle(picture, (0, 0), (90, 34), (0, 0, 0), -1)
            cv2.putText(picture, str(len(found)), (6, 27), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (255, 255, 255), 2)
            found.append(picture)
    return tuple(found)


@cache
def _film(scenes: tuple[float, ...], seed: int, first: int, end: int) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        write(path, _numbered(scenes, seed)[first:end], float(RATE), muxer={"movflags": "faststart"}, g="12")
        return path.read_bytes()


@cache
def _sheet(scenes: tuple[float, ...], seed: int, first: int, end: int) -> tuple[bytes, SpriteSheet]:
    every = max(1, (end - first) // 24)
    chosen = [cv2.resize(picture, (SHEET_WIDTH, SHEET_HEIGHT)) for picture in _numbered(scenes, seed)[first:end:every]]
    columns = min(SHEET_COLUMNS, len(chosen))
    rows = -(-len(chosen) // columns)
    sheet = np.zeros((rows * SHEET_HEIGHT, columns * SHEET_WIDTH, 3), np.uint8)
    for number, picture in enumerate(chosen):
        top, left = number // columns * SHEET_HEIGHT, number % columns * SHEET_WIDTH
        sheet[top : top + SHEET_HEIGHT, left : left + SHEET_WIDTH] = picture
    content = cv2.imencode(".webp", sheet, [cv2.IMWRITE_WEBP_QUALITY, 70])[1].tobytes()
    return content, SpriteSheet(columns, rows, SHEET_WIDTH, SHEET_HEIGHT, len(chosen), every, end - first, RATE)
