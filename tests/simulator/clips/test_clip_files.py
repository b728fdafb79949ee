"""What is in the rendered files: each kind has the properties that it claims."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from clip_helpers import Frame, Video, difference, made, scenario_with, watch

from footy_simulator.clips.alter import frame_size
from footy_simulator.clips.broadcast import BOARDS
from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for

LINES = (
    "copy 360p 2500k -2s 4s",
    "copy letterbox 360p 30fps 2500k -2s 3s",
    "copy pillarbox 360p 2500k -2s 3s",
    "copy mirrored 360p 2500k -2s 3s",
    "copy grey 360p 2500k -2s 3s",
    "copy sepia 360p 2500k -2s 3s",
    "copy bright 360p 2500k -2s 3s",
    "copy dark 360p 2500k -2s 3s",
    "copy vivid 360p 2500k -2s 3s",
    "copy logo watermark 360p 2500k -2s 3s",
    "copy crop 360p 2500k -2s 3s",
    "copy no_clock 360p 2500k -2s 3s",
    "copy 360p 2500k -1s 4s",
    "portrait 360p 2500k -2s 3s",
    "filmed 360p 2500k -2s 3s",
    "too_short 360p",
    "too_long",
    "truncated 360p 2500k -2s 3s",
    "zip",
    "html",
    "studio 360p 3s",
    "basketball 360p 3s",
    "landscape 360p 3s",
)
SPECS = dict(zip(LINES, clips_for(scenario_with(*LINES), 5001, 0), strict=True))
PICTURES = [line for line in LINES if line.split()[0] not in ("truncated", "zip", "html")]
PLAIN = LINES[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


@pytest.fixture(scope="module")
def plain(folder: Path) -> Video:
    return made(SPECS[PLAIN], folder)


def first(line: str, folder: Path) -> Frame:
    return made(SPECS[line], folder).frames[0]


@pytest.mark.parametrize("line", PICTURES)
def test_a_file_has_the_size_rate_and_length_of_its_spec(line: str, folder: Path) -> None:
    spec = SPECS[line]
    video = made(spec, folder)
    assert (video.width, video.height) == frame_size(spec)
    assert video.fps == spec.fps
    assert video.seconds == pytest.approx(spec.length, abs=0.1)


def test_the_sizes_and_lengths_that_are_refused(folder: Path) -> None:
    assert made(SPECS["portrait 360p 2500k -2s 3s"], folder).width < 360
    assert made(SPECS["too_short 360p"], folder).seconds < 3
    assert made(SPECS["too_long"], folder).seconds > 60


def test_there_is_sound(folder: Path) -> None:
    with av.open(str(render(SPECS[PLAIN], folder))) as container:
        assert container.streams.audio[0].codec_context.name == "aac"
        assert container.streams.video[0].codec_context.name == "h264"


def test_the_same_moment_is_the_same_picture(plain: Video, folder: Path) -> None:
    later = made(SPECS["copy 360p 2500k -1s 4s"], folder)
    assert difference(plain.frames[25], later.frames[0]) < 4
    assert difference(plain.frames[25], later.frames[60]) > 8


def test_black_bars_are_black_and_the_picture_between_them_is_whole(plain: Video, folder: Path) -> None:
    letterbox, pillarbox = (
        first("copy letterbox 360p 30fps 2500k -2s 3s", folder),
        first("copy pillarbox 360p 2500k -2s 3s", folder),
    )
    assert letterbox.shape == (480, 640, 3)
    assert max(letterbox[:56].max(), letterbox[-56:].max()) < 24
    assert difference(letterbox[60:420], plain.frames[0]) < 4
    assert pillarbox.shape == (360, 840, 3)
    assert max(pillarbox[:, :96].max(), pillarbox[:, -96:].max()) < 24
    assert difference(pillarbox[:, 100:740], plain.frames[0]) < 4


def test_a_mirrored_copy_is_mirrored(plain: Video, folder: Path) -> None:
    mirrored = first("copy mirrored 360p 2500k -2s 3s", folder)
    assert difference(mirrored[:, ::-1], plain.frames[0]) < 5
    assert difference(mirrored, plain.frames[0]) > 15


def test_colours_are_changed(plain: Video, folder: Path) -> None:
    def colourfulness(frame: Frame) -> float:
        return float((frame.max(axis=2).astype(int) - frame.min(axis=2)).mean())

    usual = plain.frames[0]
    assert colourfulness(first("copy grey 360p 2500k -2s 3s", folder)) < 3
    assert colourfulness(first("copy vivid 360p 2500k -2s 3s", folder)) > 1.15 * colourfulness(usual)
    blue, _, red = first("copy sepia 360p 2500k -2s 3s", folder).mean(axis=(0, 1))
    assert red > blue + 20
    assert first("copy bright 360p 2500k -2s 3s", folder).mean() > usual.mean() + 10
    assert first("copy dark 360p 2500k -2s 3s", folder).mean() < usual.mean() - 10


def test_a_logo_is_there_and_leaves_the_scoreboard_alone(plain: Video, folder: Path) -> None:
    logo = first("copy logo watermark 360p 2500k -2s 3s", folder)
    board = BOARDS[SPECS[PLAIN].footage.style]
    rows, columns = (
        slice(int(board.top * 360), int(board.bottom * 360)),
        slice(int(board.left * 640), int(board.right * 640)),
    )
    assert difference(logo[rows, columns], plain.frames[0][rows, columns]) < 8
    assert np.abs(logo.astype(int) - plain.frames[0]).max(axis=2).mean() > 1.5


def test_a_phone_films_a_dark_room_around_the_screen(folder: Path) -> None:
    filmed = made(SPECS["filmed 360p 2500k -2s 3s"], folder)
    edges = np.concatenate((filmed.frames[0][:12].ravel(), filmed.frames[0][:, :24].ravel()))
    assert edges.mean() < 70
    assert filmed.frames[0][120:240, 200:440].mean() > edges.mean()
    assert difference(filmed.frames[0], filmed.frames[40]) > 3


def test_other_footage_is_not_green(plain: Video, folder: Path) -> None:
    def green(frame: Frame) -> float:
        blue, middle, red = (frame[:, :, channel].astype(int) for channel in range(3))
        return float(((middle > blue + 15) & (middle > red + 15)).mean())

    assert green(plain.frames[0]) > 0.3
    for line in ("studio 360p 3s", "basketball 360p 3s", "landscape 360p 3s"):
        assert green(first(line, folder)) < 0.2


def test_a_truncated_file_does_not_open(folder: Path) -> None:
    with pytest.raises(av.error.InvalidDataError):
        watch(render(SPECS["truncated 360p 2500k -2s 3s"], folder))


def test_a_zip_and_a_page_are_named_like_videos(folder: Path) -> None:
    archive, page = render(SPECS["zip"], folder), render(SPECS["html"], folder)
    assert archive.suffix == page.suffix == ".mp4"
    assert zipfile.is_zipfile(archive)
    assert page.read_bytes().startswith(b"<!DOCTYPE html>")
    for path in (archive, page):
        with pytest.raises(av.error.InvalidDataError):
            watch(path)


def test_fewer_kilobits_make_a_smaller_file(folder: Path) -> None:
    def size(kbit: int) -> int:
        spec: ClipSpec = replace(SPECS[PLAIN], kbit=kbit)
        return render(spec, folder).stat().st_size

    assert size(150) < 0.6 * size(1500)


def test_fifty_frames_a_second_are_fifty_pictures(tmp_path: Path) -> None:
    fast, slow = clips_for(scenario_with("copy 360p 50fps 2500k +0s 3s", "copy 360p 25fps 2500k +0s 3s"), 5001, 0)
    video, half = made(fast, tmp_path), made(slow, tmp_path)
    assert (video.fps, half.fps) == (50, 25)
    assert difference(video.frames[20], half.frames[10]) < 4
    assert difference(video.frames[20], video.frames[21]) > 0.2
