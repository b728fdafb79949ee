"""How much of a picture is pitch, and whether its colours can tell. Frames are BGR, 8 bits a channel."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

WIDTH = 320
"""Enough for an area, and quick."""
GREENS = ((32, 50, 35), (88, 255, 255))
"""Hue in half degrees, saturation, value: from dry grass in the sun to wet grass under floodlights."""

AT_THE_BOTTOM = 0.15
"""The share of the picture's lowest third that a pitch covers at least."""

VIVID = 32
"""Saturation from which on a pixel has a colour at all."""
ONE_TINT = 0.93
"""The share of the coloured pixels that has one and the same hue where a picture is tinted."""


def pitch_share(frame: NDArray[np.uint8]) -> float:
    """The share of the picture that the largest connected green area covers. A prior for soccer, not a proof."""
    hsv = _hsv(frame)
    green = cv2.inRange(hsv, np.array(GREENS[0]), np.array(GREENS[1]))
    # Lines and players cut the grass into pieces that belong together.
    closed = cv2.morphologyEx(green, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(closed)
    if count < 2:
        return 0.0
    largest = 1 + int(np.argmax(statistics[1:, cv2.CC_STAT_AREA]))
    # What the closing filled in does not count: green specks all over a picture are no pitch.
    grass = (labels == largest) & (green > 0)
    # Cameras look down on a pitch: a green wall ends above the lowest third.
    lowest = grass[-grass.shape[0] // 3 :]
    return float(grass.mean()) if lowest.mean() >= AT_THE_BOTTOM else 0.0


def colours_tell(frame: NDArray[np.uint8]) -> bool:
    """False for a picture in grey or in one tint, such as sepia: its grass is not green, and that proves nothing."""
    hue, saturation, _ = cv2.split(_hsv(frame))
    coloured = hue[saturation >= VIVID]
    if coloured.size < 0.05 * hue.size:
        return False
    counts = np.bincount(coloured, minlength=180)
    commonest = int(counts.argmax())
    near = np.take(counts, range(commonest - 8, commonest + 9), mode="wrap").sum()
    return bool(near < ONE_TINT * coloured.size or GREENS[0][0] <= commonest <= GREENS[1][0])


def _hsv(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = frame.shape[:2]
    small = cv2.resize(frame, (WIDTH, max(1, round(height * WIDTH / width))), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(cv2.blur(small, (3, 3)), cv2.COLOR_BGR2HSV), np.uint8)
