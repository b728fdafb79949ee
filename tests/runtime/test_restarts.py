"""The pause before a restart."""

from __future__ import annotations

import pytest

from found_footy.runtime.supervisor import Backoff


@pytest.mark.parametrize(
    ("lives", "pauses"),
    [
        ([0, 0, 0, 0, 0, 0, 0, 0], [0.5, 1, 2, 4, 8, 16, 30, 30]),
        ([59, 59], [0.5, 1]),
        ([0, 0, 60, 0], [0.5, 1, 0.5, 1]),
        ([3600], [0.5]),
    ],
)
def test_it_doubles_up_to_a_ceiling_and_forgets_after_a_long_life(lives: list[float], pauses: list[float]) -> None:
    backoff = Backoff()
    assert [backoff.after(life) for life in lives] == pauses
