"""A vision engine sees the same pictures, whether a file is decoded here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from found_footy.clips.frame_selection import ClipVision, read_clip
from found_footy.clips.models import FrameReading
from found_footy.errors import NotAVideo
from found_footy.fixtures.models import Sport
from found_footy.media.models import Frame
from found_footy.media.processor import MediaProcessor
from tests.media.made_clips import scene, write


class BlindVision:
    """Reads nothing, and so wants to see every moment that there is."""

    name = "nothing"

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return self

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        return FrameReading(at=frames[len(frames) // 2].seconds, soccer=True, screen=False)

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        pass


async def test_the_frames_are_the_same(media: MediaProcessor, tmp_path: Path) -> None:
    clip = write(tmp_path / "clip.mp4", scene(2))
    here, there = await read_clip(BlindVision(), clip), await read_clip(BlindVision(), clip, media.frames_at)
    assert here.readings == there.readings
    assert len(here.frames) == len(there.frames) > 3
    pairs = zip(here.frames, there.frames, strict=True)
    assert all(one.seconds == other.seconds and np.array_equal(one.pixels, other.pixels) for one, other in pairs)


async def test_an_error_of_the_reader_is_passed_on(media: MediaProcessor) -> None:
    with pytest.raises(NotAVideo):
        await read_clip(BlindVision(), Path(__file__), media.frames_at)
