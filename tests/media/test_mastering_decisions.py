"""What is decided before a master is made: its rate, each picture's place, its shape, and whether it is encoded."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from found_footy.media.encode import OutputFormat, matrix_of, output_format
from found_footy.media.mp4 import choose_rate, choose_timescale, find_constant_rate, resample_frames
from found_footy.media.probe import Playability, reencode_reason

NTSC, FILM = Fraction(30000, 1001), Fraction(24000, 1001)


def even(count: int, rate: Fraction, digits: int = 9) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Moments at a constant rate, rounded as some containers do."""
    return np.round(np.arange(count) / float(rate), digits)


@pytest.mark.parametrize(
    ("seconds", "named", "rate"),
    [
        (even(100, Fraction(25)), Fraction(25), Fraction(25)),
        (even(100, Fraction(25)), None, Fraction(25)),
        (even(100, Fraction(25)), Fraction(30), Fraction(25)),  # the file says what is not so
        (even(500, NTSC, 3), NTSC, NTSC),
        (even(500, NTSC, 3), None, NTSC),
        (even(5, NTSC, 3), NTSC, NTSC),
        (even(300, NTSC, 3), Fraction(2_997_003, 100_000), NTSC),  # its terms stay small
        (even(432_000, NTSC, 3), Fraction(30), NTSC),  # four hours
        (even(300, FILM), Fraction(24), FILM),
        (even(50, Fraction(15, 2)), None, Fraction(15, 2)),
        (even(50, Fraction(1)), Fraction(1), Fraction(1)),
        (even(500, Fraction(119_880, 1000)), None, Fraction(2997, 25)),
        (even(50, Fraction(240)), Fraction(240), None),  # faster than anybody shows it
        (np.array([0.0, 0.04, 0.08, 0.5, 0.54]), Fraction(25), None),
        (np.delete(even(100, Fraction(25)), 50), Fraction(25), None),
        (np.array([0.0]), Fraction(25), None),
        (np.array([]), Fraction(25), None),
        (np.array([0.0, 0.0]), Fraction(25), None),
    ],
)
def test_the_rate_of_a_film_that_has_a_constant_one(
    seconds: Any, named: Fraction | None, rate: Fraction | None
) -> None:
    assert find_constant_rate(seconds, named) == rate


@pytest.mark.parametrize(
    ("steps", "named", "rate"),
    [
        ([0.04] * 50 + [0.5], None, Fraction(25)),
        ([0.033, 0.034] * 30 + [1.0], None, NTSC),
        ([1 / 240] * 50 + [0.1], None, Fraction(60)),
        ([0.0167] * 50 + [0.1], None, 2 * NTSC),
        ([2.0] * 10 + [9.0], None, Fraction(1, 2)),
        ([100.0, 200.0], None, Fraction(1, 10)),
        ([0.0, 0.0], Fraction(30), Fraction(30)),
        ([0.0, 0.0], Fraction(100_000), Fraction(25)),
        ([], None, Fraction(25)),
    ],
)
def test_the_rate_that_is_chosen_for_uneven_times(steps: list[float], named: Fraction | None, rate: Fraction) -> None:
    assert choose_rate(np.cumsum([0.0, *steps]), named) == rate


@pytest.mark.parametrize(
    ("pictures", "total", "filled"),
    [
        ([(0.0, "a"), (0.1, "b"), (0.2, "c")], 3, "abc"),
        ([(0.0, "a"), (0.3, "b")], 5, "aaabb"),
        ([(0.0, "a"), (0.1, "b"), (0.11, "c"), (0.2, "d")], 3, "acd"),
        ([(0.25, "a"), (0.3, "b")], 4, "aaab"),  # what comes first is shown from the beginning
        ([(0.0, "a"), (0.1, "b"), (0.05, "c"), (0.2, "d")], 3, "acd"),  # back in time
        ([(0.0, "a"), (9.0, "b")], 3, "aab"),
        ([(-5.0, "a"), (0.1, "b")], 2, "ab"),
        ([], 3, ""),
    ],
)
def test_each_place_is_filled_once(pictures: list[tuple[float, str]], total: int, filled: str) -> None:
    found = list(resample_frames(pictures, Fraction(10), total))
    assert [place for place, _ in found] == list(range(len(filled)))
    assert "".join(picture for _, picture in found) == filled


@pytest.mark.parametrize("rate", [Fraction(25), NTSC, FILM, Fraction(1), Fraction(1, 10), Fraction(2997, 25)])
def test_a_frame_lasts_a_whole_number_of_units(rate: Fraction) -> None:
    units, each = choose_timescale(rate)
    assert Fraction(units, each) == rate
    assert units >= 10_000


@pytest.mark.parametrize(
    ("stored", "aspect", "turns", "shown"),
    [
        ((1280, 720), Fraction(1), 0, (1280, 720)),
        ((1279, 719), Fraction(1), 0, (1280, 720)),
        ((720, 576), Fraction(64, 45), 0, (1024, 576)),
        ((1920, 1080), Fraction(1), 1, (1080, 1920)),
        ((3840, 2160), Fraction(1), 0, (1920, 1080)),
        ((3840, 2160), Fraction(1), 3, (1080, 1920)),
        ((8192, 16), Fraction(1), 0, (8192, 16)),
        ((1, 1), Fraction(1), 2, (2, 2)),
    ],
)
def test_the_shape_in_which_it_is_encoded(
    stored: tuple[int, int], aspect: Fraction, turns: int, shown: tuple[int, int]
) -> None:
    shape = output_format(*stored, aspect, turns, interlaced=False)
    assert (shape.width, shape.height) == shown


@pytest.mark.parametrize(
    ("told", "height", "name"),
    [(1, 90, "bt709"), (5, 1080, "smpte170m"), (9, 2160, "bt2020"), (2, 720, "bt709"), (2, 576, "smpte170m")],
)
def test_colours_are_guessed_only_without_metadata(told: int, height: int, name: str) -> None:
    assert matrix_of(told, height) == name


FINE = Playability(
    codec="h264",
    kind=(1280, 720, "yuv420p"),
    has_mp4_configuration=True,
    rate=Fraction(25),
    declared_rate=Fraction(25),
    all_shown=True,
    keyframe_first=True,
    has_square_pixels=True,
    shape=OutputFormat(1280, 720),
    start=0.0,
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"start": 7.5}, None),
        ({"declared_rate": None}, None),
        ({"codec": "hevc"}, "hevc"),
        ({"kind": (1280, 720, "yuv420p10le")}, "yuv420p10le"),
        ({"kind": (1280, 720, "yuvj420p")}, "yuvj420p"),
        ({"kind": (1281, 720, "yuv420p")}, "odd"),
        ({"has_mp4_configuration": False}, "configuration"),
        ({"rate": None}, "not constant"),
        ({"all_shown": False}, "hides"),
        ({"keyframe_first": False}, "keyframe"),
        ({"has_square_pixels": False}, "square"),
        ({"shape": OutputFormat(720, 1280, quarter_turns=1)}, "rotated"),
        ({"shape": OutputFormat(1280, 720, interlaced=True)}, "interlaced"),
    ],
)
def test_reasons_to_reencode_a_video(change: dict[str, Any], words: str | None) -> None:
    reason = reencode_reason(replace(FINE, **change))
    assert (reason is None) == (words is None)
    assert words is None or words in str(reason)
