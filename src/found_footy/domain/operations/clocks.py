"""Matches whose feeds answer, and repeat themselves: the match is played, and its clock does not move."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from found_footy.domain.operations.effects import poll_limit
from found_footy.domain.operations.findings import Finding, Grade, Limits, spoken
from found_footy.domain.operations.measured import LiveMatch, Measured, Recorded

PLAYED = frozenset({"1H", "2H", "ET", "LIVE"})
"""Not in breaks, nor in a shoot-out, which has no clock."""
ENDS = frozenset({45, 90, 105, 120})
STANDS = timedelta(minutes=5)
AT_THE_END = timedelta(minutes=20)
"""Many feeds stop their clock at the end of a half, and say nothing of the time that is added."""
BETWEEN_BALLS = timedelta(minutes=15)
"""Cricket waits for injuries, reviews and showers that nobody calls a break."""


def stands_still(match: LiveMatch, now: datetime) -> bool:
    if match.status not in PLAYED or match.elapsed is None or match.clock_moved_at is None:
        return False
    limit = BETWEEN_BALLS if match.sport == "cricket" else AT_THE_END if match.elapsed in ENDS else STANDS
    return now - match.clock_moved_at > limit


def standing(recorded: Recorded, now: datetime) -> list[LiveMatch]:
    """The one that has stood for longest first."""
    found = [match for match in recorded.matches if stands_still(match, now)]
    return sorted(found, key=lambda match: (match.clock_moved_at or now, match.fixture_id))


def clocks(measured: Measured, recorded: Recorded, limits: Limits) -> Iterator[Finding]:
    """Those that are not polled stand still for a reason that is named."""
    limit = poll_limit(measured, limits)
    found = [match for match in standing(recorded, measured.at) if measured.at - match.since <= limit]
    if not found:
        return
    first = found[0]
    more = f", and of {len(found) - 1} more," if len(found) > 1 else ""
    since = first.clock_moved_at or measured.at
    what = f"The clock of {first.home} – {first.away}{more} has not moved for {spoken(measured.at - since)}"
    advice = "Its feeds answer, and say the same again: one that is stuck can be switched off. Or play was stopped."
    yield Finding("clock_stands", Grade.DEGRADED, what, since, advice, "matches", None, first.fixture_id)
