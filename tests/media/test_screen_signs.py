from __future__ import annotations

import numpy as np
import pytest

from found_footy.media.frame_features import MIN_MOIRE, MIN_OUTLINE, is_filmed_screen, moire_strength, outline_strength
from found_footy.media.frames import frames_at
from tests.media.pictures import Frame, filmed, grass, match_picture, noise
from tests.support.recorded import recorded


def _boxed(frame: Frame, bars: int) -> Frame:
    frame[:bars] = frame[-bars:] = 0
    return frame


@pytest.mark.parametrize(
    "frame",
    [
        match_picture(),
        grass(1280, 720),
        noise(1280, 720),
        _boxed(match_picture(), 80),
        np.zeros((720, 1280, 3), np.uint8),
    ],
    ids=["match", "grass", "noise", "letterbox", "black"],
)
def test_frames_that_were_not_filmed_show_no_sign(frame: Frame) -> None:
    assert not is_filmed_screen(frame)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("pattern", "frame"), [(0.1, 0.03), (0.1, 0.0), (0.0, 0.03)])
def test_a_filmed_screen_shows(pattern: float, frame: float, seed: int) -> None:
    assert is_filmed_screen(filmed(match_picture(), moire=pattern, bezel=frame, seed=seed))


def test_a_tilted_outline_is_found_and_level_bars_are_not() -> None:
    assert outline_strength(filmed(match_picture(), moire=0.0, bezel=0.03)) >= MIN_OUTLINE
    assert outline_strength(_boxed(match_picture(), 80)) == 0


def test_a_pattern_is_a_peak_in_the_spectrum() -> None:
    plain = match_picture()
    assert moire_strength(plain) < MIN_MOIRE < moire_strength(filmed(plain, moire=0.1, bezel=0.0))


@pytest.mark.parametrize("shape", [(2, 2), (40, 200), (64, 64)])
def test_small_frames_show_no_sign(shape: tuple[int, int]) -> None:
    assert not is_filmed_screen(np.zeros((*shape, 3), np.uint8))


@pytest.mark.parametrize("name", ["zsc-asc-85m", "kra-oly-27m", "rma-sev-04m"])
def test_no_frame_of_a_real_broadcast_looks_filmed(name: str) -> None:
    path = recorded("video", "football", f"{name}.mp4")
    assert not [frame.seconds for frame in frames_at(path, [0.1, 0.3, 0.5, 0.7, 0.9]) if is_filmed_screen(frame.pixels)]
