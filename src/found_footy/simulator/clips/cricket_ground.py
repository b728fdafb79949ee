"""A cricket ground as its two cameras see it: stands, outfield, pitch, creases and stumps, drawn once a camera."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.codes import kits_of
from found_footy.simulator.clips.seeds import generator
from found_footy.simulator.clips.spec import Footage
from found_footy.simulator.clips.textures import crowd, hoardings

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


def tall_at(y: float, view: View) -> float:
    """How tall a person is whose feet are there, as a share of the picture's height."""
    return (0.055 if view is BEHIND else 0.09) + 0.42 * max(0.0, y - HORIZON) * (0.8 if view is BEHIND else 0.65)


def still_of(footage: Footage, view: View, width: int, height: int) -> Image:
    """All that stands still, as a picture (BGR) larger than the frame."""
    wide, high = round(width * OVERSAMPLING), round(height * OVERSAMPLING)
    camera = "behind" if view is BEHIND else "square"
    chance = generator(f"cricket {camera} {footage.moment}")
    picture = np.zeros((high, wide, 3), np.uint8)
    horizon = round(HORIZON * high)
    _stands(picture[:horizon], footage, chance)
    picture[horizon:] = _outfield(footage, chance, high - horizon, wide)
    _pitch(picture, view)
    _stumps(picture, view.bat, tall_at(view.bat[1], view) * 0.42)
    _stumps(picture, view.bowl, tall_at(view.bowl[1], view) * 0.42)
    light = generator(f"light {footage.venue}").uniform(0.86, 1.08) * chance.uniform(0.95, 1.05)
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
    venue = generator(f"outfield {footage.venue}")
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
        reach = tall_at(y, view)
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
