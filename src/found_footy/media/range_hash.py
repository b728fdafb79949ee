"""The hash of a stretch of a master, as if it were a file of its own."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from found_footy.media.fingerprint import STEP, Fingerprint
from found_footy.media.opening import Limits
from found_footy.media.phash import LONGEST_SIDE, fingerprint_of
from found_footy.media.stretches import master_file, pictures

LONGEST_SECONDS = 600
"""Of a longer stretch its beginning is hashed: no copy of a goal is that long."""
SMALLEST_SIDE = 16


def hash_range(path: Path, first: int, end: int, limits: Limits | None = None) -> Fingerprint:
    """What `phash.hash_video` gives for the same frames as a file. Raises a MediaError."""
    with master_file(path, limits or Limits()) as master:
        master.check(first, end)
        wanted = [first + place for place in hashed_frames(end - first, master.rate)]
        small = {number: _grey(frame) for number, frame in pictures(master, wanted)}
    return fingerprint_of(np.stack([small[number] for number in wanted]), np.arange(len(wanted), dtype=np.int64))


def hashed_frames(frames: int, rate: Fraction) -> list[int]:
    """The frame nearest to each step of a stretch that has so many of them."""
    step = Fraction(STEP)
    seconds = min(frames / rate, Fraction(LONGEST_SECONDS))
    # The earlier one where two are as near.
    nearest = (ceil(place * step * rate - Fraction(1, 2)) for place in range(ceil(seconds / step)))
    return [min(number, frames - 1) for number in nearest]


def _grey(frame: VideoFrame) -> NDArray[np.uint8]:
    plane = frame.planes[0]  # brightness, in a master
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), dtype=np.uint8)
    scale = LONGEST_SIDE / max(frame.width, frame.height)
    size = (max(SMALLEST_SIDE, round(frame.width * scale)), max(SMALLEST_SIDE, round(frame.height * scale)))
    picture = rows.reshape(-1, plane.line_size)[: frame.height, : frame.width]
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
