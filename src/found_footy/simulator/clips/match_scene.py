"""A frame of a match's broadcast: the window over a camera's stage, the players, the ball, the wipe, the scoreboard."""

from __future__ import annotations

import random

import cv2
import numpy as np

from found_footy.simulator.clips.boards import Board, BoardText
from found_footy.simulator.clips.camera import PITCH_LENGTH, Floats, Image, Stage, project
from found_footy.simulator.clips.codes import Colour, Kit, kits_of
from found_footy.simulator.clips.figures import Look, wardrobe_of
from found_footy.simulator.clips.play import KEEPERS, RATE, REFEREE, Play, play_of
from found_footy.simulator.clips.seeds import generator
from found_footy.simulator.clips.spec import Footage
from found_footy.simulator.clips.stadium import ground_of, stage_of
from found_footy.simulator.clips.timeline import CameraName, Shot, timeline_of
from found_footy.simulator.clips.truth import face_at, score_at
from found_footy.simulator.clips.wipe import Wipe

_TALL = 1.83
"""Metres."""
_BALL = 0.13
"""Metres; a little larger than life, so that it is seen in small copies."""
_KEEPER = Kit((40, 220, 230), (30, 30, 30), (40, 220, 230))
_REFEREE = Kit((200, 170, 60), (40, 40, 40), (40, 40, 40))
_SKINS: tuple[Colour, ...] = ((150, 180, 225), (110, 145, 200), (60, 90, 140), (40, 60, 95))
_HAIRS: tuple[Colour, ...] = ((25, 25, 30), (40, 60, 90), (110, 170, 210))
_FACES = 3
"""How many different heads there are: each is drawn for each kit."""
_PAN_LAG = 0.9
"""Seconds over which a camera smooths what it follows."""


class MatchScene:
    """Draws frames (BGR) of one footage at one height."""

    def __init__(self, footage: Footage, width: int, height: int) -> None:
        self._footage, self._width, self._height = footage, width, height
        self._timeline = timeline_of(footage)
        self._left = random.Random(f"end {footage.moment}").random() < 0.5
        self._play = _turned(play_of(footage)) if self._left else play_of(footage)
        self._ground = ground_of(footage)
        self._stages: dict[CameraName, Stage] = {}
        self._paths: dict[CameraName, Floats] = {}
        self._wardrobe = wardrobe_of(footage.venue)
        self._looks = _looks(footage)
        self._board = Board(footage.style, width, height)
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
            self._board.put(frame, BoardText(face_at(footage, time), footage.codes, score_at(footage, time)))
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

    def _people(self, frame: Image, stage: Stage, step: int, corner: tuple[int, int], scale: float) -> None:
        ground = np.column_stack((self._play.places[step], np.zeros(REFEREE + 1)))
        ball = self._play.ball[step]
        marks = (ball, ball * (1, 1, 0), np.add(ball, (0, 0, _BALL)))
        points = np.vstack((ground, np.add(ground, (0, 0, _TALL)), *marks))
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
                    frame, self._looks[player], float(self._play.strides[step, player]), right, (x, y), tall
                )
        if not drawn:
            self._ball(frame, pixels[-3:])

    def _ball(self, frame: Image, pixels: Floats) -> None:
        (x, y), (shade_x, shade_y), (_, top) = np.round(pixels * 16).astype(int).tolist()
        radius = max(20, y - top)
        cv2.ellipse(frame, (shade_x // 16, shade_y // 16), (radius // 16 + 1, 1), 0, 0, 360, (30, 60, 35), -1)
        cv2.circle(frame, (x, y), radius, (245, 245, 245), -1, cv2.LINE_AA, 4)

    def _stage(self, name: CameraName) -> Stage:
        if name not in self._stages:
            self._stages[name] = stage_of(self._footage, self._ground, name, self._height, self._left)
        return self._stages[name]

    def _path(self, name: CameraName) -> Floats:
        """Where the camera points at each step of the play, on its plane: it follows the ball, or the scorer."""
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
            plane[:, 1] = plane[:, 1] * 0.35 + generator(f"tilt {self._footage.moment}").uniform(-0.1, 0.02)
        return plane


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


def _looks(footage: Footage) -> list[Look]:
    chance = random.Random(f"looks {footage.venue}")
    kits = kits_of(footage.venue, *footage.teams)
    attack, defence = kits[footage.side], kits[1 - footage.side]
    faces = [(chance.choice(_SKINS), chance.choice(_HAIRS)) for _ in range(_FACES)]
    looks = []
    for player in range(REFEREE + 1):
        kit = attack if player < 11 else defence
        kit = _KEEPER if player in KEEPERS else _REFEREE if player == REFEREE else kit
        looks.append(Look(kit, *faces[player % _FACES]))
    return looks
