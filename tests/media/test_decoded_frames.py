"""A vision engine sees the same pictures, whether a file is decoded here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from found_footy.clips.frame_selection import read_clip
from found_footy.clips.models import FrameReading
from found_footy.errors import NotAVideo
from found_footy.fixtures.models import Sport
from found_footy.media.models import Frame
from found_footy.media.processor import MediaProcessor
from found_footy.ports import ClipVision
from tests.media.made_clips import scene, write


class Sees:
    """Reads nothing, and so wants to see every moment that there is."""

    name = "nothing"

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return self

    async def look(self, pictures: Sequence[Frame]) -> FrameReading:
        return FrameReading(at=pictures[len(pictures) // 2].seconds, soccer=True, screen=False)

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        pass


async def test_the_pictures_are_the_same(media: MediaProcessor, tmp_path: Path) -> None:
    clip = write(tmp_path / "clip.mp4", scene(2))
    here, there = await read_clip(Sees(), clip), await read_clip(Sees(), clip, media.frames_at)
    assert here.readings == there.readings
    assert len(here.pictures) == len(there.pictures) > 3
    pairs = zip(here.pictures, there.pictures, strict=True)
    assert all(one.seconds == other.seconds and np.array_equal(one.pixels, other.pixels) for one, other in pairs)


async def test_an_error_of_the_reader_is_passed_on(media: MediaProcessor) -> None:
    with pytest.raises(NotAVideo):
        await read_clip(Sees(), Path(__file__), media.frames_at)
