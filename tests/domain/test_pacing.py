from __future__ import annotations

import pytest

from found_footy.domain.discovery.pacing import wait_seconds


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (0, 60),
        (15, 45),  # measured from the start of the search before, not from its end
        (50, 10),
        (55, 10),  # never closer than the gap
        (300, 10),
    ],
)
def test_the_wait_to_the_next_search(passed: float, expected: float) -> None:
    assert wait_seconds(passed, every=60, gap=10) == expected
