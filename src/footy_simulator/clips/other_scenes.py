"""Scenes that are not football but are posted as if they were: a studio, a basketball court, a landscape."""

from __future__ import annotations

import cv2
import numpy as np

from footy_simulator.clips.camera import Floats, Image
from footy_simulator.clips.figures import Colour, FigureStyle, figure_cache, kits_of, seeded_rng
from footy_simulator.clips.models import Footage

_OVERSAMPLING = 1.25
_FONT = cv2.FONT_HERSHEY_DUPLEX


class _Panned:
    """A still picture, larger than the frame, over which the window pans."""

    def __init__(self, still: Image, width: int, height: int) -> None:
        self._still, self._width, self._height = still, width, height

    def window(self, across: float, down: float = 0.5) -> Image:
        """`across` and `down` from 0 to 1: how far the window has moved."""
        left = round((self._still.shape[1] - self._width) * min(max(across, 0.0), 1.0))
        top = round((self._still.shape[0] - self._height) * min(max(down, 0.0), 1.0))
        return self._still[top : top + self._height, left : left + self._width].copy()


class StudioScene:
    """Two people at a desk, a ticker and a wall clock that is not a match clock."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._chance = seeded_rng(f"studio {footage.moment}")
        self._time = f"{self._chance.integers(18, 24)}:{self._chance.integers(10, 60)}"
        self._teams = footage.teams
        self._panned = _Panned(self._wall(), width, height)
        self._sway: Floats = self._chance.uniform(0.5, 1.6, 4)

    def _wall(self) -> Image:
        width, height = round(self._width * _OVERSAMPLING), round(self._height * _OVERSAMPLING)
        top, bottom = self._chance.uniform(30, 120, 3), self._chance.uniform(60, 190, 3)
        shade = np.linspace(0, 1, height)[:, None, None]
        wall = np.broadcast_to(top * (1 - shade) + bottom * shade, (height, width, 3)).astype(np.uint8, order="C")
        for _ in range(9):
            x, y = self._chance.integers(0, width), self._chance.integers(0, height // 2)
            colour = tuple(int(value) for value in self._chance.integers(40, 240, 3))
            size = (int(self._chance.integers(width // 20, width // 6)), int(self._chance.integers(20, height // 3)))
            cv2.rectangle(wall, (int(x), int(y)), (int(x) + size[0], int(y) + size[1]), colour, -1)
        return np.asarray(cv2.blur(wall, (9, 9)), np.uint8)

    def draw(self, time: float) -> Image:
        frame = self._panned.window(0.5 + 0.4 * float(np.sin(time * 0.11)))
        width, height = self._width, self._height
        for place, (x, suit) in enumerate(((0.32, (60, 40, 30)), (0.66, (40, 40, 110)))):
            move = float(np.sin(time * self._sway[place] * 2)) * 0.008 * height
            self._person(frame, round(x * width + move), round(0.36 * height + 0.6 * move), suit)
        cv2.rectangle(frame, (0, round(0.72 * height)), (width, height), (70, 90, 120), -1)
        cv2.rectangle(frame, (0, round(0.88 * height)), (width, height), (40, 30, 170), -1)
        line = f"TRANSFER NEWS   {self._teams[0]} and {self._teams[1]} in talks   MORE AFTER THE BREAK   "
        left = round(width - (time * 0.12 * width) % (2.2 * width))
        _write(frame, line, (left, round(0.955 * height)), height / 620)
        _write(frame, self._time, (round(0.84 * width), round(0.1 * height)), height / 480)
        return frame

    def _person(self, frame: Image, x: int, y: int, suit: Colour) -> None:
        wide, high = round(0.045 * self._width), round(0.12 * self._height)
        cv2.ellipse(frame, (x, round(0.76 * self._height)), (3 * wide, 5 * high // 2), 0, 0, 360, suit, -1)
        cv2.ellipse(frame, (x, y), (wide, high), 0, 0, 360, (130, 165, 215), -1)
        cv2.ellipse(frame, (x, y - high // 2), (wide, high // 2), 0, 180, 360, (30, 35, 50), -1)


class BasketballScene:
    """A wooden court with ten players, a score in the hundreds and a clock that counts down."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._chance = seeded_rng(f"basketball {footage.moment}")
        self._panned = _Panned(self._court(), width, height)
        kits = kits_of(footage.venue, *footage.teams)
        skins: tuple[Colour, ...] = ((60, 90, 140), (110, 145, 200))
        self._looks = [FigureStyle(kits[player % 2], skins[player % 2], (20, 20, 25)) for player in range(10)]
        self._places: Floats = self._chance.uniform((0.1, 0.45), (0.9, 0.92), (10, 2))
        self._waves: Floats = self._chance.uniform(0.4, 1.3, (10, 2))
        self._score = tuple(int(value) for value in self._chance.integers(70, 120, 2))
        self._left = int(self._chance.integers(60, 600))
        self._wardrobe = figure_cache(footage.venue)

    def _court(self) -> Image:
        width, height = round(self._width * 1.5), self._height
        court = np.zeros((height, width, 3), np.uint8)
        horizon = round(0.36 * height)
        seats = self._chance.integers(10, 80, (horizon // 4 + 1, width // 4 + 1, 3)).astype(np.uint8)
        court[:horizon] = np.repeat(np.repeat(seats, 4, axis=0), 4, axis=1)[:horizon, :width]
        planks = self._chance.uniform(0.9, 1.06, (1, width // 12 + 1, 1)).repeat(12, axis=1)[:, :width]
        court[horizon:] = np.clip(np.array((96, 150, 205)) * planks, 0, 255)
        white = (240, 240, 240)
        cv2.line(court, (0, horizon + 14), (width, horizon + 14), white, 3)
        cv2.line(court, (width // 2, horizon), (width // 2 - 40, height), white, 3)
        cv2.ellipse(court, (width // 2 - 20, round(0.68 * height)), (height // 4, height // 9), 0, 0, 360, white, 3)
        arc, zone = (round(0.55 * height), round(0.26 * height)), (round(0.55 * height), round(0.78 * height))
        for edge in (0, width):
            cv2.ellipse(court, (edge, round(0.66 * height)), arc, 0, 0, 360, white, 3)
            cv2.rectangle(court, (abs(edge - height // 3), zone[0]), (edge, zone[1]), (60, 40, 170), -1)
        return court

    def draw(self, time: float) -> Image:
        frame = self._panned.window(0.5 + 0.5 * float(np.sin(time * 0.35)))
        places = self._places + 0.09 * np.sin(time * self._waves + np.arange(10)[:, None])
        for player in np.argsort(places[:, 1]).tolist():
            x, y = places[player] * (self._width, self._height)
            right = bool(np.cos(time * self._waves[player, 0]) > 0)
            tall = self._height * (0.16 + 0.16 * places[player, 1])
            self._wardrobe.put(frame, self._looks[player], time * self._waves[player, 0], right, (x, y), tall)
        x, y = places[0] * (self._width, self._height)
        ball = (round(x + 0.03 * self._width), round(y - abs(np.sin(time * 6)) * 0.1 * self._height))
        cv2.circle(frame, ball, round(0.014 * self._height), (40, 110, 225), -1, cv2.LINE_AA)
        self._bug(frame, time)
        return frame

    def _bug(self, frame: Image, time: float) -> None:
        left = max(0, self._left - int(time))
        words = f"LAK {self._score[0]}   BOR {self._score[1]}   4TH {left // 60}:{left % 60:02}"
        width, height = self._width, self._height
        corner, other = (round(0.28 * width), round(0.88 * height)), (round(0.74 * width), round(0.95 * height))
        cv2.rectangle(frame, corner, other, (30, 25, 25), -1)
        _write(frame, words, (round(0.3 * width), round(0.932 * height)), height / 640)


class LandscapeScene:
    """Hills, a lake and clouds, partly as green as a pitch."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        chance = seeded_rng(f"landscape {footage.moment}")
        wide = round(width * 1.4)
        shade = np.linspace(0, 1, height)[:, None, None]
        sky = np.array((225, 170, 110)) * (1 - shade) + np.array((235, 225, 210)) * shade
        still = np.broadcast_to(sky, (height, wide, 3)).astype(np.uint8, order="C")
        for depth, colour in enumerate(((150, 130, 110), (110, 110, 80), (60, 120, 70))):
            ridge = height * (0.42 + 0.12 * depth) + _ridge(chance, wide) * height * (0.16 - 0.03 * depth)
            outline = np.column_stack((np.arange(wide), ridge))
            corners = np.vstack((outline, [(wide, height), (0, height)])).astype(np.int32)
            cv2.fillPoly(still, [corners], colour, cv2.LINE_AA)
        cv2.rectangle(still, (0, round(0.8 * height)), (wide, height), (150, 115, 60), -1)
        rough = chance.normal(0, 6, (height, wide, 1))
        self._panned = _Panned(np.clip(still + rough, 0, 255).astype(np.uint8), width, height)
        self._glitter = chance.uniform(0, 1, (60, 3))
        self._size = (width, height)

    def draw(self, time: float) -> Image:
        frame = self._panned.window(time / 30)
        width, height = self._size
        for x, y, phase in self._glitter.tolist():
            if np.sin(time * 5 + phase * 6.3) > 0.3:
                place = (round(x * width), round((0.82 + 0.17 * y) * height))
                cv2.line(frame, place, (place[0] + width // 40, place[1]), (225, 215, 190), 1)
        return frame


def _write(frame: Image, words: str, place: tuple[int, int], size: float) -> None:
    cv2.putText(frame, words, place, _FONT, size, (252, 252, 252), 1, cv2.LINE_AA)


def _ridge(chance: np.random.Generator, wide: int) -> Floats:
    """A rough line between -1 and 1."""
    at = np.linspace(0, 1, wide)
    waves = [np.sin(2 * np.pi * (at * n * chance.uniform(0.7, 1.3) + chance.random())) / n for n in (1, 2, 4, 8, 16)]
    ridge: Floats = np.sum(waves, axis=0) / 1.6
    return ridge
