"""The stadium as each camera sees it: grass, stands, boards and goal, drawn once per camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from footy_simulator.clips.broadcast import CameraName
from footy_simulator.clips.camera import PITCH_LENGTH, PITCH_WIDTH, Camera, CameraView, Floats, Image, mirrored, project
from footy_simulator.clips.figures import (
    BOARD_SCALE,
    GRASS_SCALE,
    MARGIN,
    PERSON,
    Colour,
    crowd,
    grass,
    hoardings,
    kits_of,
    seeded_rng,
)
from footy_simulator.clips.models import Footage

OVERSAMPLING = 1.35
"""View pixels per frame pixel at zoom 1: panning in whole pixels causes no visible jerk."""

_SEAT = 0.55
"""Metres between two people."""
_ROWS = 44
_GOAL_LOW, _GOAL_HIGH, _BAR = 34 - 3.66, 34 + 3.66, 2.44


@dataclass(frozen=True, slots=True)
class _View:
    camera: Camera
    reach: tuple[float, float, float, float]
    """The part of the plane that the window may show: left, top, right, bottom."""
    softness: float
    """Blur of the background, as a share of the picture's height."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Textures of a stadium (BGR), shared by all cameras."""

    turf: Image
    stand: Image
    end: Image
    boards: Image
    tilt: float
    """Slope of the stands: metres up per metre back."""


def ground_of(footage: Footage) -> Ground:
    chance, stands = seeded_rng(f"ground {footage.venue}"), seeded_rng(f"stands {footage.venue}")
    home, away = kits_of(footage.venue, *footage.teams)
    return Ground(
        turf=_turf(footage.venue),
        stand=crowd(stands, 230, _ROWS, home.shirt),
        end=crowd(stands, 190, _ROWS, away.shirt),
        boards=hoardings(stands, PITCH_LENGTH + 16),
        tilt=chance.uniform(0.55, 0.8),
    )


@lru_cache(maxsize=2)
def _turf(venue: str) -> Image:
    """All goals of a match share the grass, which is expensive to draw."""
    return grass(seeded_rng(f"turf {venue}"))


def stage_of(footage: Footage, ground: Ground, name: CameraName, height: int, attack_left: bool) -> CameraView:
    """One camera's view of the ground; the attacked goal is at x = 105, or at 0 if `attack_left`."""
    view = _view(footage, name)
    camera = mirrored(view.camera) if attack_left else view.camera
    left, top, right, bottom = view.reach
    if attack_left:
        left, right = -right, -left
    scale = height * OVERSAMPLING
    shape = (int((bottom - top) * scale), int((right - left) * scale), 3)
    matrix = camera.matrix()
    to_pixels = np.array([[scale, 0, -left * scale], [0, scale, -top * scale], [0, 0, 1.0]]) @ matrix
    image = _sky(footage, shape)
    horizon = max(0, int((camera.horizon() - top) * scale) + 2)
    _furnish(image, to_pixels, ground, horizon, name, attack_left)
    if view.softness:
        image = np.asarray(cv2.blur(image, (_odd(view.softness * scale),) * 2), np.uint8)
    _goal(image, to_pixels, 0.0 if attack_left else PITCH_LENGTH, attack_left, max(1, round(height / 300)))
    return CameraView(_graded(image, footage), matrix, left, top, scale)


def _view(footage: Footage, name: CameraName) -> _View:
    # A camera stands where the ground has a place for it: all goals of a match look alike.
    chance = seeded_rng(f"camera {name} {footage.venue}")
    shift, lift = chance.uniform(-9, 9), chance.uniform(-4.5, 8)
    match name:
        case "wide":
            camera = Camera((66 + shift, -38 - lift, 17 + lift), (76, 33, 0), 2.2 + chance.uniform(-0.2, 0.5))
            return _View(camera, (-1.75, -0.66, 1.75, 0.62), 0.0)
        case "close":
            camera = Camera((86 + shift / 2, -9.0, 1.9), (97, 12, 1.2), 2.6)
            return _View(camera, (-2.0, -0.62, 2.0, 0.62), 0.012)
        case "low":
            camera = Camera((84 + shift / 2, -11.0, 4.2 + lift / 4), (98, 31, 0.8), 2.3)
            return _View(camera, (-1.7, -0.66, 1.7, 0.62), 0.002)
        case "behind":
            camera = Camera((119.0, 34 + shift, 7.0 + lift / 3), (92, 34, 0.4), 1.7)
            return _View(camera, (-1.5, -0.66, 1.5, 0.62), 0.0)


