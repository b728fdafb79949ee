"""A master is upright, plays everywhere and has a constant rate, whatever came; what is fine already stays."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from found_footy.media.master import make_master
from tests.media.made_clips import scene, write
from tests.media.numbered_films import (
    LONG,
    RATE,
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
from tests.support.recorded import recorded


def streams(path: Path) -> tuple[Any, ...]:
    with av.open(str(path)) as film:
        video = film.streams.video[0].codec_context
        sound = [each.codec_context.name for each in film.streams.audio]
        return video.name, video.pix_fmt, sound


def packets(path: Path) -> list[bytes]:
    with av.open(str(path)) as film:
        return [bytes(packet) for packet in film.demux(video=0) if packet.size]


@pytest.mark.parametrize("rate", [Fraction(25), Fraction(30000, 1001), Fraction(30), Fraction(60), Fraction(15, 2)])
@pytest.mark.parametrize("format", ["mp4", "matroska"])
def test_a_film_that_plays_everywhere_keeps_its_pictures(tmp_path: Path, rate: Fraction, format: str) -> None:
    film = write_film(tmp_path / "film", numbered(60), rate=rate, format=format)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert packets(tmp_path / "master.mp4") == packets(film)
    assert (made.frames, made.rate, made.width, made.height, made.audio) == (60, rate, 160, 90, False)
    # Exactly, also where the container before rounded its times to milliseconds.
    assert times(tmp_path / "master.mp4") == [number / rate for number in range(60)]


def test_it_can_be_played_before_it_is_there_in_full(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", numbered(30))
    make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    for path, first in ((film, False), (tmp_path / "master.mp4", True)):
        data = path.read_bytes()
        assert (data.index(b"moov") < data.index(b"mdat")) is first


@pytest.mark.parametrize(
    ("how", "rate"),
    [
        ({"codec": "mpeg4", "format": "avi"}, Fraction(25)),
        ({"codec": "libvpx-vp9", "format": "webm", "deadline": "realtime", "cpu-used": "8"}, Fraction(25)),
        ({"codec": "mpeg2video", "format": "mpegts"}, Fraction(25)),
        ({"format": "mpegts"}, Fraction(25)),
        ({"codec": "mjpeg", "format": "mov"}, Fraction(25)),
        ({"codec": "ffv1", "format": "matroska"}, Fraction(25)),
    ],
    ids=str,
)
def test_anything_else_is_encoded_frame_by_frame(tmp_path: Path, how: dict[str, Any], rate: Fraction) -> None:
    film = write_film(tmp_path / "film", numbered(40), **how)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert (made.frames, made.rate, made.width, made.height) == (40, rate, 160, 90)
    assert streams(tmp_path / "master.mp4") == ("h264", "yuv420p", [])
    assert [number_in(luma) for luma in lumas(tmp_path / "master.mp4")] == list(range(40))
    assert times(tmp_path / "master.mp4") == [number / rate for number in range(40)]


@pytest.mark.parametrize(("rotation", "corner"), [(90, (0, 0)), (180, (1, 0)), (270, (1, 1)), (0, (0, 1))])
def test_rotation_metadata_is_applied(tmp_path: Path, rotation: int, corner: tuple[int, int]) -> None:
    """A white mark at the top right of the stored picture is looked for where a player shows it."""
    picture = np.full((96, 160, 3), 40, np.uint8)
    picture[:24, -24:] = 255
    film = write(tmp_path / "film.mp4", [picture] * 10, rotation=rotation)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert (made.width, made.height) == ((96, 160) if rotation in (90, 270) else (160, 96))
    shown = lumas(tmp_path / "master.mp4")[4]
    found = {
        (row, column)
        for row in (0, 1)
        for column in (0, 1)
        if shown[-12 * row + 6 * (1 - row), -12 * column + 6 * (1 - column)] > 200
    }
    assert found == {corner}
    with av.open(str(tmp_path / "master.mp4")) as again:
        assert next(again.decode(video=0)).rotation == 0


def test_uneven_times_become_a_constant_rate_with_each_picture_in_its_place(tmp_path: Path) -> None:
    """25 frames a second, with a still of half a second, and three pictures that come too soon."""
    moments = [n * 0.04 for n in range(20)] + [1.3 + n * 0.04 for n in range(20)] + [2.101, 2.104, 2.108, 2.14]
    film = write(tmp_path / "film.mp4", numbered(44), times=moments)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert made.rate == 25
    seen = [number_in(luma) for luma in lumas(tmp_path / "master.mp4")]
    assert len(seen) == made.frames == 55
    assert seen[:20] == list(range(20))
    assert seen[20:32] == [19] * 12
    assert seen[-4:] == [38, 39, 42, 43]


def test_odd_sides_and_long_pixels_become_even_and_square(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mkv", [np.full((91, 161, 3), 90, np.uint8)] * 5, codec="ffv1")
    assert make_master(film, tmp_path / "odd.mp4", tell_nobody, LONG).width == 160
    with av.open(str(tmp_path / "long.mp4"), "w") as out:
        stream = out.add_stream("libx264", rate=25, width=144, height=96)
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)
        for picture in scene(0.4):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture[:96, :144], format="bgr24")))
        out.mux(stream.encode(None))
    made = make_master(tmp_path / "long.mp4", tmp_path / "square.mp4", tell_nobody, LONG)
    assert (made.width, made.height) == (192, 96)


@pytest.mark.parametrize(
    ("how", "copied"),
    [
        ({}, True),
        ({"format": "matroska"}, True),
        ({"heard_rate": 44_100}, True),
        ({"audio": "ac3", "format": "matroska"}, False),
        ({"audio": "flac", "format": "matroska", "heard_rate": 32_000}, False),
        ({"audio": "mp2", "format": "mpegts"}, False),
        ({"heard_at": 0.4}, False),
        ({"shown_at": 0.4}, True),
        ({"codec": "mpeg4"}, True),
    ],
    ids=str,
)
def test_the_sound_stays_in_step(tmp_path: Path, how: dict[str, Any], copied: bool) -> None:
    """A flash and a beep at the same moment, wherever the file's own count begins."""
    early = how.get("heard_at", 0.0) - how.get("shown_at", 0.0)
    sound = beeps(4, [1.0 - early, 2.4 - early], how.get("heard_rate", 48_000))
    film = write_film(tmp_path / "film", numbered(100, flashes=[25, 60]), sound, **{"format": "mp4", **how})
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert made.audio
    assert streams(tmp_path / "master.mp4")[2] == ["aac"]
    assert flashes_in(tmp_path / "master.mp4") == [1.0, 2.4]
    assert beeps_in(tmp_path / "master.mp4") == pytest.approx([1.0, 2.4], abs=0.02)


