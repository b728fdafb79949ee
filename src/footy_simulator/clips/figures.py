"""Team codes, kits, player figures and the flat textures of a stadium."""

from __future__ import annotations

import hashlib
import math
import random
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from footy_simulator.clips.camera import PITCH_LENGTH, PITCH_WIDTH, Image

Colour = tuple[int, int, int]
"""Blue, green, red: 0 to 255."""

_USUAL = {
    "Manchester City": "MCI",
    "Manchester United": "MUN",
    "Bayern München": "FCB",
    "Borussia Dortmund": "BVB",
    "Real Madrid": "RMA",
    "Paris Saint Germain": "PSG",
    "Atletico Madrid": "ATM",
    "Aston Villa": "AVL",
    "West Ham": "WHU",
    "AS Roma": "ROM",
    "AC Milan": "MIL",
}

# Nothing near the green of the grass.
_KITS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((40, 30, 200), (40, 30, 200), (40, 30, 200)),
    ((235, 235, 235), (235, 235, 235), (230, 230, 230)),
    ((190, 110, 40), (240, 240, 240), (190, 110, 40)),
    ((30, 30, 30), (30, 30, 30), (60, 60, 60)),
    ((40, 200, 240), (30, 30, 30), (40, 200, 240)),
    ((90, 20, 120), (235, 235, 235), (90, 20, 120)),
    ((230, 190, 120), (235, 235, 235), (230, 190, 120)),
    ((60, 110, 235), (40, 40, 40), (60, 110, 235)),
    ((120, 40, 30), (110, 35, 25), (40, 30, 190)),
)


@dataclass(frozen=True, slots=True)
class Kit:
    shirt: Colour
    shorts: Colour
    socks: Colour


def codes_of(home: str, away: str) -> tuple[str, str]:
    """Two different codes, as scoreboards abbreviate the names."""
    first, second = code_of(home), code_of(away)
    if first == second:
        second = first[:2] + ("X" if first[2] != "X" else "Y")
    return first, second


def code_of(name: str) -> str:
    """`Liverpool` is LIV, `Paris Saint Germain` PSG; always three capital letters."""
    if name in _USUAL:
        return _USUAL[name]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = ["".join(letter for letter in word if letter.isalpha()).upper() for word in plain.split()]
    words = [word for word in words if word]
    if len(words) >= 3:
        return "".join(word[0] for word in words[:3])
    return ("".join(words) + "FCX")[:3]


def kits_of(venue: str, home: str, away: str) -> tuple[Kit, Kit]:
    """Kits that cannot be taken for each other."""
    first = random.Random(f"kit {home}").randrange(len(_KITS))
    others = [kit for kit in _KITS if _distance(kit[0], _KITS[first][0]) > 170]
    second = random.Random(f"kit {venue} {away}").choice(others)
    return Kit(*_KITS[first]), Kit(*second)


def _distance(one: Colour, other: Colour) -> float:
    return math.dist(one, other)


# --- Players as small pictures: a figure in a kit at a phase of its stride, at any height, to be laid over a frame.


PHASES = 8
_HIGH, _WIDE = 320, 224
_FEET = 300
"""The row of the drawing on which the figure stands; it is 288 pixels tall."""
_TALL = 288
_SMALL = 0.25
"""The size of a second drawing, for figures that need no more: it is much quicker to shrink."""
MAX_HEIGHT = 900
"""Pixels; a figure is never drawn larger."""

Layer = tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]
"""Colour times opacity, and 256 minus opacity: (height, width, 3) each."""


@dataclass(frozen=True, slots=True)
class FigureStyle:
    kit: Kit
    skin: Colour
    hair: Colour


