"""A vision engine sees the same pictures, whether a file is decoded here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.media.made_clips import scene, write

from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.vision.watch import watch
from found_footy.domain.errors import NotAVideo
from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.readings import FrameReading
from found_footy.ports import ClipVision, Picture


class Sees:
    """Reads nothing, and so wants to see every moment that there is."""

    name = "nothing"

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return self

    async def look(self, pictures: Sequence[Picture]) -> FrameReading:
        return FrameReading(at=pictures[len(pictures) // 2].at, soccer=True, screen=False)

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        pass


async def test_the_pictures_are_the_same(media: LimitedMedia, tmp_path: Path) -> None:
    clip = write(tmp_path / "clip.mp4", scene(2))
    here, there = await watch(Sees(), clip), await watch(Sees(), clip, media.pictures)
    assert here.readings == there.readings
    assert len(here.pictures) == len(there.pictures) > 3
    pairs = zip(here.pictures, there.pictures, strict=True)
    assert all(one.at == other.at and np.array_equal(one.bgr, other.bgr) for one, other in pairs)


async def test_an_error_of_the_reader_is_passed_on(media: LimitedMedia) -> None:
    with pytest.raises(NotAVideo):
        await watch(Sees(), Path(__file__), media.pictures)
