"""Alterations of a copy: filmed from a screen, overlays, crop, size, colours, mirror, bars."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from footy_simulator.clips.broadcast import BOARDS, LANDSCAPE, PORTRAIT, FrameBox, visible_part
from footy_simulator.clips.camera import Floats, Image
from footy_simulator.clips.figures import seeded_rng
from footy_simulator.clips.models import Alteration, ClipSpec

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


# --- What happens to a copy.


_PHASES = 6
"""How many moiré patterns there are; they follow each other as the hand moves."""
_BEZEL = 0.025
"""Of the screen's height."""


class FilmedScreen:
    """Films frames one after the other; the same frames and the same seed give the same film."""

    def __init__(self, size: tuple[int, int], seed: str) -> None:
        self._size = size
        chance = seeded_rng(f"phone {seed}")
        width, height = size
        self._corners = np.array([(0.11, 0.12), (0.91, 0.08), (0.9, 0.88), (0.1, 0.93)]) * (width, height)
        self._corners += chance.uniform(-0.03, 0.03, (4, 2)) * (width, height)
        self._waves = chance.uniform(0.4, 2.6, (3, 2)), chance.uniform(0, 6.3, (3, 2))
        self._room = _room(size, chance)
        self._moire = [_moire(size, phase / _PHASES, chance.uniform(0.11, 0.2)) for phase in range(_PHASES)]
        self._glare = _glare(size, chance)

    def film(self, picture: YuvFrame, time: float, number: int) -> YuvFrame:
        screen = resized(picture, self._size).to_bgr()
        lit = cv2.multiply(screen, self._moire[number % _PHASES], scale=1 / 200)
        width, height = self._size
        corners = self._corners + self._shake(time)
        flat = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
        homography = cv2.getPerspectiveTransform(flat, corners.astype(np.float32))
        edge = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * _BEZEL * height
        film = self._room.copy()
        cv2.fillPoly(film, [np.round(corners + edge).astype(np.int32)], (14, 13, 13), cv2.LINE_AA)
        cv2.warpPerspective(lit, homography, self._size, film, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
        return from_bgr(np.asarray(cv2.add(cv2.blur(film, (2, 2)), self._glare), np.uint8))

    def _shake(self, time: float) -> Floats:
        """Pixels that the whole screen has moved: a hand drifts and trembles."""
        frequency, phase = self._waves
        drift = (np.sin(time * frequency * 2.2 + phase) * (0.5, 0.35)).sum(axis=0)
        tremble = np.sin(time * np.array((23.0, 27.0)) + phase[0]) * 0.18
        shake: Floats = (drift + tremble) * self._size[1] * 0.012
        return shake


def _room(size: tuple[int, int], chance: np.random.Generator) -> Image:
    coarse = chance.uniform(18, 52, (5, 8, 1)) * chance.uniform(0.7, 1.1, 3)
    wall = cv2.resize(coarse.astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    room = np.clip(wall + chance.normal(0, 3, (size[1], size[0], 1)), 0, 255).astype(np.uint8)
    cv2.rectangle(room, (0, round(size[1] * 0.93)), size, (28, 38, 52), -1)
    return room


def _moire(size: tuple[int, int], phase: float, strength: float) -> Image:
    """Two fine grids that beat against each other, a little different in each colour; 200 is neutral."""
    x, y = np.arange(size[0])[None] / size[1], np.arange(size[1])[:, None] / size[1]
    waves = []
    for shift in (0.0, 0.33, 0.66):
        one = np.sin(2 * np.pi * (31 * x + 17 * y + 6 * x * y + phase + 0.3 * shift))
        other = np.sin(2 * np.pi * (90 * y + 4 * x + phase))
        waves.append(200 * (1 + strength * one + 0.06 * other))
    return np.clip(np.dstack(waves), 0, 255).astype(np.uint8)


def _glare(size: tuple[int, int], chance: np.random.Generator) -> Image:
    width, height = size
    glare = np.zeros((height, width, 3), np.float32)
    centre = (round(width * chance.uniform(0.55, 0.85)), round(height * chance.uniform(0.2, 0.45)))
    cv2.ellipse(glare, centre, (width // 9, height // 12), 20, 0, 360, (44, 50, 52), -1)
    return np.asarray(cv2.blur(cv2.blur(glare, (width // 10,) * 2), (width // 10,) * 2), np.uint8)


# --- What a channel puts over the picture: a badge in a corner, or faint letters across it.


_CHANNELS = ("GOALBOX", "footyfeed", "KICKOFF TV", "@topcorner", "Net Ripple")


@dataclass(frozen=True, slots=True)
class Overlay:
    """A small picture with its opacity (0 to 1), at an even place of the frame."""

    left: int
    top: int
    ink: YuvFrame
    opacity: np.ndarray

    def put(self, picture: YuvFrame) -> YuvFrame:
        width, height = self.ink.size
        full = np.s_[self.top : self.top + height, self.left : self.left + width]
        half = np.s_[self.top // 2 : (self.top + height) // 2, self.left // 2 : (self.left + width) // 2]
        coarse = self.opacity[::2, ::2]
        return YuvFrame(
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
    """Translucent white letters below the centre."""
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


# --- Alterations are applied in this order: crop, resize, colours, logos, mirror, bars.


Alter = Callable[[YuvFrame], YuvFrame]

_LETTERBOX = 4 / 3
_PILLARBOX = 21 / 9
_LEVELS = np.arange(256, dtype=np.float64)


def picture_size(spec: ClipSpec) -> tuple[int, int]:
    """Width and height of the picture, without bars."""
    if spec.kind == "portrait":
        return even(spec.height * PORTRAIT), spec.height
    return width_of(spec.height), spec.height


def frame_size(spec: ClipSpec) -> tuple[int, int]:
    """Width and height of the file: bars are put around the picture and take nothing from it."""
    width, height = picture_size(spec)
    if "letterbox" in spec.also:
        return width, even(width / _LETTERBOX)
    if "pillarbox" in spec.also:
        return even(height * _PILLARBOX), height
    return width, height


def alteration(spec: ClipSpec) -> Alter:
    """The one function from a frame of the master to a frame of the copy."""
    part, picture, frame = visible_part(spec.kind, spec.also, spec.footage.style), picture_size(spec), frame_size(spec)
    overlays = _overlays(spec, picture)
    colours = [_COLOURS[name] for name in spec.also if name in _COLOURS]

    def alter(master: YuvFrame) -> YuvFrame:
        copy = resized(cut(master, part), picture)
        for colour in colours:
            copy = colour(copy)
        for overlay in overlays:
            copy = overlay.put(copy)
        if "mirrored" in spec.also:
            copy = copy.each(lambda plane: np.ascontiguousarray(plane[:, ::-1]))
        return padded(copy, frame) if frame != picture else copy

    return alter


def _overlays(spec: ClipSpec, size: tuple[int, int]) -> list[Overlay]:
    board = BOARDS[spec.footage.style]
    at_left = board.left > 0.5
    overlays = []
    if "logo" in spec.also:
        overlays.append(logo(size, at_left, spec.key))
    if "watermark" in spec.also:
        overlays.append(watermark(size, spec.key))
    return overlays


def _curve(curve: npt.NDArray[np.float64]) -> Image:
    return np.clip(curve, 0, 255).astype(np.uint8)


def _light(gain: float, lift: float) -> Alter:
    curve = _curve(_LEVELS * gain + lift)
    return lambda picture: YuvFrame(np.asarray(cv2.LUT(picture.y, curve), np.uint8), picture.u, picture.v)


def _saturation(gain: float, blue: int = 128, red: int = 128) -> Alter:
    """Colour differences stretched around neutral, and moved towards a tint."""
    of_blue, of_red = (_curve((_LEVELS - 128) * gain + tint) for tint in (blue, red))

    def change(picture: YuvFrame) -> YuvFrame:
        return YuvFrame(
            picture.y,
            np.asarray(cv2.LUT(picture.u, of_blue), np.uint8),
            np.asarray(cv2.LUT(picture.v, of_red), np.uint8),
        )

    return change


_COLOURS: dict[Alteration, Alter] = {
    "bright": _light(1.1, 18),
    "dark": _light(0.72, 4),
    "vivid": _saturation(1.5),
    "sepia": _saturation(0.12, 112, 142),
    "grey": _saturation(0.0),
}
