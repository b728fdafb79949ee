"""What the workshop's processes say of their work, checked number by number: they may be in a stranger's hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from found_footy.domain.clips.values import Master, Sprite
from found_footy.ports_library import Keyframe

LONGEST_SIDE = 8192
LONGEST_SHEET = 16_383
"""Pixels of a side, as WebP has it."""
MOST_TERM = 10_000_000
"""Of a rate's numerator and denominator."""
MOST_FRAMES = 2**31 - 1


def master_of(header: Mapping[str, Any], most_seconds: float) -> Master:
    """Without its size and its name, which whoever asked finds out. Raises ValueError."""
    told = _object(header, "master")
    master = Master(
        frames=_number(told, "frames", 1, MOST_FRAMES),
        rate=_rate(told),
        width=_number(told, "width", 2, LONGEST_SIDE),
        height=_number(told, "height", 2, LONGEST_SIDE),
        audio=told.get("audio") is True,
        size=0,
        md5="",
    )
    if master.seconds > most_seconds + 1:
        raise ValueError(f"a master of {master.seconds:.0f} s")
    return master


def sprite_of(header: Mapping[str, Any], frames: int) -> Sprite:
    """Raises ValueError."""
    told = _object(header, "sprite")
    sprite = Sprite(
        columns=_number(told, "columns", 1, LONGEST_SHEET),
        rows=_number(told, "rows", 1, LONGEST_SHEET),
        width=_number(told, "width", 1, LONGEST_SHEET),
        height=_number(told, "height", 1, LONGEST_SHEET),
        count=_number(told, "count", 1, frames),
        every=_number(told, "every", 1, frames),
        frames=frames,
        rate=_rate(told),
    )
    if max(sprite.columns * sprite.width, sprite.rows * sprite.height) > LONGEST_SHEET:
        raise ValueError("a sheet that is too large")
    if (
        sprite.count != -(-frames // sprite.every)
        or not 0 <= sprite.columns * sprite.rows - sprite.count < sprite.columns
    ):
        raise ValueError("a sheet with another number of pictures than there are")
    return sprite


def keyframes_of(header: Mapping[str, Any], first: int, end: int, wanted: Sequence[str]) -> list[Keyframe]:
    """Raises ValueError."""
    told = header.get("keyframes")
    if not isinstance(told, list) or not 0 < len(told) <= len(wanted):
        raise ValueError("not the keyframes that were asked for")
    found = []
    for number, each in enumerate(told):
        frame, chosen_by, width, height = each if isinstance(each, list) and len(each) == 4 else (None,) * 4
        values = {"frame": frame, "width": width, "height": height}
        if not isinstance(chosen_by, str) or chosen_by not in wanted:
            raise ValueError("a keyframe that nobody asked for")
        place = _number(values, "frame", first, end - 1)
        sides = _number(values, "width", 1, LONGEST_SIDE), _number(values, "height", 1, LONGEST_SIDE)
        found.append(Keyframe(number, place, chosen_by, *sides))
    if len({each.frame for each in found}) < len(found):
        raise ValueError("one frame twice")
    return found


def cuts_of(payload: bytes) -> list[int]:
    """Raises ValueError."""
    if len(payload) % 4:
        raise ValueError("cuts that are cut off")
    cuts = np.frombuffer(payload, dtype="<u4").astype(np.int64)
    if cuts.size and (cuts[0] < 1 or cuts[-1] > MOST_FRAMES or np.any(np.diff(cuts) <= 0)):
        raise ValueError("cuts that do not rise from 1")
    return [int(each) for each in cuts]


def _object(header: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    told = header.get(name)
    if not isinstance(told, dict):
        raise ValueError(f"no {name}")
    return told


def _number(told: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = told.get(name)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} is no number from {least} to {most}")
    return value


def _rate(told: Mapping[str, Any]) -> Fraction:
    terms = told.get("rate")
    if not isinstance(terms, list) or len(terms) != 2:
        raise ValueError("a rate is two numbers")
    values = dict(zip(("numerator", "denominator"), terms, strict=True))
    return Fraction(_number(values, "numerator", 1, MOST_TERM), _number(values, "denominator", 1, MOST_TERM))
