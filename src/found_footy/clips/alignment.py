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
    return align_by_pairs_and_clocks([clip.id for clip in clips], pairs, starts)


def align_by_pairs_and_clocks(
    ids: Sequence[str], pairs: Iterable[DuplicatePair], starts: Mapping[str, float]
) -> dict[str, ClipOffset]:
    """Align clips by fingerprint, then by clock. `starts` holds the match second at which a clip begins, if known."""
    if not ids:
        return {}
    neighbours: dict[str, list[tuple[str, float]]] = {}
    for pair in pairs:
        neighbours.setdefault(pair.a, []).append((pair.b, pair.offset))
        neighbours.setdefault(pair.b, []).append((pair.a, -pair.offset))
    aligned = {ids[0]: ClipOffset(0.0, AlignedBy.REFERENCE)}
    _propagate(ids[0], AlignedBy.PICTURES, aligned, neighbours)
    for clip_id in ids:
        anchor = next((other for other in ids if other in aligned and other in starts), None)
        if clip_id not in aligned and clip_id in starts and anchor is not None:
            aligned[clip_id] = ClipOffset(_offset(aligned, anchor) + starts[clip_id] - starts[anchor], AlignedBy.CLOCK)
            _propagate(clip_id, AlignedBy.CLOCK, aligned, neighbours)
    return {clip_id: aligned.get(clip_id, ClipOffset(None, AlignedBy.NOTHING)) for clip_id in ids}


def start_by_clock(readings: Sequence[FrameReading]) -> float | None:
    """Match second at the clip's start, if most readings agree on it. A replay's clock may disagree."""
    starts = [second - each.at for each in drop_stopped_clocks(readings) if (second := match_second(each)) is not None]
    groups = [[other for other in starts if abs(other - start) <= MAX_CLOCK_JITTER_SECONDS] for start in starts]
    largest = max(groups, key=len, default=[])
    return median(largest) if len(largest) * 2 > len(starts) else None


def _propagate(
    start: str, by: AlignedBy, aligned: dict[str, ClipOffset], neighbours: Mapping[str, Sequence[tuple[str, float]]]
) -> None:
    """Traverse breadth-first: the fewest steps accumulate the least error."""
    queue = deque([start])
    while queue:
        current = queue.popleft()
        for neighbour, step in neighbours.get(current, ()):
            if neighbour not in aligned:
                aligned[neighbour] = ClipOffset(round(_offset(aligned, current) - step, 3), by)
                queue.append(neighbour)


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
        self._cache: OrderedDict[tuple[str, ...], Mapping[str, ClipOffset]] = OrderedDict()

    async def aligned(self, event_id: str, clips: Sequence[ClipFacts]) -> Mapping[str, ClipOffset]:
        """Return the offsets of clips, which are passed in rank order and without fingerprints."""
        clips = clips[:MAX_CLIPS]
        if len(clips) < 2:
            return {clip.id: ClipOffset(0.0, AlignedBy.REFERENCE) for clip in clips}
        key = (event_id, *(clip.id for clip in clips))
        offsets = self._cache.get(key)
        if offsets is None:
            fingerprints = await self._load_fingerprints(event_id)
            facts = [replace(clip, fingerprint=fingerprints.get(clip.id)) for clip in clips]
            offsets = self._cache[key] = await asyncio.to_thread(align, facts)
            if len(self._cache) > MAX_CACHED_GOALS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return offsets
