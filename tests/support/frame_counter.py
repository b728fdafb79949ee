"""The recorded film in which each frame's number is burnt in: what its pictures say."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from found_footy.media.ocr import OcrEngine
from tests.support.recorded import recorded


def counter() -> Path:
    """It counts its frames from 1; it has a cut at 20, and one keyframe only."""
    return recorded("video", "scenes", "counter.mp4")


def check_frames(path: Path, first: int, end: int) -> None:
    """The film at `path` is the frames `first` to `end` of the counter: no more, no less, in their order."""
    pictures = _corners(path)
    assert len(pictures) == end - first
    assert [_counted(picture) for picture in (pictures[0], pictures[-1])] == [
        (first + 1, first / 10),
        (end, (end - 1) / 10),
    ]
    for number, picture in enumerate(pictures):
        off = [np.abs(picture.astype(np.int16) - other).mean() for other in _original()]
        assert int(np.argmin(off)) == first + number


@cache
def _original() -> list[NDArray[np.uint8]]:
    return _corners(counter())


def _corners(path: Path) -> list[NDArray[np.uint8]]:
    """The part of each picture in which its number stands."""
    with av.open(str(path)) as film:
        found = []
        for frame in film.decode(video=0):
            picture = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
            found.append(np.ascontiguousarray(picture[-330:, -680:]))
        return found


@cache
def _ocr() -> OcrEngine:
    return OcrEngine()


def _counted(picture: NDArray[np.uint8]) -> tuple[int, float]:
    """The number of the frame and its second, as they are burnt in."""
    text = " ".join(line.text for line in _ocr().read_lines(picture))
    frame, second = re.search(r"Frame\s*=?\s*(\d+)", text), re.search(r"(\d+\.\d)s", text)
    assert frame is not None, text
    assert second is not None, text
    return int(frame[1]), float(second[1])
