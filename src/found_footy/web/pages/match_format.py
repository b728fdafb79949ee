"""Texts of a match: cricket scores, statuses, data freshness; and positions on its timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.fixtures.documents import InningsScore
from found_footy.fixtures.models import PHASES, Innings, MatchMinute, Phase, Sport, WicketKind
from found_footy.fixtures.read_models import PolledFixture
from found_footy.text import format_duration

ALL_OUT = 10
OVERS_BY_FORMAT = {"t10": 10, "hundred": 20, "t20": 20, "odi": 50, "list a": 50, "one-day": 50, "one day": 50}
"""Overs per innings, by the start or a part of the match format."""
LONG_INNINGS = 90
"""Timeline length of an innings without an over limit."""

_WITH_BOWLER = {
    WicketKind.BOWLED: "b",
    WicketKind.CAUGHT: "caught, b",
    WicketKind.LBW: "lbw b",
    WicketKind.STUMPED: "stumped, b",
    WicketKind.HIT_WICKET: "hit wicket b",
}
_WITHOUT_BOWLER = {
    WicketKind.BOWLED: "bowled",
    WicketKind.CAUGHT: "caught",
    WicketKind.LBW: "lbw",
    WicketKind.RUN_OUT: "run out",
    WicketKind.STUMPED: "stumped",
    WicketKind.HIT_WICKET: "hit wicket",
    WicketKind.OTHER: "out",
}


def innings_score(innings: Sequence[Innings | InningsScore], side: str) -> tuple[str, str]:
    """`187/5` and `(20 ov)`; earlier innings come first, as `245 & 31/2`. Empty before the side bats."""
    batted = [each for each in innings if each.batting == side]
    if not batted:
        return "", ""
    runs = " & ".join(_runs(each) for each in batted)
    last = batted[-1]
    overs = f"{last.overs}.{last.balls}" if last.balls else str(last.overs)
    return runs, f"({overs} ov)"


def _runs(innings: Innings | InningsScore) -> str:
    return str(innings.runs) if innings.wickets >= ALL_OUT else f"{innings.runs}/{innings.wickets}"


def batting(innings: Sequence[Innings | InningsScore]) -> str | None:
    """Batting side; None between two innings."""
    return innings[-1].batting if innings and not innings[-1].over else None


def how_out(kind: str, bowler: str | None) -> str:
    """`b Bumrah`, `caught, b Bumrah`, `run out`."""
    wicket = WicketKind(kind) if kind in set(WicketKind) else WicketKind.OTHER
    if bowler and wicket in _WITH_BOWLER:
        return f"{_WITH_BOWLER[wicket]} {bowler}"
    return _WITHOUT_BOWLER[wicket]


def ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def innings_overs(details: Mapping[str, str], innings: Sequence[Innings | InningsScore]) -> int:
    """Overs per innings on the timeline."""
    kind = f"{details.get('match_type', '')} {details.get('series', '')}".casefold()
    overs_limit = next((overs for key, overs in OVERS_BY_FORMAT.items() if key in kind), None)
    longest_innings = max((each.overs + bool(each.balls) for each in innings), default=0)
    return max(overs_limit or (LONG_INNINGS if len(innings) > 2 or "test" in kind else 20), longest_innings)


def innings_percent(innings: int, over: int, ball: int | None, *, count: int, overs: int) -> float:
    """Position in percent, on a timeline with one section for each of `count` innings."""
    part = min(1.0, (over + (ball or 0) / 6) / overs)
    return round(100 * (min(innings, count) - 1 + part) / count, 1)


# --- Position of a minute on a match's timeline, in percent.


PARTS = ((0, 45, 5), (45, 90, 8), (90, 105, 3), (105, 120, 4))
"""First and last minute of each period, and the space for its stoppage time."""
NORMAL = 2
"""Periods of a match without extra time."""


def needs_extra_time(minutes: list[int]) -> bool:
    return any(minute > PARTS[NORMAL - 1][1] for minute in minutes)


def timeline_percent(elapsed: int, extra: int | None = None, *, extra_time: bool = False) -> float:
    """Position in percent; minutes beyond the timeline are at its end."""
    at = 0.0
    parts = PARTS if extra_time else PARTS[:NORMAL]
    for first, last, stoppage in parts:
        if elapsed <= last:
            at += max(0, elapsed - first) + (min(extra or 0, stoppage) if elapsed == last else 0)
            break
        at += last - first + stoppage
    return round(100 * at / _length(extra_time), 1)


def half_time_percent(*, extra_time: bool = False) -> float:
    first, last, stoppage = PARTS[0]
    return round(100 * (last - first + stoppage) / _length(extra_time), 1)


def full_time_percent(*, extra_time: bool = False) -> float:
    """Position of the end of normal time, where extra time begins."""
    return round(
        100 * sum(last - first + stoppage for first, last, stoppage in PARTS[:NORMAL]) / _length(extra_time), 1
    )


def _length(extra_time: bool) -> int:
    return sum(last - first + stoppage for first, last, stoppage in (PARTS if extra_time else PARTS[:NORMAL]))


# --- Texts of a match and its goals, with and without results.


STATUS_TEXT: Mapping[str, str] = {
    "TBD": "Time open",
    "PST": "Postponed",
    "1H": "1st half",
    "HT": "HT",
    "2H": "2nd half",
    "ET": "Extra time",
    "BT": "Break",
    "P": "Pens",
    "LIVE": "Live",
    "SUSP": "Suspended",
    "INT": "Interrupted",
    "FT": "FT",
    "AET": "AET",
    "PEN": "Pens",
    "CANC": "Cancelled",
    "ABD": "Abandoned",
    "AWD": "Awarded",
    "WO": "Walkover",
    "INNBRK": "Innings break",
    "DRINKS": "Drinks",
    "LUNCH": "Lunch",
    "TEA": "Tea",
    "DINNER": "Dinner",
    "RAIN": "Rain",
    "STUMPS": "Stumps",
    "RESULT": "Result",
    "DRAW": "Draw",
    "TIE": "Tie",
    "NR": "No result",
}
RUNNING = frozenset({"1H", "2H", "ET", "LIVE"})
"""Statuses for which the minute is shown instead of a text."""


class MatchPhase(StrEnum):
    """The only information shown of a match with hidden scores."""

    UPCOMING = "not started"
    LIVE = "under way"
    OVER = "finished"


_PHASE_GROUPS: Mapping[Phase, MatchPhase] = {
    Phase.UPCOMING: MatchPhase.UPCOMING,
    Phase.POSTPONED: MatchPhase.UPCOMING,
    Phase.IN_PLAY: MatchPhase.LIVE,
    Phase.INTERRUPTED: MatchPhase.LIVE,
    Phase.FINISHED: MatchPhase.OVER,
    Phase.CALLED_OFF: MatchPhase.OVER,
}


def match_phase(status: str, stage: str) -> MatchPhase:
    """Phase of a match. A match that is no longer polled is not live, whatever its last status was."""
    phase = _PHASE_GROUPS.get(PHASES.get(status, Phase.IN_PLAY), MatchPhase.LIVE)
    return MatchPhase.OVER if phase is MatchPhase.LIVE and stage == "completed" else phase


def clock_text(
    status: str, stage: str, elapsed: int | None, extra: int | None, sport: str = Sport.FOOTBALL
) -> str | None:
    """Clock text; None if the kick-off time is shown instead."""
    if status == "NS":
        return None
    if PHASES.get(status) is Phase.IN_PLAY and stage == "completed":
        return "Unfinished"
    if status in RUNNING and elapsed is not None:
        return minute_text(elapsed, extra, sport)
    return STATUS_TEXT.get(status, status)


def minute_text(elapsed: int, extra: int | None, sport: str = Sport.FOOTBALL) -> str:
    """`67'`, `90+3'`, or `12.3 ov`."""
    return str(MatchMinute(elapsed, extra, 1 if sport == Sport.CRICKET else None))


@dataclass(frozen=True, slots=True)
class StatusBadge:
    state: str
    """CSS state: a status of an event, or `none`."""
    text: str
    more: str = ""
    """Additional activity."""


def status_badge(status: str, *, seen: int, debounce: int, searches: int, attempts: int, clips: int) -> StatusBadge:
    """Badge of a goal. `status` is the event's stored status."""
    if status == "withdrawn":
        return StatusBadge(status, "withdrawn")
    if status == "validating":
        return StatusBadge(status, f"seen {min(seen, debounce)}/{debounce}")
    if status == "complete":
        return StatusBadge(status, _clips(clips)) if clips else StatusBadge("none", "no clip")
    searching = f"searching {searches}/{max(attempts, searches)}"
    if clips:
        return StatusBadge("complete", _clips(clips), searching)
    return (
        StatusBadge(status, "checking clips", searching) if status == "extracting" else StatusBadge(status, searching)
    )


