"""Frame selection: extracts the frames that verification needs, and passes them to a vision engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from found_footy.clips.models import FrameReading
from found_footy.clips.verification import FRACTIONS, next_fraction
from found_footy.fixtures.models import Sport
from found_footy.media.frames import frames_at
from found_footy.media.models import Frame
from found_footy.ports import Vision

Read = Callable[[Path, Sequence[float]], Awaitable[list[Frame]]]
"""Reads frames at shares of a clip's duration, as `MediaProcessor.pictures` does."""

AROUND = (-0.02, 0.0, 0.02)
"""Frames of one moment, as shares of the clip's duration: at most 1.2 s apart, so that their clocks agree."""


@dataclass(frozen=True, slots=True, eq=False)
class ClipReadings:
    readings: tuple[FrameReading, ...]
    pictures: tuple[Frame, ...]

    def picture_at(self, at: float) -> Frame:
        return min(self.pictures, key=lambda picture: abs(picture.seconds - at))


async def read_clip(
    vision: Vision, path: Path, read: Read | None = None, sport: Sport = Sport.FOOTBALL
) -> ClipReadings:
    """Read as many moments as `next_fraction` requests. Raises a MediaError or a VisionError.

    Untrusted files need a `read` that decodes in the sandbox; without one, the file is decoded in this process.
    """
    read = read or _read_here
    clip = vision.open_clip(sport)
    readings: list[FrameReading] = []
    # The first two moments are always needed: extract both in one pass.
    moments = dict(zip(FRACTIONS[:2], await _pictures(read, path, FRACTIONS[:2]), strict=True))
    while (fraction := next_fraction(readings, sport)) is not None:
        if fraction not in moments:
            moments[fraction] = (await _pictures(read, path, [fraction]))[0]
        readings.append(await clip.look(moments[fraction]))
    return ClipReadings(tuple(readings), tuple(picture for moment in moments.values() for picture in moment))


async def _read_here(path: Path, fractions: Sequence[float]) -> list[Frame]:
    frames = await asyncio.to_thread(frames_at, path, fractions)
    return [Frame(frame.seconds, frame.pixels) for frame in frames]


async def _pictures(read: Read, path: Path, fractions: Sequence[float]) -> list[list[Frame]]:
    pictures = await read(path, [fraction + offset for fraction in fractions for offset in AROUND])
    return [pictures[start : start + len(AROUND)] for start in range(0, len(pictures), len(AROUND))]
