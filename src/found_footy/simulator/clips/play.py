"""Who is where: 22 players, the referee and the ball around a goal, on a grid of time. The attack goes to x = 105."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from found_footy.simulator.clips.camera import Floats
from found_footy.simulator.clips.seeds import generator
from found_footy.simulator.clips.spec import Footage
from found_footy.simulator.clips.timeline import ENDS_AT, GOAL_AT

RATE = 50
"""Grid steps a second."""
PLAYERS = 23
"""0 to 10 attack (0 keeps), 11 to 21 defend (11 keeps), 22 is the referee."""
REFEREE = 22
KEEPERS = (0, 11)

_ATTACK = (
    (12, 34),
    *((48, 12), (44, 26), (44, 42), (48, 56)),
    *((60, 22), (58, 46), (66, 34)),
    *((78, 14), (82, 34), (78, 54)),
)
_DEFENCE = (
    (103, 34),
    *((86, 14), (89, 27), (89, 41), (86, 55)),
    *((76, 20), (75, 34), (76, 48)),
    *((62, 22), (58, 34), (62, 46)),
)
_SHOT = 0.75
"""Seconds from the shot to the line."""


@dataclass(frozen=True, slots=True)
class Play:
    places: Floats
    """(time, player, x and y), in metres."""
    strides: Floats
    """(time, player): how many strides each has run."""
    facing: Floats
    """(time, player): +1 towards larger x, -1 towards smaller."""
    ball: Floats
    """(time, x, y and z)."""
    scorer: int

    def index(self, second: float) -> int:
        """The grid's step for a second from the goal on."""
        return int(min(max(round((second + GOAL_AT) * RATE), 0), len(self.ball) - 1))


def play_of(footage: Footage) -> Play:
    chance = generator(f"play {footage.moment}")
    times = np.arange(0.0, ENDS_AT + 0.5, 1 / RATE) - GOAL_AT
    keys = _penalty_keys(chance, footage) if footage.penalty else _keys(chance, footage)
    ball = _ball(times, keys, chance)
    scorer = int(chance.integers(8, 11))
    places = _places(times, ball, keys, scorer, footage, chance)
    speed = np.gradient(places, 1 / RATE, axis=0)
    strides = np.cumsum(np.hypot(speed[:, :, 0], speed[:, :, 1]) / RATE, axis=0) / 2.3
    strides += chance.uniform(0, 1, PLAYERS)
    return Play(places, strides, np.where(speed[:, :, 0] >= 0, 1.0, -1.0), ball, scorer)


def _keys(chance: np.random.Generator, footage: Footage) -> Floats:
    """Where the ball is played from: (second, x, y, z). Four passes, a shot, the net, and where it rolls then."""
    marks = np.cumsum(chance.uniform(1.7, 2.6, 5))
    marks = marks - marks[-1] - _SHOT
    x = np.array([56, 65, 74, 85, 95]) + chance.uniform(-4, 3.5, 5)
    y = np.clip(34 + np.cumsum(chance.normal(0, 12, 5)), 6, 62)
    y[-1] = 34 + chance.uniform(-10, 10)
    passes = np.column_stack((marks, x, y, np.full(5, 0.11)))
    opening = np.array([(-GOAL_AT, x[0] - 6, y[0] - chance.uniform(-9, 9), 0.11)])
    return np.vstack((opening, passes, _finish(chance, footage)))


def _penalty_keys(chance: np.random.Generator, footage: Footage) -> Floats:
    spot = (94.0, 34.0, 0.11)
    return np.vstack(([(-GOAL_AT, *spot), (-_SHOT, *spot)], _finish(chance, footage)))


def _finish(chance: np.random.Generator, footage: Footage) -> Floats:
    side = chance.choice((-1.0, 1.0))
    aim = 34 + side * (chance.uniform(0.8, 3.2) if footage.scored else chance.uniform(4.8, 8.0))
    height = chance.uniform(0.2, 2.0)
    deep = 106.7 if footage.scored else 109.5
    return np.array(
        [(0.0, 105.0, aim, height), (0.14, deep, aim, height), (0.7, deep, aim, 0.11), (30.0, deep, aim, 0.11)]
    )


