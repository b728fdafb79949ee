"""Which pictures of a video have to be decoded to show it at given moments. Pure: times in, a plan out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from found_footy.media.timeline import Floats, Timeline

SHORT_GAP_SECONDS = 0.1
"""As measured: leaving out less than this saves nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """For each packet of the file, in the order of decoding."""

    wanted: NDArray[np.bool_]
    """Its picture is asked for."""
    needed: NDArray[np.bool_]
    """It has to be given to the decoder: wanted, or perhaps referred to by one that is."""
    moments: dict[int, list[int]]
    """From a wanted picture's pts to the places, in the list of moments asked for, that it serves."""


def plan(timeline: Timeline, moments: Iterable[float]) -> Plan:
    asked = np.fromiter(moments, dtype=np.float64)
    order = np.flatnonzero(timeline.shown)
    order = order[np.argsort(timeline.seconds[order], kind="stable")]
    chosen = order[_shown_at(timeline.seconds[order], asked, 1.0 / timeline.rate)]
    wanted = np.zeros(timeline.pts.size, dtype=np.bool_)
    wanted[chosen] = True
    serves: dict[int, list[int]] = {}
    for place, packet in enumerate(chosen.tolist()):
        serves.setdefault(int(timeline.pts[packet]), []).append(place)
    return Plan(wanted, _without_short_gaps(_needed(timeline, wanted), timeline.rate), serves)


def _shown_at(shown: Floats, asked: Floats, interval: float) -> NDArray[np.intp]:
    """The index of the picture nearest to each moment; over a gap, the one that stands still is on screen."""
    after = np.searchsorted(shown, asked, side="right").clip(0, shown.size - 1)
    before = (after - 1).clip(0)
    nearer = (shown[after] - asked < asked - shown[before]) & (shown[after] - shown[before] < 1.5 * interval)
    late = asked >= shown[after]
    return np.where(nearer | late, after, before)


def _needed(timeline: Timeline, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From each keyframe to the last wanted picture before the next one.

    Pictures that follow a keyframe and are shown before it (an open group) also refer to the group before: where
    one of those is wanted, all of that group is needed.
    """
    needed = np.zeros(wanted.size, dtype=np.bool_)
    bounds = [0, *(np.flatnonzero(timeline.keyframe[1:]) + 1).tolist(), wanted.size]
    whole = False
    for begin, end in reversed(list(pairwise(bounds))):
        inside = np.flatnonzero(wanted[begin:end])
        if whole:
            needed[begin:end] = True
        elif inside.size:
            needed[begin : begin + int(inside[-1]) + 1] = True
        leading = timeline.seconds[begin:end] < timeline.seconds[begin]
        whole = bool(np.any(leading & wanted[begin:end]))
    return needed


def _without_short_gaps(needed: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """A gap makes the decoder start afresh, which costs about as much as a short one saves."""
    filled = needed.copy()
    places = np.flatnonzero(needed)
    for before, after in pairwise(places.tolist()):
        if after - before <= SHORT_GAP_SECONDS * rate:
            filled[before:after] = True
    return filled
