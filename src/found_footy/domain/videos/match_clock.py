"""The minute of play that a broadcast's clock shows. Completed minutes: 85:32 is 85, and 45+2 is 47."""

from __future__ import annotations

import re
from dataclasses import dataclass

from found_footy.domain.videos.clock_text import Mark, Period, Scanned, Time, scan

LATEST = 150
"""No match lasts longer; a larger number is not its clock."""
PERIOD_ENDS = (45, 90, 105, 120)
LONGEST_STOPPAGE = 30

_HALF = 45
_EXTRA_HALF = 15
_STANDS_AT = {Mark.HALF_TIME: 45, Mark.FULL_TIME: 90, Mark.AFTER_EXTRA_TIME: 120, Mark.PENALTIES: 120}
_STOPS_BEFORE = {Mark.HALF_TIME: 60, Mark.FULL_TIME: 120, Mark.AFTER_EXTRA_TIME: LATEST, Mark.PENALTIES: LATEST}


@dataclass(frozen=True, slots=True)
class MatchClock:
    """One reading of the main clock."""

    minute: int
    """Counted from kick-off, also where the clock restarts at each half; stoppage time is apart."""
    second: int | None = None
    stoppage: int | None = None
    """Minutes of stoppage time, as 2 in 45+2 or in 45:00 +02:17."""
    added: int | None = None
    """Minutes of stoppage time that the referee announced. They say nothing about how many have been played."""
    period: Period | None = None
    mark: Mark | None = None

    @property
    def stands_at_period_end(self) -> bool:
        """The clock has stopped where stoppage time begins, so that it tells the period and not the minute."""
        return self.minute in PERIOD_ENDS and not self.second and self.stoppage is None


def parse_clock_field(text: str) -> MatchClock | None:
    """Running clocks, period marks, and clocks that stand still. None where the text is no clock."""
    found = scan(text)
    if found.mark is not None:
        return _standing(found, found.mark)
    return _running(found)


def parse_added_field(text: str) -> int | None:
    """+4, 4', "4 min": the minutes of stoppage time that were announced."""
    match = re.fullmatch(r"[^0-9]{0,16}([0-9]{1,2})[^0-9:]{0,16}", text)
    return _up_to(int(match[1]), LONGEST_STOPPAGE) if match else None


def parse_stoppage_clock_field(text: str) -> int | None:
    """02:36 or +2:36, the clock beside the main one: whole minutes of stoppage time that have been played."""
    found = scan(text)
    times = (*found.sub_clocks, *(time for time in found.times if time.second is not None))
    return _up_to(times[0].minute, LONGEST_STOPPAGE) if len(times) == 1 else None


def compute_absolute_minute(clock: MatchClock | None, stoppage: int | None = None) -> int | None:
    """The minute from kick-off, with stoppage time added on where the main clock stands still for it."""
    if clock is None:
        return None
    played = clock.stoppage if stoppage is None else stoppage
    # A main clock that runs on past the period's end has counted the stoppage already.
    minute = clock.minute + played if played is not None and clock.minute in PERIOD_ENDS else clock.minute
    return _up_to(minute, LATEST)


def parse_clock(text: str) -> int | None:
    """The minute that any text shows, or None. Never raises.

    A clock that restarts at each half is told by its period mark together with a number too small for that
    period: `2H 12:30` is 57 and `2H 67:00` is 67; `ET 08:12` is 98 and `ET 98:12` the same.
    """
    return compute_absolute_minute(parse_clock_field(text))


def _standing(found: Scanned, mark: Mark) -> MatchClock:
    """A clock beside the mark counts only where it can be the one that stopped: HT 12:30 counts the break down."""
    beside = _running(found)
    end = _STANDS_AT[mark]
    if mark is Mark.HALF_TIME and found.period in (Period.EXTRA_TIME, Period.EXTRA_SECOND):
        return MatchClock(90 + _EXTRA_HALF, mark=mark, period=found.period)
    if beside is not None and end <= beside.minute < _STOPS_BEFORE[mark]:
        return MatchClock(beside.minute, beside.second, beside.stoppage, beside.added, beside.period, mark)
    return MatchClock(end, mark=mark, period=found.period)


def _running(found: Scanned) -> MatchClock | None:
    if found.stoppages:
        base, played = found.stoppages[0]
        if len(set(found.stoppages)) > 1 or played > LONGEST_STOPPAGE:
            return None
        minute = _since_kick_off(base, found.period, ends=True)
        # 67+2 is no minute of a match: stoppage time follows the end of a period only.
        return MatchClock(minute, None, played, None, found.period) if minute in PERIOD_ENDS else None
    if not found.times:
        return None
    main, *others = found.times
    others += found.sub_clocks
    ends = bool(others) or found.added is not None
    minute = _since_kick_off(main.minute, found.period, ends=ends)
    if minute is None or minute > LATEST:
        return None
    stoppage = _played(minute, others)
    if others and stoppage is None:
        return None
    return MatchClock(minute, main.second, stoppage, found.added, found.period)


def _played(minute: int, others: list[Time]) -> int | None:
    """The stoppage time on a second clock. Two times of which neither is a sub-clock say nothing certain."""
    if len(others) != 1 or others[0].minute > LONGEST_STOPPAGE:
        return None
    played = others[0].minute
    return played if minute in PERIOD_ENDS or minute - played in PERIOD_ENDS else None


def _since_kick_off(minute: int, period: Period | None, *, ends: bool) -> int | None:
    """`ends` says that stoppage time is shown, so that a second half at 45 is over and not about to start."""
    match period:
        case Period.SECOND_HALF if minute < _HALF or (minute == _HALF and ends):
            return minute + _HALF
        case Period.EXTRA_SECOND if minute < _EXTRA_HALF or (minute == _EXTRA_HALF and ends):
            return 90 + _EXTRA_HALF + minute
        case Period.EXTRA_TIME | Period.EXTRA_SECOND if minute <= 2 * _EXTRA_HALF:
            return 90 + minute
        case Period.EXTRA_TIME | Period.EXTRA_SECOND if minute < 90:
            return None
    return minute


def _up_to(number: int, most: int) -> int | None:
    return number if 0 <= number <= most else None
