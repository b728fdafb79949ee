"""At what constant rate a film is shown, and which of its pictures fills which place. Pure: times in, numbers out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeVar

import numpy as np

from found_footy.media.timeline import Floats

T = TypeVar("T")

STANDARD = tuple(
    Fraction(numerator, denominator)
    for numerator, denominator in (
        *((24000, 1001), (24, 1), (25, 1), (30000, 1001), (30, 1), (50, 1), (60000, 1001), (60, 1)),
        *((5, 1), (8, 1), (10, 1), (12, 1), (25, 2), (15000, 1001), (15, 1), (20, 1), (48, 1), (100, 1), (120, 1)),
    )
)
FASTEST = Fraction(60)
"""Frames a second of a film whose rate is chosen here."""
FASTEST_KEPT = Fraction(120)
SLOWEST = Fraction(1, 10)
OFF = 0.25
"""By so much of a frame each picture may come too early or too late for the rate to be constant."""
LARGEST_DENOMINATOR = 1001


def constant_rate(seconds: Floats, named: Fraction | None) -> Fraction | None:
    """The rate at which picture n is shown at n / rate; None where there is none.

    `seconds` rise from 0. `named` is what the file says, which is believed where it fits.
    """
    span = float(seconds[-1]) if seconds.size else 0.0
    if seconds.size < 2 or span <= 0:
        return None
    mean = Fraction((seconds.size - 1) / span).limit_denominator(LARGEST_DENOMINATOR)
    named = named.limit_denominator(LARGEST_DENOMINATOR) if named else None
    nearest = sorted(STANDARD, key=lambda rate: abs(rate - mean))
    candidates = [rate for rate in (named, *nearest[:3], mean) if rate and SLOWEST <= rate <= FASTEST_KEPT]
    if not candidates:
        return None
    # Rounded, so that what differs by the file's own coarse times is alike, and the likelier one comes first.
    off, _, best = min((round(_off(seconds, rate), 2), place, rate) for place, rate in enumerate(candidates))
    return best if off <= OFF else None


def chosen_rate(seconds: Floats, named: Fraction | None) -> Fraction:
    """For a film whose pictures come unevenly: the standard rate nearest to the step that is commonest."""
    steps = np.diff(seconds)
    steps = steps[steps > 0]
    if not steps.size:
        named = (named or Fraction(0)).limit_denominator(LARGEST_DENOMINATOR)
        return named if SLOWEST <= named <= FASTEST else Fraction(25)
    step = Fraction(1 / float(np.median(steps))).limit_denominator(LARGEST_DENOMINATOR)
    if step < STANDARD_LEAST:
        return max(step, SLOWEST)
    return min((rate for rate in STANDARD if rate <= FASTEST), key=lambda rate: abs(rate - step))


STANDARD_LEAST = min(STANDARD) * Fraction(9, 10)
"""Slower ones (a camera at a door, slides) stay as slow as they are."""


def places(pictures: Iterable[tuple[float, T]], rate: Fraction, total: int) -> Iterator[tuple[int, T]]:
    """(place, picture) for each place from 0 to `total`, from (seconds, picture) in the order of showing.

    Of two pictures in one place the later one is shown; where a picture is missing, the one before it stays.
    """
    at = 0
    waiting: list[T] = []
    for seconds, picture in pictures:
        place = min(max(round(seconds * rate), 0), total - 1)
        while waiting and at < place:
            yield at, waiting[0]
            at += 1
        waiting = [picture]
    while waiting and at < total:
        yield at, waiting[0]
        at += 1


def ticks(rate: Fraction) -> tuple[int, int]:
    """The units of a second in which each frame lasts a whole number of them, and that number."""
    times = max(1, -(-10_000 // rate.numerator))
    return rate.numerator * times, rate.denominator * times


def _off(seconds: Floats, rate: Fraction) -> float:
    """How far the picture that is farthest off its place is off, in frames."""
    return float(np.max(np.abs(seconds * float(rate) - np.arange(seconds.size))))
