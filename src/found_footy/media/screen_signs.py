"""Signs that a phone filmed a screen: a leaning picture in the picture, and moiré. Frames are BGR.

Both are soft signs, measured apart from the judgement: `outline` and `moire` return figures, `looks_filmed` decides.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]

WIDTH = 320
"""Pixels at which the screen's outline is searched for."""
EDGE = 5.0
"""Steps of brightness a pixel from which on there is something; a room, or a screen's frame, is smoother."""
DEEPEST = 0.42
"""How far into the picture a side of the screen may lie, in shares of it."""
INSET = 0.012
"""How far at least: a side at the very edge is the picture's own."""
STRAIGHT = 1.5
"""Pixels by which a point may miss the line that it belongs to."""
WEAKEST, OUTLINED = 0.3, 0.6
"""The share of points on the line that the worst side must have, and the other three on average.

Measured: the worst side of real and rendered footage has at most 0.28; films of a screen average 0.74 at least.
"""
TILT, SOME_TILT = 0.8, 0.3
"""Degrees by which one side, and at least three of them, must lean. Bars that an editor adds are exactly level."""

PATCH = 256
"""Pixels, at the picture's own size: reducing it would average the pattern away."""
LOWEST, HIGHEST = 0.03, 0.46
"""Cycles a pixel between which moiré shows."""
AXIS = 0.015
"""Cycles a pixel beside the axes that are left out: level and upright edges, and the blocks of video coding."""
MOIRE = 6.5
"""How far a peak must stand out of the other peaks, in decibels.

Measured: at most 5.5 on real footage (4.3 on football); films of a screen lose the pattern where they are compressed.
"""


def looks_filmed(frame: Frame) -> bool:
    return outline(frame) >= OUTLINED or moire(frame) >= MOIRE


def outline(frame: Frame) -> float:
    """How clearly a leaning four-sided picture stands in smooth surroundings: from 0, not at all, to 1.

    From each edge of the frame inwards, the first thing that is seen must lie on a straight line. In a broadcast
    something is seen at the edge itself; beside a screen there are its frame and the room.
    """
    height, width = frame.shape[:2]
    size = (WIDTH, max(32, round(height * WIDTH / width)))
    grey = cv2.cvtColor(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    smooth = cv2.GaussianBlur(grey, (3, 3), 0).astype(np.float32)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    edges = np.hypot(across, down) / 4
    sides = [_side(view) for view in (edges, edges[::-1], edges.T, edges.T[::-1])]
    shares = sorted(share for share, _ in sides)
    leans = sorted(abs(lean) for _, lean in sides)
    if shares[0] < WEAKEST or leans[-1] < TILT or leans[1] < SOME_TILT:
        return 0.0
    return sum(shares[1:]) / 3


def _side(edges: NDArray[np.floating]) -> tuple[float, float]:
    """For the side at row 0: the share of columns whose first edge lies on one line, and its lean in degrees."""
    height, width = edges.shape
    columns = np.arange(round(0.15 * width), round(0.85 * width))
    seen = edges[1 : round(DEEPEST * height), columns] > EDGE
    found = seen.any(axis=0)
    half = int(found.sum()) // 2
    if half < 8:
        return 0.0, 0.0
    x, y = columns[found].astype(float), seen.argmax(axis=0)[found] + 1.0
    # Medians first, so that what stands out of the line does not turn it; then the line through those near it.
    slope = float(np.median((y[half : 2 * half] - y[:half]) / (x[half : 2 * half] - x[:half])))
    near = np.abs(y - slope * x - np.median(y - slope * x)) <= 2 * STRAIGHT
    if near.sum() < 8:
        return 0.0, 0.0
    slope, start = np.polyfit(x[near], y[near], 1)
    share = float((np.abs(y - slope * x - start) <= STRAIGHT).sum()) / columns.size
    return (share if np.median(y) > INSET * height else 0.0), math.degrees(math.atan(slope))


def moire(frame: Frame) -> float:
    """How far the sharpest peak of the spectrum stands out of its surroundings, the median over nine patches."""
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY).astype(np.float32)
    height, width = grey.shape
    side = min(PATCH, height, width)
    if side < 64:
        return 0.0
    tops = [round((height - side) * share) for share in (0.15, 0.5, 0.85)]
    lefts = [round((width - side) * share) for share in (0.15, 0.5, 0.85)]
    peaks = [_peak(grey[top : top + side, left : left + side]) for top in tops for left in lefts]
    return float(np.median(peaks))


def _peak(patch: NDArray[np.float32]) -> float:
    side = patch.shape[0]
    window = np.hanning(side).astype(np.float32)
    spectrum = np.abs(np.fft.rfft2((patch - patch.mean()) * np.outer(window, window)))
    power = (20 * np.log10(np.fft.fftshift(spectrum, axes=0) + 1.0)).astype(np.float32)
    # Pictures fade towards fine detail; what a pattern adds is a point above that slope.
    outstanding = power - cv2.medianBlur(power, 5) if power.shape[1] >= 5 else power
    vertical = np.abs(np.fft.fftshift(np.fft.fftfreq(side)))[:, None]
    horizontal = np.fft.rfftfreq(side)[None, :]
    radius = np.hypot(vertical, horizontal)
    looked_at = (radius > LOWEST) & (radius < HIGHEST) & (vertical > AXIS) & (horizontal > AXIS)
    band = outstanding[looked_at]
    return float(band.max() - np.percentile(band, 99.5))
