"""Films that are odd or wrong: frames are what counts, and what cannot be read ends in an error of its own class."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaTooLarge, NotAVideo, NotFound
from found_footy.media.container import DecodeLimits
from found_footy.media.scenes import find_cuts
from tests.media.made_clips import write
from tests.media.made_films import joined, shot
from tests.media.test_probe_bad_input import (
    claims_to_be_huge,
    cut_off,
    cut_off_matroska,
    garbage_pictures,
    image,
    no_index,
    no_pictures,
    nothing,
    playlist,
    sound,
    text,
    wide,
)

FILM, CUTS = joined([shot(1, 30), shot(2, 34), shot(3, 26)])

BAD: list[tuple[Callable[[Path], None], type[FootyError]]] = [
    (nothing, NotAVideo),
    (text, NotAVideo),
    (image, NotAVideo),
    (sound, NotAVideo),
    (playlist, NotAVideo),
    (no_pictures, MediaBroken),
    (no_index, MediaBroken),
    (cut_off, MediaBroken),
    (cut_off_matroska, MediaBroken),
    (garbage_pictures, MediaBroken),
    (claims_to_be_huge, MediaBroken),
    (wide, MediaTooLarge),
]


@pytest.mark.parametrize(("make", "kind"), BAD, ids=[make.__name__ for make, _ in BAD])
def test_a_wrong_file_ends_in_its_own_error(
    tmp_path: Path, make: Callable[[Path], None], kind: type[FootyError]
) -> None:
    path = tmp_path / "film.mp4"
    make(path)
    with pytest.raises(kind, match=str(path)):
        find_cuts(path)


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find_cuts(tmp_path / "none.mp4")


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_film_of_next_to_no_frames_is_one_scene(tmp_path: Path, frames: int) -> None:
    found = find_cuts(write(tmp_path / "film.mp4", FILM[:frames]), min_seconds=0)
    assert (found.cuts, found.frames) == ((), frames)


def test_a_film_of_two_frames_can_have_a_cut(tmp_path: Path) -> None:
    film = [FILM[0], FILM[40]]
    assert find_cuts(write(tmp_path / "film.mp4", film), min_seconds=0).cuts == (1,)


def test_with_a_variable_rate_frames_are_counted(tmp_path: Path) -> None:
    # Every third frame stays for a fifth of a second.
    times = [number * 0.04 + number // 3 * 0.16 for number in range(len(FILM))]
    found = find_cuts(write(tmp_path / "film.mp4", FILM, times=times))
    assert (found.cuts, found.frames) == (tuple(CUTS), len(FILM))
    assert found.fps == pytest.approx(len(FILM) / times[-1], rel=0.05)


@pytest.mark.parametrize("rotation", [90, 180])
def test_a_rotated_video_has_the_same_cuts(tmp_path: Path, rotation: int) -> None:
    assert find_cuts(write(tmp_path / "film.mp4", FILM, rotation=rotation)).cuts == tuple(CUTS)


def no_times(path: Path) -> None:
    """All packets at one moment but for the least step that a container asks for; the rate says nothing."""
    _remuxed(path, lambda number: number)


def times_that_jump(path: Path) -> None:
    """A clock that leaps by a minute in the middle."""
    _remuxed(path, lambda number: number * 40 + (number > 45) * 60_000)


def no_clock(path: Path) -> None:
    """A container that keeps no times at all."""
    write(path, FILM, codec="mjpeg", format="avi")


def _remuxed(path: Path, moment: Callable[[int], int]) -> None:
    small = write(path.with_name("even.mp4"), FILM, bf="0")
    with av.open(str(small)) as source, av.open(str(path), "w", format="matroska") as target:
        stream: Any = target.add_stream_from_template(source.streams.video[0])
        packets = [packet for packet in source.demux(source.streams.video[0]) if packet.size]
        for number, packet in enumerate(packets):
            packet.stream, packet.time_base = stream, Fraction(1, 1000)
            packet.pts = packet.dts = moment(number)
            target.mux(packet)


@pytest.mark.parametrize("make", [no_times, times_that_jump, no_clock])
def test_broken_times_do_not_matter_to_frames(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "film.mkv"
    make(path)
    found = find_cuts(path, min_seconds=0)
    assert found.frames == len(FILM)
    assert set(CUTS) <= set(found.cuts)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_stream_that_ends_early_is_a_value_or_broken(tmp_path: Path, share: float) -> None:
    path = write(tmp_path / "film.ts", FILM, format="mpegts")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    try:
        found = find_cuts(path)
    except MediaBroken:
        return
    assert found.frames < len(FILM)
    assert set(found.cuts) <= set(CUTS)


@pytest.mark.parametrize(
    "limits",
    [DecodeLimits(frames=20), DecodeLimits(seconds=1.5), DecodeLimits(side_pixels=300), DecodeLimits(wall_seconds=0)],
    ids=str,
)
def test_each_limit_holds(tmp_path: Path, limits: DecodeLimits) -> None:
    with pytest.raises(MediaTooLarge):
        find_cuts(write(tmp_path / "film.mp4", FILM * 4), limits=limits)
