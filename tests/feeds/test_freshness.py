"""How old what is known is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.operations.feed_health import ages, count_unsaved, percentile, persisted_updates, stale, stats
from found_footy.operations.models import FreshnessStats

NOW = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], FreshnessStats()),
        ([7], FreshnessStats(7, 7, 7, 1)),
        ([10, 20], FreshnessStats(15, 20, 20, 2)),
        ([30, 10, 20], FreshnessStats(20, 30, 30, 3)),
        # Among few, the oldest is the 95th; among twenty, one may be old without it.
        ([5] * 9 + [200], FreshnessStats(5, 200, 200, 10)),
        ([5] * 19 + [200], FreshnessStats(5, 5, 200, 20)),
        ([5] * 18 + [200] * 2, FreshnessStats(5, 200, 200, 20)),
        ([float(n) for n in range(1, 101)], FreshnessStats(50.5, 95, 100, 100)),
    ],
)
def test_the_figures_of_ages(seconds: list[float], expected: FreshnessStats) -> None:
    assert stats(seconds) == expected


def test_a_word_from_the_future_is_new() -> None:
    assert ages({1: ago(12), 2: ago(-30)}, NOW) == {1: 12.0, 2: 0.0}


@pytest.mark.parametrize(
    ("heard", "saved", "expected", "lost"),
    [
        (5, 5, 5, 0),
        (5, 35, 5, 0),  # the next poll saves it
        (5, 65, 5, 0),
        (5, 66, 66, 1),  # two polls have not
        (5, 3600, 3600, 1),
        (300, 330, 300, 0),  # both are old: nobody answers
        (40, 10, 40, 0),  # an index that was filled again knows less
        (None, 90, 90, 0),  # and one that was lost, nothing
    ],
)
def test_a_snapshot_counts_if_saved_within_two_polls(
    heard: float | None, saved: float, expected: float, lost: int
) -> None:
    index = {} if heard is None else {1: ago(heard), 2: ago(0)}
    known, lag = {1: ago(saved)}, timedelta(seconds=60)
    assert persisted_updates(index, known, lag) == {1: ago(expected)}, "and of 2 the database knows nothing"
    assert count_unsaved(index, known, lag) == lost


def test_stale_matches_come_with_the_oldest_first() -> None:
    heard = {1: ago(10), 2: ago(45), 3: ago(300), 4: ago(300), 5: ago(44.9)}
    assert stale(heard, NOW, 45) == [(3, 300.0), (4, 300.0), (2, 45.0)]


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_median_p95_and_maximum_are_ordered(seconds: list[float]) -> None:
    found = stats(seconds)
    assert min(seconds) <= found.median <= found.p95 <= found.maximum == max(seconds) or len(seconds) == 1
    assert found.p95 in seconds
    assert percentile(sorted(seconds), 1.0) == max(seconds)
