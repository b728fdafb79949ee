"""Time alignment of a goal's clips: which second of each clip shows the same moment. Pure functions.

Clips of one pool show different footage, or they would have been merged. The two pools are never deduplicated against
each other, and different broadcasts of a goal show the same match clock. Fingerprints are accurate to an eighth of a
second and clocks to a second, so fingerprints are tried first.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from found_footy.clips.dedup import DuplicatePair, find_duplicates
from found_footy.clips.models import FrameReading
from found_footy.clips.verification import drop_stopped_clocks, match_second
from found_footy.media.fingerprint import Fingerprint

MAX_CLOCK_JITTER_SECONDS = 2.0
"""Maximum difference, in seconds, between the clip starts computed from two readings: clocks show whole seconds."""


class AlignedBy(StrEnum):
    REFERENCE = "reference"
    PICTURES = "pictures"
    CLOCK = "clock"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ClipOffset:
    offset: float | None
    """Seconds to add to a time in the clip to get the time in the reference; None if unknown."""
    by: AlignedBy


@dataclass(frozen=True, slots=True, eq=False)
class ClipFacts:
    id: str
    fingerprint: Fingerprint | None = None
    readings: tuple[FrameReading, ...] = ()


def align(clips: Sequence[ClipFacts]) -> dict[str, ClipOffset]:
    """Align clips to the first one, which is the reference."""
    fingerprints = {clip.id: clip.fingerprint for clip in clips if clip.fingerprint is not None}
    pairs = find_duplicates([], list(fingerprints), fingerprints)
    starts = {clip.id: start for clip in clips if (start := start_by_clock(clip.readings)) is not None}
    return by_pairs_and_clocks([clip.id for clip in clips], pairs, starts)


def by_pairs_and_clocks(
    ids: Sequence[str], pairs: Iterable[DuplicatePair], starts: Mapping[str, float]
) -> dict[str, ClipOffset]:
    """Align clips by fingerprint, then by clock. `starts` holds the match second at which a clip begins, if known."""
    if not ids:
        return {}
    steps: dict[str, list[tuple[str, float]]] = {}
    for pair in pairs:
        steps.setdefault(pair.a, []).append((pair.b, pair.offset))
        steps.setdefault(pair.b, []).append((pair.a, -pair.offset))
    aligned = {ids[0]: ClipOffset(0.0, AlignedBy.REFERENCE)}
    _spread(ids[0], AlignedBy.PICTURES, aligned, steps)
    for name in ids:
        beside = next((other for other in ids if other in aligned and other in starts), None)
        if name not in aligned and name in starts and beside is not None:
            aligned[name] = ClipOffset(_offset(aligned, beside) + starts[name] - starts[beside], AlignedBy.CLOCK)
            _spread(name, AlignedBy.CLOCK, aligned, steps)
    return {name: aligned.get(name, ClipOffset(None, AlignedBy.NOTHING)) for name in ids}


def start_by_clock(readings: Sequence[FrameReading]) -> float | None:
    """Match second at the clip's start on which most readings agree. A replay's clock may disagree."""
    starts = [second - each.at for each in drop_stopped_clocks(readings) if (second := match_second(each)) is not None]
    agreeing = [[other for other in starts if abs(other - start) <= MAX_CLOCK_JITTER_SECONDS] for start in starts]
    best = max(agreeing, key=len, default=[])
    return median(best) if len(best) * 2 > len(starts) else None


def _spread(
    name: str, by: AlignedBy, aligned: dict[str, ClipOffset], steps: Mapping[str, Sequence[tuple[str, float]]]
) -> None:
    """Traverse breadth-first: the fewest steps accumulate the least error."""
    waiting = deque([name])
    while waiting:
        here = waiting.popleft()
        for other, step in steps.get(here, ()):
            if other not in aligned:
                aligned[other] = ClipOffset(round(_offset(aligned, here) - step, 3), by)
                waiting.append(other)


def _offset(aligned: Mapping[str, ClipOffset], name: str) -> float:
    offset = aligned[name].offset
    assert offset is not None
    return offset


# --- Cache of alignments: a goal's alignment changes only when its clips change.


MAX_CACHED_GOALS = 1000
MAX_CLIPS = 40
"""Clips per goal that are aligned; lower-ranked clips are shown without an offset."""


class ClipAlignment:
    """Alignment cache; one per process."""

    def __init__(self, load_fingerprints: Callable[[str], Awaitable[Mapping[str, Fingerprint]]]) -> None:
        self._load_fingerprints = load_fingerprints
        self._known: OrderedDict[tuple[str, ...], Mapping[str, ClipOffset]] = OrderedDict()

    async def aligned(self, event_id: str, clips: Sequence[ClipFacts]) -> Mapping[str, ClipOffset]:
        """Offsets of clips that are given in rank order, without fingerprints."""
        clips = clips[:MAX_CLIPS]
        if len(clips) < 2:
            return {clip.id: ClipOffset(0.0, AlignedBy.REFERENCE) for clip in clips}
        name = (event_id, *(clip.id for clip in clips))
        found = self._known.get(name)
        if found is None:
            fingerprints = await self._load_fingerprints(event_id)
            facts = [replace(clip, fingerprint=fingerprints.get(clip.id)) for clip in clips]
            found = self._known[name] = await asyncio.to_thread(align, facts)
            if len(self._known) > MAX_CACHED_GOALS:
                self._known.popitem(last=False)
        self._known.move_to_end(name)
        return found
