"""What a channel puts over the picture: a badge in a corner, or faint letters across it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.planes import Planes, even, from_bgr

_CHANNELS = ("GOALBOX", "footyfeed", "KICKOFF TV", "@topcorner", "Net Ripple")


@dataclass(frozen=True, slots=True)
class Overlay:
    """A small picture with its opacity (0 to 1), at an even place of the frame."""

    left: int
    top: int
    ink: Planes
    opacity: np.ndarray

    def put(self, picture: Planes) -> Planes:
        width, height = self.ink.size
        full = np.s_[self.top : self.top + height, self.left : self.left + width]
        half = np.s_[self.top // 2 : (self.top + height) // 2, self.left // 2 : (self.left + width) // 2]
        coarse = self.opacity[::2, ::2]
        return Planes(
            _blended(picture.y, full, self.ink.y, self.opacity),
            _blended(picture.u, half, self.ink.u, coarse),
            _blended(picture.v, half, self.ink.v, coarse),
        )


def _blended(plane: Image, place: tuple[slice, slice], ink: Image, opacity: np.ndarray) -> Image:
    changed = plane.copy()
    changed[place] = (plane[place] * (1 - opacity) + ink * opacity).astype(np.uint8)
    return changed


def logo(size: tuple[int, int], at_left: bool, seed: str) -> Overlay:
    """An opaque badge in the upper corner that the scoreboard does not use."""
    chance = random.Random(f"logo {seed}")
    width, height = even(size[0] * chance.uniform(0.13, 0.19)), even(size[1] * 0.075)
    colour = tuple(chance.randrange(20, 230) for _ in range(3))
    image = np.full((height, width, 3), colour, np.uint8)
    mask = np.ones((height, width), np.float32)
    _write(image, chance.choice(_CHANNELS), (255, 255, 255) if sum(colour) < 420 else (20, 20, 20))
    margin = even(size[0] * 0.035)
    left = margin if at_left else size[0] - margin - width
    return Overlay(even(left), even(size[1] * 0.05), from_bgr(image), mask)


def watermark(size: tuple[int, int], seed: str) -> Overlay:
    """White letters that the picture shines through, below the middle."""
    chance = random.Random(f"watermark {seed}")
    width, height = even(size[0] * 0.36), even(size[1] * 0.12)
    image = np.zeros((height, width, 3), np.uint8)
    _write(image, chance.choice(_CHANNELS), (255, 255, 255))
    mask = image[:, :, 0].astype(np.float32) / 255 * np.float32(0.4)
    image[:] = 255
    left, top = size[0] * chance.uniform(0.25, 0.45), size[1] * chance.uniform(0.55, 0.66)
    return Overlay(even(left), even(top), from_bgr(image), mask)


def _write(image: Image, words: str, ink: tuple[int, int, int]) -> None:
    """As large as fits."""
    high, wide = image.shape[:2]
    face = cv2.FONT_HERSHEY_DUPLEX
    (unit_wide, unit_high), _ = cv2.getTextSize(words, face, 1.0, 1)
    scale = min(0.86 * wide / unit_wide, 0.6 * high / unit_high)
    place = (round((wide - unit_wide * scale) / 2), round((high + unit_high * scale) / 2))
    cv2.putText(image, words, place, face, scale, ink, max(1, round(scale * 1.6)), cv2.LINE_AA)
