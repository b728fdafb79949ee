"""When a day of the soak counts as over: what is measured earlier is work in progress, not growth."""

from __future__ import annotations

import pytest
from bench.soak import is_over

ID = 5000


@pytest.mark.parametrize(
    ("stage", "searched", "sealed", "over"),
    [
        ("completed", (True, True), True, True),
        ("completed", (), True, True),  # no goal
        ("active", (True, True), True, False),
        ("completed", (True, False), True, False),
        ("completed", (True, True), False, False),  # its rows are deleted by the next poll
    ],
)
def test_a_match_is_over_once_it_is_completed_searched_and_sealed(
    stage: str, searched: tuple[bool, ...], sealed: bool, over: bool
) -> None:
    events = [{"_download_complete": each} for each in searched]
    document = {"_id": ID, "stage": stage, "events": events}
    assert is_over(document, {ID} if sealed else {ID + 1}) is over
