"""What a file is said to be, for every shape in which real files come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from found_footy.media.probe import probe
from tests.media.made_clips import Picture, scene, write, write_scene
from tests.support.recorded import recorded


def test_a_plain_clip_is_described_in_full(tmp_path: Path) -> None:
    path = write_scene(tmp_path / "clip.mp4", 2, fps=25)
    info = probe(path)
    assert (info.codec, info.width, info.height, info.rotation) == ("h264", 320, 180, 0)
    assert info.container.startswith("mov,mp4")
    assert (info.fps, info.frames, info.duration) == (25.0, 50, 2.0)
    assert info.aspect == pytest.approx(16 / 9, abs=0.001)
    assert info.file_size == path.stat().st_size
    assert info.bit_rate == pytest.approx(info.file_size * 8 / 2)
    assert not info.has_audio
    assert not info.variable_frame_rate


@pytest.mark.parametrize(("name", "codec"), [("clip.mkv", "libx264"), ("clip.avi", "mpeg4"), ("clip.ts", "libx264")])
def test_other_containers_are_read_alike(tmp_path: Path, name: str, codec: str) -> None:
    info = probe(write_scene(tmp_path / name, 2, codec=codec))
    assert (info.width, info.height, info.frames) == (320, 180, 50)
    assert info.duration == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(
    ("rotation", "size"), [(0, (320, 180)), (90, (180, 320)), (180, (320, 180)), (270, (180, 320)), (-90, (180, 320))]
)
def test_width_and_height_are_those_that_a_viewer_sees(tmp_path: Path, rotation: int, size: tuple[int, int]) -> None:
    info = probe(write_scene(tmp_path / "clip.mp4", 1, rotation=rotation))
    assert (info.width, info.height) == size
    assert info.rotation == rotation % 360
    assert info.aspect == pytest.approx(size[0] / size[1], abs=0.001)


def test_uneven_times_are_detected_and_the_average_rate_is_reported(tmp_path: Path) -> None:
    times = [0.0, 0.04, 0.08, 0.5, 0.54, 1.5, 1.54, 1.9]
    info = probe(write(tmp_path / "clip.mp4", scene(1), times=times))
    assert info.variable_frame_rate
    assert info.frames == 8
    assert info.fps == pytest.approx(7 / 1.9, abs=0.01)


def test_a_container_that_names_no_duration_is_measured(tmp_path: Path) -> None:
    path = write_scene(tmp_path / "live.mkv", 2, muxer={"live": "1"})
    assert probe(path).duration == pytest.approx(2.0, abs=0.05)


def test_a_change_of_resolution_midway_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "clip.ts"
    parts = [
        write_scene(tmp_path / "a.ts", 1),
        write(tmp_path / "b.ts", larger(), times=[1 + n / 25 for n in range(25)]),
    ]
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    info = probe(path)
    assert (info.width, info.height, info.frames) == (320, 180, 50)


def larger() -> Iterator[Picture]:
    return (np.ascontiguousarray(picture.repeat(2, axis=0).repeat(2, axis=1)) for picture in scene(1, start=1.0))


@pytest.mark.parametrize(
    ("name", "size", "fps", "duration", "audio"),
    [
        ("football/kra-oly-27m.mp4", (1920, 1080), 23.976, 14.06, True),
        ("football/rma-sev-04m.mp4", (1280, 720), 29.97, 21.02, True),
        ("football/zsc-asc-85m.mp4", (854, 480), 30.0, 26.27, True),
        ("near-duplicates/cat.2.mp4", (256, 144), 25.0, 44.96, False),
        ("near-duplicates/cat.3.webm", (256, 144), 25.0, 45.0, False),
        ("near-duplicates/chair-orig-22-sd-bar.mp4", (480, 720), 30.0, 22.43, True),
        ("scenes/fades.mp4", (480, 320), 25.0, 10.0, False),
    ],
)
def test_real_clips(name: str, size: tuple[int, int], fps: float, duration: float, audio: bool) -> None:
    info = probe(recorded("video", *name.split("/")))
    assert (info.width, info.height) == size
    assert info.fps == pytest.approx(fps, abs=0.01)
    assert info.duration == pytest.approx(duration, abs=0.05)
    assert info.has_audio is audio
