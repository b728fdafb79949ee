"""Which copy of a moment is kept. Pure: lengths, sizes and who matches whom in, clusters out.

Verified and unverified videos are pools of their own: what the clock has proved must never give way to what nobody
checked. A pool is part of every video here, and a match across pools is a fault of the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

SAME_LENGTH = 0.15
"""Clips whose durations differ by no more than this share of the longer one are as long as each other."""


@dataclass(frozen=True, slots=True)
class Video:
    id: str
    pool: str
    duration: float
    """Seconds."""
    file_size: int
    """Bytes; of clips as long as each other, the larger file is the better picture."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """All videos of one moment within one pool."""

    best: Video
    others: tuple[Video, ...]
    """In the order of their ids."""

    @property
    def members(self) -> tuple[Video, ...]:
        return tuple(sorted((self.best, *self.others), key=lambda video: video.id))


def best(videos: Iterable[Video]) -> Video:
    """The one to keep of videos that show the same moment.

    The longest shows most. Among those about as long as it, the largest file wins. It is asked of the whole cluster
    at once, because "about as long" between pairs goes in circles: 10, 11 and 12.5 s.
    """
    candidates = tuple(videos)
    longest = max(video.duration for video in candidates)
    whole = [video for video in candidates if same_length(video.duration, longest)]
    return min(whole, key=lambda video: (-video.file_size, -video.duration, video.id))


def better(a: Video, b: Video) -> Video:
    """The one to keep of two: the longer, or the larger file where they are about as long."""
    return best((a, b))


def same_length(a: float, b: float) -> bool:
    return abs(a - b) <= SAME_LENGTH * max(a, b)


def to_compare(videos: Sequence[Video]) -> Iterator[tuple[Video, Video]]:
    """All pairs that may be compared: those within a pool."""
    return ((a, b) for a, b in combinations(videos, 2) if a.pool == b.pool)


def clusters(videos: Iterable[Video], matches: Iterable[tuple[str, str]]) -> list[Cluster]:
    """Every video in exactly one cluster, alone if it matches nothing; matches are pairs of ids.

    Neither the order of the videos nor that of the matches changes the result.
    """
    known = {video.id: video for video in videos}
    parent = {name: name for name in known}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for a, b in matches:
        if known[a].pool != known[b].pool:
            raise ValueError(f"{a} is in the pool {known[a].pool}, {b} in {known[b].pool}: they are never compared")
        low, high = sorted((root(a), root(b)))
        parent[high] = low

    groups: dict[str, list[Video]] = {}
    for name in sorted(known):
        groups.setdefault(root(name), []).append(known[name])
    return [_cluster(groups[name]) for name in sorted(groups)]


def _cluster(members: Sequence[Video]) -> Cluster:
    kept = best(members)
    return Cluster(kept, tuple(video for video in members if video.id != kept.id))
