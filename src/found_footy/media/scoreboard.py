"""The parts of a picture in which scoreboards stand, in the size in which they can be read. Frames are BGR."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]

SEARCH_WIDTH = 1280
"""Pixels. Smaller pictures are enlarged and larger ones reduced, so that letters have the size that is found best."""
LARGEST_ZOOM = 3.0
REGIONS = ((0.0, 0.23), (0.7, 1.0))
"""From and to, in shares of the height. Most scoreboards are at the top, some at the bottom, where they are higher."""
ROW_HEIGHT = 48
"""Pixels; what the recognition model takes."""
BARS_WIDTH = 192
DARK, LIT = 24, 95
"""A row or column is a bar where 95 % of it are no brighter than 24 of 255: a logo may stand in it."""
SMALLEST_INSIDE = 0.3


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a picture; `scale` times as large as there."""

    image: Frame
    left: int
    top: int
    scale: float


def without_bars(frame: Frame) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is inside the black bars; the whole where that would be hardly anything."""
    height, width = frame.shape[:2]
    small = cv2.resize(frame, (BARS_WIDTH, max(8, round(height * BARS_WIDTH / width))), interpolation=cv2.INTER_AREA)
    light = small.max(axis=2)
    (top, bottom), (left, right) = (_inside(np.percentile(light, LIT, axis=axis)) for axis in (1, 0))
    if bottom - top < SMALLEST_INSIDE or right - left < SMALLEST_INSIDE:
        return 0, 0, width, height
    return round(left * width), round(top * height), round(right * width), round(bottom * height)


def search_parts(frame: Frame) -> list[Part]:
    """Where to look for a scoreboard, the likeliest first."""
    left, top, right, bottom = without_bars(frame)
    scale = min(LARGEST_ZOOM, SEARCH_WIDTH / (right - left))
    parts = []
    for begin, end in REGIONS:
        upper = min(top + round(begin * (bottom - top)), bottom - 1)
        lower = max(top + round(end * (bottom - top)), upper + 1)
        parts.append(Part(resized(frame[upper:lower, left:right], scale), left, upper, scale))
    return parts


def row_strip(frame: Frame, left: float, top: float, right: float, bottom: float) -> Frame:
    """One row of text, cut out and brought to the height that recognition wants."""
    height, width = frame.shape[:2]
    x0, x1 = max(0, round(left)), min(width, round(right))
    y0, y1 = max(0, round(top)), min(height, round(bottom))
    if x1 - x0 < 2 or y1 - y0 < 2:
        return np.zeros((ROW_HEIGHT, ROW_HEIGHT, 3), np.uint8)
    return resized(frame[y0:y1, x0:x1], max(1.0, ROW_HEIGHT / (y1 - y0)))


def resized(image: Frame, scale: float) -> Frame:
    if abs(scale - 1) < 0.05:
        return np.ascontiguousarray(image)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    enlarged = cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)
    return np.asarray(enlarged, np.uint8)


def _inside(brightness: NDArray[np.floating]) -> tuple[float, float]:
    """First and last line that is no bar, in shares of all."""
    lit = np.flatnonzero(brightness > DARK)
    return (float(lit[0]) / brightness.size, (float(lit[-1]) + 1) / brightness.size) if lit.size else (0.0, 0.0)
