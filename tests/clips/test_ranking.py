from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.ranking import RankedClip, rank_clips


@pytest.mark.parametrize(
    ("first", "second", "because"),
    [
        (RankedClip("b", True, 1, 1), RankedClip("a", False, 9, 9), "verified beats everything"),
        (RankedClip("b", True, 3, 1), RankedClip("a", True, 2, 9), "then popularity"),
        (RankedClip("b", False, 2, 5), RankedClip("a", False, 2, 4), "then the larger file"),
        (RankedClip("a", False, 2, 5), RankedClip("b", False, 2, 5), "then any fixed order"),
    ],
)
def test_the_better_video_comes_first(first: RankedClip, second: RankedClip, because: str) -> None:
    assert rank_clips([first, second]) == rank_clips([second, first]) == {first.id: 1, second.id: 2}, because


@given(st.lists(st.builds(RankedClip, st.uuids().map(str), st.booleans(), st.integers(1, 9), st.integers(1, 9))))
def test_ranks_are_1_to_n(videos: list[RankedClip]) -> None:
    assert sorted(rank_clips(videos).values()) == list(range(1, len(videos) + 1))
