"""Cuts, fades, dissolves and wipes are found where they are, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from found_footy.media.scenes import DETECTOR, find_cuts
from tests.media.made_clips import Picture, write
from tests.media.made_films import (
    banner,
    blended,
    captioned,
    darkened,
    dissolve,
    faded,
    flashed,
    joined,
    panned,
    pillarboxed,
    shortest,
    shot,
    wipe,
)

SLOW = 3
"""Frames by which the middle of a slow change may be missed."""


def test_hard_cuts_are_found_to_the_frame(tmp_path: Path) -> None:
    film, cuts = joined([shot(1, 40), shot(2, 25), shot(3, 61), shot(4, 18)])
    found = find_cuts(write(tmp_path / "film.mp4", film))
    assert (found.cuts, found.frames, found.fps) == (tuple(cuts), 144, 25.0)


def test_the_detector_has_a_name_and_a_version() -> None:
    name, _, version = DETECTOR.partition("/")
    assert name
    assert version.isdigit()


BLENDS: list[tuple[str, Callable[[Picture, Picture, float], Picture], int]] = [
    ("a short dissolve", dissolve, 8),
    ("a long dissolve", dissolve, 24),
    ("a wipe", wipe, 16),
    ("a wipe that covers the cut", banner, 20),
]


@pytest.mark.parametrize(("blend", "frames"), [row[1:] for row in BLENDS], ids=[row[0] for row in BLENDS])
def test_slow_changes_are_found_in_their_middle(
    tmp_path: Path, blend: Callable[[Picture, Picture, float], Picture], frames: int
) -> None:
    film, middle = blended(shot(1, 70), shot(5, 70), frames, blend)
    (found,) = find_cuts(write(tmp_path / "film.mp4", film)).cuts
    assert abs(found - middle) <= SLOW


@pytest.mark.parametrize("level", [0, 255], ids=["black", "white"])
@pytest.mark.parametrize("frames", [6, 20])
def test_a_fade_is_found_where_the_next_picture_rises(tmp_path: Path, frames: int, level: int) -> None:
    film, last = faded(shot(1, 60), shot(2, 60), frames, level)
    (found,) = find_cuts(write(tmp_path / "film.mp4", film)).cuts
    assert abs(found - last) <= SLOW


def test_a_cut_to_black_is_one_cut_and_the_picture_after_it_belongs_to_it(tmp_path: Path) -> None:
    film, last = faded(shot(1, 60), shot(2, 60), 15)
    # Without the way out: straight from the picture to black.
    film = film[:45] + film[60:]
    assert find_cuts(write(tmp_path / "film.mp4", film)).cuts == (45,)
    assert last > 45


STILL: list[tuple[str, Callable[[], list[Picture]]]] = [
    ("one scene", lambda: shot(1, 90)),
    ("a flash of one frame", lambda: flashed(shot(1, 60), [30])),
    ("a flash of two frames", lambda: flashed(shot(1, 60), [30, 31])),
    ("many flashes", lambda: flashed(shot(2, 80), [20, 26, 27, 33, 48, 52])),
    ("a caption that comes up", lambda: captioned(shot(1, 60), 30)),
    ("a fast pan", lambda: panned(75, 12)),
    ("a very fast pan", lambda: panned(60, 30)),
    ("the light goes", lambda: darkened(shot(1, 60), 0.3)),
    ("a fade in at the start", lambda: faded(shot(1, 60), shot(2, 60), 15)[0][63:]),
    ("a fade out at the end", lambda: faded(shot(1, 60), shot(2, 60), 15)[0][:62]),
]


@pytest.mark.parametrize("make", [row[1] for row in STILL], ids=[row[0] for row in STILL])
def test_other_changes_are_not_cuts(tmp_path: Path, make: Callable[[], list[Picture]]) -> None:
    assert find_cuts(write(tmp_path / "film.mp4", make())).cuts == ()


def test_a_portrait_film_between_black_bars_is_as_good_as_any(tmp_path: Path) -> None:
    film, cuts = joined([shot(1, 40), shot(2, 40), shot(3, 40)])
    assert find_cuts(write(tmp_path / "film.mp4", pillarboxed(film))).cuts == tuple(cuts)


@pytest.mark.parametrize(("least", "expected"), [(0.0, (5, 30, 40, 58)), (0.4, (30, 40)), (0.6, (30,)), (2.0, ())])
def test_no_scene_is_shorter_than_the_least(tmp_path: Path, least: float, expected: tuple[int, ...]) -> None:
    film, cuts = joined([shot(1, 5), shot(2, 25), shot(3, 10), shot(4, 18), shot(5, 5)])
    assert tuple(cuts) == (5, 30, 40, 58)
    found = find_cuts(write(tmp_path / "film.mp4", film), least).cuts
    assert shortest(found, len(film)) >= least * 25
    # Of two that are too close together the stronger one stays, whichever that is.
    assert len(found) == len(expected)
    assert set(found) <= set(cuts)


def test_progress_rises_to_one(tmp_path: Path) -> None:
    told: list[float] = []
    find_cuts(write(tmp_path / "film.mp4", shot(1, 200)), progress=told.append)
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] == 1.0
