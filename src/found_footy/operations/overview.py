"""Overview of the installation: what it follows, which feeds and sources are enabled, and the next match.

`footy up` and `footy init` print it, and the matchday page shows it while there are no matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from found_footy.config import ALL_SOURCES, Settings
from found_footy.discovery.registry import missing_settings
from found_footy.errors import SettingsError
from found_footy.feeds.registry import feeds_declared
from found_footy.fixtures.follow_list import NextMatch
from found_footy.fixtures.following import FollowChange, describe_following, following_of
from found_footy.text import format_duration


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
    return f"{match.home} – {match.away} ({match.league}), {day} {kickoff:%H:%M}, in {format_duration(wait)}"


async def describe_setup(
    settings: Settings, changes: Sequence[FollowChange] = (), next_match: NextMatch | None = None
) -> SetupOverview:
    """`changes` are those of the follow list at run time."""
    return SetupOverview(
        following=describe_following(following_of(settings.follow, changes)),
        feeds=await _feeds(settings),
        sources=source_states(settings),
        next_match=next_match,
    )


async def _feeds(settings: Settings) -> tuple[SwitchState, ...]:
    try:
        declared = await feeds_declared(settings)
    except SettingsError as error:
        return (SwitchState("feeds", False, str(error)),)
    return tuple(
        SwitchState(each.source.id, each.is_on and not each.missing, each.missing if each.is_on else "switched off")
        for each in declared
    )


def source_states(settings: Settings) -> tuple[SwitchState, ...]:
    lacking = missing_settings(settings)
    return tuple(
        SwitchState(name, True)
        if name in settings.sources and name not in lacking
        else SwitchState(name, False, f"needs {lacking[name]}" if name in lacking else "not in FOOTY_SOURCES")
        for name in ALL_SOURCES
    )
