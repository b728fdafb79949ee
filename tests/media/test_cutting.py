"""A cut holds exactly the frames that were asked for, with their sound, whether they were copied or encoded."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaError, MediaTooLarge, NotAVideo, NotFound
from found_footy.media.container import DecodeLimits
from found_footy.media.cut import can_copy, cut, encode_piece, join_pieces
from found_footy.media.master import make_master
from found_footy.media.mp4 import display_ranks, find_copyable_span, is_idr, nal_length_bytes
from tests.media.numbered_films import (
    LONG,
    beeps,
    beeps_in,
    flashes_in,
    lumas,
    number_in,
    numbered,
    tell_nobody,
    times,
    write_film,
)

FRAMES = 120


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keyframes at 0, 40 and 80, flashes and beeps at 10, 55 and 100."""
    folder = tmp_path_factory.mktemp("film")
    sound = beeps(FRAMES / 25, [10 / 25, 55 / 25, 100 / 25])
    pictures = numbered(FRAMES, flashes=[10, 55, 100])
    made = write_film(folder / "film.mp4", pictures, sound, g="40", keyint_min="40", sc_threshold="0")
    make_master(made, folder / "master.mp4", tell_nobody, LONG)
    return folder / "master.mp4"


@pytest.mark.parametrize(
    ("first", "end", "encoded"),
    [
        (0, 120, False),
        (0, 40, False),
        (40, 80, False),
        (40, 120, False),
        (80, 120, False),
        (0, 1, False),
        (40, 41, False),
        (1, 120, True),
        (39, 41, True),
        (17, 93, True),
        (79, 80, True),
        (119, 120, True),
    ],
)
def test_just_these_frames(film: Path, tmp_path: Path, first: int, end: int, encoded: bool) -> None:
    assert cut(film, first, end, tmp_path / "clip.mp4") is encoded
    source, clip = lumas(film), lumas(tmp_path / "clip.mp4")
    assert [number_in(luma) for luma in clip] == list(range(first, end))
    assert times(tmp_path / "clip.mp4") == [Fraction(number, 25) for number in range(end - first)]
    off = [np.abs(one.astype(int) - other).mean() for one, other in zip(clip, source[first:end], strict=True)]
    assert max(off) < (2.5 if encoded else 1e-9)


@pytest.mark.parametrize(("first", "end"), [(0, 120), (40, 120), (3, 70), (41, 110), (54, 101), (90, 105)])
def test_the_sound_of_these_frames_is_in_step(film: Path, tmp_path: Path, first: int, end: int) -> None:
    cut(film, first, end, tmp_path / "clip.mp4")
    expected = [(at - first) / 25 for at in (10, 55, 100) if first <= at < end]
    assert flashes_in(tmp_path / "clip.mp4") == pytest.approx(expected)
    assert beeps_in(tmp_path / "clip.mp4") == pytest.approx(expected, abs=0.005)
    with av.open(str(tmp_path / "clip.mp4")) as clip:
        heard = list(clip.decode(audio=0))
    assert float(heard[-1].time or 0) <= (end - first) / 25


def test_pieces_are_joined_into_the_cut_that_they_cover(film: Path, tmp_path: Path) -> None:
    first, end, made = 17, 117, tmp_path / "joined.mp4"
    edges = list(pairwise([first, 40, 80, 81, end]))  # two begin with keyframes and are encoded all the same
    pieces = [tmp_path / f"{number}.mp4" for number in range(len(edges))]
    for piece, edge in zip(pieces, edges, strict=True):
        encode_piece(film, *edge, piece)
    join_pieces(film, pieces, first, end, made)
    assert [number_in(each) for each in lumas(made)] == list(range(first, end))
    assert times(made) == [Fraction(number, 25) for number in range(end - first)]
    whole = tmp_path / "whole.mp4"
    cut(film, first, end, whole)
    assert beeps_in(made) == beeps_in(whole) != []
    with pytest.raises(MediaBroken, match="do not contain frames"):
        join_pieces(film, pieces[1:], first, end, made)


@pytest.mark.parametrize(("first", "end", "copies"), [(0, 120, True), (40, 80, True), (1, 120, False), (17, 93, False)])
def test_whether_a_cut_is_copied_is_known_before(film: Path, first: int, end: int, copies: bool) -> None:
    assert can_copy(film, first, end) is copies


def test_cuts_that_tile_a_film_hold_each_frame_once(film: Path, tmp_path: Path) -> None:
    at = [0, 13, 14, 40, 77, 120]
    seen = []
    for number, (first, end) in enumerate(pairwise(at)):
        cut(film, first, end, tmp_path / f"{number}.mp4")
        seen += [number_in(luma) for luma in lumas(tmp_path / f"{number}.mp4")]
    assert seen == list(range(FRAMES))


@pytest.mark.parametrize(("first", "end"), [(0, 30), (28, 33), (30, 60), (58, 62), (29, 30), (31, 90)])
def test_groups_that_refer_to_each_other_are_cut_right_too(tmp_path: Path, first: int, end: int) -> None:
    """Pictures that are decoded after a keyframe and shown before it."""
    film = write_film(tmp_path / "film.mp4", numbered(90), flags="-cgop", bf="3", g="30", sc_threshold="0")
    make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    cut(tmp_path / "master.mp4", first, end, tmp_path / "clip.mp4")
    assert [number_in(luma) for luma in lumas(tmp_path / "clip.mp4")] == list(range(first, end))


