"""What is measured of each frame to find the cuts, from tiny pictures of it and of its neighbours.

A frame is reduced to some hundred numbers at once, straight from the decoder's planes, and only the last seconds of
them are kept: a film of hours needs no more memory than one of a minute, but for a few dozen bytes a frame.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from numpy.typing import NDArray

from found_footy.media.scene_turns import LEAST_CHANGE, Around, Tiny, apart, turn_strength

WIDTH, HEIGHT = 32, 18
PLANAR = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"})
"""Formats whose three planes can be reduced as they are."""
ENOUGH_ROWS = 288
"""Of a plane; of larger ones some rows are left out before they are reduced."""

FLASH_SECONDS = 0.12
"""A picture that is back after so long was never left: a camera's flash, a damaged frame."""
HALF_SECONDS = (0.12, 0.2, 0.32, 0.48, 0.64)
"""Half the length of the slow changes that are looked for."""
MOST_LAGS, MOST_HALF = 11, 64
"""In frames, whatever rate a file says it has."""
BAR = 24
"""Brightness: what never gets brighter at the sides is a black bar, and no part of the picture."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """One row a frame. Distances are means over brightness and colour of the picture without its bars, 0 to 255."""

    near: Floats
    """Column k: how far the frame is from the one k + 1 before it; 0 where there is none."""
    spread: Floats
    """How evenly the step from the frame before is spread over the picture: 1 for all alike, near 0 for one spot."""
    light: Floats
    """Mean brightness."""
    contrast: Floats
    """Its standard deviation."""
    turn: Floats
    """How surely a slow change from one picture to another has its middle here; 0 where there is none."""
    half: NDArray[np.uint8]
    """Frames from its start to its middle."""

    @property
    def frames(self) -> int:
        return len(self.light)


class Meter:
    """Takes the frames one by one, in the order in which they are shown."""

    def __init__(self, rate: float) -> None:
        self._lags = min(MOST_LAGS, 2 * max(2, round(FLASH_SECONDS * rate)) - 1)
        self._halves = sorted({max(1, min(MOST_HALF, round(half * rate))) for half in HALF_SECONDS})
        self._size = max(4 * self._halves[-1], self._lags) + 1
        self._ring: list[Tiny] = []
        self._count = 0
        self._frame = _Frame()
        self._near, self._spread = array("f"), array("f")
        self._light, self._contrast = array("f"), array("f")
        self._turn, self._half = array("f"), array("B")

    def take(self, tiny: Tiny) -> None:
        """`tiny` is what `reduced` makes."""
        at = self._count
        if at < self._size:
            self._ring.append(tiny)
        else:
            self._ring[at % self._size] = tiny
        self._count += 1
        self._frame.grow(tiny[0])
        near = [apart(self._tiny(at - lag), tiny) if lag <= at else 0.0 for lag in range(1, self._lags + 1)]
        self._near.extend(each / self._frame.share for each in near)
        self._spread.append(_spread(self._tiny(at - 1), tiny, near[0]) / self._frame.share if near[0] else 0.0)
        mean, deviation = cv2.meanStdDev(tiny[0])
        self._light.append(float(mean[0, 0]))
        self._contrast.append(float(deviation[0, 0]))
        self._turn.append(0.0)
        self._half.append(0)
        for half in self._halves:
            self._look(at - 2 * half, half)

    def done(self) -> Signal:
        """After the last frame, once."""
        for half in self._halves:
            for middle in range(self._count - 2 * half, self._count - half):
                self._look(middle, half)
        return Signal(
            near=np.array(self._near, dtype=np.float32).reshape(self._count, self._lags),
            spread=np.array(self._spread, dtype=np.float32),
            light=np.array(self._light, dtype=np.float32),
            contrast=np.array(self._contrast, dtype=np.float32),
            turn=np.array(self._turn, dtype=np.float32),
            half=np.array(self._half, dtype=np.uint8),
        )

    def _look(self, middle: int, half: int) -> None:
        """For a slow change around this frame."""
        if middle < half:
            return
        change = apart(self._tiny(middle - half), self._tiny(middle + half))
        if change < LEAST_CHANGE * self._frame.share:
            return
        quarter = max(1, half // 2)
        steps = (-2 * half, -half, -quarter, -1, 0, 1, quarter, half, 2 * half)
        places = (min(max(0, middle + step), self._count - 1) for step in steps)
        around = Around(*(self._frame.inside(self._tiny(place)) for place in places))
        strength = turn_strength(around)
        if strength > self._turn[middle]:
            self._turn[middle], self._half[middle] = strength, half

    def _tiny(self, frame: int) -> Tiny:
        return self._ring[frame % self._size]


class _Frame:
    """Where the picture proper has been seen so far: all but black bars."""

    def __init__(self) -> None:
        self._brightest = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
        self._cells = 0
        self._rows, self._columns = slice(0, HEIGHT), slice(0, WIDTH)
        self.share = 1.0
        """Of the whole."""

    def grow(self, brightness: Tiny) -> None:
        if self._cells == WIDTH * HEIGHT:
            return
        np.maximum(self._brightest, brightness, out=self._brightest)
        lit = self._brightest > BAR
        cells = int(np.count_nonzero(lit))
        if cells > self._cells:
            self._cells = cells
            rows, columns = np.flatnonzero(lit.any(axis=1)), np.flatnonzero(lit.any(axis=0))
            self._rows = slice(int(rows[0]), int(rows[-1]) + 1)
            self._columns = slice(int(columns[0]), int(columns[-1]) + 1)
            self.share = (int(np.ptp(rows)) + 1) * (int(np.ptp(columns)) + 1) / (WIDTH * HEIGHT)

    def inside(self, tiny: Tiny) -> Tiny:
        return tiny if self.share == 1.0 else np.ascontiguousarray(tiny[:, self._rows, self._columns])


def _spread(before: Tiny, tiny: Tiny, change: float) -> float:
    return change * change * tiny.size / float(cv2.norm(before, tiny, cv2.NORM_L2SQR))


def reduced(frame: VideoFrame) -> Tiny:
    """Brightness and colour of a frame: 3 x HEIGHT x WIDTH."""
    if frame.format.name not in PLANAR:
        width, height = min(frame.width, 16 * WIDTH), min(frame.height, 16 * HEIGHT)
        frame = frame.reformat(width, height, format="yuv420p")
    tiny = np.empty((3, HEIGHT, WIDTH), dtype=np.uint8)
    for place, plane in enumerate(frame.planes[:3]):
        tiny[place] = _shrunk(_pixels(plane))
    return tiny


def _shrunk(plane: Tiny) -> Tiny:
    """Halved again and again, which is many times faster than one step down to this size, and nearly the same."""
    plane = plane[:: max(1, plane.shape[0] // ENOUGH_ROWS)]
    while plane.shape[0] >= 4 * HEIGHT and plane.shape[1] >= 4 * WIDTH:
        height, width = plane.shape[0] // 2, plane.shape[1] // 2
        plane = _resized(plane[: 2 * height, : 2 * width], width, height)
    return _resized(plane, WIDTH, HEIGHT)


def _resized(plane: Tiny, width: int, height: int) -> Tiny:
    return np.asarray(cv2.resize(plane, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _pixels(plane: VideoPlane) -> Tiny:
    rows: Tiny = np.frombuffer(memoryview(plane), dtype=np.uint8)
    return rows.reshape(-1, plane.line_size)[: plane.height, : plane.width]
