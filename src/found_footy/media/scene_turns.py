"""Whether one picture slowly becomes another: a dissolve, a wipe, or something that covers the change. Pure.

What a camera does looks much like it, from far. So the pictures on the way are taken apart: in a dissolve each is a
mixture of the one before and the one after; in a wipe each pixel is of the one or of the other; what covers a change
is like neither.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

Tiny = NDArray[np.uint8]
"""A small picture: 3 x height x width, brightness and two colours."""

LEAST_CHANGE = 8.0
"""By so much two pictures differ, on average over their pixels, that may be of two scenes."""
OUTSIDE = 0.45
"""A change is a turn if there is less than this share of it just before and just after; else all of it is motion."""
ALIKE = 0.85
"""Pictures whose brightness correlates by more are one picture in another light."""
FAINT = 9.0
"""Deviation of the brightness of a picture with next to nothing in it: what comes or goes there is a fade."""
MIXED = 0.36
"""What is left of a picture that no mixture of the two explains, as a share of their difference."""
PIXELWISE = 0.2
"""The same where each pixel may have its own mixture."""
UNDECIDED = 0.25
"""In a wipe, the share of the change on pixels that are neither the one nor the other."""
COVERED = 1.03
"""How far from both pictures one is that covers the change, as a multiple of their difference."""
STILL = 0.3
"""How much it moves from frame to frame once all is covered, as a share of that. A camera that turns never rests."""
MIDDLE = (0.25, 0.75)
"""How much of the change has happened in the middle of it."""
NOT_YET = 0.2
"""So near to one of the two, the middle picture is that one: most windows end here, since this costs little."""


class Around(NamedTuple):
    """Pictures around the middle of what may be a turn: two halves before it, a half, a quarter, a frame, and so on."""

    long_before: Tiny
    before: Tiny
    early: Tiny
    just_before: Tiny
    middle: Tiny
    just_after: Tiny
    late: Tiny
    after: Tiny
    long_after: Tiny


class _Mixture(NamedTuple):
    """How a picture on the way is made up of the two."""

    share: float
    """Of the picture after."""
    rest: float
    """What one share for all pixels leaves over, in relation to the whole change."""
    pixel_rest: float
    """What a share for each pixel leaves over."""
    undecided: float
    """The part of the change that lies on pixels which are neither the one nor the other."""


def apart(one: Tiny, other: Tiny) -> float:
    """The mean difference of two pictures, 0 to 255."""
    return float(cv2.norm(one, other, cv2.NORM_L1)) / one.size


def turn_strength(around: Around) -> float:
    """0 where it is none; otherwise how large and how clear it is."""
    change = apart(around.before, around.after)
    if change < LEAST_CHANGE:
        return 0.0
    away = min(apart(around.middle, around.before), apart(around.middle, around.after))
    if away < NOT_YET * change:
        return 0.0
    covered = away >= COVERED * change and apart(around.just_before, around.just_after) <= STILL * away
    scale = max(change, away) if covered else change
    outside = max(apart(around.long_before, around.before), apart(around.after, around.long_after)) / scale
    if outside >= OUTSIDE or not _are_two_pictures(around.before[0], around.after[0]):
        return 0.0
    middle = _mixture(around, around.middle, change)
    half_way = _is_half_way(middle)
    if not (covered or half_way):
        return 0.0
    on_the_way = (_mixture(around, around.early, change), middle, _mixture(around, around.late, change))
    # What covers is there a quarter before and a quarter after, too: it is longer than a flash.
    hidden = covered and all(part.pixel_rest >= 2 * PIXELWISE for part in on_the_way)
    return scale * (1.0 - outside) if hidden or (half_way and _is_mixed(*on_the_way)) else 0.0


def _is_mixed(early: _Mixture, middle: _Mixture, late: _Mixture) -> bool:
    parts = (early, middle, late)
    if not early.share < middle.share < late.share:
        return False
    return all(part.rest <= MIXED for part in parts) or all(_is_swept(part) for part in parts)


def _is_half_way(middle: _Mixture) -> bool:
    return MIDDLE[0] <= middle.share <= MIDDLE[1] and (middle.rest <= MIXED or _is_swept(middle))


def _is_swept(part: _Mixture) -> bool:
    return part.pixel_rest <= PIXELWISE and part.undecided <= UNDECIDED


def _are_two_pictures(one: Tiny, other: Tiny) -> bool:
    """Both show something, and not the same."""
    deviations = float(one.std()), float(other.std())
    if min(deviations) < FAINT:
        return False
    together = float(((one - one.mean()) * (other - other.mean())).mean())
    return together / (deviations[0] * deviations[1]) <= ALIKE


def _mixture(around: Around, picture: Tiny, change: float) -> _Mixture:
    before = around.before.astype(np.float32)
    way, step = around.after - before, picture - before
    length = (way * way).sum(axis=0) + 1e-3
    along = (step * way).sum(axis=0)
    whole = float(length.sum())
    share = float(along.sum()) / whole
    rest = float(np.sqrt(((step - share * way) ** 2).sum() / whole))
    shares = np.clip(along / length, 0.0, 1.0)
    pixel_rest = float(np.abs(step - shares * way).mean()) / change
    undecided = float(length[(shares > 0.2) & (shares < 0.8)].sum()) / whole
    return _Mixture(share, rest, pixel_rest, undecided)
