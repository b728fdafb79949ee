"""Which matches of a day are shown, in which order, and which day is shown at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from found_footy.web.matches.view import MatchView

Show = Literal["all", "live", "clips"]

AROUND = 3
"""Days on each side of the one that is shown."""


@dataclass(frozen=True, slots=True)
class Group:
    """The matches of one competition."""

    league: str
    country: str | None
    round: str | None
    """Where all of them are of the same."""
    matches: tuple[MatchView, ...]


@dataclass(frozen=True, slots=True)
class DayTab:
    day: date
    matches: int
    shown: bool


def chosen(matches: Sequence[MatchView], show: Show) -> list[MatchView]:
    """A hidden match has no clips as far as anybody is told."""
    if show == "live":
        return [match for match in matches if match.live]
    return [match for match in matches if match.has_clips] if show == "clips" else list(matches)


def groups(matches: Sequence[MatchView]) -> list[Group]:
    """Competitions with a match under way first, then by name; within each, what is under way, then by kick-off.

    Nothing of a result goes into the order: also hidden matches stand in it.
    """
    by_league: dict[int, list[MatchView]] = {}
    for match in sorted(matches, key=lambda each: (not each.live, each.kickoff, each.home, each.id)):
        by_league.setdefault(match.league_id, []).append(match)
    made = [_group(each) for each in by_league.values()]
    return sorted(made, key=lambda group: (not group.matches[0].live, group.league.casefold(), group.country or ""))


def _group(matches: Sequence[MatchView]) -> Group:
    rounds = {match.round for match in matches}
    return Group(
        league=matches[0].league,
        country=matches[0].country,
        round=matches[0].round if len(rounds) == 1 else None,
        matches=tuple(matches),
    )


def nearest(day: date, before: date | None, after: date | None) -> date:
    """The nearest day that has matches; of two as near, the one to come."""
    if before is None or after is None:
        return before or after or day
    return after if after - day <= day - before else before


def tabs(day: date, counts: Mapping[date, int]) -> list[DayTab]:
    days = [day + timedelta(days=step) for step in range(-AROUND, AROUND + 1)]
    return [DayTab(each, counts.get(each, 0), each == day) for each in days]


def day_words(day: date, today: date) -> str | None:
    return {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}.get((day - today).days)
