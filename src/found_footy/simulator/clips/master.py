"""The master of a footage: rendered once, from which all copies are made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from found_footy.simulator.clips.camera import Image
from found_footy.simulator.clips.cricket_scene import CricketScene
from found_footy.simulator.clips.encoder import write_video
from found_footy.simulator.clips.kinds import Scene
from found_footy.simulator.clips.match_scene import MatchScene
from found_footy.simulator.clips.other_scenes import BasketballScene, LandscapeScene, StudioScene
from found_footy.simulator.clips.planes import Planes, from_bgr, width_of
from found_footy.simulator.clips.seeds import generator
from found_footy.simulator.clips.spec import Footage, Master

_GRAINS = 5
_GRAIN = 4
"""How far the grain lifts a pixel at most, in steps of brightness."""

AnyScene = MatchScene | CricketScene | StudioScene | BasketballScene | LandscapeScene

_SCENES: dict[Scene, type[AnyScene]] = {
    "match": MatchScene,
    "cricket": CricketScene,
    "studio": StudioScene,
    "basketball": BasketballScene,
    "landscape": LandscapeScene,
}


def scene_of(footage: Footage, width: int, height: int) -> AnyScene:
    return _SCENES[footage.scene](footage, width, height)


def write_master(master: Master, path: Path) -> None:
    size = (width_of(master.height), master.height)
    write_video(path, _frames(master, size), size, master.fps, kbit=None, audible=False)


def _frames(master: Master, size: tuple[int, int]) -> Iterator[Planes]:
    scene = scene_of(master.footage, *size)
    grains = _grains(master.footage, size)
    for number in range(round((master.end - master.start) * master.fps)):
        # The grain belongs to the moment, not to the file: a master that starts later shows the same.
        moment = round(master.start * master.fps) + number
        picture = from_bgr(scene.draw(moment / master.fps))
        yield Planes(
            np.asarray(cv2.add(picture.y, grains[moment % _GRAINS]), np.uint8),
            picture.u,
            picture.v,
        )


def _grains(footage: Footage, size: tuple[int, int]) -> list[Image]:
    chance = generator(f"grain {footage.moment}")
    return [chance.integers(0, _GRAIN, (size[1], size[0]), dtype=np.uint8) for _ in range(_GRAINS)]
