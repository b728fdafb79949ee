"""A cricket ground as its two cameras see it: stands, outfield, pitch, creases and stumps, drawn once a camera."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from footy_simulator.clips.broadcast import Shot, broadcast_timeline
from footy_simulator.clips.camera import Image
from footy_simulator.clips.figures import Colour, FigureStyle, Kit, crowd, figure_cache, hoardings, kits_of, seeded_rng
from footy_simulator.clips.football_scene import Wipe
from footy_simulator.clips.models import Footage
from footy_simulator.clips.scoreboard import BoardContent, Scoreboard
from footy_simulator.clips.truth import face_at, score_at

OVERSAMPLING = 1.35
"""Pixels of the still for a pixel of the frame at zoom 1."""
HORIZON = 0.34
"""Where the outfield begins, as a share of the picture's height."""
_SPECKLE = 128
_CREAM = (150, 190, 214)
_WHITE = (238, 242, 240)
_WOOD = (50, 95, 150)

Corner = tuple[float, float]


@dataclass(frozen=True, slots=True)
class View:
    """Where things are in a camera's picture, in shares of its width and height."""

    bat: Corner
    """The stumps that are bowled at."""
    bowl: Corner
    pitch: tuple[Corner, Corner, Corner, Corner]


BEHIND = View((0.5, 0.5), (0.5, 0.86), ((0.468, 0.46), (0.532, 0.46), (0.6, 0.97), (0.4, 0.97)))
"""Behind the bowler's arm, where most of a match is seen from."""
SQUARE = View((0.74, 0.7), (0.26, 0.7), ((0.2, 0.66), (0.8, 0.66), (0.83, 0.75), (0.17, 0.75)))
"""From the side."""


def height_at(y: float, view: View) -> float:
    """How tall a person is whose feet are there, as a share of the picture's height."""
    return (0.055 if view is BEHIND else 0.09) + 0.42 * max(0.0, y - HORIZON) * (0.8 if view is BEHIND else 0.65)


def still_of(footage: Footage, view: View, width: int, height: int) -> Image:
    """All that stands still, as a picture (BGR) larger than the frame."""
    wide, high = round(width * OVERSAMPLING), round(height * OVERSAMPLING)
    camera = "behind" if view is BEHIND else "square"
    chance = seeded_rng(f"cricket {camera} {footage.venue}")
    picture = np.zeros((high, wide, 3), np.uint8)
    horizon = round(HORIZON * high)
    _stands(picture[:horizon], footage, chance)
    picture[horizon:] = _outfield(footage, chance, high - horizon, wide)
    _pitch(picture, view)
    _stumps(picture, view.bat, height_at(view.bat[1], view) * 0.42)
    _stumps(picture, view.bowl, height_at(view.bowl[1], view) * 0.42)
    light = seeded_rng(f"light {footage.venue}").uniform(0.86, 1.08) * chance.uniform(0.95, 1.05)
    graded: Image = np.clip(picture * light, 0, 255).astype(np.uint8)
    return graded


def _stands(picture: Image, footage: Footage, chance: np.random.Generator) -> None:
    high, wide = picture.shape[:2]
    home, away = kits_of(footage.venue, *footage.teams)
    people = crowd(chance, 150 + int(chance.integers(0, 60)), 30, home.shirt if chance.random() < 0.6 else away.shirt)
    boards = round(0.12 * high)
    picture[: high - boards] = cv2.resize(people, (wide, high - boards), interpolation=cv2.INTER_AREA)
    adverts = hoardings(chance, 44.0)
    picture[high - boards :] = cv2.resize(adverts, (wide, boards), interpolation=cv2.INTER_AREA)


