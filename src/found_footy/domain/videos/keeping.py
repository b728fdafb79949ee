"""What becomes of a pool when new videos arrive: who stays, who gives way to whom, and how their times relate.

Everything is asked of the whole cluster: a new video that matches two kept ones joins them, and the best of all stays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from found_footy.domain.videos.dedup import Cluster, Video, clusters


@dataclass(frozen=True, slots=True)
class Pair:
    """Two videos that show the same moment."""

    a: str
    b: str
    offset: float
    """Seconds to add to a time in `a` to get the time in `b`."""
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """A video that gave way, and how to find its moments in the one that stays."""

    id: str
    of: str
    offset: float
    """Seconds to add to a time in it to get the time in the one that stays."""
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    stays: tuple[str, ...]
    """In the order of their ids."""
    copies: tuple[Copy, ...]
    """Of videos that give way now, and of earlier ones whose winner gives way now. In the order of their ids."""


def settle(videos: Iterable[Video], pairs: Sequence[Pair], earlier: Iterable[Copy] = ()) -> Settlement:
    """`videos` are those of one pool that stay so far, and the new ones; `earlier` are copies of those that stay."""
    found = clusters(videos, [(pair.a, pair.b) for pair in pairs])
    edges = _edges(pairs)
    now: dict[str, Copy] = {}
    for cluster in found:
        now |= _copies(cluster, edges)
    for copy in earlier:
        if (winner := now.get(copy.of)) is not None:
            now[copy.id] = Copy(copy.id, winner.of, copy.offset + winner.offset, copy.mirrored ^ winner.mirrored)
    return Settlement(
        stays=tuple(sorted(cluster.best.id for cluster in found)),
        copies=tuple(now[name] for name in sorted(now)),
    )


Edges = Mapping[str, Sequence[tuple[str, float, bool]]]
"""From a video to each that it matches, with the seconds to add to its times, and whether one is a mirror."""


def _edges(pairs: Iterable[Pair]) -> Edges:
    edges: dict[str, list[tuple[str, float, bool]]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.a, pair.b)):
        edges.setdefault(pair.a, []).append((pair.b, pair.offset, pair.mirrored))
        edges.setdefault(pair.b, []).append((pair.a, -pair.offset, pair.mirrored))
    return edges


def _copies(cluster: Cluster, edges: Edges) -> dict[str, Copy]:
    """Breadth first from the best: the fewest steps, so the least error added up."""
    best = cluster.best.id
    known = {best: (0.0, False)}
    waiting = deque([best])
    while waiting:
        name = waiting.popleft()
        offset, turned = known[name]
        for other, step, mirrored in edges.get(name, ()):
            if other not in known:
                known[other] = (offset - step, turned ^ mirrored)
                waiting.append(other)
    return {
        name: Copy(name, best, round(offset, 3), turned) for name, (offset, turned) in known.items() if name != best
    }
