"""Where a rendered film cuts from one camera to the next, by frame. Pure: the timeline says it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from found_footy.simulator.clips.spec import ClipSpec, Master
from found_footy.simulator.clips.timeline import timeline_of

_WITH_CUTS = ("match", "cricket")
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Cut:
    frame: int
    """The first one of the new shot."""
    wiped: bool
    """Whether a wipe covers it: then nobody can see the very frame."""


def cuts_of_master(master: Master) -> tuple[Cut, ...]:
    """Those after its first frame and before its end."""
    if master.footage.scene not in _WITH_CUTS:
        return ()
    timeline = timeline_of(master.footage)
    frames = round((master.end - master.start) * master.fps)
    first = round(master.start * master.fps)
    found = [
        Cut(math.ceil(shot.start * master.fps - _ROUNDING) - first, shot.start in timeline.wipes)
        for shot in timeline.shots[1:]
    ]
    return tuple(cut for cut in found if 0 < cut.frame < frames)


def cuts_of(spec: ClipSpec) -> tuple[Cut, ...]:
    """Of a copy: each frame of it shows the master's frame that is on at its time."""
    begin, rate = spec.start - spec.master.start, spec.master.fps
    frames = round(spec.length * spec.fps)
    found = [
        Cut(math.ceil(((cut.frame - 0.5) / rate - begin) * spec.fps - _ROUNDING), cut.wiped)
        for cut in cuts_of_master(spec.master)
    ]
    return tuple(cut for cut in found if 0 < cut.frame < frames)
