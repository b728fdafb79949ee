"""What the embedded OCR reads, in pictures made here and in real broadcasts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from found_footy.clips.ocr_vision import OcrVision
from found_footy.clips.verification import minute_of
from found_footy.fixtures.models import Score
from found_footy.media.models import Frame, TextLine
from found_footy.media.ocr import OcrEngine, row_strip, scoreboard_crops
from tests.media.pictures import filmed, grass, match_picture, noise


class CountingEngine(OcrEngine):
    def __init__(self, inner: OcrEngine) -> None:
        super().__init__()
        self._inner = inner
        self.searches = self.reads = 0

    def read_lines(self, image: Frame) -> list[TextLine]:
        self.searches += 1
        return self._inner.read_lines(image)

    def read_text(self, strip: Frame) -> str:
        self.reads += 1
        return self._inner.read_text(strip)


@pytest.mark.parametrize("top", [0.06, 0.85], ids=["top", "bottom"])
@pytest.mark.parametrize("height", [240, 360, 720, 1080])
async def test_scoreboards_of_all_sizes_are_read(ocr_engine: OcrEngine, height: int, top: float) -> None:
    frame = match_picture(height * 16 // 9, height, top=top)
    reading = await OcrVision(ocr_engine).open_clip().read_frames([Frame(1.0, frame)])
    assert (reading.clock, reading.teams, reading.score) == ("67:23", ("ARS", "CHE"), Score(2, 1))
    assert reading.soccer
    assert not reading.screen
    assert reading.box is not None
    assert top - 0.05 < reading.box.top < reading.box.bottom < top + 0.15


async def test_stoppage_time_is_read_in_its_own_fields(ocr_engine: OcrEngine) -> None:
    frame = match_picture(board="90:00 ARS 2-1 CHE 02:17 +4")
    reading = await OcrVision(ocr_engine).open_clip().read_frames([Frame(1.0, frame)])
    assert (reading.clock, reading.added, reading.stoppage_clock) == ("90:00", "+4", "02:17")
    assert minute_of(reading) == 92


async def test_the_scoreboard_is_located_once_and_then_only_read(ocr_engine: OcrEngine) -> None:
    engine = CountingEngine(ocr_engine)
    clip = OcrVision(engine).open_clip()
    for second in range(4):
        reading = await clip.read_frames([Frame(second, match_picture(board=f"67:2{second} ARS 2-1 CHE"))])
        assert reading.clock == f"67:2{second}"
    assert (engine.searches, engine.reads) == (1, 4)


async def test_most_frames_of_a_moment_decide(ocr_engine: OcrEngine) -> None:
    boards = ["67:23 ARS 2-1 CHE", "61:23 ARS 7-1 CHE", "67:24 ARS 2-1 CHE"]
    pictures = [Frame(number, match_picture(board=board)) for number, board in enumerate(boards)]
    reading = await OcrVision(ocr_engine).open_clip().read_frames(pictures)
    assert (reading.clock, reading.score, reading.at) == ("67:23", Score(2, 1), 0)


async def test_a_frame_without_a_scoreboard_has_no_clock_and_needs_a_pitch(ocr_engine: OcrEngine) -> None:
    clip = OcrVision(ocr_engine).open_clip()
    nothing = await clip.read_frames([Frame(1.0, noise(640, 360))])
    assert (nothing.soccer, nothing.clock, nothing.box) == (False, None, None)


async def test_a_close_up_beside_a_scoreboard_is_soccer_once_a_pitch_was_seen(ocr_engine: OcrEngine) -> None:
    close_up = match_picture()
    close_up[200:, :640], close_up[200:, 640:] = (90, 110, 160), (160, 60, 40)
    clip = OcrVision(ocr_engine).open_clip()
    assert not (await clip.read_frames([Frame(1.0, close_up)])).soccer
    assert (await clip.read_frames([Frame(2.0, match_picture())])).soccer
    assert (await clip.read_frames([Frame(3.0, close_up)])).soccer


async def test_a_scoreboard_or_some_grass_leaves_the_sport_open(ocr_engine: OcrEngine) -> None:
    close_up, without_clock = match_picture(), match_picture(board="ARS 2-1 CHE")
    close_up[200:] = without_clock[200:] = (90, 110, 160)
    some_grass = noise(1280, 720)
    some_grass[540:] = grass(1280, 180)
    readings = [
        await OcrVision(ocr_engine).open_clip().read_frames([Frame(1.0, frame)])
        for frame in (close_up, without_clock, some_grass, noise(640, 360), match_picture())
    ]
    assert [reading.soccer for reading in readings] == [None, None, None, False, True]


@pytest.mark.parametrize(
    ("board", "clock", "minute"), [("2T 04:55 EST 1-0 PAT", "2T 04:55", 49), ("FT ARS 2-1 CHE", "FT", None)]
)
async def test_marks_beside_the_teams_are_read(
    ocr_engine: OcrEngine, board: str, clock: str, minute: int | None
) -> None:
    reading = await OcrVision(ocr_engine).open_clip().read_frames([Frame(1.0, match_picture(board=board))])
    assert (reading.clock, minute_of(reading)) == (clock, minute)


async def test_a_small_scoreboard_is_found_in_close_ups_from_the_third_search_on(ocr_engine: OcrEngine) -> None:
    engine = CountingEngine(ocr_engine)
    clip = OcrVision(engine).open_clip()
    searches = []
    for second in range(4):
        await clip.read_frames([Frame(second, noise(640, 360))])
        searches.append(engine.searches)
    assert searches == [2, 4, 11, 13]


async def test_a_time_in_a_caption_does_not_hide_the_scoreboard(ocr_engine: OcrEngine) -> None:
    clip = OcrVision(ocr_engine).open_clip()
    clocks = []
    for second in range(0, 15, 5):
        picture = match_picture(board=f"67:{second:02} ARS 2-1 CHE")
        header = np.full((160, 1280, 3), 250, np.uint8)
        cv2.putText(header, "WHAT A GOAL 10:45", (40, 100), cv2.FONT_HERSHEY_DUPLEX, 1.6, (20, 20, 20), 2)
        reading = await clip.read_frames([Frame(second, np.vstack([header, picture]))])
        clocks.append(reading.clock)
    assert clocks[-1] == "67:10"


async def test_a_filmed_screen_is_detected(ocr_engine: OcrEngine) -> None:
    film = filmed(match_picture(), moire=0.1, bezel=0.03)
    assert (await OcrVision(ocr_engine).open_clip().read_frames([Frame(1.0, film)])).screen


def test_concurrent_reads_equal_sequential_ones(ocr_engine: OcrEngine) -> None:
    frame = match_picture(640, 360)
    crops = [crop.image for crop in scoreboard_crops(frame)] * 4
    strips = [row_strip(frame, 0, top, 640, top + 30) for top in range(0, 120, 15)]
    alone = [ocr_engine.read_lines(crop) for crop in crops], [ocr_engine.read_text(strip) for strip in strips]
    assert alone[0][0]
    with ThreadPoolExecutor(4) as pool:
        lines, texts = pool.map(ocr_engine.read_lines, crops), pool.map(ocr_engine.read_text, strips)
        assert (list(lines), list(texts)) == alone