def _ball(times: Floats, keys: Floats, chance: np.random.Generator) -> Floats:
    ball = np.column_stack([np.interp(times, keys[:, 0], keys[:, axis]) for axis in (1, 2, 3)])
    for (start, *_), (end, *_) in itertools.pairwise(keys.tolist()):
        if 1.2 < end - start < 4 and end < 0:
            share = np.clip((times - start) / (end - start), 0, 1)
            ball[:, 2] += 4 * chance.uniform(0.0, 2.6) * share * (1 - share)
    return ball


def _places(
    times: Floats, ball: Floats, keys: Floats, scorer: int, footage: Footage, chance: np.random.Generator
) -> Floats:
    base = np.array([*_ATTACK, *_DEFENCE, (60, 40)], float)
    base += chance.normal(0, 2.2, base.shape)
    # Everybody moves with the ball, in a shape, and a little on their own.
    drift = _smooth(ball[:, :2], 1.4) - (72, 34)
    follow = np.full((PLAYERS, 2), (0.42, 0.3))
    follow[list(KEEPERS)] = (0.05, 0.04)
    places: Floats = base + drift[:, None, :] * follow
    waves = chance.uniform(0.25, 0.8, (3, PLAYERS, 2)), chance.uniform(0, 6.3, (3, PLAYERS, 2))
    for frequency, phase in zip(*waves, strict=True):
        places += 0.75 * np.sin(times[:, None, None] * frequency + phase)
    if footage.penalty:
        _stand_outside_the_box(places, times, scorer)
    for second, x, y, _ in keys[1:]:
        if -11 < second < 0:
            runner = scorer if second > -1.5 else 5 + int(chance.integers(0, 6))
            weight = np.exp(-(((times - second) / 1.25) ** 2))
            places[:, runner] += ((x - 0.4, y) - places[:, runner]) * weight[:, None]
    dive = _ramp(times, -0.5, 0.1) * (1 - _ramp(times, 1.5, 3.0))
    places[:, 11, 1] += (np.interp(0.0, keys[:, 0], keys[:, 2]) - places[:, 11, 1]) * dive * 0.75
    _celebrate(places, times, scorer, chance)
    places[:, :, 0] = np.clip(places[:, :, 0], -2, 104.6)
    return places


def _stand_outside_the_box(places: Floats, times: Floats, scorer: int) -> None:
    wait = 1 - _ramp(times, -0.6, 1.0)
    for player in range(REFEREE + 1):
        if player in (*KEEPERS, scorer):
            continue
        target = np.minimum(places[:, player, 0], 86.5 - (player % 4))
        places[:, player, 0] += (target - places[:, player, 0]) * wait
    places[:, scorer] += ((91.0, 34.5) - places[:, scorer]) * wait[:, None]
    places[:, 11] += ((104.4, 34.0) - places[:, 11]) * wait[:, None]


def _celebrate(places: Floats, times: Floats, scorer: int, chance: np.random.Generator) -> None:
    """The scorer runs to the near corner, team mates come after, the others trot back."""
    corner = np.array((99 + chance.uniform(-4, 2), 6 + chance.uniform(-3, 6)))
    leaves = 1 - _ramp(times, 12.0, 20.0)
    run = _ramp(times, 0.4, 4.8) * leaves
    places[:, scorer] += (corner - places[:, scorer]) * run[:, None]
    for place, mate in enumerate((9, 8, 10, 7, 6, 5)):
        if mate != scorer:
            near = np.add(corner, (-1.6 - 0.8 * place, chance.uniform(-1.5, 2.5)))
            come = _ramp(times, 0.9 + 0.2 * place, 5.8 + 0.4 * place) * leaves
            places[:, mate] += (near - places[:, mate]) * come[:, None]
    back = _ramp(times, 1.0, 14.0)[:, None] * 12
    places[:, 12:22, 0] -= back


def _ramp(times: Floats, start: float, end: float) -> Floats:
    share = np.clip((times - start) / (end - start), 0, 1)
    smooth: Floats = share * share * (3 - 2 * share)
    return smooth


def _smooth(track: Floats, seconds: float) -> Floats:
    width = int(seconds * RATE)
    padded = np.pad(track, ((width, width), (0, 0)), mode="edge")
    kernel = np.hanning(2 * width + 1)
    kernel /= kernel.sum()
    return np.column_stack([np.convolve(padded[:, axis], kernel, mode="valid") for axis in range(track.shape[1])])