def _outfield(footage: Footage, chance: np.random.Generator, high: int, wide: int) -> Image:
    venue = seeded_rng(f"outfield {footage.venue}")
    green = np.array((venue.uniform(34, 60), venue.uniform(118, 150), venue.uniform(52, 92)))
    down = np.linspace(0, 1, high, dtype=np.float32)[:, None]
    across = np.linspace(-1, 1, wide, dtype=np.float32)[None]
    # Mown in circles around the pitch, as some grounds are, or in stripes that run away from the camera.
    stripes = across / (0.35 + down) if venue.random() < 0.5 else np.hypot(across, 1.6 * (down - 0.45))
    light = 1 + 0.08 * np.sign(np.sin(stripes * venue.uniform(14, 24) + chance.uniform(0, 6)))
    light *= cv2.resize(
        chance.normal(1.0, 0.05, (6, 9)).astype(np.float32), (wide, high), interpolation=cv2.INTER_CUBIC
    )
    tile = chance.normal(0.0, 0.05, (_SPECKLE, _SPECKLE)).astype(np.float32)
    light += np.tile(tile, (high // _SPECKLE + 1, wide // _SPECKLE + 1))[:high, :wide]
    grass: Image = np.clip(light[:, :, None] * green, 0, 255).astype(np.uint8)
    # The rope around the ground.
    cv2.ellipse(grass, (wide // 2, round(0.62 * high)), (round(0.62 * wide), round(0.6 * high)), 0, 0, 360, _WHITE, 2)
    return grass


def _pitch(picture: Image, view: View) -> None:
    high, wide = picture.shape[:2]
    corners = np.array([(x * wide, y * high) for x, y in view.pitch], np.int32)
    cv2.fillPoly(picture, [corners], _CREAM, cv2.LINE_AA)
    for x, y in (view.bat, view.bowl):
        reach = height_at(y, view)
        if view is BEHIND:
            line = ((x - 0.5 * reach, y + 0.03 * reach), (x + 0.5 * reach, y + 0.03 * reach))
        else:
            line = ((x, y - 0.25 * reach), (x, y + 0.25 * reach))
        (x1, y1), (x2, y2) = [(round(a * wide), round(b * high)) for a, b in line]
        cv2.line(picture, (x1, y1), (x2, y2), _WHITE, max(1, high // 240), cv2.LINE_AA)


def _stumps(picture: Image, foot: Corner, tall: float) -> None:
    high, wide = picture.shape[:2]
    for place in (-1, 0, 1):
        x = round(foot[0] * wide + place * tall * high * 0.16)
        bottom, top = round(foot[1] * high), round((foot[1] - tall) * high)
        cv2.line(picture, (x, bottom), (x, top), _WOOD, max(1, round(high * tall * 0.07)), cv2.LINE_AA)


# --- A frame of a cricket broadcast: the window over the ground, the players, the ball, the wipe, the scoreboard.


_UMPIRE = Kit((235, 235, 235), (40, 40, 40), (40, 40, 40))
_SKINS: tuple[Colour, ...] = ((150, 180, 225), (60, 90, 140), (40, 60, 95))
_BALL: Colour = (60, 50, 190)
_DELIVERY = 0.6
"""Seconds from the bowler's hand to the stumps."""
_RUN_UP = 3.0
_FIELD = ((0.12, 0.5), (0.27, 0.42), (0.7, 0.41), (0.86, 0.52), (0.22, 0.72), (0.8, 0.76), (0.6, 0.44), (0.64, 0.45))
"""Where the fielders stand who have nothing to do with it at first."""


_At = Callable[[Corner], Corner]
"""From shares of the still to pixels of the frame."""


@dataclass(frozen=True, slots=True)
class _FieldPlayer:
    style: FigureStyle
    place: Corner
    stride: float
    right: bool


class CricketScene:
    """Draws frames (BGR) of one footage at one height."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._footage, self._width, self._height = footage, width, height
        self._timeline = broadcast_timeline(footage)
        self._stills: dict[str, Image] = {}
        self._wardrobe = figure_cache(footage.venue)
        self._board = Scoreboard(footage.style, width, height)
        self._wipe = Wipe(footage.venue, width, height)
        chance = random.Random(f"field {footage.moment}")
        self._field = [(x + chance.uniform(-0.06, 0.06), y + chance.uniform(-0.02, 0.04)) for x, y in _FIELD]
        self._line = chance.uniform(-0.05, 0.05)
        kits = kits_of(footage.venue, *footage.teams)
        batting, bowling = kits[footage.side], kits[1 - footage.side]
        skins = [chance.choice(_SKINS) for _ in range(3)]
        self._batter = FigureStyle(batting, skins[0], (30, 30, 35))
        self._fielder = FigureStyle(bowling, skins[1], (25, 25, 30))
        self._umpire = FigureStyle(_UMPIRE, skins[2], (235, 235, 235))

    def draw(self, time: float) -> Image:
        """The frame at a second of the footage's timeline."""
        shot = self._timeline.shot_at(time)
        frame = self._picture(shot, time)
        wiped = self._timeline.wipe_at(time)
        if wiped is not None:
            self._wipe.put(frame, wiped)
        elif self._timeline.board_at(time):
            footage = self._footage
            codes = footage.codes if footage.side == 0 else footage.codes[::-1]
            self._board.put(frame, BoardContent(face_at(footage, time), codes, score_at(footage, time)))
        return frame

    def _picture(self, shot: Shot, time: float) -> Image:
        view = SQUARE if shot.camera == "low" else BEHIND
        still = self._still(view)
        zoom, (x, y) = self._window(shot, time, view)
        wide, high = round(self._width * OVERSAMPLING / zoom), round(self._height * OVERSAMPLING / zoom)
        left = int(np.clip(round(x * still.shape[1] - wide / 2), 0, still.shape[1] - wide))
        top = int(np.clip(round(y * still.shape[0] - high / 2), 0, still.shape[0] - high))
        size = (self._width, self._height)
        window = still[top : top + high, left : left + wide]
        frame = np.asarray(cv2.resize(window, size, interpolation=cv2.INTER_LINEAR), np.uint8)

        def at(place: Corner) -> Corner:
            across, down = place[0] * still.shape[1] - left, place[1] * still.shape[0] - top
            return across * self._width / wide, down * self._height / high

        play = shot.play_at(time)
        for person in sorted(self._people(play, view), key=lambda each: each.place[1]):
            tall = height_at(person.place[1], view) * self._height * zoom
            self._wardrobe.put(frame, person.style, person.stride, person.right, at(person.place), tall)
        self._ball(frame, play, view, zoom, at)
        return frame

    def _still(self, view: View) -> Image:
        name = "behind" if view is BEHIND else "square"
        if name not in self._stills:
            self._stills[name] = still_of(self._footage, view, self._width, self._height)
        return self._stills[name]

    def _window(self, shot: Shot, time: float, view: View) -> tuple[float, Corner]:
        """The zoom, and where the camera points: at the pitch, closing in on the batter as the wicket falls."""
        chance = random.Random(f"zoom {self._footage.moment} {shot.camera} {shot.start:.2f}")
        begins, ends = chance.uniform(1.05, 1.35), chance.uniform(1.6, 1.9)
        closer = 1.0 if shot.camera == "close" else min(max((shot.play_at(time) + 1.5) / 3, 0.0), 1.0)
        closer *= closer * (3 - 2 * closer)
        (x, y), sway = view.bat, 0.05 * np.sin(0.4 * time + chance.uniform(0, 6))
        x, y = 0.5 + (x - 0.5) * closer, 0.58 + (y - 0.58) * closer
        zoom = begins + (ends - begins) * closer
        return zoom, (x + chance.uniform(-0.05, 0.05) + float(sway), y + chance.uniform(-0.03, 0.05))

    def _people(self, play: float, view: View) -> list[_FieldPlayer]:
        """Everybody at a second of play, the wicket being at 0."""
        after = min(max(play, 0.0) / 6, 1.0)
        run = min(max((play + _RUN_UP) / (_RUN_UP - _DELIVERY), 0.0), 1.0)
        (bat_x, bat_y), (bowl_x, bowl_y) = view.bat, view.bowl
        behind = view is BEHIND
        start = (bowl_x - 0.05, 1.08) if behind else (bowl_x - 0.2, bowl_y)
        end = (bowl_x - 0.03, bowl_y - 0.03) if behind else (bowl_x + 0.03, bowl_y)
        bowler = _between(start, end, run)
        huddle = ((bat_x + bowl_x) / 2 - 0.06, (bat_y + bowl_y) / 2)
        people = [
            _FieldPlayer(self._fielder, _between(bowler, huddle, after), play * 1.4, True),
            _FieldPlayer(
                self._batter, _between((bat_x - 0.02, bat_y), (bat_x - 0.3, bat_y + 0.1), after), after * 8, False
            ),
            _FieldPlayer(self._batter, (bowl_x + 0.07, bowl_y - 0.02 if behind else bowl_y + 0.02), 0.3, False),
            _FieldPlayer(self._umpire, (bowl_x - 0.07, bowl_y - 0.01), 0.2, True),
            _FieldPlayer(
                self._fielder, _between((bat_x, bat_y - 0.05 if behind else bat_y), huddle, after), after * 7, False
            ),
        ]
        for number, place in enumerate(self._field):
            near = (huddle[0] + 0.02 * (number - 4), huddle[1] + 0.01 * (number % 3))
            stride = after * 9 + 0.1 * np.sin(play + number)
            people.append(
                _FieldPlayer(self._fielder, _between(place, near, 0.9 * after), float(stride), place[0] < 0.5)
            )
        return people

    def _ball(self, frame: Image, play: float, view: View, zoom: float, at: _At) -> None:
        if not -_DELIVERY <= play <= 0.5:
            return
        (bat_x, bat_y), (bowl_x, bowl_y) = view.bat, view.bowl
        share = min((play + _DELIVERY) / _DELIVERY, 1.0)
        hand = height_at(bowl_y, view) * (1 - share) + 0.01
        x, y = _between((bowl_x, bowl_y - hand), (bat_x + self._line * share * 0.3, bat_y - 0.02), share)
        if play > 0:  # It is in the stumps, or on its way to somebody's hands.
            x, y = x + self._line * play, y - 0.2 * play
        centre = at((x, y))
        cv2.circle(frame, (round(centre[0]), round(centre[1])), max(2, round(self._height * 0.006 * zoom)), _BALL, -1)


def _between(start: Corner, end: Corner, share: float) -> Corner:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
