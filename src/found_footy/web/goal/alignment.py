"""Which second of each clip of a goal shows the same moment. A pure function of fingerprints and clock readings.

Clips of one pool show different pictures, or they would have been merged; but the two pools are never compared, and
different broadcasts of a goal show the same match clock. Pictures are better than to a quarter of a second, clocks than
to a second, so pictures come first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from found_footy.domain.videos.clock_text import scan
from found_footy.domain.videos.keeping import Pair
from found_footy.domain.videos.looking import clock_of, without_times_of_day
from found_footy.domain.videos.match_clock import LONGEST_STOPPAGE, PERIOD_ENDS
from found_footy.domain.videos.readings import FrameReading
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.pairs import pairs_of

SAME_RUN = 2.0
"""Seconds by which the starts that two readings of one clip tell may differ: clocks show whole seconds."""


class By(StrEnum):
    REFERENCE = "reference"
    PICTURES = "pictures"
    CLOCK = "clock"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Aligned:
    offset: float | None
    """Seconds to add to a time in the clip to get the time in the reference; None where nothing tells."""
    by: By


@dataclass(frozen=True, slots=True, eq=False)
class ClipFacts:
    id: str
    fingerprint: Fingerprint | None = None
    readings: tuple[FrameReading, ...] = ()


def align(clips: Sequence[ClipFacts]) -> dict[str, Aligned]:
    """By the first clip, which is the reference."""
    fingerprints = {clip.id: clip.fingerprint for clip in clips if clip.fingerprint is not None}
    pairs = pairs_of([], list(fingerprints), fingerprints)
    starts = {clip.id: start for clip in clips if (start := start_by_clock(clip.readings)) is not None}
    return by_pairs_and_clocks([clip.id for clip in clips], pairs, starts)


def by_pairs_and_clocks(ids: Sequence[str], pairs: Iterable[Pair], starts: Mapping[str, float]) -> dict[str, Aligned]:
    """`starts` are the match's seconds at which clips begin, as far as their clocks tell."""
    if not ids:
        return {}
    steps: dict[str, list[tuple[str, float]]] = {}
    for pair in pairs:
        steps.setdefault(pair.a, []).append((pair.b, pair.offset))
        steps.setdefault(pair.b, []).append((pair.a, -pair.offset))
    known = {ids[0]: Aligned(0.0, By.REFERENCE)}
    _spread(ids[0], By.PICTURES, known, steps)
    for name in ids:
        beside = next((other for other in ids if other in known and other in starts), None)
        if name not in known and name in starts and beside is not None:
            known[name] = Aligned(_offset(known, beside) + starts[name] - starts[beside], By.CLOCK)
            _spread(name, By.CLOCK, known, steps)
    return {name: known.get(name, Aligned(None, By.NOTHING)) for name in ids}


def start_by_clock(readings: Sequence[FrameReading]) -> float | None:
    """The match's second at the clip's start, by the most readings that agree; the clock of a replay may not."""
    told = [second - each.at for each in without_times_of_day(readings) if (second := match_second(each)) is not None]
    agreeing = [[other for other in told if abs(other - start) <= SAME_RUN] for start in told]
    best = max(agreeing, key=len, default=[])
    return median(best) if len(best) * 2 > len(told) else None


def match_second(reading: FrameReading) -> int | None:
    """22:41 is 1361, and 45:00 with +2:17 beside it 2837. None where no clock shows seconds that run."""
    clock = clock_of(reading)
    if clock is None or clock.mark is not None:
        return None
    if clock.minute in PERIOD_ENDS and not clock.second:
        texts = (reading.stoppage_clock or "", reading.clock or "")
        played = [time for text in texts for time in _running(text) if time[0] <= LONGEST_STOPPAGE]
        return (clock.minute + played[0][0]) * 60 + played[0][1] if played else None
    return clock.minute * 60 + clock.second if clock.second is not None else None


def _running(text: str) -> list[tuple[int, int]]:
    found = scan(text)
    return [(time.minute, time.second) for time in (*found.sub_clocks, *found.times) if time.second is not None]


def _spread(name: str, by: By, known: dict[str, Aligned], steps: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    """Breadth first: the fewest steps, so the least error added up."""
    waiting = deque([name])
    while waiting:
        here = waiting.popleft()
        for other, step in steps.get(here, ()):
            if other not in known:
                known[other] = Aligned(round(_offset(known, here) - step, 3), by)
                waiting.append(other)


def _offset(known: Mapping[str, Aligned], name: str) -> float:
    offset = known[name].offset
    assert offset is not None
    return offset
