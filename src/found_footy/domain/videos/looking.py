"""Which frames of a clip to look at, and what their readings say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.match_clock import (
    MatchClock,
    compute_absolute_minute,
    parse_clock_field,
    parse_stoppage_clock_field,
)
from found_footy.domain.videos.overs_text import parse_overs
from found_footy.domain.videos.readings import FrameReading

FRACTIONS = (0.25, 0.75, 0.5)
"""Where to look, in shares of the clip's length; the last is the tie-breaker."""
SAME_CLIP = 2
"""Minutes by which the clock can move within one clip of at most 60 seconds, with one to spare."""
SAME_OVER = 3
"""Balls by which a cricket scoreboard can move within one clip."""
STANDS_FOR = 1.2
"""Seconds over which a match's clock must have moved."""


def next_fraction(readings: Sequence[FrameReading], sport: Sport = Sport.FOOTBALL) -> float | None:
    """Where to look next, or None when enough has been seen.

    Two frames do where they agree. The middle decides between two that contradict each other, and is the last
    chance to find a clock where neither has one.
    """
    if len(readings) < 2:
        return FRACTIONS[len(readings)]
    if len(readings) > 2:
        return None
    first, second = readings
    moment_of, far = (_ball_with_score, SAME_OVER) if sport is Sport.CRICKET else (minute_of, SAME_CLIP)
    moments = [moment for reading in readings if (moment := moment_of(reading)) is not None]
    disagree = first.soccer != second.soccer or first.screen != second.screen
    return FRACTIONS[2] if disagree or not moments or max(moments) - min(moments) > far else None


def minute_of(reading: FrameReading) -> int | None:
    return compute_absolute_minute(clock_of(reading), stoppage_of(reading))


def balls_of(reading: FrameReading) -> int | None:
    """How many balls of the innings have been bowled."""
    return parse_overs(reading.clock) if reading.clock else None


def _ball_with_score(reading: FrameReading) -> int | None:
    """Overs without a score prove no wicket: then it is worth another look."""
    return balls_of(reading) if reading.score is not None else None


def is_soccer(readings: Sequence[FrameReading]) -> bool | None:
    """None where as many frames say yes as no."""
    return _majority([reading.soccer for reading in readings])


def is_screen(readings: Sequence[FrameReading]) -> bool | None:
    return _majority([reading.screen for reading in readings])


def clip_minute(readings: Sequence[FrameReading]) -> int | None:
    """The minute of a clip by itself: what most of its frames say, the first of them where they differ."""
    minutes = [minute for reading in without_times_of_day(readings) if (minute := minute_of(reading)) is not None]
    support = [sum(abs(minute - other) <= SAME_CLIP for other in minutes) for minute in minutes]
    return minutes[support.index(max(support))] if minutes else None


def without_times_of_day(readings: Sequence[FrameReading]) -> list[FrameReading]:
    """A clock with no teams beside it that stands still, and not at a period's end, is the studio's or the street's."""
    clocks = [clock_of(reading) for reading in readings]
    kept = []
    for reading, clock in zip(readings, clocks, strict=True):
        bare = clock is not None and clock.second is not None and reading.teams is None and reading.score is None
        others = [
            other
            for later, other in zip(readings, clocks, strict=True)
            if other is not None and abs(later.at - reading.at) >= STANDS_FOR
        ]
        still = bool(others) and all(other == clock for other in others)
        at_end = clock is not None and clock.stands_at_period_end
        kept.append(replace(reading, clock=None, box=None) if bare and still and not at_end else reading)
    return kept


def clock_of(reading: FrameReading) -> MatchClock | None:
    return parse_clock_field(reading.clock) if reading.clock else None


def stoppage_of(reading: FrameReading) -> int | None:
    return parse_stoppage_clock_field(reading.stoppage_clock) if reading.stoppage_clock else None


def _majority(votes: Sequence[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)
