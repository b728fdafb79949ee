from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.domain.videos.ranking import Ranked, ranks


@pytest.mark.parametrize(
    ("first", "second", "because"),
    [
        (Ranked("b", True, 1, 1), Ranked("a", False, 9, 9), "verified beats everything"),
        (Ranked("b", True, 3, 1), Ranked("a", True, 2, 9), "then popularity"),
        (Ranked("b", False, 2, 5), Ranked("a", False, 2, 4), "then the larger file"),
        (Ranked("a", False, 2, 5), Ranked("b", False, 2, 5), "then any fixed order"),
    ],
)
def test_the_better_video_comes_first(first: Ranked, second: Ranked, because: str) -> None:
    assert ranks([first, second]) == ranks([second, first]) == {first.id: 1, second.id: 2}, because


@given(st.lists(st.builds(Ranked, st.uuids().map(str), st.booleans(), st.integers(1, 9), st.integers(1, 9))))
def test_ranks_are_1_to_n(videos: list[Ranked]) -> None:
    assert sorted(ranks(videos).values()) == list(range(1, len(videos) + 1))
