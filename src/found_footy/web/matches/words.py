"""A match and its goals in the words that people know, and in those that tell nobody a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.domain.fixtures.statuses import PHASES, Phase

STALE_POLLS = 3
STALE_SECONDS = 15.0
"""Where polls come every second, a few that are late are no news."""
"""Polls that may fail to come before a live match is said to be without news."""

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


def clock(status: str, stage: str, elapsed: int | None, extra: int | None) -> str | None:
    """None where the time of kick-off is to be shown."""
    if status == "NS":
        return None
    if PHASES.get(status) is Phase.IN_PLAY and stage == "completed":
        return "Unfinished"
    if status in RUNNING and elapsed is not None:
        return f"{elapsed}+{extra}'" if extra else f"{elapsed}'"
    return WORDS.get(status, status)


def stale_after(poll_seconds: float) -> float:
    return max(STALE_SECONDS, STALE_POLLS * poll_seconds)


def silence(
    stage: str, at: Standing, kickoff: datetime, last_poll_at: datetime | None, now: datetime, poll_seconds: float
) -> str | None:
    """What a card says when the feed says nothing of a match that should be followed at every poll."""
    if stage != "active" or at is Standing.OVER or kickoff > now:
        return None
    since = last_poll_at or kickoff
    silent = now - since
    if silent <= timedelta(seconds=stale_after(poll_seconds)):
        return None
    return f"no news from the feed for {spell(silent)}" if last_poll_at else "no news from the feed yet"


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
