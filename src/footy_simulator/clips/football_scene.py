"""A football broadcast: the play around a goal, the replay wipe, and the frames. The attack goes to x = 105."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import cv2
import numpy as np

from footy_simulator.clips.broadcast import ENDS_AT, GOAL_AT, CameraName, Shot, broadcast_timeline
from footy_simulator.clips.camera import PITCH_LENGTH, CameraView, Floats, Image, project
from footy_simulator.clips.figures import Colour, FigureStyle, Kit, figure_cache, kits_of, seeded_rng
from footy_simulator.clips.models import Footage
from footy_simulator.clips.scoreboard import BoardContent, Scoreboard
from footy_simulator.clips.stadium import ground_of, stage_of
from footy_simulator.clips.truth import face_at, score_at

RATE = 50
"""Grid steps per second."""
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
    chance = seeded_rng(f"play {footage.moment}")
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
    """Key positions of the ball: (second, x, y, z). Four passes, a shot, the net, and where it rolls."""
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
    # Players move with the ball, in formation, with some motion of their own.
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
    """The scorer runs to the near corner, team-mates follow, the others jog back."""
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


# --- The replay wipe: slanted bands with a badge that cover the cut.


_SLANT = 0.35
"""Slant of a band, as a share of the frame height."""


class Wipe:
    def __init__(self, venue: str, width: int, height: int) -> None:
        chance = random.Random(f"wipe {venue}")
        self._width, self._height = width, height
        self._colours = [tuple(chance.randrange(20, 236) for _ in range(3)) for _ in range(3)]
        self._to_left = chance.random() < 0.5
        self._letter = chance.choice("ABCEFKLMRSTV")

    def put(self, frame: Image, share: float) -> None:
        """Cover the frame (BGR): not at all at 0 and 1, completely in the middle."""
        width, height = self._width, self._height
        lean = _SLANT * height
        span = width + 2 * lean
        for place, colour in enumerate(self._colours):
            delay = 0.07 * place
            head = min(1.0, max(0.0, (share - delay) / 0.36)) * span - lean
            tail = min(1.0, max(0.0, (share - 0.5 - 0.07 * (2 - place)) / 0.36)) * span - lean
            if head <= tail:
                continue
            corners = np.array([(tail, height), (tail + lean, 0), (head + lean, 0), (head, height)])
            corners[:, 0] -= lean / 2
            if self._to_left:
                corners[:, 0] = width - corners[:, 0]
            cv2.fillPoly(frame, [np.round(corners).astype(np.int32)], colour, cv2.LINE_AA)
        self._badge(frame, share)

    def _badge(self, frame: Image, share: float) -> None:
        radius = round(self._height * 0.24 * max(0.0, 1 - abs(share - 0.5) * 4))
        if radius < 3:
            return
        centre = (self._width // 2, self._height // 2)
        cv2.circle(frame, centre, radius, (245, 245, 245), -1, cv2.LINE_AA)
        cv2.circle(frame, centre, round(radius * 0.86), self._colours[0], -1, cv2.LINE_AA)
        size = radius / 22
        (wide, high), _ = cv2.getTextSize(self._letter, cv2.FONT_HERSHEY_TRIPLEX, size, 2)
        place = (centre[0] - wide // 2, centre[1] + high // 2)
        thick = max(2, radius // 14)
        cv2.putText(frame, self._letter, place, cv2.FONT_HERSHEY_TRIPLEX, size, (245,) * 3, thick, cv2.LINE_AA)


# --- Frames: the camera's window, players, ball, wipe and scoreboard.


PLAYER_HEIGHT = 1.83
"""Metres."""
_BALL = 0.13
"""Metres; slightly larger than life, to be visible in small copies."""
_KEEPER = Kit((40, 220, 230), (30, 30, 30), (40, 220, 230))
_REFEREE = Kit((200, 170, 60), (40, 40, 40), (40, 40, 40))
_SKINS: tuple[Colour, ...] = ((150, 180, 225), (110, 145, 200), (60, 90, 140), (40, 60, 95))
_HAIRS: tuple[Colour, ...] = ((25, 25, 30), (40, 60, 90), (110, 170, 210))
_FACES = 3
"""Number of different heads, each drawn for each kit."""
_PAN_LAG = 0.9
"""Seconds over which a camera smooths its motion."""


class FootballScene:
    """Draws frames (BGR) of one footage at one height."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._footage, self._width, self._height = footage, width, height
        self._timeline = broadcast_timeline(footage)
        self._left = attacks_left(footage)
        self._play = _turned(play_of(footage)) if self._left else play_of(footage)
        self._ground = ground_of(footage)
        self._stages: dict[CameraName, CameraView] = {}
        self._paths: dict[CameraName, Floats] = {}
        self._wardrobe = figure_cache(footage.venue)
        self._styles = _styles(footage)
        self._board = Scoreboard(footage.style, width, height)
        self._wipe = Wipe(footage.venue, width, height)

    def draw(self, time: float) -> Image:
        """The frame at a second of the footage's timeline."""
        shot = self._timeline.shot_at(time)
        frame = self._picture(shot, time)
        wiped = self._timeline.wipe_at(time)
        if wiped is not None:
            self._wipe.put(frame, wiped)
        elif self._timeline.board_at(time):
            footage = self._footage
            self._board.put(frame, BoardContent(face_at(footage, time), footage.codes, score_at(footage, time)))
        return frame

    def _picture(self, shot: Shot, time: float) -> Image:
        stage = self._stage(shot.camera)
        step = self._play.index(shot.play_at(time))
        zoom = _zoom(self._footage, shot, time)
        high = round(stage.scale / zoom)
        wide = round(high * self._width / self._height)
        centre = stage.pixels(self._path(shot.camera)[step])
        left = int(np.clip(round(centre[0] - wide / 2), 0, stage.image.shape[1] - wide))
        top = int(np.clip(round(centre[1] - high / 2), 0, stage.image.shape[0] - high))
        window = stage.image[top : top + high, left : left + wide]
        size = (self._width, self._height)
        frame = np.asarray(cv2.resize(window, size, interpolation=cv2.INTER_LINEAR), np.uint8)
        self._people(frame, stage, step, (left, top), self._height / high)
        return frame

    def _people(self, frame: Image, stage: CameraView, step: int, corner: tuple[int, int], scale: float) -> None:
        ground = np.column_stack((self._play.places[step], np.zeros(REFEREE + 1)))
        ball = self._play.ball[step]
        marks = (ball, ball * (1, 1, 0), np.add(ball, (0, 0, _BALL)))
        points = np.vstack((ground, np.add(ground, (0, 0, PLAYER_HEIGHT)), *marks))
        plane, depth = project(stage.matrix, points)
        pixels = (stage.pixels(plane) - corner) * scale
        feet, heads = pixels[: REFEREE + 1], pixels[REFEREE + 1 : 2 * REFEREE + 2]
        order = np.argsort(-depth[: REFEREE + 1])
        drawn = False
        for player in order.tolist():
            if not drawn and depth[player] < depth[-3]:
                self._ball(frame, pixels[-3:])
                drawn = True
            if depth[player] < 1.5:
                continue
            x, y = feet[player].tolist()
            tall = y - float(heads[player][1])
            if -tall < x < self._width + tall and 0 < y < self._height + 1.2 * tall:
                right = bool(self._play.facing[step, player] > 0)
                self._wardrobe.put(
                    frame, self._styles[player], float(self._play.strides[step, player]), right, (x, y), tall
                )
        if not drawn:
            self._ball(frame, pixels[-3:])

    def _ball(self, frame: Image, pixels: Floats) -> None:
        (x, y), (shade_x, shade_y), (_, top) = np.round(pixels * 16).astype(int).tolist()
        radius = max(20, y - top)
        cv2.ellipse(frame, (shade_x // 16, shade_y // 16), (radius // 16 + 1, 1), 0, 0, 360, (30, 60, 35), -1)
        cv2.circle(frame, (x, y), radius, (245, 245, 245), -1, cv2.LINE_AA, 4)

    def _stage(self, name: CameraName) -> CameraView:
        if name not in self._stages:
            self._stages[name] = stage_of(self._footage, self._ground, name, self._height, self._left)
        return self._stages[name]

    def _path(self, name: CameraName) -> Floats:
        """Where the camera points at each step, on its plane: it follows the ball or the scorer."""
        if name not in self._paths:
            self._paths[name] = self._aim(name)
        return self._paths[name]

    def _aim(self, name: CameraName) -> Floats:
        play = self._play
        scorer = play.places[:, play.scorer]
        if name == "close":
            target, lift = scorer, 0.95
        else:
            share = 0.0 if name == "wide" else 0.35
            target, lift = play.ball[:, :2] * (1 - share) + scorer * share, 0.5
        kernel = np.hanning(int(_PAN_LAG * RATE) * 2 + 1)
        kernel /= kernel.sum()
        padded = np.pad(target, ((len(kernel) // 2,) * 2, (0, 0)), mode="edge")
        smooth = np.column_stack([np.convolve(padded[:, axis], kernel, mode="valid") for axis in (0, 1)])
        plane, _ = project(self._stage(name).matrix, np.column_stack((smooth, np.full(len(smooth), lift))))
        if name == "wide":
            # The main camera pans and hardly tilts.
            plane[:, 1] = plane[:, 1] * 0.35 + seeded_rng(f"tilt {self._footage.venue}").uniform(-0.1, 0.02)
        return plane


def attacks_left(footage: Footage) -> bool:
    """Both sides attack opposite goals, the same ones throughout a half; which ones is drawn for the match."""
    drawn = random.Random(f"end {footage.venue} {footage.half_ends}").random() < 0.5
    return drawn == (footage.side == 0)


def _zoom(footage: Footage, shot: Shot, time: float) -> float:
    chance = random.Random(f"zoom {footage.moment} {shot.camera} {shot.start:.2f}")
    first, last = {
        "wide": (1.04, 1.5),
        "close": (1.15, 1.5),
        "low": (1.05, 1.25),
        "behind": (1.05, 1.3),
    }[shot.camera]
    begin, end = chance.uniform(first, last), chance.uniform(first, last)
    share = min(max((time - shot.start) / (shot.end - shot.start), 0.0), 1.0)
    return begin + (end - begin) * share * share * (3 - 2 * share)


def _turned(play: Play) -> Play:
    """The same play towards the other goal."""
    places, ball = play.places.copy(), play.ball.copy()
    places[:, :, 0] = PITCH_LENGTH - places[:, :, 0]
    ball[:, 0] = PITCH_LENGTH - ball[:, 0]
    return Play(places, play.strides, -play.facing, ball, play.scorer)


def _styles(footage: Footage) -> list[FigureStyle]:
    chance = random.Random(f"looks {footage.venue}")
    kits = kits_of(footage.venue, *footage.teams)
    attack, defence = kits[footage.side], kits[1 - footage.side]
    faces = [(chance.choice(_SKINS), chance.choice(_HAIRS)) for _ in range(_FACES)]
    styles = []
    for player in range(REFEREE + 1):
        kit = attack if player < 11 else defence
        kit = _KEEPER if player in KEEPERS else _REFEREE if player == REFEREE else kit
        styles.append(FigureStyle(kit, *faces[player % _FACES]))
    return styles
