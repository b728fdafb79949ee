"""A feed that repeats itself: a table of clocks."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.operations.findings import assess, is_clock_frozen
from found_footy.operations.models import HealthLimits
from tests.support.operations import a_match, ago, measured, recorded


@pytest.mark.parametrize(
    ("status", "elapsed", "minutes", "still"),
    [
        ("2H", 67, 0, False),
        ("2H", 67, 5, False),
        ("2H", 67, 5.3, True),
        ("1H", 1, 90, True),
        ("ET", 101, 6, True),
        # The clocks of many feeds stop at the end of a half.
        ("1H", 45, 20, False),
        ("1H", 45, 21, True),
        ("2H", 90, 12, False),
        ("ET", 105, 12, False),
        # No clock, and no play.
        ("2H", None, 60, False),
        ("HT", 45, 60, False),
        ("BT", 90, 60, False),
        ("P", 120, 60, False),
        ("SUSP", 30, 60, False),
        ("NS", 0, 60, False),
        ("FT", 90, 60, False),
    ],
)
def test_when_a_clock_is_clock_frozen(status: str, elapsed: int | None, minutes: float, still: bool) -> None:
    match = a_match(status=status, elapsed=elapsed, clock_moved_at=ago(minutes=minutes))
    assert is_clock_frozen(match) is still


@pytest.mark.parametrize(
    ("status", "minutes", "still"),
    [("LIVE", 15, False), ("LIVE", 16, True), ("LUNCH", 600, False), ("RAIN", 600, False), ("STUMPS", 900, False)],
)
def test_cricket_waits_for_longer_and_has_breaks(status: str, minutes: float, still: bool) -> None:
    match = a_match(sport="cricket", status=status, elapsed=45, clock_moved_at=ago(minutes=minutes))
    assert is_clock_frozen(match) is still


def test_a_clock_of_which_nothing_was_ever_saved_is_not_judged() -> None:
    assert not is_clock_frozen(a_match(elapsed=30, clock_moved_at=None))


def test_a_clock_that_moved_until_the_last_of_rare_polls_is_not_frozen() -> None:
    assert not is_clock_frozen(a_match(elapsed=67, polled_seconds=1300, clock_moved_at=ago(seconds=1300)))
    assert is_clock_frozen(a_match(elapsed=67, polled_seconds=100, clock_moved_at=ago(seconds=1400)))


def said(*matches: dict[str, Any]) -> list[tuple[str, str]]:
    made = tuple(a_match(7001 + n, **each) for n, each in enumerate(matches))
    found = assess(measured(recorded=recorded(matches=made)), HealthLimits()).findings
    return [(finding.kind, finding.what) for finding in found]


def test_the_finding_names_the_oldest_and_counts_the_others() -> None:
    stuck = {"elapsed": 67, "clock_moved_at": ago(minutes=9)}
    words = "The match clock of Liverpool – Manchester City has not moved for 9 min"
    assert said(stuck) == [("clock_stands", words)]
    more = "The match clock of Liverpool – Manchester City, and of 1 more, has not moved for 9 min"
    assert said(stuck, stuck | {"clock_moved_at": ago(minutes=6)}) == [("clock_stands", more)]


def test_a_match_that_is_not_polled_is_clock_frozen_for_a_reason_that_is_named() -> None:
    late = {"polled_seconds": 400, "elapsed": 67, "clock_moved_at": ago(minutes=9)}
    assert [kind for kind, _ in said(late)] == ["polls"]
