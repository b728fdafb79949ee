"""A scripted matchday being played: the clock that all feeds share, and the matches at a moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from datetime import date, datetime, timedelta
from typing import Any

from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.clock import MatchdayClock
from found_footy.simulator.cricket import CricketNow
from found_footy.simulator.cricket_now import cricket_at, cricket_settled_from
from found_footy.simulator.ground_truth import GroundTruth
from found_footy.simulator.script import Match, Scenario
from found_footy.simulator.state import POLLS_TO_FINISH, PlaybackState
from found_footy.simulator.timeline import fixture_at, kickoff_time, settled_from, status_at
from found_footy.simulator.truth import truth


class Matchday:
    def __init__(self, scenario: Scenario, start: datetime, clock: MatchdayClock) -> None:
        self.scenario = scenario
        self.truth: GroundTruth = truth(scenario)
        self.start = start
        self._clock = clock
        ends: list[float] = [settled_from(match) for match in scenario.matches]
        self._settled_from = max([*ends, *map(cricket_settled_from, scenario.cricket)], default=0)
        self._polls = 0
        self._settled_polls = 0
        self._watchers: list[Callable[[], None]] = []

    def watch(self, watcher: Callable[[], None]) -> None:
        """Is called after every poll."""
        self._watchers.append(watcher)

    def poll(self, reader: str | None = None) -> None:
        """A poll has come, to whichever feed: matchday time moves on, and waits for the named ones."""
        offset = self._clock.poll(reader)
        self._polls += 1
        self._settled_polls += offset >= self._settled_from
        for watcher in self._watchers:
            watcher()

    def forget(self, reader: str) -> None:
        """Its poll was not answered: matchday time does not wait for it."""
        self._clock.forget(reader)

    @property
    def offset(self) -> float:
        """Seconds since the start."""
        return self._clock.offset

    def reached(self) -> float | None:
        """How far the matchday is, in seconds: None before the first poll, and all of it once every match is over.

        Then nobody polls any more, and time would stand still before the last of what is still to come.
        """
        if not self._polls and self._clock.lockstep:
            return None
        return math.inf if self._clock.offset >= self._settled_from else self._clock.offset

    def fixture(self, match: Match, offset: float) -> dict[str, Any]:
        return fixture_at(match, self.scenario.league_of(match), self.start, offset)

    def cricket(self, offset: float) -> list[CricketNow]:
        return [cricket_at(match, self.start, offset) for match in self.scenario.cricket]

    def by_ids(self, match_ids: Collection[int]) -> list[Match]:
        return [match for match in self.scenario.matches if match.id in match_ids]

    def on(self, day: date) -> list[Match]:
        """The matches that kick off on a day, in UTC."""
        return [match for match in self.scenario.matches if kickoff_time(match, self.start).date() == day]

    def live(self, league_ids: Collection[int] | None, offset: float) -> list[Match]:
        """The matches that are on, in these leagues or in all."""
        return [
            match
            for match in self.scenario.matches
            if phase_of(status_at(match, offset)) in (Phase.IN_PLAY, Phase.INTERRUPTED)
            and (league_ids is None or self.scenario.league_of(match).id in league_ids)
        ]

    def state(self) -> PlaybackState:
        offset = self._clock.offset
        return PlaybackState(
            now=self.start + timedelta(seconds=offset),
            offset_seconds=offset,
            polls=self._polls,
            settled=offset >= self._settled_from,
            finished=self._settled_polls >= POLLS_TO_FINISH,
        )
