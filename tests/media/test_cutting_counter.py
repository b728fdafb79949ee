"""On a real film with its frame numbers burnt in: the first and the last picture of each cut tell the right ones."""

from __future__ import annotations

import re
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.adapters.vision.ocr_engine import OcrEngine
from found_footy.media.cutting import cut
from found_footy.media.mastering import make_master
from tests.support.recorded import recorded

from .numbered_films import LONG, tell_nobody

OCR = OcrEngine()


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counter") / "master.mp4"
    make_master(recorded("video", "scenes", "counter.mp4"), path, tell_nobody, LONG)
    return path


@pytest.fixture(scope="module")
def original() -> list[NDArray[np.uint8]]:
    return corners(recorded("video", "scenes", "counter.mp4"))


@pytest.mark.parametrize(("first", "end"), [(0, 20), (20, 30), (7, 23), (19, 21), (12, 13), (0, 30)])
def test_the_counter_reads_the_right_numbers(
    master: Path, original: list[NDArray[np.uint8]], tmp_path: Path, first: int, end: int
) -> None:
    """The film counts its frames from 1; it has a cut at 20, and one keyframe only."""
    cut(master, first, end, tmp_path / "clip.mp4")
    pictures = corners(tmp_path / "clip.mp4")
    assert len(pictures) == end - first
    assert [counted(picture) for picture in (pictures[0], pictures[-1])] == [
        (first + 1, first / 10),
        (end, (end - 1) / 10),
    ]
    for number, picture in enumerate(pictures):
        off = [np.abs(picture.astype(np.int16) - other).mean() for other in original]
        assert int(np.argmin(off)) == first + number


def corners(path: Path) -> list[NDArray[np.uint8]]:
    """The part of each picture in which its number stands."""
    with av.open(str(path)) as film:
        found = []
        for frame in film.decode(video=0):
            picture = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
            found.append(np.ascontiguousarray(picture[-330:, -680:]))
        return found


def counted(picture: NDArray[np.uint8]) -> tuple[int, float]:
    """The number of the frame and its second, as they are burnt in."""
    text = " ".join(line.text for line in OCR.lines(picture))
    frame, second = re.search(r"Frame\s*=?\s*(\d+)", text), re.search(r"(\d+\.\d)s", text)
    assert frame is not None, text
    assert second is not None, text
    return int(frame[1]), float(second[1])
