"""The days of the soak: what they play, and when they count as over."""

from __future__ import annotations

import pytest
from bench.soak import DAYS, is_over
from bench.soak_scenario import SPEED, soak_day

from footy_simulator.football import match_timeline

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


@pytest.mark.parametrize("day", range(DAYS))
def test_no_match_ends_before_its_kick_off_in_real_time(day: int) -> None:
    for match in soak_day(day).matches:
        end = match_timeline(match).full_time
        assert end is not None
        assert end / SPEED > match.kickoff
