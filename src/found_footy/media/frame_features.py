"""Image features of frames: pitch, colour, and signs of a filmed screen. Frames are BGR, 8 bits per channel."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

WIDTH = 320
"""Width in pixels at which areas and outlines are measured."""
GREEN_RANGE = ((32, 50, 35), (88, 255, 255))
"""Hue in half degrees, saturation, value: from dry grass in the sun to wet grass under floodlights."""

MIN_BOTTOM_SHARE = 0.15
"""Minimum share of the lowest third of the frame that a pitch covers."""

MIN_SATURATION = 32
"""Minimum saturation of a coloured pixel."""
MIN_TINT_SHARE = 0.93
"""Minimum share of coloured pixels with the same hue in a tinted frame."""


def pitch_share(frame: NDArray[np.uint8]) -> float:
    """Return the share of the frame that the largest connected green area covers. Evidence for soccer, not proof."""
    hsv = _hsv(frame)
    green = cv2.inRange(hsv, np.array(GREEN_RANGE[0]), np.array(GREEN_RANGE[1]))
    # Lines and players split the grass into pieces that belong together.
    closed = cv2.morphologyEx(green, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(closed)
    if count < 2:
        return 0.0
    largest = 1 + int(np.argmax(statistics[1:, cv2.CC_STAT_AREA]))
    # Do not count what the closing filled in: scattered green specks are not a pitch.
    grass = (labels == largest) & (green > 0)
    # Cameras look down on a pitch: a green wall ends above the lowest third.
    lowest = grass[-grass.shape[0] // 3 :]
    return float(grass.mean()) if lowest.mean() >= MIN_BOTTOM_SHARE else 0.0


def has_colour(frame: NDArray[np.uint8]) -> bool:
    """Return False for a grey or tinted frame, such as sepia, in which grass is not green."""
    hue, saturation, _ = cv2.split(_hsv(frame))
    coloured = hue[saturation >= MIN_SATURATION]
    if coloured.size < 0.05 * hue.size:
        return False
    counts = np.bincount(coloured, minlength=180)
    commonest = int(counts.argmax())
    near = np.take(counts, range(commonest - 8, commonest + 9), mode="wrap").sum()
    return bool(near < MIN_TINT_SHARE * coloured.size or GREEN_RANGE[0][0] <= commonest <= GREEN_RANGE[1][0])


def _hsv(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = frame.shape[:2]
    small = cv2.resize(frame, (WIDTH, max(1, round(height * WIDTH / width))), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(cv2.blur(small, (3, 3)), cv2.COLOR_BGR2HSV), np.uint8)


# --- Filmed screens: a tilted picture inside the frame, and moiré.


Frame = NDArray[np.uint8]


MIN_GRADIENT = 5.0
"""Minimum brightness gradient per pixel of an edge; a room or the bezel of a screen is smoother."""
MAX_SIDE_DISTANCE = 0.42
"""Maximum distance of the screen's side from the edge of the frame, as a share of the frame."""
MIN_SIDE_DISTANCE = 0.012
"""Minimum distance: a side at the very edge is that of the frame itself."""
MAX_LINE_ERROR_PX = 1.5
"""Maximum distance in pixels of a point from its line."""
MIN_SIDE_SHARE, MIN_OUTLINE = 0.3, 0.6
"""Minimum share of points on the line, for the worst side and on average for the other three.

Measured: the worst side of real and rendered footage has at most 0.28; films of a screen average at least 0.74.
"""
MIN_TILT, MIN_COMMON_TILT = 0.8, 0.3
"""Minimum tilt in degrees of one side, and of at least three sides. Bars added by an editor are exactly level."""

PATCH = 256
"""Patch size in pixels of the original frame: scaling would average the pattern away."""
MIN_FREQUENCY, MAX_FREQUENCY = 0.03, 0.46
"""Range of spatial frequencies of moiré, in cycles per pixel."""
AXIS = 0.015
"""Excluded band beside the axes in cycles per pixel: level and upright edges, and coding blocks."""
MIN_MOIRE = 6.5
"""Minimum height of a peak above the other peaks, in decibels.

Measured: at most 5.5 on real footage (4.3 on football). Compression removes the pattern from films of a screen.
"""


