"""Where one scene ends and the next begins, decided over what was measured of the frames. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from found_footy.media.scene_signal import Floats, Signal

LEAST_JUMP = 4.0
"""How far the frames of two scenes are apart."""
LEAST_SPREAD = 0.22
"""A new scene is new all over; a caption that comes up is not."""
JUMP_RATIO = 2.0
"""A jump is so many times the largest step from frame to frame beside it."""
BESIDE = 3
"""Frames on each side."""

BLACK, DARK = 24.0, 32.0
"""Brightness (16 is black on television): below the one a frame is black, above the other it is not any more."""
FLAT, DETAILED = 6.0, 12.0
"""The same for its deviation."""
DARKEST = 0.75
"""Of the black frames between two scenes, those that are no more than this above the darkest count as the bottom."""
ABRUPT = 15.0
"""A step from one frame to the next that no fade makes: there it flashes."""
AT_ONCE = 0.4
"""Where one leap makes up this share of a change, it is no slow one."""

HARD, FADE, TURN = 3, 2, 1
"""Where two are closer together than scenes may be, the one that says more exactly where counts."""


class Found(NamedTuple):
    """What may be a cut."""

    kind: int
    strength: float
    frame: int


def cuts_of(signal: Signal, least_frames: int) -> tuple[int, ...]:
    """The first frame of each scene but the first; no scene is shorter than `least_frames`."""
    least = max(1, least_frames)
    leaps = _leaps(signal.near)
    jumps = [Found(HARD, float(leaps[at]), at) for at in _places(leaps, signal.spread >= LEAST_SPREAD)]
    found = [*jumps, *_fades(signal, jumps), *_turns(signal, leaps, least)]
    free = np.zeros(signal.frames + 1, dtype=bool)
    free[least : max(least, signal.frames - least + 1)] = True
    taken: list[int] = []
    for each in sorted(found, key=lambda one: (-one.kind, -one.strength, one.frame)):
        if free[each.frame]:
            taken.append(each.frame)
            free[max(0, each.frame - least + 1) : each.frame + least] = False
    return tuple(sorted(taken))


def _leaps(near: Floats) -> Floats:
    """How far it is from just before each frame to just after, where much changes at once and stays so; else 0.

    What flashes up is back within the frames compared.
    """
    frames, lags = near.shape
    reach = (lags + 1) // 2
    between = np.full(frames, np.inf, dtype=np.float32)
    for before in range(1, reach + 1):
        for after in range(min(reach, frames)):
            # From `before` frames before the cut to `after` frames after it; not where one of them is not there.
            apart = near[after:, before + after - 1]
            part = between[: len(apart)]
            part[before:] = np.minimum(part[before:], apart[before:])
    between[:1] = 0
    steps = np.pad(near[:, 0], BESIDE)
    beside = np.stack([steps[BESIDE + shift :][:frames] for shift in range(-BESIDE, BESIDE + 1) if shift]).max(axis=0)
    between[(between < LEAST_JUMP) | (between < JUMP_RATIO * beside)] = 0
    return between


def _places(values: Floats, condition: NDArray[np.bool_]) -> list[int]:
    places: list[int] = np.flatnonzero((values > 0) & condition).tolist()
    return places


def _fades(signal: Signal, jumps: list[Found]) -> list[Found]:
    """The last flat frame between two pictures: the next one rises from it.

    A jump into the dark, or out of it, needs no second cut. White counts only between pictures that show something:
    there are films of flat colours.
    """
    found = []
    jumped = np.zeros(signal.frames + 1, dtype=bool)
    jumped[[jump.frame for jump in jumps]] = True
    for light, white in ((signal.light, False), (255.0 - signal.light, True)):
        runs = _dark_runs(light, signal.contrast)
        ends = [0, *(end for _, end in runs)]
        starts = [*(start for start, _ in runs), signal.frames]
        for place, (start, end) in enumerate(runs):
            if start == 0 or end == signal.frames or jumped[start : end + 1].any():
                continue
            if float(signal.near[start : end + 1, 0].max()) > ABRUPT:
                continue
            sides = signal.contrast[ends[place] : start], signal.contrast[end : starts[place + 1]]
            if white and min(float(side.max(initial=0)) for side in sides) < DETAILED:
                continue
            part = light[start:end]
            last = int(np.flatnonzero(part <= part.min() + DARKEST)[-1])
            found.append(Found(FADE, float(end - start), start + last))
    return found


def _dark_runs(light: Floats, contrast: Floats) -> list[tuple[int, int]]:
    """From the first flat frame to the last, until a picture is seen again."""
    black: NDArray[np.int64] = np.flatnonzero((light < BLACK) & (contrast < FLAT))
    bright = np.cumsum((light > DARK) | (contrast > DETAILED))
    runs: list[tuple[int, int]] = []
    for at in black.tolist():
        if runs and bright[at] == bright[runs[-1][1] - 1]:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def _turns(signal: Signal, leaps: Floats, least: int) -> list[Found]:
    """The middle of each group of frames that may be the middle of a slow change: one without a leap on the way."""
    turn = signal.turn.copy()
    for middle in np.flatnonzero(turn).tolist():
        half = int(signal.half[middle])
        on_the_way = leaps[max(0, middle - half + 1) : middle + half + 1]
        if float(on_the_way.max(initial=0)) > AT_ONCE * turn[middle]:
            turn[middle] = 0
    places = np.flatnonzero(turn)
    if not places.size:
        return []
    groups = np.split(places, np.flatnonzero(np.diff(places) > max(1, least // 2)) + 1)
    found = []
    for group in groups:
        weights = turn[group]
        middle = round(float((group * weights).sum() / weights.sum()))
        found.append(Found(TURN, float(weights.max()), middle))
    return found
