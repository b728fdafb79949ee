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
    """Seconds on the wall of each step, and seconds of processor for all of them."""

    download: float
    look: float
    hash: float
    processor: float

    @property
    def wall(self) -> float:
        return self.download + self.look + self.hash


async def work_of(url: str, vision: Vision, folder: Path) -> Work:
    path = folder / "alone.mp4"
    async with httpx.AsyncClient() as client:
        await client.get(f"{url}?warm")  # the connection's set-up is not what is measured
        busy, began = time.process_time(), time.perf_counter()
        path.write_bytes((await client.get(url)).raise_for_status().content)
        downloaded = time.perf_counter()
    await watch(vision, path)
    looked = time.perf_counter()
    hash_video(path)
    hashed = time.perf_counter()
    return Work(downloaded - began, looked - downloaded, hashed - looked, time.process_time() - busy)


def side_by_side(works: Iterable[Work]) -> float:
    """The least that several clips take on this machine: their work shared out evenly, and none faster than alone."""
    all_of_it = list(works)
    return max(max(work.wall for work in all_of_it), sum(work.processor for work in all_of_it) / CORES)