def test_a_cut_can_be_cut_again(film: Path, tmp_path: Path) -> None:
    cut(film, 5, 95, tmp_path / "once.mp4")
    cut(tmp_path / "once.mp4", 7, 60, tmp_path / "twice.mp4")
    assert [number_in(luma) for luma in lumas(tmp_path / "twice.mp4")] == list(range(12, 65))
    assert beeps_in(tmp_path / "twice.mp4") == pytest.approx([(55 - 12) / 25], abs=0.005)


@pytest.mark.parametrize(("first", "end", "heard"), [(0, 40, True), (80, 120, False)])
def test_a_silent_stretch_has_no_sound(tmp_path: Path, first: int, end: int, heard: bool) -> None:
    short = write_film(tmp_path / "film.mp4", numbered(FRAMES), beeps(2, [0.5]), g="40")
    make_master(short, tmp_path / "master.mp4", tell_nobody, LONG)
    cut(tmp_path / "master.mp4", first, end, tmp_path / "clip.mp4")
    with av.open(str(tmp_path / "clip.mp4")) as clip:
        assert bool(clip.streams.audio) is heard


@pytest.mark.parametrize(
    "rate", [Fraction(30000, 1001), Fraction(24000, 1001), Fraction(50), Fraction(1), Fraction(10, 3)]
)
def test_the_rate_stays(tmp_path: Path, rate: Fraction) -> None:
    make_master(write_film(tmp_path / "f.mp4", numbered(30), rate=rate), tmp_path / "m.mp4", tell_nobody, LONG)
    cut(tmp_path / "m.mp4", 7, 22, tmp_path / "clip.mp4")
    assert times(tmp_path / "clip.mp4") == [number / rate for number in range(15)]
    assert [number_in(luma) for luma in lumas(tmp_path / "clip.mp4")] == list(range(7, 22))


@pytest.mark.parametrize(("first", "end"), [(5, 5), (9, 3), (-1, 5), (0, 121), (120, 121), (500, 600)])
def test_frames_that_are_not_there_are_refused(film: Path, tmp_path: Path, first: int, end: int) -> None:
    with pytest.raises(MediaError, match="are outside its 120 frames"):
        cut(film, first, end, tmp_path / "clip.mp4")
    assert not (tmp_path / "clip.mp4").exists()


def test_what_is_no_master_is_refused(film: Path, tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "half.mp4").write_bytes(film.read_bytes()[: film.stat().st_size // 2])
    uneven = write_film(tmp_path / "uneven.mkv", numbered(20), rate=Fraction(30000, 1001))
    wrong: list[tuple[Path, type[FootyError]]] = [
        (tmp_path / "none.mp4", NotFound),
        (tmp_path / "text.mp4", NotAVideo),
        (tmp_path / "half.mp4", MediaBroken),
        (uneven, MediaBroken),
    ]
    for path, kind in wrong:
        with pytest.raises(kind):
            cut(path, 10, 115, tmp_path / "clip.mp4")
    with pytest.raises(MediaTooLarge):
        cut(film, 1, 100, tmp_path / "clip.mp4", DecodeLimits(wall_seconds=0))


# Packets in the order of decoding: a keyframe, then a picture that two others between them refer to.
PYRAMID = [0, 4, 2, 1, 3, 8, 6, 5, 7, 9, 13, 11, 10, 12]
OPEN = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8]


@pytest.mark.parametrize(
    ("numbers", "keyframes", "first", "end", "found"),
    [
        (PYRAMID, {0, 9}, 0, 14, (0, 14)),
        (PYRAMID, {0, 9}, 0, 9, (0, 9)),
        (PYRAMID, {0, 9}, 9, 14, (9, 14)),
        (PYRAMID, {0, 9}, 0, 5, (0, 5)),  # nothing up to here refers to what comes after
        (PYRAMID, {0, 9}, 0, 4, None),  # 2 refers to 4
        (PYRAMID, {0, 9}, 1, 9, None),
        (PYRAMID, {0, 9}, 4, 9, None),
        (OPEN, {0, 6}, 6, 10, None),  # 4 and 5 are decoded within it and shown before it
        (OPEN, {0, 6}, 0, 7, (0, 7)),
        (OPEN, {0}, 0, 6, None),
    ],
)
def test_which_packets_can_be_copied(
    numbers: list[int], keyframes: set[int], first: int, end: int, found: tuple[int, int] | None
) -> None:
    key = np.array([number in keyframes for number in numbers])
    assert find_copyable_span(np.array(numbers), key, first, end) == found


def test_the_place_of_each_packet_in_the_order_of_showing() -> None:
    assert display_ranks(np.array([10, 50, 30, 20, 40])).tolist() == [0, 4, 2, 1, 3]


@pytest.mark.parametrize(
    ("data", "anew"),
    [
        (b"\0\0\0\2\x65\x88", True),
        (b"\0\0\0\2\x09\x10\0\0\0\3\x67\x01\x02\0\0\0\2\x65\x88", True),
        (b"\0\0\0\2\x06\x05\0\0\0\2\x41\x9a", False),
        (b"\0\0\0\2\x09\x10", False),
        (b"", False),
        (b"\xff\xff\xff\xff\x07", False),
    ],
)
def test_a_packet_marks_whether_decoding_can_start(data: bytes, anew: bool) -> None:
    assert is_idr(data, 4) is anew


@pytest.mark.parametrize(
    ("setup", "length"),
    [(b"\1\x64\0\x1f\xff\xe1\0", 4), (b"\1\x64\0\x1f\xfd\xe1\0", 2), (b"\0\0\0\1\x67\0\0", None), (None, None)],
)
def test_how_units_are_stored(setup: bytes | None, length: int | None) -> None:
    assert nal_length_bytes(setup) == length
