"""Overview of the installation: what it follows, which feeds and sources are enabled, and the next match.

`footy up` and `footy init` print it, and the matchday page shows it while there are no matches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from found_footy.fixtures.follow_list import NextMatch
from found_footy.text import spoken


@dataclass(frozen=True, slots=True)
class SwitchState:
    """A feed or source, and why it is disabled."""

    name: str
    on: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.name} on" if self.on else f"{self.name} off ({self.reason})"


@dataclass(frozen=True, slots=True)
class SetupOverview:
    following: str
    feeds: tuple[SwitchState, ...]
    sources: tuple[SwitchState, ...]
    next_match: NextMatch | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Settings that keep the system from finding anything, each with its fix."""
        found = []
        if not any(feed.on for feed in self.feeds):
            found.append("No score feed is on: set FOOTY_FEED=espn, which needs no key, or API_FOOTBALL_KEY.")
        if not any(source.on for source in self.sources):
            found.append("No source of clips is on: set FOOTY_SOURCES=fxtwitter,reddit, which need no account.")
        if self.following == "nothing":
            found.append("Nothing is followed: run `footy follow add top5`, or set FOOTY_FOLLOW.")
        return tuple(found)


def joined(states: Iterable[SwitchState]) -> str:
    """Join the states, enabled ones first."""
    return " · ".join(str(each) for each in sorted(states, key=lambda each: not each.on)) or "none"


def next_match_text(match: NextMatch, now: datetime, zone: tzinfo | None = None) -> str:
    """Format a match: `Arsenal – Tottenham (Premier League), today 20:00, in 2 h 5 min`; local time by default."""
    kickoff, here = match.kickoff.astimezone(zone), now.astimezone(zone)
    days = (kickoff.date() - here.date()).days
    day = {0: "today", 1: "tomorrow"}.get(days, f"{kickoff:%a} {kickoff.day} {kickoff:%b}")
    wait = max(match.kickoff - now, timedelta(0))
    return f"{match.home} – {match.away} ({match.league}), {day} {kickoff:%H:%M}, in {spoken(wait)}"