class FigureCache:
    """Figures, drawn once for each style, phase and height."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[FigureStyle, int], tuple[Image, Image]] = {}
        self._sized: dict[tuple[FigureStyle, int, bool, int], Layer] = {}

    def put(
        self, frame: Image, style: FigureStyle, stride: float, right: bool, feet: tuple[float, float], tall: float
    ) -> None:
        """Lay a figure over the frame (BGR), `tall` pixels from its feet to its hair."""
        height = int(min(max(tall, 4), MAX_HEIGHT))
        colour, behind = self._layer(style, int(stride * PHASES) % PHASES, right, height)
        high, wide = colour.shape[:2]
        left = round(feet[0] - wide / 2)
        top = round(feet[1] - high * _FEET / _HIGH)
        x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + wide, frame.shape[1]), min(top + high, frame.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        part = frame[y0:y1, x0:x1]
        cut = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
        part[:] = (colour[cut] + part * behind[cut]) >> 8

    def _layer(self, style: FigureStyle, phase: int, right: bool, height: int) -> Layer:
        height = _rounded(height)
        key = (style, phase, right, height)
        if key not in self._sized:
            self._sized[key] = self._fitted(style, phase, right, height)
        return self._sized[key]

    def _fitted(self, style: FigureStyle, phase: int, right: bool, height: int) -> Layer:
        if (style, phase) not in self._drawn:
            large = _draw(style, phase)
            small = cv2.resize(large, None, fx=_SMALL, fy=_SMALL, interpolation=cv2.INTER_AREA)
            self._drawn[style, phase] = large, np.asarray(small, np.uint8)
        large, small = self._drawn[style, phase]
        scale = height / _TALL
        size = (max(1, round(_WIDE * scale)), max(1, round(_HIGH * scale)))
        source = small if scale <= _SMALL else large
        figure = cv2.resize(source, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        figure = figure if right else figure[:, ::-1]
        opacity = figure[:, :, 3:].astype(np.uint16) * 256 // 255
        return figure[:, :, :3].astype(np.uint16) * opacity, np.repeat(256 - opacity, 3, axis=2)


@lru_cache(maxsize=2)
def figure_cache(venue: str) -> FigureCache:
    """All goals of a match are played in the same kits."""
    return FigureCache()


def _rounded(height: int) -> int:
    """Steps of about 4 %, so that a slow zoom does not draw a new figure for each frame."""
    step = 1 if height < 32 else 2 if height < 64 else 4 if height < 128 else 8
    return height // step * step


def _draw(style: FigureStyle, phase: int) -> Image:
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

    kit = style.kit
    shaded = _shade(kit.shirt, 0.72)
    for side in (-1, 1):
        step, up = swing * side, max(0.0, lift * side)
        knee = (hip[0] + 34 * step + 8, hip[1] + 62 - 12 * up)
        foot = (hip[0] + 52 * step - 26 * up, _FEET - 8 - 40 * up)
        limb([hip, knee], style.skin, 20)
        limb([(knee[0], knee[1] + 6), foot], kit.socks, 18)
        limb([foot, (foot[0] + 16, foot[1] + 2)], (30, 30, 35), 12)
        limb([hip, ((hip[0] + knee[0]) / 2 + 2, (hip[1] + knee[1]) / 2)], kit.shorts, 34)
        hand = (neck[0] - 46 * step + 10, neck[1] + 84 - 22 * abs(step))
        elbow = (neck[0] - 30 * step - 8, neck[1] + 46)
        limb([(neck[0], neck[1] + 14), elbow], shaded if side < 0 else kit.shirt, 20)
        limb([elbow, hand], style.skin, 13)
        if side < 0:
            shape([(92, 80), (142, 80), (136, 182), (88, 182)], kit.shirt)
            shape([(122, 80), (142, 80), (136, 182), (118, 182)], shaded)
    cv2.circle(colour, (neck[0] + 4, 44), 27, style.hair, -1, cv2.LINE_AA)
    cv2.circle(mask, (neck[0] + 4, 44), 27, 255, -1, cv2.LINE_AA)
    cv2.ellipse(colour, (neck[0] + 12, 52), (18, 22), 0, 0, 360, style.skin, -1, cv2.LINE_AA)
    limb([(neck[0], 70), (neck[0], 80)], style.skin, 16)
    shadow = np.zeros_like(mask)
    cv2.ellipse(shadow, (112, _FEET + 2), (82, 13), 0, 0, 360, 90, -1, cv2.LINE_AA)
    return np.dstack((colour, np.maximum(mask, shadow)))


def _shade(colour: Colour, share: float) -> Colour:
    blue, green, red = colour
    return int(blue * share), int(green * share), int(red * share)


# --- Randomness that is the same every time: a generator for a text.


def seeded_rng(text: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))


# --- Flat pictures (BGR) that the stadium is made of: grass with its lines, people on a stand, boards, nets.


GRASS_SCALE = 10
"""Pixels a metre."""
MARGIN = 7
"""Metres of grass around the pitch."""
BOARD_SCALE = 24
"""Pixels a metre of the advertising boards."""
PERSON = (8, 6)
"""Pixels of one seat: height, width."""

_SPECKLE = 256
"""Pixels of the square of single blades that is laid over the grass again and again."""
_WORDS = ("NORDWIND", "VELTRO", "KAPELA", "AQUALIS", "TRIMO", "OSTARA", "BRIVIO", "LUMENA", "GRANVIK", "SOLTERA")
_WHITE = (236, 240, 236)


def grass(chance: np.random.Generator) -> Image:
    height, width = int((PITCH_WIDTH + 2 * MARGIN) * GRASS_SCALE), int((PITCH_LENGTH + 2 * MARGIN) * GRASS_SCALE)
    green = (chance.uniform(30, 62), chance.uniform(112, 146), chance.uniform(44, 88))
    light = 1.0 + np.float32(chance.uniform(0.05, 0.11)) * _mowing(chance, height, width)
    light *= _stains(chance, height, width)
    if chance.random() < 0.5:
        light *= _shadow(chance, height, width)
    tile = chance.normal(0.0, 0.06, (_SPECKLE, _SPECKLE)).astype(np.float32)
    speckle = np.tile(tile, (height // _SPECKLE + 1, width // _SPECKLE + 1))[:height, :width]
    light += speckle
    picture: Image = np.dstack([np.clip(light * colour, 0, 255).astype(np.uint8) for colour in green])
    _lines(picture)
    return picture


def _mowing(chance: np.random.Generator, height: int, width: int) -> np.ndarray:
    """+1 and -1 in stripes, checks or a slant."""
    y, x = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)[None]
    step = np.float32(chance.uniform(5.0, 9.5) * GRASS_SCALE)
    across, along = np.floor(x / step) % 2, np.floor(y / step) % 2
    slanted, broad = np.floor((x + 0.7 * y) / step) % 2, np.floor(x / (1.6 * step)) % 2
    pattern = (across, (across + along) % 2, slanted, broad)[int(chance.integers(4))]
    return np.broadcast_to(pattern * 2 - 1, (height, width))


def _stains(chance: np.random.Generator, height: int, width: int) -> np.ndarray:
    coarse = chance.normal(1.0, 0.05, (9, 13)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def _shadow(chance: np.random.Generator, height: int, width: int) -> np.ndarray:
    """The roof's shadow on an afternoon."""
    light = np.ones((height, width), np.float32)
    edge, slant = chance.uniform(0.2, 0.75) * height, chance.uniform(-0.25, 0.25) * height
    corners = np.array([(0, edge - slant), (width, edge + slant), (width, -9), (0, -9)], np.int32)
    if chance.random() < 0.4:
        corners[2:, 1] = height + 9
    cv2.fillPoly(light, [corners], chance.uniform(0.55, 0.72))
    return cv2.blur(light, (15, 15))


