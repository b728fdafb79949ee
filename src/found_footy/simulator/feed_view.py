"""The matchday as one feed tells it: later than it happens, and now and then wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from found_footy.simulator.course import course_of
from found_footy.simulator.faults import DueFaults, FaultSchedule
from found_footy.simulator.feed_script import Fault, FeedScript
from found_footy.simulator.matchday import Matchday
from found_footy.simulator.script import Goal, Match, Player

BACK_SECONDS = 20 * 60
"""How far a match goes back in time."""
LIE_AGE = 60
"""Seconds by which an invented goal is old when it first shows."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a feed takes for the match, and the moment at which it looks at it."""

    match: Match
    offset: float


class FeedView:
    def __init__(self, matchday: Matchday, script: FeedScript) -> None:
        self.matchday = matchday
        self._delay = script.delay
        self._faults = FaultSchedule(script.faults)

    @property
    def offset(self) -> float:
        """How far the matchday is, as far as this feed knows."""
        return self.matchday.offset - self._delay

    def poll(self, reader: str | None = None) -> None:
        """A poll has come to this feed: the matchday moves on for all, but waits for a named reader."""
        self.matchday.poll(reader)

    def faults(self, match_ids: Collection[int]) -> DueFaults:
        """What is wrong with the answer to this poll."""
        return self._faults.due(self.matchday.offset, match_ids)

    def sight(self, match: Match, faults: Sequence[Fault] = ()) -> Sight:
        offset = self.offset
        for fault in faults:
            if fault.match == match.id and fault.kind == "back_in_time":
                offset -= BACK_SECONDS
            elif fault.match == match.id and fault.kind == "invented_goal":
                match = with_lie(match, fault, self._delay)
        return Sight(match, offset)


def with_lie(match: Match, fault: Fault, delay: int = 0) -> Match:
    """The match with a goal that never was: by the home side, at the minute at which the lie begins."""
    moment = fault.at - delay - LIE_AGE
    minute = course_of(match).at(moment).clock(moment)
    if minute is None:
        return match
    lie = Goal(minute=minute, side="home", player=Player(id=999_999, name="A. Nobody"))
    return match.model_copy(update={"goals": (*match.goals, lie)})
