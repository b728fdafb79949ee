"""Which clips show one moment: what fingerprints say, corrected by what people say.

Two clips that look alike are connected, and what is connected is one moment. A person's word beats a fingerprint: "the
same" connects whatever the pictures say, and "not the same" separates, also where a third clip connects the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

Pair = tuple[int, int]
Moment = frozenset[int]


def moments(clips: Iterable[int], alike: Iterable[Pair], verdicts: Mapping[Pair, bool]) -> list[Moment]:
    """Every clip is in exactly one moment; the one with the lowest number first. The order of what is given plays no
    part. Words about clips that are not among them count for nothing.

    Where people contradict each other over several clips (one and two are the same, two and three, but not one and
    three), "the same" holds: it was said of more of them.
    """
    known = set(clips)
    said = {_sorted(pair): same for pair, same in verdicts.items() if known.issuperset(pair) and pair[0] != pair[1]}
    seen = {_sorted(pair) for pair in alike if known.issuperset(pair) and pair[0] != pair[1]}
    certain = _connected(known, (pair for pair, same in said.items() if same))
    apart = {pair for pair, same in said.items() if not same}
    links = seen - set(said)
    found: list[Moment] = []
    for whole in _connected(known, [*links, *(pair for pair, same in said.items() if same)]):
        kept_apart = {pair for pair in apart if whole.issuperset(pair)}
        if not kept_apart:
            found.append(whole)
            continue
        parts = [part for part in certain if part <= whole]
        found.extend(_joined(parts, {pair for pair in links if whole.issuperset(pair)}, kept_apart))
    return sorted(found, key=min)


def _joined(parts: list[Moment], links: set[Pair], apart: set[Pair]) -> list[Moment]:
    """Joins what is connected most closely first, and never what has to stay apart."""
    place = {clip: min(part) for part in parts for clip in part}
    groups = {min(part): set(part) for part in parts}
    while True:
        forbidden = {_sorted((place[one], place[other])) for one, other in apart}
        links_between = Counter(
            _sorted((place[one], place[other])) for one, other in links if place[one] != place[other]
        )
        beside: dict[int, set[int]] = {}
        for one, other in links_between:
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
        allowed = [
            (-count - len(beside[pair[0]] & beside[pair[1]]), pair)
            for pair, count in links_between.items()
            if pair not in forbidden
        ]
        if not allowed:
            return [frozenset(group) for group in groups.values()]
        _, (into, gone) = min(allowed)
        moved = groups.pop(gone)
        groups[into] |= moved
        place.update(dict.fromkeys(moved, into))


def _connected(clips: Iterable[int], pairs: Iterable[Pair]) -> list[Moment]:
    leads = {clip: clip for clip in clips}

    def leader(clip: int) -> int:
        while leads[clip] != clip:
            leads[clip] = leads[leads[clip]]
            clip = leads[clip]
        return clip

    for one, other in pairs:
        low, high = sorted((leader(one), leader(other)))
        leads[high] = low
    groups: dict[int, set[int]] = {}
    for clip in leads:
        groups.setdefault(leader(clip), set()).add(clip)
    return [frozenset(group) for group in groups.values()]


def _sorted(pair: Pair) -> Pair:
    one, other = pair
    return (one, other) if one < other else (other, one)
