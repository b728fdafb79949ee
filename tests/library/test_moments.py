"""Which clips are one moment: fingerprints, corrected by people."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.library.moments import cluster_moments

Pair = tuple[int, int]


@pytest.mark.parametrize(
    ("alike", "verdicts", "expected"),
    [
        ([], {}, [{1}, {2}, {3}, {4}]),
        ([(1, 2)], {}, [{1, 2}, {3}, {4}]),
        ([(1, 2), (2, 3)], {}, [{1, 2, 3}, {4}]),
        ([], {(1, 4): True}, [{1, 4}, {2}, {3}]),
        ([(1, 2)], {(1, 2): False}, [{1}, {2}, {3}, {4}]),
        ([(1, 2), (2, 3)], {(1, 3): False}, [{1, 2}, {3}, {4}]),
        ([(1, 2), (2, 3), (3, 4), (2, 4)], {(1, 3): False}, [{1}, {2, 3, 4}]),
        ([(1, 2), (2, 3)], {(1, 2): False}, [{1}, {2, 3}, {4}]),
        ([(1, 2), (2, 3)], {(1, 3): False, (2, 3): True}, [{1}, {2, 3}, {4}]),
        ([], {(1, 2): True, (2, 3): True, (1, 3): False}, [{1, 2, 3}, {4}]),
        ([(1, 2), (3, 4)], {(2, 3): True, (1, 4): False}, [{1, 2, 3}, {4}]),
        ([(1, 9), (9, 2)], {(3, 9): True}, [{1}, {2}, {3}, {4}]),
        ([(1, 1)], {(2, 2): False}, [{1}, {2}, {3}, {4}]),
    ],
    ids=[
        "nothing connects them",
        "two look alike",
        "what is connected over a third is one moment",
        "a person's word connects what looks different",
        "a person's word separates what looks alike",
        "a third one goes with one of two that must stay apart",
        "it goes with those that it is connected with most closely",
        "one that is separated takes nobody else along",
        "a word for one of them decides where the third goes",
        "where people contradict each other, the same holds",
        "two words and two pictures",
        "what is said of strangers counts for nothing",
        "nobody is a copy of himself",
    ],
)
def test_moments_from_fingerprints_and_verdicts(
    alike: list[Pair], verdicts: Mapping[Pair, bool], expected: list[set[int]]
) -> None:
    assert [set(moment) for moment in cluster_moments([1, 2, 3, 4], alike, verdicts)] == expected


NUMBERS = st.integers(0, 7)
PAIRS = st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] < pair[1])
LINKS = st.lists(PAIRS, max_size=16)
WORDS = st.dictionaries(PAIRS, st.booleans(), max_size=8)


@given(LINKS, WORDS)
def test_every_clip_is_in_exactly_one_moment(alike: list[Pair], verdicts: Mapping[Pair, bool]) -> None:
    found = cluster_moments(range(8), alike, verdicts)
    assert sorted(clip for moment in found for clip in moment) == list(range(8))


@given(LINKS, WORDS)
def test_positive_verdicts_are_never_separated(alike: list[Pair], verdicts: Mapping[Pair, bool]) -> None:
    found = cluster_moments(range(8), alike, verdicts)
    assert all(_together(found, pair) for pair, same in verdicts.items() if same)


@given(LINKS, WORDS)
def test_negative_verdicts_separate_unless_positive_ones_connect(
    alike: list[Pair], verdicts: Mapping[Pair, bool]
) -> None:
    by_words = cluster_moments(range(8), [], {pair: same for pair, same in verdicts.items() if same})
    found = cluster_moments(range(8), alike, verdicts)
    for pair, same in verdicts.items():
        if not same and not _together(by_words, pair):
            assert not _together(found, pair)


@given(LINKS, WORDS, st.randoms())
def test_moments_do_not_depend_on_order(alike: list[Pair], verdicts: Mapping[Pair, bool], chance: Random) -> None:
    turned = {(other, one): same for (one, other), same in reversed(list(verdicts.items()))}
    shuffled = list(alike)
    chance.shuffle(shuffled)
    assert cluster_moments(reversed(range(8)), shuffled, turned) == cluster_moments(range(8), alike, verdicts)


@given(LINKS, WORDS)
def test_unconnected_clips_are_separate_moments(alike: list[Pair], verdicts: Mapping[Pair, bool]) -> None:
    said = [pair for pair, same in verdicts.items() if same]
    widest = cluster_moments(range(8), [*alike, *said], {})
    for moment in cluster_moments(range(8), alike, verdicts):
        assert any(moment <= each for each in widest)


def _together(found: list[frozenset[int]], pair: Pair) -> bool:
    return any(moment.issuperset(pair) for moment in found)
