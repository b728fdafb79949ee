"""From a file to its readings: takes frames where the domain wants to look, and shows them to a vision engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.looking import FRACTIONS, next_fraction
from found_footy.domain.videos.readings import FrameReading
from found_footy.media.frames import frames_at
from found_footy.ports import Picture, Vision

Read = Callable[[Path, Sequence[float]], Awaitable[list[Picture]]]
"""Gets the pictures at these shares of a clip's length, as `MediaReader.pictures` does."""

AROUND = (-0.02, 0.0, 0.02)
"""The pictures of one moment, in shares of the clip's length: at most 1.2 s apart, so that their clocks agree."""


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    readings: tuple[FrameReading, ...]
    pictures: tuple[Picture, ...]

    def picture_at(self, at: float) -> Picture:
        return min(self.pictures, key=lambda picture: abs(picture.at - at))


async def watch(vision: Vision, path: Path, read: Read | None = None, sport: Sport = Sport.FOOTBALL) -> Watched:
    """Looks at as many moments as `next_fraction` asks for. Raises a MediaError or a VisionError.

    A stranger's file is given to a reader that decodes it elsewhere; without one it is decoded right here.
    """
    read = read or _read_here
    clip = vision.open_clip(sport)
    readings: list[FrameReading] = []
    # The first two are always needed: one pass over the file gets both.
    moments = dict(zip(FRACTIONS[:2], await _pictures(read, path, FRACTIONS[:2]), strict=True))
    while (fraction := next_fraction(readings, sport)) is not None:
        if fraction not in moments:
            moments[fraction] = (await _pictures(read, path, [fraction]))[0]
        readings.append(await clip.look(moments[fraction]))
    return Watched(tuple(readings), tuple(picture for moment in moments.values() for picture in moment))


async def _read_here(path: Path, fractions: Sequence[float]) -> list[Picture]:
    frames = await asyncio.to_thread(frames_at, path, fractions)
    return [Picture(frame.seconds, frame.pixels) for frame in frames]


async def _pictures(read: Read, path: Path, fractions: Sequence[float]) -> list[list[Picture]]:
    pictures = await read(path, [fraction + offset for fraction in fractions for offset in AROUND])
    return [pictures[start : start + len(AROUND)] for start in range(0, len(pictures), len(AROUND))]
