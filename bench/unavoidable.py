"""What a clip costs with nothing around it: one plain download, the look and the hash, alone on the machine."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.played import CORES
from found_footy.adapters.vision.watch import watch
from found_footy.media.phash import hash_video
from found_footy.ports import Vision


@dataclass(frozen=True)
class Work:
    """Seconds of each step."""

    download: float
    look: float
    hash: float

    @property
    def seconds(self) -> float:
        return self.download + self.look + self.hash


@dataclass
class Watch:
    """The time since it was last asked: on the wall or of the processor, whichever is less.

    Where other programs are busy meanwhile, the wall's is too long for what is to be a lower bound.
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
        await client.get(url)  # so that the connection is there
        clock.lap()
        path.write_bytes((await client.get(url)).raise_for_status().content)
        downloaded = clock.lap()
    await watch(vision, path)
    looked = clock.lap()
    hash_video(path)
    return Work(downloaded, looked, clock.lap())


def side_by_side(works: Iterable[Work]) -> float:
    """The least that several clips take on this machine: their work shared out evenly, and none faster than alone."""
    seconds = [work.seconds for work in works]
    return max(max(seconds), sum(seconds) / CORES)
