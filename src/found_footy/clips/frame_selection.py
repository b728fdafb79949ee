"""Frame selection: which frames of a clip are read, and the interface of the vision engines that read them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from found_footy.clips.models import FrameReading
from found_footy.clips.verification import FRACTIONS, MORE_FRACTIONS, next_fraction
from found_footy.fixtures.models import Sport
from found_footy.media.frames import frames_at
from found_footy.media.models import Frame


class ClipVision(Protocol):
    """Reads frames of one clip. May keep state between them: the scoreboard does not move."""

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        """Read one moment from one or more adjacent frames; the middle one counts most.

        Raises VisionError if no reading was possible, which is not an empty reading.
        """


class Vision(Protocol):
    @property
    def name(self) -> str: ...

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision: ...

    async def check(self) -> str:
        """Verify with one cheap call that the engine works; return a description."""

    async def aclose(self) -> None: ...


DecodeFrames = Callable[[Path, Sequence[float]], Awaitable[list[Frame]]]
"""Decodes frames at shares of a clip's duration, as `MediaProcessor.frames_at` does."""

CANDIDATE_WINDOW = (-0.02, 0.0, 0.02)
"""Frames of one moment, as shares of the clip's duration: at most 1.2 s apart, so that their clocks agree."""


@dataclass(frozen=True, slots=True, eq=False)
class ClipReadings:
    readings: tuple[FrameReading, ...]
    frames: tuple[Frame, ...]

    def frame_at(self, seconds: float) -> Frame:
        return min(self.frames, key=lambda frame: abs(frame.seconds - seconds))


async def read_clip(
    vision: Vision, path: Path, decode: DecodeFrames | None = None, sport: Sport = Sport.FOOTBALL
) -> ClipReadings:
    """Read as many moments as `next_fraction` requests. Raises a MediaError or a VisionError.

    Untrusted files need a `decode` that runs in the sandbox; without one, the file is decoded in this process.
    """
    decode = decode or _decode_here
    clip = vision.open_clip(sport)
    readings: list[FrameReading] = []
    # The first two moments are always needed: decode both in one pass.
    moments = dict(zip(FRACTIONS[:2], await _frames(decode, path, FRACTIONS[:2]), strict=True))
    while (fraction := next_fraction(readings, sport)) is not None:
        if fraction not in moments:
            wanted = MORE_FRACTIONS if fraction in MORE_FRACTIONS else (fraction,)
            moments |= zip(wanted, await _frames(decode, path, wanted), strict=True)
        readings.append(await clip.read_frames(moments[fraction]))
    return ClipReadings(tuple(readings), tuple(frame for moment in moments.values() for frame in moment))


async def _decode_here(path: Path, fractions: Sequence[float]) -> list[Frame]:
    return await asyncio.to_thread(frames_at, path, fractions)


async def _frames(decode: DecodeFrames, path: Path, fractions: Sequence[float]) -> list[list[Frame]]:
    frames = await decode(path, [fraction + offset for fraction in fractions for offset in CANDIDATE_WINDOW])
    return [frames[start : start + len(CANDIDATE_WINDOW)] for start in range(0, len(frames), len(CANDIDATE_WINDOW))]
