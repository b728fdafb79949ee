"""Moments and search values: which clips show the same moment, search queries, and results.

Clips with matching fingerprints are connected, and a connected set is one moment. An editor's verdict overrides the
fingerprints: "the same" connects two clips, "not the same" separates them, even if a third clip connects them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from found_footy.library.models import APPROVED, ARCHIVED, CLIP_STATES, ClipState, Facts, Section

Pair = tuple[int, int]
Moment = frozenset[int]


def cluster_moments(clips: Iterable[int], alike: Iterable[Pair], verdicts: Mapping[Pair, bool]) -> list[Moment]:
    """Put every clip into exactly one moment; sorted by the lowest clip id, independent of argument order.

    Pairs with other clips are ignored. If verdicts contradict each other (1 is 2, 2 is 3, but 1 is not 3), "the same"
    wins: more verdicts support it.
    """
    clip_ids = set(clips)
    decided = {
        _sorted_pair(pair): same for pair, same in verdicts.items() if clip_ids.issuperset(pair) and pair[0] != pair[1]
    }
    matching = {_sorted_pair(pair) for pair in alike if clip_ids.issuperset(pair) and pair[0] != pair[1]}
    certain = _find_connected(clip_ids, (pair for pair, same in decided.items() if same))
    apart = {pair for pair, same in decided.items() if not same}
    links = matching - set(decided)
    found: list[Moment] = []
    for component in _find_connected(clip_ids, [*links, *(pair for pair, same in decided.items() if same)]):
        kept_apart = {pair for pair in apart if component.issuperset(pair)}
        if not kept_apart:
            found.append(component)
            continue
        parts = [part for part in certain if part <= component]
        found.extend(_join_parts(parts, {pair for pair in links if component.issuperset(pair)}, kept_apart))
    return sorted(found, key=min)


def _join_parts(parts: list[Moment], links: set[Pair], apart: set[Pair]) -> list[Moment]:
    """Join the most closely connected parts first, and never those that verdicts separate."""
    group_of = {clip: min(part) for part in parts for clip in part}
    groups = {min(part): set(part) for part in parts}
    while True:
        forbidden = {_sorted_pair((group_of[first], group_of[second])) for first, second in apart}
        links_between = Counter(
            _sorted_pair((group_of[first], group_of[second]))
            for first, second in links
            if group_of[first] != group_of[second]
        )
        neighbours: dict[int, set[int]] = {}
        for first, second in links_between:
            neighbours.setdefault(first, set()).add(second)
            neighbours.setdefault(second, set()).add(first)
        allowed = [
            (-count - len(neighbours[pair[0]] & neighbours[pair[1]]), pair)
            for pair, count in links_between.items()
            if pair not in forbidden
        ]
        if not allowed:
            return [frozenset(group) for group in groups.values()]
        _, (kept, absorbed) = min(allowed)
        moved = groups.pop(absorbed)
        groups[kept] |= moved
        group_of.update(dict.fromkeys(moved, kept))


def _find_connected(clips: Iterable[int], pairs: Iterable[Pair]) -> list[Moment]:
    """Return the connected components, by union-find."""
    parents = {clip: clip for clip in clips}

    def find_root(clip: int) -> int:
        while parents[clip] != clip:
            parents[clip] = parents[parents[clip]]
            clip = parents[clip]
        return clip

    for first, second in pairs:
        low, high = sorted((find_root(first), find_root(second)))
        parents[high] = low
    groups: dict[int, set[int]] = {}
    for clip in parents:
        groups.setdefault(find_root(clip), set()).add(clip)
    return [frozenset(group) for group in groups.values()]


def _sorted_pair(pair: Pair) -> Pair:
    first, second = pair
    return (first, second) if first < second else (second, first)


# --- Query.


MAX_WORDS = 8
MAX_CANDIDATES = 500
"""Clips that a search reads, however many match; moments are built from these."""

SECTIONS: Mapping[str, frozenset[ClipState]] = {
    section: frozenset(state for state, info in CLIP_STATES.items() if info.section is section) for section in Section
}

_NUMBER = re.compile(r"([0-9]{1,3})(?:([+.])([0-9]{1,2}))?['’′]?")


@dataclass(frozen=True, slots=True)
class SearchText:
    """Parsed query: minutes match exactly, words match as prefixes."""

    words: str = ""
    minutes: tuple[str, ...] = ()


def parse_query(line: str) -> SearchText:
    """Parse a query: `salah 90+3` searches for the word and the minute, as does `salah 90+3'`."""
    words, minutes = [], []
    for word in line.split()[:MAX_WORDS]:
        if (number := _NUMBER.fullmatch(word)) is None:
            words.append(word)
        else:
            minute, sign, rest = number.groups()
            minutes.append(f"{int(minute)}{sign}{int(rest)}" if sign else str(int(minute)))
    return SearchText(" ".join(words), tuple(minutes))


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Search filters; None does not filter."""

    text: SearchText = field(default_factory=SearchText)
    competition: str | None = None
    team: str | None = None
    player: str | None = None
    kind: str | None = None
    verified: bool | None = None
    sport: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    place: str | None = None
    """One of `SECTIONS`."""
    source: int | None = None

    @property
    def states(self) -> list[str]:
        chosen = SECTIONS[self.place] if self.place else set(ClipState) - ARCHIVED
        return sorted(str(state) for state in chosen)

    @property
    def is_empty(self) -> bool:
        return self == SearchFilter()


