"""Films with known cuts that the tests make for themselves, out of the scenes of `made_clips`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, pairwise

import cv2
import numpy as np

from tests.media.made_clips import HEIGHT, WIDTH, Picture, scene

FPS = 25


def shot(seed: int, frames: int, start: float = 0.0) -> list[Picture]:
    """At a quarter of the scene's own speed, which is about that of a camera that follows a match."""
    return list(islice(scene(frames / FPS + 1, 4 * FPS, seed, start), frames))


def joined(shots: Sequence[Sequence[Picture]]) -> tuple[list[Picture], list[int]]:
    """Hard cuts: the frames, and the first of each shot but the first."""
    ends = np.cumsum([len(each) for each in shots]).tolist()
    return [picture for each in shots for picture in each], ends[:-1]


def blended(
    one: Sequence[Picture], other: Sequence[Picture], frames: int, blend: Callable[[Picture, Picture, float], Picture]
) -> tuple[list[Picture], int]:
    """The last frames of the one run together with the first of the other; the middle of it."""
    film, last = list(one[:-frames]), one[-frames:]
    middle = len(film) + (frames + 1) // 2
    film += [blend(a, b, (n + 1) / (frames + 1)) for n, (a, b) in enumerate(zip(last, other, strict=False))]
    return [*film, *other[frames:]], middle


def dissolve(a: Picture, b: Picture, share: float) -> Picture:
    return np.asarray(cv2.addWeighted(a, 1 - share, b, share, 0), dtype=np.uint8)


def wipe(a: Picture, b: Picture, share: float) -> Picture:
    edge = round(a.shape[1] * share)
    return np.hstack((b[:, :edge], a[:, edge:]))


def banner(a: Picture, b: Picture, share: float) -> Picture:
    """Coloured bands sweep in, cover everything, and sweep out again."""
    picture = (a if share < 0.5 else b).copy()
    width = picture.shape[1]
    left = round(width * max(0.0, (share - 0.6) / 0.4))
    right = round(width * min(1.0, share / 0.4))
    picture[:, left:right] = (180, 60, 20)
    picture[:, left : (left + right) // 2] = (20, 200, 230)
    return picture


def faded(one: Sequence[Picture], other: Sequence[Picture], frames: int, level: int = 0) -> tuple[list[Picture], int]:
    """Out to black (or another level of grey) and in again; the last flat frame."""
    flat = np.full_like(one[0], level)
    shares = [(n + 1) / frames for n in range(frames)]
    out = [dissolve(picture, flat, share) for picture, share in zip(one[-frames:], shares, strict=True)]
    into = [dissolve(flat, picture, share) for picture, share in zip(other[:frames], shares, strict=True)]
    film = [*one[:-frames], *out, flat, flat, flat]
    return [*film, *into, *other[frames:]], len(film) - 1


def flashed(shot: Sequence[Picture], at: Sequence[int]) -> list[Picture]:
    """Photographers at work: these frames are far too bright."""
    white = np.full_like(shot[0], 255)
    return [dissolve(picture, white, 0.7) if number in at else picture for number, picture in enumerate(shot)]


def captioned(shot: Sequence[Picture], since: int) -> list[Picture]:
    """From this frame on a caption stands in the lower third."""
    film = [picture.copy() for picture in shot]
    for picture in film[since:]:
        picture[-50:-20, 30:-30] = (200, 40, 40)
    return film


def panned(frames: int, pixels: int, seed: int = 9) -> list[Picture]:
    """A camera that turns fast over one world and stands still before and after."""
    chance = np.random.default_rng(seed)
    third = frames // 3
    wide = WIDTH + pixels * third
    coarse = cv2.resize(chance.integers(0, 255, (9, wide // 30, 3), dtype=np.uint8), (wide, HEIGHT))
    fine = cv2.resize(chance.integers(0, 255, (90, wide // 2, 3), dtype=np.uint8), (wide, HEIGHT))
    world = np.asarray(cv2.addWeighted(coarse, 0.8, fine, 0.2, 0), dtype=np.uint8)
    lefts = [pixels * min(max(0, number - third), third) for number in range(frames)]
    return [world[:, left : left + WIDTH] for left in lefts]


def pillarboxed(film: Sequence[Picture]) -> list[Picture]:
    """A portrait film between black bars."""
    made = []
    for picture in film:
        frame = np.zeros_like(picture)
        width = HEIGHT * 9 // 16
        left = (WIDTH - width) // 2
        frame[:, left : left + width] = picture[:, left : left + width]
        made.append(frame)
    return made


def darkened(shot: Sequence[Picture], to: float) -> list[Picture]:
    """The light goes slowly."""
    shares = np.linspace(1.0, to, len(shot)).tolist()
    return [cv2.convertScaleAbs(picture, alpha=share) for picture, share in zip(shot, shares, strict=True)]


def shortest(cuts: Sequence[int], frames: int) -> int:
    return min(after - before for before, after in pairwise((0, *cuts, frames)))
