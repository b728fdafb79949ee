"""Flat pictures (BGR) that the stadium is made of: grass with its lines, people on a stand, boards, nets."""

from __future__ import annotations

import cv2
import numpy as np

from found_footy.simulator.clips.camera import PITCH_LENGTH, PITCH_WIDTH, Image
from found_footy.simulator.clips.codes import Colour

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
