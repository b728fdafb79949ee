"""Which copy of a moment is kept, and which videos are one moment."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.dedup import (
    Cluster,
    DedupCandidate,
    best_copy,
    cluster_videos,
    is_same_length,
)


def video(id: str, duration: float = 20.0, file_size: int = 1000, pool: str = "verified") -> DedupCandidate:
    return DedupCandidate(id, pool, duration, file_size)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (20.0, 20.0, True),
        (20.0, 17.0, True),  # 3.0 = 15 % of 20
        (20.0, 16.9, False),
        (17.0, 20.0, True),
        (60.0, 51.0, True),
        (60.0, 50.9, False),
        (0.0, 0.0, True),
    ],
)
def test_durations_within_15_percent_of_the_longer_are_the_same_length(a: float, b: float, same: bool) -> None:
    assert is_same_length(a, b) is same
    assert is_same_length(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "kept"),
    [
        # duration, bytes
        ((20, 900), (20, 1000), "b"),
        ((20, 1000), (18, 900), "a"),
        ((20, 900), (18, 1000), "b"),  # about as long: the larger file
        ((20, 900), (17, 1000), "b"),
        ((20, 900), (16, 5000), "a"),  # much shorter: the longer one, however small
        ((10, 9000), (30, 10), "b"),
        ((20, 1000), (19, 1000), "a"),  # as large: the longer
        ((20, 1000), (20, 1000), "a"),  # alike in all: the first by name
    ],
)
def test_the_better_of_two(a: tuple[float, int], b: tuple[float, int], kept: str) -> None:
    one, other = video("a", *a), video("b", *b)
    assert best_copy((one, other)).id == kept
    assert best_copy((other, one)).id == kept


def test_the_best_is_chosen_from_the_whole_cluster_and_not_from_pair_to_pair() -> None:
    """10 beats 11 by size and 11 beats 12.5 by size, but 12.5 is longer than 10: the whole cluster decides."""
    short, middle, long = video("s", 10.0, 3000), video("m", 11.0, 2000), video("l", 12.5, 1000)
    assert best_copy((short, middle)) == short
    assert best_copy((middle, long)) == middle
    assert best_copy((short, long)) == long
    assert {best_copy(order).id for order in ([short, middle, long], [long, short, middle], [middle, long, short])} == {
        "m"
    }


def test_a_video_without_a_match_forms_its_own_cluster() -> None:
    assert cluster_videos([video("a"), video("b")], []) == [Cluster(video("a"), ()), Cluster(video("b"), ())]


def test_a_chain_of_matches_is_one_cluster_and_every_loser_is_named() -> None:
    videos = [video("a", 10), video("b", 30), video("c", 28, 5000), video("d", 12), video("x")]
    found = cluster_videos(videos, [("a", "b"), ("c", "b"), ("d", "c")])
    assert [[each.id for each in cluster.members] for cluster in found] == [["a", "b", "c", "d"], ["x"]]
    assert found[0].best.id == "c"
    assert [each.id for each in found[0].others] == ["a", "b", "d"]


def test_a_match_across_pools_is_a_fault() -> None:
    with pytest.raises(ValueError, match="cannot match across pools"):
        cluster_videos([video("a"), video("b", pool="unverified")], [("a", "b")])


def test_a_match_of_an_unknown_video_is_a_fault() -> None:
    with pytest.raises(KeyError):
        cluster_videos([video("a")], [("a", "b")])


@st.composite
def matched(draw: st.DrawFn) -> tuple[list[DedupCandidate], list[tuple[str, str]]]:
    sizes = st.tuples(st.floats(3, 60), st.integers(1, 4), st.sampled_from(["verified", "unverified"]))
    videos = [video(f"v{n:02}", *made) for n, made in enumerate(draw(st.lists(sizes, max_size=14)))]
    allowed = [(a.id, b.id) for a, b in combinations(videos, 2) if a.pool == b.pool]
    return videos, draw(st.lists(st.sampled_from(allowed), max_size=12)) if allowed else []


@given(matched(), st.randoms(use_true_random=False))
def test_clusters_do_not_depend_on_any_order(
    given_: tuple[list[DedupCandidate], list[tuple[str, str]]], chance: random.Random
) -> None:
    videos, matches = given_
    expected = cluster_videos(videos, matches)
    other = [(b, a) if chance.random() < 0.5 else (a, b) for a, b in matches]
    assert cluster_videos(chance.sample(videos, len(videos)), chance.sample(other, len(other))) == expected


@given(matched())
def test_every_video_is_in_one_cluster_of_its_pool_and_matches_stay_together(
    given_: tuple[list[DedupCandidate], list[tuple[str, str]]],
) -> None:
    videos, matches = given_
    found = cluster_videos(videos, matches)
    assert sorted(each.id for cluster in found for each in cluster.members) == [each.id for each in videos]
    home = {each.id: number for number, cluster in enumerate(found) for each in cluster.members}
    assert all(home[a] == home[b] for a, b in matches)
    assert all(len({each.pool for each in cluster.members}) == 1 for cluster in found)
    assert sum(len(cluster.others) for cluster in found) <= len(set(matches))


@given(matched())
def test_no_dropped_video_is_much_longer_than_the_kept_one(
    given_: tuple[list[DedupCandidate], list[tuple[str, str]]],
) -> None:
    for cluster in cluster_videos(*given_):
        for other in cluster.others:
            assert other.duration <= cluster.best.duration or is_same_length(other.duration, cluster.best.duration)
            if is_same_length(other.duration, max(each.duration for each in cluster.members)):
                assert other.file_size <= cluster.best.file_size
