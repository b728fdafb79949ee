"""A match and its goals in the words that people know, and in those that tell nobody a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from found_footy.domain.fixtures.model import Minute, Sport
from found_footy.domain.fixtures.statuses import PHASES, Phase

WORDS: Mapping[str, str] = {
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
"""Statuses in which the minute says more than a word."""


class Standing(StrEnum):
    """All that is told of a match whose score is hidden."""

    UPCOMING = "not started"
    LIVE = "under way"
    OVER = "finished"


_STANDINGS: Mapping[Phase, Standing] = {
    Phase.UPCOMING: Standing.UPCOMING,
    Phase.POSTPONED: Standing.UPCOMING,
    Phase.IN_PLAY: Standing.LIVE,
    Phase.INTERRUPTED: Standing.LIVE,
    Phase.FINISHED: Standing.OVER,
    Phase.CALLED_OFF: Standing.OVER,
}


def standing(status: str, stage: str) -> Standing:
    """A match that is no longer followed is not under way, whatever the feed said last."""
    known = _STANDINGS.get(PHASES.get(status, Phase.IN_PLAY), Standing.LIVE)
    return Standing.OVER if known is Standing.LIVE and stage == "completed" else known


def clock(status: str, stage: str, elapsed: int | None, extra: int | None, sport: str = Sport.FOOTBALL) -> str | None:
    """None where the time of kick-off is to be shown."""
    if status == "NS":
        return None
    if PHASES.get(status) is Phase.IN_PLAY and stage == "completed":
        return "Unfinished"
    if status in RUNNING and elapsed is not None:
        return moment_words(elapsed, extra, sport)
    return WORDS.get(status, status)


def moment_words(elapsed: int, extra: int | None, sport: str = Sport.FOOTBALL) -> str:
    """`67'`, `90+3'`, or `12.3 ov`."""
    return str(Minute(elapsed, extra, 1 if sport == Sport.CRICKET else None))


def spell(span: timedelta) -> str:
    """A time span as one says it, never more than it was."""
    seconds = int(span.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 2 * 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 48 * 3600 else f"{seconds // 86400} days"


@dataclass(frozen=True, slots=True)
class Chip:
    state: str
    """For the colour: a status of an event, or `none`."""
    text: str
    more: str = ""
    """What goes on beside it."""


def chip(status: str, *, seen: int, debounce: int, searches: int, attempts: int, clips: int) -> Chip:
    """Where a goal stands. `status` is the event's plain status."""
    if status == "withdrawn":
        return Chip(status, "withdrawn")
    if status == "validating":
        return Chip(status, f"seen {min(seen, debounce)}/{debounce}")
    if status == "complete":
        return Chip(status, _clips(clips)) if clips else Chip("none", "no clip")
    working = f"searching {searches}/{max(attempts, searches)}"
    if clips:
        return Chip("complete", _clips(clips), working)
    return Chip(status, "checking clips", working) if status == "extracting" else Chip(status, working)


def _clips(number: int) -> str:
    return "1 clip" if number == 1 else f"{number} clips"