def _lines(picture: Image) -> None:
    def at(x: float, y: float) -> tuple[int, int]:
        return round((x + MARGIN) * GRASS_SCALE), round((y + MARGIN) * GRASS_SCALE)

    def box(depth: float, half: float) -> None:
        for near, far in ((0.0, depth), (PITCH_LENGTH, PITCH_LENGTH - depth)):
            cv2.rectangle(picture, at(near, 34 - half), at(far, 34 + half), _WHITE, 2)

    cv2.rectangle(picture, at(0, 0), at(PITCH_LENGTH, PITCH_WIDTH), _WHITE, 2)
    cv2.line(picture, at(52.5, 0), at(52.5, PITCH_WIDTH), _WHITE, 2)
    cv2.circle(picture, at(52.5, 34), round(9.15 * GRASS_SCALE), _WHITE, 2, cv2.LINE_AA)
    box(16.5, 20.16)
    box(5.5, 9.16)
    for x, sign in ((11.0, 1), (PITCH_LENGTH - 11.0, -1)):
        cv2.circle(picture, at(x, 34), 3, _WHITE, -1)
        angle = 53 if sign > 0 else 180 + 53
        radius = round(9.15 * GRASS_SCALE)
        cv2.ellipse(picture, at(x, 34), (radius, radius), 0, angle - 106, angle, _WHITE, 2, cv2.LINE_AA)


def crowd(chance: np.random.Generator, seats: int, rows: int, fans: Colour) -> Image:
    """A stand full of people, the top row first; part of them in the colour of their team."""
    shape = (rows, seats)
    clothes = chance.integers(20, 170, (*shape, 3)).astype(np.float32)
    clothes = clothes * 0.55 + clothes.mean(axis=2, keepdims=True) * 0.45
    wave = np.sin(np.linspace(0, chance.uniform(4, 14), seats) + chance.uniform(0, 6))[None, :]
    in_colour = chance.random(shape) < 0.28 + 0.22 * wave
    clothes[in_colour] = np.array(fans) * chance.uniform(0.6, 1.0, (int(in_colour.sum()), 1))
    skin = np.array((120, 150, 195)) * chance.uniform(0.45, 1.05, (*shape, 1))
    empty = chance.random(shape) < 0.07
    high, wide = PERSON
    cells = np.zeros((rows, high, seats, wide, 3), np.float32)
    cells[:, 3:, :, 0:5] = clothes[:, None, :, None, :]
    cells[:, 0:3, :, 1:4] = skin[:, None, :, None, :]
    cells.transpose(0, 2, 1, 3, 4)[empty] = np.array(fans) * 0.35 + 25
    picture = cells.reshape(rows * high, seats * wide, 3)
    picture *= np.linspace(chance.uniform(0.35, 0.6), 0.75, rows * high)[:, None, None]
    for column in range(int(chance.integers(4, 12)), seats, int(chance.integers(14, 24))):
        picture[:, column * wide : column * wide + 5] = 95
    return np.clip(picture, 0, 255).astype(np.uint8)


def hoardings(chance: np.random.Generator, metres: float) -> Image:
    """A row of advertising boards, a metre high."""
    picture = np.zeros((BOARD_SCALE, int(metres * BOARD_SCALE), 3), np.uint8)
    at = 0
    while at < picture.shape[1]:
        width = int(chance.uniform(6, 13) * BOARD_SCALE)
        colour = chance.integers(0, 255, 3)
        picture[:, at : at + width] = colour
        word = _WORDS[int(chance.integers(len(_WORDS)))]
        ink = (245, 245, 245) if int(colour.sum()) < 380 else (25, 25, 25)
        cv2.putText(picture, word, (at + 16, 18), cv2.FONT_HERSHEY_DUPLEX, 0.62, ink, 1, cv2.LINE_AA)
        at += width
    return picture
