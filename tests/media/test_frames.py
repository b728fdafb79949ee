"""Pictures near given moments, and small grey ones at even steps, out of files of every kind."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.media.container import DecodeLimits, FrameTimeline, timeline_from_packets
from found_footy.media.frames import frames_at, plan_decode, sample_grey
from tests.media.made_clips import HEIGHT, WIDTH, Picture, scene, write, write_scene
from tests.support.recorded import recorded


def counted(number: int) -> Picture:
    """A picture that says its number in eight stripes, black for 0 and white for 1, the highest bit first."""
    stripes = np.unpackbits(np.array([number], dtype=np.uint8)) * 255
    return np.ascontiguousarray(np.broadcast_to(stripes.repeat(WIDTH // 8)[None, :, None], (HEIGHT, WIDTH, 3)))


def number_in(pixels: NDArray[np.uint8]) -> int:
    middles = np.linspace(0, pixels.shape[1], 9)[:-1].astype(int) + pixels.shape[1] // 16
    return int(np.packbits(pixels[pixels.shape[0] // 2][middles].reshape(8, -1).mean(axis=1) > 128)[0])


def difference(a: Picture, b: Picture) -> float:
    return float(np.abs(a.astype(int) - b.astype(int)).mean())


@pytest.mark.parametrize(
    "options", [{}, {"bf": "3", "g": "30"}, {"g": "1"}, {"bf": "2", "g": "25", "x264-params": "open-gop=1"}], ids=str
)
@pytest.mark.parametrize("name", ["clip.mp4", "clip.mkv", "clip.ts"])
def test_the_frames_are_those_at_the_fractions(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    path = write(tmp_path / name, (counted(n) for n in range(100)), preset="veryfast", **options)
    frames = frames_at(path, [0.25, 0.75, 0.5, 0.0, 1.0])
    assert [number_in(frame.pixels) for frame in frames] == [25, 75, 50, 0, 99]
    assert [frame.seconds for frame in frames] == pytest.approx([1.0, 3.0, 2.0, 0.0, 3.96], abs=0.005)
    assert frames[0].pixels.shape == (HEIGHT, WIDTH, 3)


def test_selected_frames_equal_those_of_a_full_decode(tmp_path: Path) -> None:
    pictures = list(scene(4))
    path = write(tmp_path / "clip.mp4", pictures, crf="10", bf="3", g="50", preset="veryfast")
    for frame in frames_at(path, [0.13, 0.4, 0.77]):
        nearest = [difference(frame.pixels, picture) for picture in pictures]
        assert np.argmin(nearest) == round(frame.seconds * 25)
        assert min(nearest) < 6


@pytest.mark.parametrize(("rotation", "turns"), [(0, 0), (90, 1), (180, 2), (270, 3), (-90, 3)])
def test_frames_are_rotated_as_by_a_player(tmp_path: Path, rotation: int, turns: int) -> None:
    upright = next(scene(1))
    path = write(tmp_path / "clip.mp4", [upright] * 10, rotation=rotation, crf="10")
    (frame,) = frames_at(path, [0.5])
    assert difference(frame.pixels, np.rot90(upright, turns)) < 4
    (small, *_) = sample_grey(path, 0.25, 64)
    assert small.pixels.shape == ((64, 36) if turns % 2 else (36, 64))


@pytest.mark.parametrize("fps", [4, 10, 24, 25, 30, 50, 59.94])
def test_samples_come_every_quarter_of_a_second_at_any_frame_rate(tmp_path: Path, fps: float) -> None:
    path = write(tmp_path / "clip.mp4", (counted(n) for n in range(round(2 * fps))), fps, bf="2")
    samples = list(sample_grey(path, 0.25, 64))
    assert [frame.seconds for frame in samples] == [n * 0.25 for n in range(len(samples))]
    assert len(samples) == int(round(2 * fps) / fps * 4 - 1e-6) + 1
    for frame in samples:
        assert abs(number_in(frame.pixels) - frame.seconds * fps) <= 1


def test_with_uneven_times_the_displayed_frame_is_used(tmp_path: Path) -> None:
    times = [0.0, 0.04, 0.08, 0.9, 0.94, 0.98, 1.02]
    path = write(tmp_path / "clip.mp4", (counted(n * 10) for n in range(7)), times=times)
    taken = [number_in(frame.pixels) // 10 for frame in sample_grey(path, 0.25, 64)]
    assert taken[:5] == [0, 2, 2, 2, 5]


def test_a_file_without_times_is_counted_through(tmp_path: Path) -> None:
    path = tmp_path / "clip.avi"
    write(path, (counted(n) for n in range(50)), codec="mpeg4", bf="2")
    assert [number_in(frame.pixels) for frame in sample_grey(path, 0.5, 64)] == pytest.approx([0, 12, 25, 38], abs=1)


def test_samples_keep_one_size_where_the_resolution_changes(tmp_path: Path) -> None:
    first = write_scene(tmp_path / "a.ts", 1)
    large = (np.asarray(cv2.resize(each, (640, 480)), dtype=np.uint8) for each in scene(1))
    second = write(tmp_path / "b.ts", large, times=[1 + n / 25 for n in range(25)])
    path = tmp_path / "both.ts"
    path.write_bytes(first.read_bytes() + second.read_bytes())
    samples = list(sample_grey(path, 0.25, 64))
    assert len(samples) == 8
    assert {frame.pixels.shape for frame in samples} == {(36, 64)}


@pytest.mark.parametrize(
    "name", ["football/rma-sev-04m.mp4", "near-duplicates/cat.2.mp4", "near-duplicates/cat.3.webm"]
)
def test_real_clips_are_sampled_to_their_end(name: str) -> None:
    path = recorded("video", *name.split("/"))
    duration = timeline_from_packets(path, DecodeLimits()).duration
    samples = list(sample_grey(path, 0.25, 64))
    assert [frame.seconds for frame in samples] == [n * 0.25 for n in range(len(samples))]
    assert samples[-1].seconds == pytest.approx(duration, abs=0.25)


def timeline(seconds: list[float], keys: list[int]) -> FrameTimeline:
    moments = np.array(seconds)
    key = np.isin(np.arange(len(seconds)), keys)
    return FrameTimeline((moments * 1000).astype(np.int64), moments, key, np.ones(len(seconds), bool), True, 10.0)


TENTHS = [n / 10 for n in range(10)]


@pytest.mark.parametrize(
    ("seconds", "keys", "asked", "requested", "needed"),
    [
        (TENTHS, [0], [0.0], [0], [0]),
        (TENTHS, [0], [0.44], [4], [0, 1, 2, 3, 4]),
        (TENTHS, [0, 5], [0.7], [7], [5, 6, 7]),
        (TENTHS, [0, 5], [0.1, 0.6], [1, 6], [0, 1, 5, 6]),
        (TENTHS, [0, 7], [0.0, 0.7], [0, 7], [0, 7]),
        (TENTHS, range(10), [0.1, 0.8], [1, 8], [1, 8]),
        # The keyframe at 0.3 is followed by pictures that are shown before it and refer to the group before.
        ([0.0, 0.3, 0.1, 0.2, 0.5, 0.4], [0, 1], [0.1], [2], [0, 1, 2]),
        ([0.0, 0.3, 0.1, 0.2, 0.5, 0.4], [0, 1], [0.4], [5], [1, 2, 3, 4, 5]),
        (TENTHS, [0], [5.0], [9], list(range(10))),
    ],
)
def test_only_needed_packets_are_decoded(
    seconds: list[float], keys: list[int], asked: list[float], requested: list[int], needed: list[int]
) -> None:
    plan = plan_decode(timeline(seconds, list(keys)), asked)
    assert np.flatnonzero(plan.requested).tolist() == requested
    assert np.flatnonzero(plan.needed).tolist() == needed
    assert all(a < b for a, b in pairwise(sorted(plan.moments)))
