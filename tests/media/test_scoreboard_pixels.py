from __future__ import annotations

import cv2
import numpy as np
import pytest

from found_footy.media.frame_features import has_colour, pitch_share
from found_footy.media.images import draw_proof, to_jpeg
from found_footy.media.models import RelativeBox
from found_footy.media.ocr import ROW_HEIGHT, SEARCH_WIDTH, find_content_area, row_strip, scoreboard_crops
from tests.media.pictures import Frame, grass, noise


@pytest.mark.parametrize(
    ("top", "left"), [(0, 0), (40, 0), (0, 80), (60, 100)], ids=["none", "letterbox", "pillarbox", "both"]
)
def test_black_bars_are_left_out(top: int, left: int) -> None:
    frame = np.zeros((360, 640, 3), np.uint8)
    frame[top : 360 - top, left : 640 - left] = noise(640 - 2 * left, 360 - 2 * top)
    found = find_content_area(frame)
    assert np.allclose(found, (left, top, 640 - left, 360 - top), atol=4)


@pytest.mark.parametrize("shape", [(2, 2), (8, 600), (600, 8), (144, 256), (1080, 1920)])
def test_frames_of_any_size_can_be_searched(shape: tuple[int, int]) -> None:
    for part in scoreboard_crops(np.zeros((*shape, 3), np.uint8)):
        assert part.image.shape[1] <= SEARCH_WIDTH + 1


def test_small_frames_are_enlarged_and_large_ones_reduced() -> None:
    assert [round(part.scale, 2) for part in scoreboard_crops(grass(426, 240))] == [3.0, 3.0]
    assert [round(part.scale, 2) for part in scoreboard_crops(grass(1920, 1080))] == [0.67, 0.67]


@pytest.mark.parametrize("box", [(10, 10, 200, 30), (-50, -5, 50, 20), (600, 350, 900, 400), (5000, 0, 5100, 10)])
def test_a_row_strip_has_at_least_the_models_input_height(box: tuple[int, int, int, int]) -> None:
    assert row_strip(grass(640, 360), *box).shape[0] >= ROW_HEIGHT


def _with_sky(frame: Frame, share: float) -> Frame:
    frame[: round(frame.shape[0] * share)] = (200, 160, 120)
    return frame


@pytest.mark.parametrize(
    ("frame", "least", "most"),
    [
        (grass(640, 360), 0.95, 1.0),
        (_with_sky(grass(640, 360), 0.5), 0.45, 0.55),
        (noise(640, 360), 0.0, 0.1),
        (np.zeros((360, 640, 3), np.uint8), 0.0, 0.0),
        (np.full((2, 2, 3), 255, np.uint8), 0.0, 0.0),
    ],
    ids=["pitch", "half", "noise", "black", "tiny"],
)
def test_the_share_of_pitch(frame: Frame, least: float, most: float) -> None:
    assert least <= pitch_share(frame) <= most


def _tinted(frame: Frame, tint: tuple[float, float, float]) -> Frame:
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)[:, :, None]
    return np.clip(grey * np.array(tint), 0, 255).astype(np.uint8)


def _with_people(frame: Frame) -> Frame:
    frame[100:200, 200:300], frame[100:200, 400:500] = (40, 30, 200), (200, 90, 40)
    return frame


@pytest.mark.parametrize(
    ("frame", "tell"),
    [
        (_with_people(grass(640, 360)), True),
        (grass(640, 360), True),
        (_tinted(_with_people(grass(640, 360)), (1, 1, 1)), False),
        (_tinted(_with_people(grass(640, 360)), (0.6, 0.85, 1.0)), False),
    ],
    ids=["match", "only grass", "grey", "sepia"],
)
def test_a_frame_without_colour_excludes_no_pitch(frame: Frame, tell: bool) -> None:
    assert has_colour(frame) is tell


def test_a_green_wall_is_not_a_pitch() -> None:
    wall = grass(640, 360)
    wall[230:] = (60, 90, 140)
    assert pitch_share(wall) == 0


def test_a_proof_is_a_png_with_the_box_drawn_and_the_caption_below() -> None:
    frame = grass(640, 360)
    png = cv2.imdecode(
        np.frombuffer(draw_proof(frame, RelativeBox(0.1, 0.1, 0.3, 0.2), ["67:23", "Müller"]), np.uint8), 1
    )
    assert png is not None
    assert png.shape[1] == 640
    assert png.shape[0] > 360
    assert not np.array_equal(png[:360], frame)
    bare = cv2.imdecode(np.frombuffer(draw_proof(frame, None), np.uint8), 1)
    assert bare is not None
    assert np.array_equal(bare, frame)


@pytest.mark.parametrize(("width", "sent"), [(1920, 1280), (640, 640)])
def test_frames_are_reduced_for_sending_and_never_enlarged(width: int, sent: int) -> None:
    jpeg = cv2.imdecode(np.frombuffer(to_jpeg(grass(width, 360), 1280), np.uint8), 1)
    assert jpeg is not None
    assert jpeg.shape[1] == sent