def is_filmed_screen(frame: Frame) -> bool:
    return outline_strength(frame) >= MIN_OUTLINE or moire_strength(frame) >= MIN_MOIRE


def outline_strength(frame: Frame) -> float:
    """Return how clearly a tilted quadrilateral stands out from smooth surroundings, 0 to 1.

    From each edge of the frame inwards, the first visible edges must lie on a straight line. A broadcast has content at
    the very edge; a filmed screen is surrounded by its bezel and the room.
    """
    height, width = frame.shape[:2]
    size = (WIDTH, max(32, round(height * WIDTH / width)))
    grey = cv2.cvtColor(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    smooth = cv2.GaussianBlur(grey, (3, 3), 0).astype(np.float32)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    edges = np.hypot(across, down) / 4
    sides = [_fit_side(view) for view in (edges, edges[::-1], edges.T, edges.T[::-1])]
    shares = sorted(share for share, _ in sides)
    tilts = sorted(abs(tilt) for _, tilt in sides)
    if shares[0] < MIN_SIDE_SHARE or tilts[-1] < MIN_TILT or tilts[1] < MIN_COMMON_TILT:
        return 0.0
    return sum(shares[1:]) / 3


def _fit_side(edges: NDArray[np.floating]) -> tuple[float, float]:
    """Return the share of columns whose first edge from row 0 lies on one line, and the line's tilt in degrees."""
    height, width = edges.shape
    columns = np.arange(round(0.15 * width), round(0.85 * width))
    seen = edges[1 : round(MAX_SIDE_DISTANCE * height), columns] > MIN_GRADIENT
    found = seen.any(axis=0)
    half = int(found.sum()) // 2
    if half < 8:
        return 0.0, 0.0
    x, y = columns[found].astype(float), seen.argmax(axis=0)[found] + 1.0
    # Medians first, so that outliers do not rotate the line; then a fit through the points near it.
    slope = float(np.median((y[half : 2 * half] - y[:half]) / (x[half : 2 * half] - x[:half])))
    near = np.abs(y - slope * x - np.median(y - slope * x)) <= 2 * MAX_LINE_ERROR_PX
    if near.sum() < 8:
        return 0.0, 0.0
    slope, start = np.polyfit(x[near], y[near], 1)
    share = float((np.abs(y - slope * x - start) <= MAX_LINE_ERROR_PX).sum()) / columns.size
    return (share if np.median(y) > MIN_SIDE_DISTANCE * height else 0.0), math.degrees(math.atan(slope))


def moire_strength(frame: Frame) -> float:
    """Return the height of the sharpest spectral peak above its surroundings, as the median of nine patches."""
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY).astype(np.float32)
    height, width = grey.shape
    side = min(PATCH, height, width)
    if side < 64:
        return 0.0
    tops = [round((height - side) * share) for share in (0.15, 0.5, 0.85)]
    lefts = [round((width - side) * share) for share in (0.15, 0.5, 0.85)]
    peaks = [_spectral_peak(grey[top : top + side, left : left + side]) for top in tops for left in lefts]
    return float(np.median(peaks))


def _spectral_peak(patch: NDArray[np.float32]) -> float:
    side = patch.shape[0]
    window = np.hanning(side).astype(np.float32)
    spectrum = np.abs(np.fft.rfft2((patch - patch.mean()) * np.outer(window, window)))
    power = (20 * np.log10(np.fft.fftshift(spectrum, axes=0) + 1.0)).astype(np.float32)
    # The spectrum of images falls towards fine detail; a pattern adds a point above that slope.
    outstanding = power - cv2.medianBlur(power, 5) if power.shape[1] >= 5 else power
    vertical = np.abs(np.fft.fftshift(np.fft.fftfreq(side)))[:, None]
    horizontal = np.fft.rfftfreq(side)[None, :]
    radius = np.hypot(vertical, horizontal)
    in_band = (radius > MIN_FREQUENCY) & (radius < MAX_FREQUENCY) & (vertical > AXIS) & (horizontal > AXIS)
    band = outstanding[in_band]
    return float(band.max() - np.percentile(band, 99.5))