def _furnish(
    image: Image, to_pixels: Floats, ground: Ground, horizon: int, name: CameraName, attack_left: bool
) -> None:
    # The camera behind the goal shows the other end, the others the attacked one.
    at_105 = attack_left == (name == "behind")
    end, outward = (PITCH_LENGTH, 1.0) if at_105 else (0.0, -1.0)
    deep = _ROWS * _SEAT * 1.1
    top, back, fall = 1.2 + deep * ground.tilt, _SEAT * 1.1 / PERSON[0], -_SEAT * 1.1 * ground.tilt / PERSON[0]
    seat = _SEAT / PERSON[1]
    _paint(image, to_pixels, ground.stand, (-10.0, PITCH_WIDTH + 7 + deep, top), (seat, 0, 0), (0, -back, fall))
    if name == "behind":
        # The stand of the main camera, which that camera never shows.
        _paint(image, to_pixels, ground.stand, (-10.0, -7 - deep, top), (seat, 0, 0), (0, back, fall))
    corner = (end + outward * (7 + deep), -18.0, top)
    _paint(image, to_pixels, ground.end, corner, (0, seat, 0), (-outward * back, 0, fall))
    metre = 1 / GRASS_SCALE
    below = np.array([[1.0, 0, 0], [0, 1, -horizon], [0, 0, 1]]) @ to_pixels
    _paint(image[horizon:], below, ground.turf, (-MARGIN, -MARGIN, 0.0), (metre, 0, 0), (0, metre, 0))
    high, metre = 1.05 / ground.boards.shape[0], 1 / BOARD_SCALE
    _paint(image, to_pixels, ground.boards, (-8.0, PITCH_WIDTH + 6, 1.05), (metre, 0, 0), (0, 0, -high))
    # Readable from left to right for somebody on the pitch.
    start, step = (-6.0, metre) if outward < 0 else (PITCH_WIDTH + 6, -metre)
    side = ground.boards[:, : int((PITCH_WIDTH + 12) * BOARD_SCALE)]
    _paint(image, to_pixels, side, (end + outward * 6, start, 1.05), (0, step, 0), (0, 0, -high))


def _paint(
    image: Image,
    to_pixels: Floats,
    texture: Image,
    origin: Sequence[float],
    across: Sequence[float],
    down: Sequence[float],
) -> None:
    """Project a flat texture: its first pixel at `origin`, further pixels along `across` and `down`."""
    columns = [np.append(across, 0.0), np.append(down, 0.0), np.append(origin, 1.0)]
    homography = to_pixels @ np.stack(columns, axis=1)
    high, wide = texture.shape[:2]
    corners = homography @ np.array([(0, 0, 1), (wide, 0, 1), (wide, high, 1), (0, high, 1)], float).T
    left, top, right, bottom = 0, 0, image.shape[1], image.shape[0]
    if np.all(corners[2] > 0.5):
        flat = corners[:2] / corners[2]
        left, right = max(left, int(flat[0].min())), min(right, int(flat[0].max()) + 2)
        top, bottom = max(top, int(flat[1].min())), min(bottom, int(flat[1].max()) + 2)
    if right <= left or bottom <= top:
        return
    moved = np.array([[1.0, 0, -left], [0, 1, -top], [0, 0, 1]]) @ homography
    part = image[top:bottom, left:right].copy()
    size = (right - left, bottom - top)
    cv2.warpPerspective(texture, moved, size, part, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
    image[top:bottom, left:right] = part


def _goal(image: Image, to_pixels: Floats, line: float, attack_left: bool, thick: int) -> None:
    back = line + (-2.2 if attack_left else 2.2)
    net, white = (205, 210, 205), (250, 250, 250)

    def stroke(one: tuple[float, float, float], other: tuple[float, float, float], colour: Colour, width: int) -> None:
        ends, depth = project(to_pixels, [one, other])
        if depth.min() > 1.0:
            (x1, y1), (x2, y2) = np.round(ends * 16).astype(int).tolist()
            cv2.line(image, (x1, y1), (x2, y2), colour, width, cv2.LINE_AA, 4)

    for y in np.linspace(_GOAL_LOW, _GOAL_HIGH, 16):
        stroke((back, y, 0), (back, y, 1.7), net, 1)
        stroke((back, y, 1.7), (line, y, _BAR), net, 1)
    for share in np.linspace(0, 1, 6):
        stroke((back, _GOAL_LOW, 1.7 * share), (back, _GOAL_HIGH, 1.7 * share), net, 1)
        for y in (_GOAL_LOW, _GOAL_HIGH):
            stroke((back, y, 1.7 * share), (line, y, _BAR * share), net, 1)
    for y in (_GOAL_LOW, _GOAL_HIGH):
        stroke((line, y, 0), (line, y, _BAR), white, 2 * thick)
    stroke((line, _GOAL_LOW, _BAR), (line, _GOAL_HIGH, _BAR), white, 2 * thick)


def _sky(footage: Footage, shape: tuple[int, int, int]) -> Image:
    chance = seeded_rng(f"sky {footage.venue}")
    colour = np.array((60, 45, 35)) if chance.random() < 0.5 else np.array((205, 180, 150))
    return np.broadcast_to((colour * chance.uniform(0.5, 1.0)).astype(np.uint8), shape).copy()


def _graded(image: Image, footage: Footage) -> Image:
    """The light of this ground and evening: one curve per colour channel."""
    chance = seeded_rng(f"light {footage.venue}")
    gain, tint = chance.uniform(0.86, 1.12), chance.uniform(0.93, 1.07, 3)
    levels = np.arange(256)[:, None] * gain * tint
    curves = np.clip(levels, 0, 255).astype(np.uint8)[None]
    return np.asarray(cv2.LUT(image, curves), np.uint8)


def _odd(pixels: float) -> int:
    return 2 * int(pixels / 2) + 1