def test_a_gap_in_the_sound_is_silent_and_moves_nothing(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mkv", numbered(100, flashes=[75]), beeps(4, [3.0]))
    with av.open(str(film)) as source, av.open(str(tmp_path / "gap.mkv"), "w") as out:
        kept = {
            each.index: out.add_stream_from_template(each) for each in (*source.streams.video, *source.streams.audio)
        }
        for packet in source.demux():
            if packet.size and not (
                packet.stream.type == "audio" and 1 < float((packet.pts or 0) * packet.time_base) < 2
            ):
                packet.stream = kept[packet.stream_index]
                out.mux(packet)
    make_master(tmp_path / "gap.mkv", tmp_path / "master.mp4", tell_nobody, LONG)
    assert flashes_in(tmp_path / "master.mp4") == [3.0]
    assert beeps_in(tmp_path / "master.mp4") == pytest.approx([3.0], abs=0.02)


def remade(film: Path, to: Path, *, shift: int = 0, lost: int | None = None) -> Path:
    """The same packets, so many frames earlier; the one that is lost holds no picture any more."""
    with av.open(str(film)) as source, av.open(str(to), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(source.demux(video=0)):
            if packet.size:
                again = av.Packet(bytes(packet) if number != lost else b"\0\0\0\2\x09\x10")
                unit = round(1 / (RATE * packet.time_base))
                again.stream, again.time_base, again.is_keyframe = stream, packet.time_base, packet.is_keyframe
                again.pts, again.dts = (packet.pts or 0) - shift * unit, (packet.dts or 0) - shift * unit
                out.mux(again)
    return to


def test_hidden_pictures_at_the_beginning_stay_hidden(tmp_path: Path) -> None:
    """As files are that were cut without encoding: decoding begins earlier than showing."""
    film = remade(write_film(tmp_path / "film.mp4", numbered(50)), tmp_path / "hidden.mp4", shift=13)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert made.frames == 37
    assert [number_in(luma) for luma in lumas(tmp_path / "master.mp4")] == list(range(13, 50))


def test_a_missing_frame_leaves_no_gap(tmp_path: Path) -> None:
    film = remade(write_film(tmp_path / "film.mp4", numbered(50), bf="0"), tmp_path / "lost.mp4", lost=21)
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    seen = [number_in(luma) for luma in lumas(tmp_path / "master.mp4")]
    assert len(seen) == made.frames == 50
    assert seen[:21] == list(range(21))
    assert seen[21] == 20


def test_half_pictures_are_made_whole(tmp_path: Path) -> None:
    film = write_film(
        tmp_path / "film.ts", numbered(30, 160, 96), codec="mpeg2video", flags="+ildct+ilme", format="mpegts"
    )
    made = make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    assert made.frames == 30
    with av.open(str(film)) as before, av.open(str(tmp_path / "master.mp4")) as after:
        assert next(before.decode(video=0)).interlaced_frame
        assert not any(frame.interlaced_frame for frame in after.decode(video=0))
    assert [number_in(luma) for luma in lumas(tmp_path / "master.mp4")] == list(range(30))


def test_progress_rises_to_the_whole(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.avi", numbered(200), codec="mpeg4")
    told: list[float] = []
    make_master(film, tmp_path / "master.mp4", told.append, LONG)
    assert told[0] == 0
    assert told == sorted(told)
    assert told[-1] > 0.9


@pytest.mark.parametrize(
    ("name", "frames", "rate"),
    [
        ("football/zsc-asc-85m.mp4", 788, Fraction(30)),
        ("near-duplicates/cat.2.mp4", 1124, Fraction(25)),  # two of its 1125 pictures come within one place
        ("near-duplicates/cat.3.webm", 1125, Fraction(25)),
    ],
)
def test_real_films(tmp_path: Path, name: str, frames: int, rate: Fraction) -> None:
    made = make_master(recorded("video", *name.split("/")), tmp_path / "master.mp4", tell_nobody, LONG)
    assert (made.frames, made.rate) == (frames, rate)
    assert times(tmp_path / "master.mp4") == [number / rate for number in range(frames)]
