"""What a soak judges to be bounded."""

from __future__ import annotations

import pytest
from bench.growth import Resource, growths

ROWS, MEMORY = Resource.ROWS, Resource.MEMORY


@pytest.mark.parametrize(
    ("resource", "values", "bounded"),
    [
        (ROWS, (500, 1000, 1000, 1000, 1000, 1000), True),
        (ROWS, (500, 1000, 900, 1100, 1100, 900), True),  # days differ
        (ROWS, (500, 1000, 1500, 2000, 2500, 3000), False),  # never deleted
        (ROWS, (0, 0, 5, 10, 15, 20), True),  # within the slack of a small table
        (ROWS, (1000, 1000, 1000, 1000, 0, 3000), False),  # the mean of the last two days counts
        (ROWS, (4000, 3000, 1000, 1000, 1000, 1000), True),  # what happens before the steady days does not count
        (MEMORY, (100, 150, 200, 204, 207, 210), True),  # caches fill
        (MEMORY, (200, 240, 280, 320, 360, 400), False),
        (Resource.PROCESSES, (5, 5, 5, 5, 8, 9), False),
        (Resource.FILES, (30, 30, 30, 32, 34, 36), True),
        (Resource.FILES, (30, 30, 30, 45, 60, 75), False),
    ],
)
def test_a_level_may_vary_but_not_rise(resource: Resource, values: tuple[float, ...], bounded: bool) -> None:
    found = growths([{(resource, "it"): value} for value in values], steady_from=2)
    assert (not found) is bounded


def test_a_table_that_appears_late_counts_from_zero_and_one_that_disappears_does_not_grow() -> None:
    days = [{(ROWS, "old"): 500.0}] * 4 + [{(ROWS, "new"): 500.0}] * 2
    (found,) = growths(days, steady_from=2)
    assert str(found) == "rows of new grew from 0 to 500"


def test_too_few_days_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 6"):
        growths([{}] * 5, steady_from=2)
