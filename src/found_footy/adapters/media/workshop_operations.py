"""What the workshop asks of a process that may die of its film: a file in, files and a few numbers out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import cv2
import numpy as np

from found_footy.adapters.media.operations import Said
from found_footy.media import cutting, mastering, range_hash, sprites
from found_footy.media import keyframes as keyframing
from found_footy.media.opening import Limits
from found_footy.media.scenes import find_cuts

Tell = Callable[[float], None]

FRAMES_A_SECOND = 120


def film_limits(wall_seconds: float, film_seconds: float) -> Limits:
    return Limits(frames=int(film_seconds * FRAMES_A_SECOND), seconds=film_seconds, wall_seconds=wall_seconds)


def normalise(path: Path, seconds: float, most: int, tell: Tell, to: str, film_seconds: float) -> Said:
    facts = mastering.make_master(path, Path(to), tell, film_limits(seconds, film_seconds))
    return {"master": {**asdict(facts), "rate": [facts.rate.numerator, facts.rate.denominator]}}, ()


def scenes(path: Path, seconds: float, most: int, tell: Tell, least_seconds: float, film_seconds: float) -> Said:
    found = find_cuts(path, least_seconds, film_limits(seconds, film_seconds), tell)
    return {}, [np.asarray(found.cuts, dtype="<u4").tobytes()]


def cut(path: Path, seconds: float, most: int, to: str, first: int, end: int) -> Said:
    cutting.cut(path, first, end, Path(to), Limits(wall_seconds=seconds))
    return {}, ()


def sprite(path: Path, seconds: float, most: int, to: str, first: int, end: int) -> Said:
    _one_thread()
    made = sprites.make_sheet(path, first, end, Path(to), Limits(wall_seconds=seconds))
    return {"sprite": {**asdict(made), "rate": [made.rate.numerator, made.rate.denominator]}}, ()


def keyframes(path: Path, seconds: float, most: int, folder: str, first: int, end: int, wanted: Sequence[str]) -> Said:
    _one_thread()
    taken = keyframing.take_keyframes(path, first, end, wanted, Path(folder), Limits(wall_seconds=seconds))
    return {"keyframes": [[each.frame, each.chosen_by, each.width, each.height] for each in taken]}, ()


def fingerprint(path: Path, seconds: float, most: int, first: int, end: int) -> Said:
    _one_thread()
    return {}, [range_hash.hash_range(path, first, end, Limits(wall_seconds=seconds)).to_bytes()]


def _one_thread() -> None:
    """As many films are worked on at once as there are processors; more threads would only wait for each other."""
    cv2.setNumThreads(1)