def parse_filter(line: str | None, *, first: date | None = None, last: date | None = None, **more: Any) -> SearchFilter:
    """Parse form fields: dates in UTC, both inclusive; an empty field does not filter."""
    filters: dict[str, Any] = {
        name: value.strip() or None if isinstance(value, str) else value for name, value in more.items()
    }
    since = datetime.combine(first, time(), UTC) if first else None
    until = datetime.combine(last, time(), UTC) + timedelta(days=1) if last else None
    return SearchFilter(parse_query(line or ""), since=since, until=until, **filters)


# --- Results.


@dataclass(frozen=True, slots=True)
class ScoredClip:
    clip_id: int
    similarity: float | None = None
    """Cosine similarity, 1 for the same image; None if the clip was found by its facts."""


@dataclass(frozen=True, slots=True)
class ClipResult:
    id: int
    source_id: int
    first: int
    end: int
    rate: Fraction
    state: ClipState
    title: str
    width: int = 0
    height: int = 0
    event_id: str | None = None
    facts: Facts = field(default_factory=dict)
    keyframe: int | None = None
    """Number of the clip's first keyframe."""
    has_sheet: bool = False

    @property
    def seconds(self) -> float:
        return float((self.end - self.first) / self.rate)

    @property
    def starts_at(self) -> float:
        """Seconds from the start of the source."""
        return float(self.first / self.rate)


@dataclass(frozen=True, slots=True)
class MomentResult:
    """Representative clip of a moment, and its other copies, best first."""

    clip: ClipResult
    copies: tuple[ClipResult, ...]
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    moments: tuple[MomentResult, ...]
    model: str | None = None
    """Model used for similarity; None for a text-only search."""
    has_more: bool = False
    """Whether more than `MAX_CANDIDATES` clips match."""
    incomplete_reason: str | None = None
    """Why part of the search could not run."""


@dataclass(frozen=True, slots=True)
class SimilarityGraph:
    clips: tuple[int, ...]
    alike: tuple[tuple[int, int], ...] = ()
    """Pairs with matching fingerprints."""
    verdicts: Mapping[tuple[int, int], bool] = field(default_factory=dict)


def text_matches_first(by_text: Sequence[ScoredClip], by_image: Sequence[ScoredClip]) -> list[ScoredClip]:
    """Text matches first, since they are certain, then image matches; each clip once."""
    found = {hit.clip_id for hit in by_text}
    return [*by_text, *(hit for hit in by_image if hit.clip_id not in found)]


def group_by_moment(
    hits: Sequence[ScoredClip], groups: Iterable[Moment], clips: Mapping[int, ClipResult], without: int | None = None
) -> list[MomentResult]:
    """One result per moment, in the order of its first hit.

    The most similar clip represents the moment; for text matches, the best copy. `without` is the clip that others are
    compared with. Clips missing from `clips` are left out.
    """
    group_of = {clip: group for group in groups for clip in group}
    results: list[MomentResult] = []
    done: set[Moment] = set()
    for hit in hits:
        group = group_of.get(hit.clip_id, frozenset({hit.clip_id}))
        if group in done or hit.clip_id == without or hit.clip_id not in clips:
            continue
        done.add(group)
        members = sorted((clips[each] for each in group if each in clips and each != without), key=quality_key)
        lead = clips[hit.clip_id] if hit.similarity is not None else members[0]
        results.append(MomentResult(lead, tuple(each for each in members if each.id != lead.id), hit.similarity))
    return results


def quality_key(clip: ClipResult) -> tuple[bool, bool, int, float, int]:
    """Sort key, best first: verified, approved, large, long."""
    is_verified = clip.facts.get("verified") is True
    return not is_verified, clip.state not in APPROVED, -clip.width * clip.height, -clip.seconds, clip.id
