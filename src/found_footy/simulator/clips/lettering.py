"""How scoreboards are written: their own little picture, its boxes, and fonts as broadcasters have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.clock_face import ClockFace
from found_footy.simulator.clips.codes import Colour
from found_footy.simulator.clips.spec import Pair

WHITE: Colour = (248, 248, 248)
INK: Colour = (24, 22, 20)


@dataclass(frozen=True, slots=True)
class BoardText:
    """Everything that a scoreboard says at a moment."""

    face: ClockFace
    codes: tuple[str, str]
    """Left and right; in cricket who bats, and who bowls."""
    score: Pair
    """Home and away; in cricket runs and wickets."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A scoreboard's own picture (BGR) with its opacity (0 to 1); places are shares of its width and height."""

    image: Image
    opacity: np.ndarray

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, opacity: float = 1.0) -> None:
        high, wide = self.opacity.shape
        part = np.s_[round(top * high) : round(bottom * high), round(left * wide) : round(right * wide)]
        self.image[part] = colour
        self.opacity[part] = opacity

    def text(
        self, words: str, centre: tuple[float, float], size: float, ink: Colour, font: Font, room: float = 1.0
    ) -> None:
        """`size` is the height of a capital letter, as a share of the board's height; smaller if `room` is less."""
        high, wide = self.opacity.shape
        mask = font(words, size * high)
        if mask.shape[1] > room * wide:
            fit = room * wide / mask.shape[1]
            mask = np.asarray(cv2.resize(mask, None, fx=fit, fy=fit, interpolation=cv2.INTER_AREA), np.uint8)
        _ink(self.image, mask, (round(centre[0] * wide), round(centre[1] * high)), ink)


Font = Callable[[str, float], Image]
"""Words at a height of capitals in pixels, as the opacity of each pixel."""


def _hershey(face: int, weight: float) -> Font:
    """OpenCV's stroke fonts: drawn large and shrunk, since they have no small sizes."""

    def write(words: str, tall: float) -> Image:
        scale = 4.0
        thick = max(1, round(scale * tall * weight))
        (_, base), _ = cv2.getTextSize("0", face, 1.0, 1)
        size = scale * tall / base
        (wide, high), below = cv2.getTextSize(words, face, size, thick)
        mask = np.zeros((high + below + 2 * thick, wide + 2 * thick), np.uint8)
        cv2.putText(mask, words, (thick, high + thick), face, size, 255, thick, cv2.LINE_AA)
        mask = mask[: high + 2 * thick]
        small = cv2.resize(mask, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8)

    return write


def _outline(weight: int) -> Font:
    """OpenCV's own outline font, as broadcasters' fonts look; `weight` from 100 to 900."""

    def write(words: str, tall: float) -> Image:
        size = round(tall / 0.7)
        mask = np.zeros((3 * size, size * (len(words) + 2), 3), np.uint8)
        cv2.putText(mask, words, (size, 2 * size), (255, 255, 255), cv2.FontFace("sans"), size, weight)
        rows, columns = np.nonzero(mask[:, :, 0])
        return np.ascontiguousarray(mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, 0])

    return write


def _ink(image: Image, mask: Image, centre: tuple[int, int], ink: Colour) -> None:
    high, wide = mask.shape
    left, top = max(0, centre[0] - wide // 2), max(0, centre[1] - high // 2)
    part = image[top : top + high, left : left + wide]
    share = mask[: part.shape[0], : part.shape[1], None] / 255
    part[:] = (part * (1 - share) + np.array(ink) * share).astype(np.uint8)


DUPLEX = _hershey(cv2.FONT_HERSHEY_DUPLEX, 0.13)
SIMPLEX = _hershey(cv2.FONT_HERSHEY_SIMPLEX, 0.12)
BOLD, MEDIUM = _outline(700), _outline(500)
