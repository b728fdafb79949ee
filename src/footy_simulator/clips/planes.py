"""Frames as planar YUV 4:2:0 (BT.601, 8 bits)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from footy_simulator.clips.broadcast import LANDSCAPE, FrameBox
from footy_simulator.clips.camera import Image

BLACK = (16, 128, 128)


@dataclass(frozen=True, slots=True)
class YuvFrame:
    y: Image
    u: Image
    v: Image

    @property
    def size(self) -> tuple[int, int]:
        """Width, height."""
        return self.y.shape[1], self.y.shape[0]

    def each(self, change: Callable[[Image], npt.NDArray[np.uint8]]) -> YuvFrame:
        return YuvFrame(change(self.y), change(self.u), change(self.v))

    def packed(self) -> Image:
        """One array of one and a half times the height, PyAV's form of yuv420p."""
        width, height = self.size
        flat = np.concatenate((self.y.ravel(), self.u.ravel(), self.v.ravel()))
        return flat.reshape(height * 3 // 2, width)

    def to_bgr(self) -> Image:
        return np.asarray(cv2.cvtColor(self.packed(), cv2.COLOR_YUV2BGR_I420), np.uint8)


def unpacked(array: Image) -> YuvFrame:
    height, width = array.shape[0] * 2 // 3, array.shape[1]
    flat, quarter = array.reshape(-1), height * width // 4
    y, u, v = np.split(flat, (4 * quarter, 5 * quarter))
    half = (height // 2, width // 2)
    return YuvFrame(y.reshape(height, width), u.reshape(half), v.reshape(half))


def from_bgr(image: Image) -> YuvFrame:
    return unpacked(np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420), np.uint8))


def resized(picture: YuvFrame, size: tuple[int, int]) -> YuvFrame:
    """Resize to a width and height."""
    if picture.size == size:
        return picture
    how = cv2.INTER_AREA if size[0] < 0.6 * picture.size[0] else cv2.INTER_LINEAR
    half = (size[0] // 2, size[1] // 2)
    y = cv2.resize(picture.y, size, interpolation=how)
    u, v = (cv2.resize(plane, half, interpolation=how) for plane in (picture.u, picture.v))
    return YuvFrame(np.asarray(y, np.uint8), np.asarray(u, np.uint8), np.asarray(v, np.uint8))


def cut(picture: YuvFrame, part: FrameBox) -> YuvFrame:
    """Crop; edges are rounded to even pixels."""
    width, height = picture.size
    left, right = even(part.left * width), even(part.right * width)
    top, bottom = even(part.top * height), even(part.bottom * height)
    half = np.s_[top // 2 : bottom // 2, left // 2 : right // 2]
    return YuvFrame(picture.y[top:bottom, left:right], picture.u[half], picture.v[half])


def padded(picture: YuvFrame, size: tuple[int, int]) -> YuvFrame:
    """Centre on a black frame of a width and height."""
    width, height = picture.size
    left, top = even((size[0] - width) / 2), even((size[1] - height) / 2)
    frame = blank(size)
    frame.y[top : top + height, left : left + width] = picture.y
    half = np.s_[top // 2 : (top + height) // 2, left // 2 : (left + width) // 2]
    frame.u[half], frame.v[half] = picture.u, picture.v
    return frame


def blank(size: tuple[int, int]) -> YuvFrame:
    y, u, v = BLACK
    half = (size[1] // 2, size[0] // 2)
    return YuvFrame(np.full((size[1], size[0]), y, np.uint8), np.full(half, u, np.uint8), np.full(half, v, np.uint8))


def even(pixels: float) -> int:
    return round(pixels / 2) * 2


def width_of(height: int) -> int:
    """The width of a 16:9 picture, even, as 854 for 480."""
    return even(height * LANDSCAPE)
