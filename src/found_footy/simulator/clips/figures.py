"""Players as small pictures: a figure in a kit at a phase of its stride, at any height, to be laid over a frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.codes import Colour, Kit

PHASES = 8
_HIGH, _WIDE = 320, 224
_FEET = 300
"""The row of the drawing on which the figure stands; it is 288 pixels tall."""
_TALL = 288
_SMALL = 0.25
"""The size of a second drawing, for figures that need no more: it is much quicker to shrink."""
TALLEST = 900
"""Pixels; a figure is never drawn larger."""

Layer = tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]
"""Colour times opacity, and 256 minus opacity: (height, width, 3) each."""


@dataclass(frozen=True, slots=True)
class Look:
    kit: Kit
    skin: Colour
    hair: Colour


class Wardrobe:
    """Figures, drawn once for each look, phase and height."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[Look, int], tuple[Image, Image]] = {}
        self._sized: dict[tuple[Look, int, bool, int], Layer] = {}

    def put(self, frame: Image, look: Look, stride: float, right: bool, feet: tuple[float, float], tall: float) -> None:
        """Lay a figure over the frame (BGR), `tall` pixels from its feet to its hair."""
        height = int(min(max(tall, 4), TALLEST))
        colour, behind = self._layer(look, int(stride * PHASES) % PHASES, right, height)
        high, wide = colour.shape[:2]
        left = round(feet[0] - wide / 2)
        top = round(feet[1] - high * _FEET / _HIGH)
        x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + wide, frame.shape[1]), min(top + high, frame.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        part = frame[y0:y1, x0:x1]
        cut = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
        part[:] = (colour[cut] + part * behind[cut]) >> 8

    def _layer(self, look: Look, phase: int, right: bool, height: int) -> Layer:
        height = _rounded(height)
        key = (look, phase, right, height)
        if key not in self._sized:
            self._sized[key] = self._fitted(look, phase, right, height)
        return self._sized[key]

    def _fitted(self, look: Look, phase: int, right: bool, height: int) -> Layer:
        if (look, phase) not in self._drawn:
            large = _draw(look, phase)
            small = cv2.resize(large, None, fx=_SMALL, fy=_SMALL, interpolation=cv2.INTER_AREA)
            self._drawn[look, phase] = large, np.asarray(small, np.uint8)
        large, small = self._drawn[look, phase]
        scale = height / _TALL
        size = (max(1, round(_WIDE * scale)), max(1, round(_HIGH * scale)))
        source = small if scale <= _SMALL else large
        figure = cv2.resize(source, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        figure = figure if right else figure[:, ::-1]
        opacity = figure[:, :, 3:].astype(np.uint16) * 256 // 255
        return figure[:, :, :3].astype(np.uint16) * opacity, np.repeat(256 - opacity, 3, axis=2)


@lru_cache(maxsize=2)
def wardrobe_of(venue: str) -> Wardrobe:
    """All goals of a match are played in the same kits."""
    return Wardrobe()


def _rounded(height: int) -> int:
    """Steps of about 4 %, so that a slow zoom does not draw a new figure for each frame."""
    step = 1 if height < 32 else 2 if height < 64 else 4 if height < 128 else 8
    return height // step * step


def _draw(look: Look, phase: int) -> Image:
    """BGR and opacity."""
    colour = np.zeros((_HIGH, _WIDE, 3), np.uint8)
    mask = np.zeros((_HIGH, _WIDE), np.uint8)
    swing = np.sin(2 * np.pi * phase / PHASES)
    lift = np.cos(2 * np.pi * phase / PHASES)
    hip, neck = (112, 172), (112 + 8, 74)

    def limb(points: list[tuple[float, float]], ink: Colour, width: int) -> None:
        line = np.round(np.array(points)).astype(np.int32)
        cv2.polylines(colour, [line], False, ink, width, cv2.LINE_AA)
        cv2.polylines(mask, [line], False, 255, width, cv2.LINE_AA)

    def shape(points: list[tuple[float, float]], ink: Colour) -> None:
        corners = np.round(np.array(points)).astype(np.int32)
        cv2.fillPoly(colour, [corners], ink, cv2.LINE_AA)
        cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA)

    kit = look.kit
    shaded = _shade(kit.shirt, 0.72)
    for side in (-1, 1):
        step, up = swing * side, max(0.0, lift * side)
        knee = (hip[0] + 34 * step + 8, hip[1] + 62 - 12 * up)
        foot = (hip[0] + 52 * step - 26 * up, _FEET - 8 - 40 * up)
        limb([hip, knee], look.skin, 20)
        limb([(knee[0], knee[1] + 6), foot], kit.socks, 18)
        limb([foot, (foot[0] + 16, foot[1] + 2)], (30, 30, 35), 12)
        limb([hip, ((hip[0] + knee[0]) / 2 + 2, (hip[1] + knee[1]) / 2)], kit.shorts, 34)
        hand = (neck[0] - 46 * step + 10, neck[1] + 84 - 22 * abs(step))
        elbow = (neck[0] - 30 * step - 8, neck[1] + 46)
        limb([(neck[0], neck[1] + 14), elbow], shaded if side < 0 else kit.shirt, 20)
        limb([elbow, hand], look.skin, 13)
        if side < 0:
            shape([(92, 80), (142, 80), (136, 182), (88, 182)], kit.shirt)
            shape([(122, 80), (142, 80), (136, 182), (118, 182)], shaded)
    cv2.circle(colour, (neck[0] + 4, 44), 27, look.hair, -1, cv2.LINE_AA)
    cv2.circle(mask, (neck[0] + 4, 44), 27, 255, -1, cv2.LINE_AA)
    cv2.ellipse(colour, (neck[0] + 12, 52), (18, 22), 0, 0, 360, look.skin, -1, cv2.LINE_AA)
    limb([(neck[0], 70), (neck[0], 80)], look.skin, 16)
    shadow = np.zeros_like(mask)
    cv2.ellipse(shadow, (112, _FEET + 2), (82, 13), 0, 0, 360, 90, -1, cv2.LINE_AA)
    return np.dstack((colour, np.maximum(mask, shadow)))


def _shade(colour: Colour, share: float) -> Colour:
    blue, green, red = colour
    return int(blue * share), int(green * share), int(red * share)
