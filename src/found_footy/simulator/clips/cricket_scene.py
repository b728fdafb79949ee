"""A frame of a cricket broadcast: the window over the ground, the players, the ball, the wipe, the scoreboard."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from found_footy.simulator.clips.boards import Board, BoardText
from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.codes import Colour, Kit, kits_of
from found_footy.simulator.clips.cricket_ground import BEHIND, OVERSAMPLING, SQUARE, View, still_of, tall_at
from found_footy.simulator.clips.figures import Look, wardrobe_of
from found_footy.simulator.clips.spec import Footage
from found_footy.simulator.clips.timeline import Shot, timeline_of
from found_footy.simulator.clips.truth import face_at, score_at
from found_footy.simulator.clips.wipe import Wipe

_UMPIRE = Kit((235, 235, 235), (40, 40, 40), (40, 40, 40))
_SKINS: tuple[Colour, ...] = ((150, 180, 225), (60, 90, 140), (40, 60, 95))
_BALL: Colour = (60, 50, 190)
_DELIVERY = 0.6
"""Seconds from the bowler's hand to the stumps."""
_RUN_UP = 3.0
_FIELD = ((0.12, 0.5), (0.27, 0.42), (0.7, 0.41), (0.86, 0.52), (0.22, 0.72), (0.8, 0.76), (0.6, 0.44), (0.64, 0.45))
"""Where the fielders stand who have nothing to do with it at first."""


Corner = tuple[float, float]
_At = Callable[[Corner], Corner]
"""From shares of the still to pixels of the frame."""


@dataclass(frozen=True, slots=True)
class _Person:
    look: Look
    place: Corner
    stride: float
    right: bool


class CricketScene:
    """Draws frames (BGR) of one footage at one height."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._footage, self._width, self._height = footage, width, height
        self._timeline = timeline_of(footage)
        self._stills: dict[str, Image] = {}
        self._wardrobe = wardrobe_of(footage.venue)
        self._board = Board(footage.style, width, height)
        self._wipe = Wipe(footage.venue, width, height)
        chance = random.Random(f"field {footage.moment}")
        self._field = [(x + chance.uniform(-0.06, 0.06), y + chance.uniform(-0.02, 0.04)) for x, y in _FIELD]
        self._line = chance.uniform(-0.05, 0.05)
        kits = kits_of(footage.venue, *footage.teams)
        batting, bowling = kits[footage.side], kits[1 - footage.side]
        skins = [chance.choice(_SKINS) for _ in range(3)]
        self._batter = Look(batting, skins[0], (30, 30, 35))
        self._fielder = Look(bowling, skins[1], (25, 25, 30))
        self._umpire = Look(_UMPIRE, skins[2], (235, 235, 235))

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
            self._board.put(frame, BoardText(face_at(footage, time), codes, score_at(footage, time)))
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
            tall = tall_at(person.place[1], view) * self._height * zoom
            self._wardrobe.put(frame, person.look, person.stride, person.right, at(person.place), tall)
        self._ball(frame, play, view, zoom, at)
        return frame

    def _still(self, view: View) -> Image:
        name = "behind" if view is BEHIND else "square"
        if name not in self._stills:
            self._stills[name] = still_of(self._footage, view, self._width, self._height)
        return self._stills[name]

    def _window(self, shot: Shot, time: float, view: View) -> tuple[float, Corner]:
        """The zoom, and where the camera points: at the pitch, or at the batter who is out."""
        chance = random.Random(f"zoom {self._footage.moment} {shot.camera} {shot.start:.2f}")
        share = min(max((time - shot.start) / (shot.end - shot.start), 0.0), 1.0)
        near, far = (1.7, 2.1) if shot.camera == "close" else (1.05, 1.35)
        zoom = chance.uniform(near, far) + (chance.uniform(near, far) - near) * share * 0.5
        x, y = view.bat if shot.camera == "close" else (0.5, 0.58)
        sway = 0.05 * np.sin(0.4 * time + chance.uniform(0, 6))
        return zoom, (x + chance.uniform(-0.05, 0.05) + float(sway), y + chance.uniform(-0.03, 0.05))

    def _people(self, play: float, view: View) -> list[_Person]:
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
            _Person(self._fielder, _between(bowler, huddle, after), play * 1.4, True),
            _Person(self._batter, _between((bat_x - 0.02, bat_y), (bat_x - 0.3, bat_y + 0.1), after), after * 8, False),
            _Person(self._batter, (bowl_x + 0.07, bowl_y - 0.02 if behind else bowl_y + 0.02), 0.3, False),
            _Person(self._umpire, (bowl_x - 0.07, bowl_y - 0.01), 0.2, True),
            _Person(
                self._fielder, _between((bat_x, bat_y - 0.05 if behind else bat_y), huddle, after), after * 7, False
            ),
        ]
        for number, place in enumerate(self._field):
            near = (huddle[0] + 0.02 * (number - 4), huddle[1] + 0.01 * (number % 3))
            stride = after * 9 + 0.1 * np.sin(play + number)
            people.append(_Person(self._fielder, _between(place, near, 0.9 * after), float(stride), place[0] < 0.5))
        return people

    def _ball(self, frame: Image, play: float, view: View, zoom: float, at: _At) -> None:
        if not -_DELIVERY <= play <= 0.5:
            return
        (bat_x, bat_y), (bowl_x, bowl_y) = view.bat, view.bowl
        share = min((play + _DELIVERY) / _DELIVERY, 1.0)
        hand = tall_at(bowl_y, view) * (1 - share) + 0.01
        x, y = _between((bowl_x, bowl_y - hand), (bat_x + self._line * share * 0.3, bat_y - 0.02), share)
        if play > 0:  # It is in the stumps, or on its way to somebody's hands.
            x, y = x + self._line * play, y - 0.2 * play
        centre = at((x, y))
        cv2.circle(frame, (round(centre[0]), round(centre[1])), max(2, round(self._height * 0.006 * zoom)), _BALL, -1)


def _between(start: Corner, end: Corner, share: float) -> Corner:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
