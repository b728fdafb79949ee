"""Deduplication: chooses which copy of a moment to keep. Pure: durations, sizes and matches in, clusters out.

Verified and unverified videos are separate pools, so that a verified video never gives way to an unverified one. Each
video carries its pool; a match across pools is a caller error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from found_footy.clips.models import DedupPlan, Duplicate
from found_footy.media.fingerprint import Fingerprint, mirrored
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
    longest = max(video.duration for video in candidates)
    whole = [video for video in candidates if is_same_length(video.duration, longest)]
    return min(whole, key=lambda video: (-video.file_size, -video.duration, video.id))


def is_same_length(a: float, b: float) -> bool:
    return abs(a - b) <= DURATION_TOLERANCE * max(a, b)


def cluster_videos(videos: Iterable[DedupCandidate], matches: Iterable[tuple[str, str]]) -> list[Cluster]:
    """Put every video into exactly one cluster, alone if it matches nothing. Matches are pairs of ids.

    The result does not depend on the order of videos or matches.
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
            raise ValueError(f"{a} is in the pool {known[a].pool}, {b} in {known[b].pool}: they cannot be compared")
        low, high = sorted((root(a), root(b)))
        parent[high] = low

    groups: dict[str, list[DedupCandidate]] = {}
    for name in sorted(known):
        groups.setdefault(root(name), []).append(known[name])
    return [_cluster(groups[name]) for name in sorted(groups)]


def _cluster(members: Sequence[DedupCandidate]) -> Cluster:
    kept = best_copy(members)
    return Cluster(kept, tuple(video for video in members if video.id != kept.id))


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
    """Plan one pool. `videos` are the kept and the new ones; `earlier` are copies of the kept ones."""
    found = cluster_videos(videos, [(pair.a, pair.b) for pair in pairs])
    edges = _edges(pairs)
    now: dict[str, Duplicate] = {}
    for cluster in found:
        now |= _copies(cluster, edges)
    for copy in earlier:
        if (winner := now.get(copy.of)) is not None:
            now[copy.md5] = Duplicate(copy.md5, winner.of, copy.offset + winner.offset, copy.mirrored ^ winner.mirrored)
    return DedupPlan(
        stays=tuple(sorted(cluster.best.id for cluster in found)),
        copies=tuple(now[name] for name in sorted(now)),
    )


Edges = Mapping[str, Sequence[tuple[str, float, bool]]]
"""Maps a video to each match, with the seconds to add to its times and whether one is mirrored."""


def _edges(pairs: Iterable[DuplicatePair]) -> Edges:
    edges: dict[str, list[tuple[str, float, bool]]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.a, pair.b)):
        edges.setdefault(pair.a, []).append((pair.b, pair.offset, pair.mirrored))
        edges.setdefault(pair.b, []).append((pair.a, -pair.offset, pair.mirrored))
    return edges


def _copies(cluster: Cluster, edges: Edges) -> dict[str, Duplicate]:
    """Traverse breadth-first from the best video: the fewest steps accumulate the least error."""
    best = cluster.best.id
    known = {best: (0.0, False)}
    waiting = deque([best])
    while waiting:
        name = waiting.popleft()
        offset, turned = known[name]
        for other, step, flipped in edges.get(name, ()):
            if other not in known:
                known[other] = (offset - step, turned ^ flipped)
                waiting.append(other)
    return {
        name: Duplicate(name, best, round(offset, 3), turned)
        for name, (offset, turned) in known.items()
        if name != best
    }


# --- Matching: which videos of a pool show the same moment.


def find_duplicates(
    kept: Sequence[str], new: Sequence[str], fingerprints: Mapping[str, Fingerprint]
) -> list[DuplicatePair]:
    """Compare each new video with all kept and all other new ones. Kept videos are already known to differ."""
    pairs: list[DuplicatePair] = []
    for place, name in enumerate(new):
        others = [*kept, *new[place + 1 :]]
        library = FingerprintIndex.of([fingerprints[other] for other in others])
        found: dict[int, DuplicatePair] = {}
        for turned in (True, False):  # a pair that matches both ways is not mirrored
            one = mirrored(fingerprints[name]) if turned else fingerprints[name]
            found |= {
                other: DuplicatePair(name, others[other], hit.offset_seconds, turned)
                for other, hit in match_many(one, library)
            }
        pairs += found.values()
    return pairs
