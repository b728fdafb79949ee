"""A phone that films a television: a slanted screen in a dark room, its bezel, moiré, glare and an unsteady hand."""

from __future__ import annotations

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Floats, Image
from found_footy.simulator.clips.planes import Planes, from_bgr, resized
from found_footy.simulator.clips.seeds import generator

_PHASES = 6
"""How many moiré patterns there are; they follow each other as the hand moves."""
_BEZEL = 0.025
"""Of the screen's height."""


class Phone:
    """Films frames one after the other; the same frames and the same seed give the same film."""

    def __init__(self, size: tuple[int, int], seed: str) -> None:
        self._size = size
        chance = generator(f"phone {seed}")
        width, height = size
        self._corners = np.array([(0.11, 0.12), (0.91, 0.08), (0.9, 0.88), (0.1, 0.93)]) * (width, height)
        self._corners += chance.uniform(-0.03, 0.03, (4, 2)) * (width, height)
        self._waves = chance.uniform(0.4, 2.6, (3, 2)), chance.uniform(0, 6.3, (3, 2))
        self._room = _room(size, chance)
        self._moire = [_moire(size, phase / _PHASES, chance.uniform(0.11, 0.2)) for phase in range(_PHASES)]
        self._glare = _glare(size, chance)

    def film(self, picture: Planes, time: float, number: int) -> Planes:
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
