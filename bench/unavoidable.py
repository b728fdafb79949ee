"""Minimum cost of a clip: one download, verification and hashing, alone on the machine."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.played import CORES
from found_footy.clips.frame_selection import Vision, read_clip
from found_footy.media.fingerprint import hash_video


@dataclass(frozen=True)
class Work:
    """Duration of each step in seconds."""

    download: float
    look: float
    hash: float

    @property
    def seconds(self) -> float:
        return self.download + self.look + self.hash


@dataclass
class Watch:
    """Stopwatch that returns the lesser of wall time and CPU time since the last call.

    On a busy machine, wall time is too long for a lower bound.
    """

    wall: float = 0.0
    processor: float = 0.0

    def lap(self) -> float:
        wall, processor = time.perf_counter(), time.process_time()
        least = min(wall - self.wall, processor - self.processor)
        self.wall, self.processor = wall, processor
        return least


async def work_of(url: str, vision: Vision, folder: Path) -> Work:
    path, clock = folder / "alone.mp4", Watch()
    async with httpx.AsyncClient() as client:
        await client.get(url)  # open the connection
        clock.lap()
        path.write_bytes((await client.get(url)).raise_for_status().content)
        downloaded = clock.lap()
    await read_clip(vision, path)
    looked = clock.lap()
    hash_video(path)
    return Work(downloaded, looked, clock.lap())


def side_by_side(works: Iterable[Work]) -> float:
    """Return the minimum time for several clips: work evenly distributed, and none faster than alone."""
    seconds = [work.seconds for work in works]
    return max(max(seconds), sum(seconds) / CORES)
