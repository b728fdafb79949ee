"""Matchday time and the matches at a moment of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from datetime import date, datetime, timedelta
from typing import Any

from footy_simulator.cricket import CricketState, cricket_settled_from, cricket_state_at
from footy_simulator.expectations import ExpectedOutcome
from footy_simulator.football import fixture_at, kickoff_time, settled_from, status_at
from footy_simulator.playback import POLLS_TO_FINISH, PlaybackState
from footy_simulator.scenario import Scenario, ScriptedMatch
from footy_simulator.truth import expected_outcome
from found_footy.fixtures.models import Phase, phase_of

TimeSource = Callable[[], float]
PRESENT_SECONDS = 3.0
"""Real seconds after which time no longer waits for a client."""


class MatchdayClock:
    """Seconds of matchday time since its start.

    In lockstep, time advances only with polls: by the real time since the previous poll times `speed`, and by at most
    `max_step`, so that a slow or interrupted consumer misses nothing that lasts longer. The same holds for each named
    `reader` among several, as long as it polls every few seconds and is answered. The first poll sees the very start.
    Without lockstep, time runs `speed` times as fast as real time.
    """

    def __init__(
        self,
        *,
        speed: float = 60.0,
        lockstep: bool = True,
        max_step: float = 60.0,
        time_source: TimeSource = time.monotonic,
    ) -> None:
        self._speed = speed
        self._lockstep = lockstep
        self._max_step = max_step
        self._time = time_source
        self._started = time_source()
        self._polled: float | None = None
        self._offset = 0.0
        self.limit = math.inf
        """In lockstep, time does not pass this offset."""
        self._seen: dict[str, tuple[float, float]] = {}
        """By client: when it last polled, and the offset it saw."""

    @property
    def lockstep(self) -> bool:
        return self._lockstep

    @property
    def offset(self) -> float:
        return self._offset if self._lockstep else (self._time() - self._started) * self._speed

    def poll(self, reader: str | None = None) -> float:
        """Count a poll: advance, and return the offset it sees. Time waits only for named clients."""
        now = self._time()
        if self._polled is not None:
            moved = self._offset + min((now - self._polled) * self._speed, self._max_step)
            self._offset = max(self._offset, min(moved, self._furthest(now), self.limit))
        self._polled = now
        if reader is not None:
            self._seen[reader] = (now, self._offset)
        return self.offset

    def forget(self, reader: str) -> None:
        """The client got no answer and may pause: do not wait for it until it polls again."""
        self._seen.pop(reader, None)

    def _furthest(self, now: float) -> float:
        present = [offset for at, offset in self._seen.values() if now - at <= PRESENT_SECONDS]
        return min(present) + self._max_step if present else math.inf


# --- A scripted matchday: the clock shared by all feeds, and the matches at a moment.


class Matchday:
    def __init__(self, scenario: Scenario, start: datetime, clock: MatchdayClock) -> None:
        self.scenario = scenario
        self.truth: ExpectedOutcome = expected_outcome(scenario)
        self.start = start
        self._clock = clock
        ends: list[float] = [settled_from(match) for match in scenario.matches]
        self._settled_from = max([*ends, *map(cricket_settled_from, scenario.cricket)], default=0)
        self._polls = 0
        self._settled_polls = 0
        self._watchers: list[Callable[[], None]] = []

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` after every poll."""
        self._watchers.append(watcher)

    def poll(self, reader: str | None = None) -> None:
        """Count a poll of any feed: matchday time advances, and waits for named clients."""
        offset = self._clock.poll(reader)
        self._polls += 1
        self._settled_polls += offset >= self._settled_from
        for watcher in self._watchers:
            watcher()

    def forget(self, reader: str) -> None:
        """The poll of this client was not answered: matchday time does not wait for it."""
        self._clock.forget(reader)

    def hold_at(self, offset: float | None) -> None:
        """Let matchday time stand still at this offset; None lets it go on."""
        self._clock.limit = math.inf if offset is None else offset

    @property
    def offset(self) -> float:
        """Seconds since the start."""
        return self._clock.offset

    def reached(self) -> float | None:
        """Progress in seconds: None before the first poll, infinite once every match is over.

        Nobody polls after the last match, so time would stop before the last posts are due.
        """
        if not self._polls and self._clock.lockstep:
            return None
        return math.inf if self._clock.offset >= self._settled_from else self._clock.offset

    def fixture(self, match: ScriptedMatch, offset: float) -> dict[str, Any]:
        return fixture_at(match, self.scenario.league_of(match), self.start, offset)

    def cricket(self, offset: float) -> list[CricketState]:
        return [cricket_state_at(match, self.start, offset) for match in self.scenario.cricket]

    def by_ids(self, match_ids: Collection[int]) -> list[ScriptedMatch]:
        return [match for match in self.scenario.matches if match.id in match_ids]

    def on(self, day: date) -> list[ScriptedMatch]:
        """Matches that kick off on a day (UTC)."""
        return [match for match in self.scenario.matches if kickoff_time(match, self.start).date() == day]

    def live(self, league_ids: Collection[int] | None, offset: float) -> list[ScriptedMatch]:
        """Matches in progress, in these leagues or in all."""
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
