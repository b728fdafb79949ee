"""Videos with known cuts: manually annotated recordings, the simulator's, and mixtures of its shots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from footy_simulator.clips.broadcast import WIPE
from footy_simulator.clips.encode import write_master
from footy_simulator.clips.models import MasterSpec
from footy_simulator.clips.plan import goal_footage
from footy_simulator.clips.truth import cuts_of_master
from footy_simulator.loader import load_scenario

RECORDED = Path(__file__).parents[2] / "shared" / "testdata" / "video"
HEIGHT, FPS = 360, 25
GOALS = 4
MIXTURES, SHOTS = 6, 10
FLASHES = 0.3
"""Share of the shots of a mixture that contain a camera flash."""

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Cut:
    frame: int
    slow: bool = False
    """A fade, dissolve or wipe: its middle, or the last black frame, is not exact to the frame."""


@dataclass(frozen=True, slots=True)
class Film:
    group: str
    path: Path
    cuts: tuple[Cut, ...]


LOOKED_AT = {
    "scenes/counter.mp4": (Cut(10), Cut(20)),
    "scenes/fades.mp4": (Cut(84, True), Cut(167, True)),
    "scenes/testvideo.mp4": (Cut(30), Cut(180), Cut(394, True), Cut(543, True)),
    "football/kra-oly-27m.mp4": (Cut(17), Cut(208)),
    "football/rma-sev-04m.mp4": (Cut(129, True),),
    "football/zsc-asc-85m.mp4": (Cut(386), Cut(471), Cut(579, True), Cut(591), Cut(601, True)),
}
"""Annotated manually, frame by frame."""


def recorded() -> list[Film]:
    return [
        Film(f"recorded, {name.split('/')[0]}", RECORDED / name, cuts)
        for name, cuts in LOOKED_AT.items()
        if (RECORDED / name).exists()
    ]


def simulated(folder: Path) -> list[Film]:
    """Return the broadcasts of the first goals of the matchday: two hard cuts and two wipes each."""
    films = []
    matches = [match for match in load_scenario("matchday").matches if match.goals]
    for number, match in enumerate(matches[:GOALS]):
        master = MasterSpec(goal_footage(match, 0), HEIGHT, FPS, 8.0, 32.0)
        path = folder / f"simulated-{number}.mp4"
        write_master(master, path)
        films.append(Film("simulator", path, tuple(Cut(cut.frame, cut.wiped) for cut in cuts_of_master(master))))
    return films


def mixed(folder: Path, films: list[Film]) -> list[Film]:
    """Return their shots in other orders, with effects the simulator lacks: dissolves, fades, plain wipes, flashes."""
    shots = [shot for film in films for shot in _shots(film)]
    made = []
    for number in range(MIXTURES):
        path = folder / f"mixed-{number}.mp4"
        pictures, cuts = _mixture(shots, np.random.default_rng(number))
        _write(path, pictures)
        made.append(Film("mixtures", path, tuple(cuts)))
    return made


def _shots(film: Film) -> Iterator[list[Picture]]:
    with av.open(str(film.path)) as container:
        frames = [np.asarray(frame.to_ndarray(format="bgr24"), np.uint8) for frame in container.decode(video=0)]
    edges = [Cut(0), *film.cuts, Cut(len(frames))]
    away = round(WIPE / 2 * FPS) + 2
    for one, other in pairwise(edges):
        shot = frames[one.frame + away * one.slow : other.frame - away * other.slow]
        if len(shot) >= 50:
            yield shot


def _mixture(shots: list[list[Picture]], chance: np.random.Generator) -> tuple[list[Picture], list[Cut]]:
    film: list[Picture] = []
    cuts: list[Cut] = []
    last = -1
    for _ in range(SHOTS):
        last = int(chance.choice([place for place in range(len(shots)) if place != last]))
        shot = _part(shots[last], chance)
        if not film:
            film = shot
            continue
        kind, length = chance.choice(["cut", "cut", "dissolve", "fade", "wipe"]), int(chance.integers(8, 25))
        if kind == "cut":
            cuts.append(Cut(len(film)))
            film += shot
        elif kind == "fade":
            film, black = _faded(film, shot, length // 2)
            cuts.append(Cut(black, slow=True))
        else:
            cuts.append(Cut(len(film) - length + (length + 1) // 2, slow=True))
            blend = _dissolved if kind == "dissolve" else _wiped
            both = zip(film[-length:], shot, strict=False)
            film[-length:] = [blend(a, b, (n + 1) / (length + 1)) for n, (a, b) in enumerate(both)]
            film += shot[length:]
    return film, cuts


def _part(shot: list[Picture], chance: np.random.Generator) -> list[Picture]:
    length = int(chance.integers(50, min(len(shot), 110) + 1))
    start = int(chance.integers(0, len(shot) - length + 1))
    part = shot[start : start + length]
    if chance.random() < FLASHES:
        at = int(chance.integers(26, length - 25)) if length > 52 else 25
        part[at] = _dissolved(part[at], np.full_like(part[at], 255), 0.7)
    return part


def _dissolved(one: Picture, other: Picture, share: float) -> Picture:
    return np.asarray(cv2.addWeighted(one, 1 - share, other, share, 0), dtype=np.uint8)


def _wiped(one: Picture, other: Picture, share: float) -> Picture:
    edge = round(one.shape[1] * share)
    return np.hstack((other[:, :edge], one[:, edge:]))


def _faded(film: list[Picture], shot: list[Picture], length: int) -> tuple[list[Picture], int]:
    black = np.zeros_like(shot[0])
    shares = [(n + 1) / length for n in range(length)]
    out = [_dissolved(a, black, share) for a, share in zip(film[-length:], shares, strict=True)]
    into = [_dissolved(black, b, share) for b, share in zip(shot, shares, strict=False)]
    film = [*film[:-length], *out, black]
    return [*film, *into, *shot[length:]], len(film) - 1


def _write(path: Path, pictures: list[Picture]) -> None:
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=FPS)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt, stream.options = "yuv420p", {"preset": "superfast", "crf": "23"}
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode(None))
