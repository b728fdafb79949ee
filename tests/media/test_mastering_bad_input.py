"""Sources that are no film, or one that nobody can use, end in an error of their own; those that can be saved, are."""

from __future__ import annotations

import resource
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaError, MediaTooLarge, NotAVideo, NotFound
from found_footy.media.container import DecodeLimits
from found_footy.media.master import make_master
from tests.media.made_clips import remux, write
from tests.media.numbered_films import LONG, beeps, lumas, number_in, numbered, tell_nobody, times, write_film
from tests.media.test_probe_bad_input import (
    claims_to_be_huge,
    cut_off,
    garbage_pictures,
    image,
    no_index,
    no_pictures,
    nothing,
    text,
    wide,
)
from tests.media.test_probe_bad_input import sound as sound_only


def one_picture(path: Path) -> None:
    write(path, numbered(1), format="mp4")


def times_apart(path: Path) -> None:
    """The last picture is shown after a month."""
    write(path, numbered(10), times=[*(n * 0.04 for n in range(9)), 2_600_000.0], format="matroska")


BAD: list[tuple[Callable[[Path], None], type[FootyError]]] = [
    (nothing, NotAVideo),
    (text, NotAVideo),
    (image, NotAVideo),
    (sound_only, NotAVideo),
    (one_picture, NotAVideo),
    (no_pictures, MediaBroken),
    (no_index, MediaBroken),
    (cut_off, MediaBroken),
    (garbage_pictures, MediaBroken),
    (claims_to_be_huge, MediaBroken),
    (wide, MediaTooLarge),
    (times_apart, MediaTooLarge),
]


@pytest.mark.parametrize(("make", "kind"), BAD, ids=[make.__name__ for make, _ in BAD])
def test_other_files_than_videos_are_rejected_with_a_reason(
    tmp_path: Path, make: Callable[[Path], None], kind: type[FootyError]
) -> None:
    make(tmp_path / "film.mp4")
    with pytest.raises(kind) as caught:
        make_master(tmp_path / "film.mp4", tmp_path / "master.mp4", tell_nobody, LONG)
    assert str(tmp_path / "film.mp4") in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [DecodeLimits(seconds=1), DecodeLimits(frames=20), DecodeLimits(wall_seconds=0), DecodeLimits(side_pixels=100)],
    ids=str,
)
def test_each_limit_holds(tmp_path: Path, limits: DecodeLimits) -> None:
    film = write_film(tmp_path / "film.mp4", numbered(60))
    with pytest.raises(MediaTooLarge):
        make_master(film, tmp_path / "master.mp4", tell_nobody, limits)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        make_master(tmp_path / "none.mp4", tmp_path / "master.mp4", tell_nobody, LONG)


def test_four_hours_are_accepted_in_constant_memory(tmp_path: Path) -> None:
    short = write(tmp_path / "short.mp4", numbered(2, 64, 36), fps=1, g="1", bf="0")
    film = remux(short, tmp_path / "film.mp4", repeat=7200, format="mp4", shift=1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert (made.frames, made.rate) == (4 * 3600, Fraction(1))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes
    with pytest.raises(MediaTooLarge):
        make_master(film, tmp_path / "master.mp4", tell_nobody, DecodeLimits(seconds=3600))


def test_a_film_without_usable_times_is_counted(tmp_path: Path) -> None:
    """All pictures claim to be shown at two moments only."""
    film = write_film(tmp_path / "film.mp4", numbered(40), g="1", bf="0")
    with av.open(str(film)) as source, av.open(str(tmp_path / "odd.mkv"), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(source.demux(video=0)):
            if packet.size:
                again = av.Packet(bytes(packet))
                again.stream, again.time_base, again.is_keyframe = stream, Fraction(1, 1000), True
                again.pts = again.dts = number // 20 * 40
                out.mux(again)
    made = make_master(tmp_path / "odd.mkv", tmp_path / "master.mp4", tell_nobody, LONG)
    assert made.frames == 40
    assert [number_in(luma) for luma in lumas(tmp_path / "master.mp4")] == list(range(40))
    assert times(tmp_path / "master.mp4") == [number / made.rate for number in range(40)]


def test_a_size_that_changes_on_the_way_is_brought_to_the_first(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "film.mkv"), "w") as out:
        stream = out.add_stream("mjpeg", rate=25, width=160, height=90)
        stream.pix_fmt = "yuvj420p"
        for number, picture in enumerate(numbered(20)):
            if number < 10:
                out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        out.mux(stream.encode(None))
        other = av.CodecContext.create("mjpeg", "w")
        other.width, other.height, other.pix_fmt, other.time_base = 320, 180, "yuvj420p", Fraction(1, 25)
        for number, picture in enumerate(numbered(20, 320, 180)):
            if number >= 10:
                frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
                frame.pts = number
                for packet in other.encode(frame):
                    packet.stream = stream
                    out.mux(packet)
    made = make_master(tmp_path / "film.mkv", tmp_path / "master.mp4", tell_nobody, LONG)
    assert (made.width, made.height, made.frames) == (160, 90, 20)
    assert [number_in(luma) for luma in lumas(tmp_path / "master.mp4")] == list(range(20))


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_end_in_a_master_or_a_media_error(tmp_path: Path, seed: int) -> None:
    film = write_film(tmp_path / "film.mp4", numbered(30), beeps(1.2, [0.5]))
    data = bytearray(film.read_bytes())
    chance = np.random.default_rng(seed)
    for place in chance.integers(0, len(data), 30):
        data[place] = int(chance.integers(0, 256))
    film.write_bytes(bytes(data))
    try:
        made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    except MediaError:
        return
    assert len(lumas(tmp_path / "master.mp4")) == made.frames