def _clips(number: int) -> str:
    return "1 clip" if number == 1 else f"{number} clips"


# --- Data freshness of a match. Pages update the age themselves (`staleness.js`).


@dataclass(frozen=True, slots=True)
class DataFreshness:
    """`age_seconds` is None for a match that is not part of every poll."""

    updated_at: datetime | None
    age_seconds: float | None = None
    stale: bool = False

    @property
    def text(self) -> str:
        """`stale · 75 s`; empty if fresh."""
        if not self.stale or self.age_seconds is None:
            return ""
        return (
            f"stale · {format_duration(timedelta(seconds=self.age_seconds))}" if self.updated_at else "no feed data yet"
        )

    @property
    def since(self) -> int | None:
        """Last update of a polled match, in seconds since 1970."""
        return int(self.updated_at.timestamp()) if self.updated_at and self.age_seconds is not None else None


def freshness_of(
    match: PolledFixture, now: datetime, stale_seconds: float, updated_at: datetime | None = None
) -> DataFreshness:
    updated_at = updated_at or match.last_poll_at
    is_polled = match.stage == "active" and match_phase(match.status, match.stage) is not MatchPhase.OVER
    if not is_polled or match.kickoff > now:
        return DataFreshness(updated_at)
    age = max(0.0, (now - (updated_at or match.kickoff)).total_seconds())
    return DataFreshness(updated_at, age, age > stale_seconds)
