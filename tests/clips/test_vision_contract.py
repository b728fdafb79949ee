"""What every vision engine must do, whatever it understands of pictures."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from found_footy.clips.frame_selection import Vision
from found_footy.clips.models import FrameReading
from found_footy.fixtures.models import Score
from found_footy.media.models import Frame
from tests.media.pictures import match_picture, noise


def moment(at: float = 4.0) -> list[Frame]:
    return [Frame(at + offset, match_picture(640, 360)) for offset in (-0.5, 0.0, 0.5)]


async def test_a_moment_gives_one_reading_of_the_right_types(vision: Vision) -> None:
    reading = await vision.open_clip().read_frames(moment())
    assert isinstance(reading, FrameReading)
    assert reading.at in (3.5, 4.0, 4.5)
    assert isinstance(reading.soccer, bool)
    assert isinstance(reading.screen, bool)
    for text in (reading.clock, reading.added, reading.stoppage_clock):
        assert text is None or isinstance(text, str)
    assert reading.teams is None or len(reading.teams) == 2
    assert reading.score is None or isinstance(reading.score, Score)
    assert FrameReading.from_json(json.loads(json.dumps(reading.to_json()))) == reading


async def test_one_frame_is_enough(vision: Vision) -> None:
    reading = await vision.open_clip().read_frames(moment()[1:2])
    assert reading.at == 4.0


@pytest.mark.parametrize("shape", [(9, 640), (360, 640)])
async def test_an_empty_frame_gives_a_reading(vision: Vision, shape: tuple[int, int]) -> None:
    reading = await vision.open_clip().read_frames([Frame(1.0, np.zeros((*shape, 3), np.uint8))])
    assert reading.at == 1.0


async def test_concurrent_clips_do_not_mix(vision: Vision) -> None:
    clips = [vision.open_clip() for _ in range(3)]
    readings = await asyncio.gather(*(clip.read_frames(moment(at)[1:2]) for at, clip in enumerate(clips)))
    assert [reading.at for reading in readings] == [0.0, 1.0, 2.0]


async def test_reading_does_not_block_the_event_loop(vision: Vision) -> None:
    turns = 0
    task = asyncio.ensure_future(vision.open_clip().read_frames([Frame(0.0, noise(640, 360))]))
    while not task.done():
        await asyncio.sleep(0.002)
        turns += 1
    await task
    assert turns > 3  # one that holds the loop up gives it one turn, at the end


async def test_the_check_describes_the_engine(vision: Vision) -> None:
    assert await vision.check()
