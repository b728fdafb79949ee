"""The hash of a clip: what its pictures look like every quarter of a second, whatever their size and colours.

Small grey pictures in one decoding pass; bars and borders off; brightness evened out; then 8 x 8 bits a picture, each
saying whether the picture gets brighter from one cell to the next (dHash).
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from found_footy.domain.errors import MediaBroken
from found_footy.media.borders import Box, picture_box
from found_footy.media.fingerprint import STEP, Fingerprint
from found_footy.media.frames import sample
from found_footy.media.opening import Limits
from found_footy.media.timeline import timeline_of

LONGEST_SIDE = 192
"""Pixels of the small pictures: one is half a percent of the picture, fine enough to find its borders."""
ROWS, COLUMNS = 8, 8
SAYS_NOTHING = 1.0
"""Grey levels (0-255) between neighbouring cells on average, before evening out; below it, noise decides the bits."""


def hash_video(path: Path, limits: Limits | None = None) -> Fingerprint:
    return hash_with_duration(path, limits)[0]


def hash_with_duration(path: Path, limits: Limits | None = None) -> tuple[Fingerprint, float]:
    """The hash, and the clip's length in seconds, of one reading."""
    limits = limits or Limits()
    timeline = timeline_of(path, limits)
    frames = list(sample(path, STEP, LONGEST_SIDE, limits, timeline))
    if not frames:
        raise MediaBroken(f"{path}: no picture of it can be decoded")
    places = np.array([round(frame.seconds / STEP) for frame in frames], dtype=np.int64)
    return fingerprint_of(np.stack([frame.pixels for frame in frames]), places), timeline.duration


def fingerprint_of(pictures: NDArray[np.uint8], places: NDArray[np.int64]) -> Fingerprint:
    """From pictures x height x width of grey levels. Flat and dark pictures are left out."""
    box = picture_box(pictures)
    hashes = [_dhash(picture, box) for picture in pictures]
    telling = np.array([each is not None for each in hashes])
    return Fingerprint(places[telling], np.array([each for each in hashes if each is not None], dtype=np.uint64))


def _dhash(picture: NDArray[np.uint8], box: Box) -> int | None:
    """Row by row from the top left, the first bit highest; None for a picture that says nothing."""
    cut = np.ascontiguousarray(picture[box.top : box.bottom, box.left : box.right])
    if np.abs(np.diff(_cells(cut), axis=1)).mean() < SAYS_NOTHING:
        return None
    cells = _cells(np.asarray(cv2.equalizeHist(cut), dtype=np.uint8))
    return int.from_bytes(np.packbits(cells[:, 1:] > cells[:, :-1]).tobytes(), "big")


def _cells(picture: NDArray[np.uint8]) -> NDArray[np.int16]:
    return np.asarray(cv2.resize(picture, (COLUMNS + 1, ROWS), interpolation=cv2.INTER_AREA), dtype=np.int16)
