"""Deduplication: chooses which copy of a moment to keep. Pure functions.

Verified and unverified videos are separate pools, so that a verified video never gives way to an unverified one. Each
video carries its pool; a match across pools is a programming error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from found_footy.clips.models import DedupPlan, Duplicate
from found_footy.media.fingerprint import Fingerprint, mirror
from found_footy.media.hash_match import FingerprintIndex, match_many

DURATION_TOLERANCE = 0.15
"""Clips whose durations differ by at most this share of the longer one count as equally long."""


@dataclass(frozen=True, slots=True)
class DedupCandidate:
    id: str
    pool: str
    duration: float
    """Seconds."""
    file_size: int
    """Bytes. Of equally long clips, the larger file has the better picture."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """All videos of one moment in one pool."""

    best: DedupCandidate
    others: tuple[DedupCandidate, ...]
    """Ordered by id."""

    @property
    def members(self) -> tuple[DedupCandidate, ...]:
        return tuple(sorted((self.best, *self.others), key=lambda video: video.id))


def best_copy(videos: Iterable[DedupCandidate]) -> DedupCandidate:
    """Return the video to keep among videos of the same moment.

    The longest wins; among those about as long, the largest file wins. The whole cluster is compared at once because
    "about as long" is not transitive: 10, 11 and 12.5 s.
    """
    candidates = tuple(videos)
    max_duration = max(video.duration for video in candidates)
    similar = [video for video in candidates if is_same_length(video.duration, max_duration)]
    return min(similar, key=lambda video: (-video.file_size, -video.duration, video.id))


def is_same_length(a: float, b: float) -> bool:
    return abs(a - b) <= DURATION_TOLERANCE * max(a, b)


def cluster_videos(videos: Iterable[DedupCandidate], matches: Iterable[tuple[str, str]]) -> list[Cluster]:
    """Put every video into exactly one cluster, alone if it matches nothing. Matches are pairs of ids.

    The result does not depend on the order of videos or matches.
    """
    by_id = {video.id: video for video in videos}
    parent = {name: name for name in by_id}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for a, b in matches:
        if by_id[a].pool != by_id[b].pool:
            raise ValueError(
                f"{a} is in pool {by_id[a].pool} and {b} in pool {by_id[b].pool}: cannot match across pools"
            )
        low, high = sorted((root(a), root(b)))
        parent[high] = low

    groups: dict[str, list[DedupCandidate]] = {}
    for name in sorted(by_id):
        groups.setdefault(root(name), []).append(by_id[name])
    return [_cluster(groups[name]) for name in sorted(groups)]


def _cluster(members: Sequence[DedupCandidate]) -> Cluster:
    best = best_copy(members)
    return Cluster(best, tuple(video for video in members if video.id != best.id))


# --- Deduplication plan: which videos stay, which become copies, and the time offsets between them.


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two videos that show the same moment."""

    a: str
    b: str
    offset: float
    """Seconds to add to a time in `a` to get the time in `b`."""
    mirrored: bool = False


def plan_dedup(
    videos: Iterable[DedupCandidate], pairs: Sequence[DuplicatePair], earlier: Iterable[Duplicate] = ()
) -> DedupPlan:
    """Plan one pool. `videos` are the kept and the new ones; `earlier` are existing copies of the kept ones."""
    clusters = cluster_videos(videos, [(pair.a, pair.b) for pair in pairs])
    edges = _edges(pairs)
    copies: dict[str, Duplicate] = {}
    for cluster in clusters:
        copies |= _copies(cluster, edges)
    for copy in earlier:
        if (winner := copies.get(copy.of)) is not None:
            offset, is_mirrored = copy.offset + winner.offset, copy.mirrored ^ winner.mirrored
            copies[copy.md5] = Duplicate(copy.md5, winner.of, offset, is_mirrored)
    return DedupPlan(
        stays=tuple(sorted(cluster.best.id for cluster in clusters)),
        copies=tuple(copies[name] for name in sorted(copies)),
    )


Edges = Mapping[str, Sequence[tuple[str, float, bool]]]
"""Matches of each video: the other id, the seconds to add to a time, and whether one of the two is mirrored."""


def _edges(pairs: Iterable[DuplicatePair]) -> Edges:
    edges: dict[str, list[tuple[str, float, bool]]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.a, pair.b)):
        edges.setdefault(pair.a, []).append((pair.b, pair.offset, pair.mirrored))
        edges.setdefault(pair.b, []).append((pair.a, -pair.offset, pair.mirrored))
    return edges


def _copies(cluster: Cluster, edges: Edges) -> dict[str, Duplicate]:
    """Traverse breadth-first from the best video: the fewest steps accumulate the least error."""
    best = cluster.best.id
    placed = {best: (0.0, False)}
    queue = deque([best])
    while queue:
        name = queue.popleft()
        offset, is_mirrored = placed[name]
        for other, step, step_mirrored in edges.get(name, ()):
            if other not in placed:
                placed[other] = (offset - step, is_mirrored ^ step_mirrored)
                queue.append(other)
    return {
        name: Duplicate(name, best, round(offset, 3), is_mirrored)
        for name, (offset, is_mirrored) in placed.items()
        if name != best
    }


# --- Matching: which videos of a pool show the same moment.


def find_duplicates(
    kept: Sequence[str], new: Sequence[str], fingerprints: Mapping[str, Fingerprint]
) -> list[DuplicatePair]:
    """Compare each new video with all kept and all other new ones. Kept videos are already known to differ."""
    pairs: list[DuplicatePair] = []
    for position, name in enumerate(new):
        others = [*kept, *new[position + 1 :]]
        index = FingerprintIndex.of([fingerprints[other] for other in others])
        found: dict[int, DuplicatePair] = {}
        for is_mirrored in (True, False):  # a pair that matches both ways counts as not mirrored
            fingerprint = mirror(fingerprints[name]) if is_mirrored else fingerprints[name]
            found |= {
                other: DuplicatePair(name, others[other], hit.offset_seconds, is_mirrored)
                for other, hit in match_many(fingerprint, index)
            }
        pairs += found.values()
    return pairs
