"""Matches of which nobody says anything new: a table of cases."""

from __future__ import annotations

import pytest

from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.feeds.poll_state import missing_everywhere, no_report_reason
from tests.support.football import START

LEFT_OUT, DOWN = "NotInAnswer: left out", "FeedUnavailable: gone"


def records(*errors: str | None) -> list[MatchMonitoringRecord]:
    return [
        MatchMonitoringRecord(f"feed{n}", 1, MonitoringState.ACTIVE, MatchPriority.LIVE, START, error=error)
        for n, error in enumerate(errors)
    ]


@pytest.mark.parametrize(
    ("errors", "feeds", "unknown", "why"),
    [
        ((), 0, False, None),
        ((), 2, False, None),
        ((None,), 1, False, None),
        ((LEFT_OUT,), 1, True, f"feed0: {LEFT_OUT}"),
        ((LEFT_OUT,), 2, False, f"feed0: {LEFT_OUT}"),  # the other was never asked
        ((LEFT_OUT, LEFT_OUT), 2, True, f"feed0: {LEFT_OUT}; feed1: {LEFT_OUT}"),
        ((LEFT_OUT, DOWN), 2, False, f"feed0: {LEFT_OUT}; feed1: {DOWN}"),
        ((LEFT_OUT, None), 2, False, None),
        ((DOWN, None), 2, False, None),
    ],
)
def test_why_a_match_is_silent(errors: tuple[str | None, ...], feeds: int, unknown: bool, why: str | None) -> None:
    assert missing_everywhere(records(*errors), feeds) is unknown
    said = no_report_reason(records(*errors))
    assert (str(said) if said else None) == why
