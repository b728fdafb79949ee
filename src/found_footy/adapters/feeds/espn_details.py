"""What ESPN's scoreboard leaves out, asked for match by match: wickets nearly always, goals now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from found_footy.adapters.feeds import cricinfo, espn_cricket, espn_soccer
from found_footy.adapters.feeds.espn_scoreboard import LeagueName
from found_footy.adapters.feeds.http import FeedHttp
from found_footy.adapters.feeds.retrying import Deadline, with_retries
from found_footy.domain.errors import FeedBusy, FeedError, FeedSchemaError, FootyError
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.fixtures.model import LiveFixture, LiveGoal, Score, Sport

MOST_MATCHES = 20
"""In one poll. Those beyond it come next time."""
AT_ONCE = 4
LATE = 2
"""So many wickets may be counted and not told yet. Where more are lacking, the list is broken, not late."""
KEPT = timedelta(minutes=2)
"""For so long a match is not asked for again while its score stays the same."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    score: Score | None
    goals: tuple[LiveGoal, ...]
    at: datetime


class MatchDetails:
    def __init__(
        self,
        http: FeedHttp,
        cricinfo_http: FeedHttp | None,
        feed: str,
        now: Callable[[], datetime],
        retry: RetryRules | None = None,
    ) -> None:
        self._http = http
        self._cricinfo = cricinfo_http
        self._feed = feed
        self._now = now
        self._retry = retry or RetryRules()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._known: dict[int, _Remembered] = {}

    async def completed(
        self, fixtures: Sequence[LiveFixture], league_of: Mapping[int, LeagueName], deadline: Deadline
    ) -> tuple[tuple[LiveFixture, ...], dict[int, FootyError]]:
        """The matches with all that is told of them, and those of which the details could not be had.

        A goal that the scoreboard does not tell yet comes with the next poll. A cricket match without its wickets,
        however, would look as if they had been taken back.
        """
        self._forget()
        lacking = [fixture for fixture in fixtures if not _is_whole(fixture) and not self._recalled(fixture)]
        asked = {fixture.id for fixture in lacking[:MOST_MATCHES]}
        results = await asyncio.gather(*(self._one(fixture, asked, league_of, deadline) for fixture in fixtures))
        good = tuple(result for result in results if isinstance(result, LiveFixture))
        pairs = zip(fixtures, results, strict=True)
        return good, {fixture.id: result for fixture, result in pairs if isinstance(result, FootyError)}

    async def _one(
        self, fixture: LiveFixture, asked: set[int], league_of: Mapping[int, LeagueName], deadline: Deadline
    ) -> LiveFixture | FootyError:
        if _is_whole(fixture):
            return fixture
        if known := self._recalled(fixture):
            return replace(fixture, goals=max(fixture.goals, known.goals, key=len))
        if fixture.id not in asked:
            busy = FeedBusy(f"more than {MOST_MATCHES} matches of one poll need their details")
            return busy if fixture.sport is Sport.CRICKET else fixture
        try:
            async with self._slots:
                league = league_of[fixture.id]
                whole = await with_retries(lambda: self._asked(fixture, league, deadline), self._retry, deadline)
        except FootyError as error:
            return error if fixture.sport is Sport.CRICKET else fixture
        counted = sum(each.wickets for each in whole.innings)
        if counted - len(whole.goals) > LATE and whole.sport is Sport.CRICKET:
            return FeedSchemaError("wickets", len(whole.goals), f"{counted}, as the innings count")
        # Some leagues never tell their scorers; a wicket that nobody tells yet is asked for again at the next poll.
        if fixture.sport is not Sport.CRICKET or _is_whole(whole):
            self._known[fixture.id] = _Remembered(whole.score, whole.goals, self._now())
        return whole

    async def _asked(self, fixture: LiveFixture, league: LeagueName, deadline: Deadline) -> LiveFixture:
        if self._cricinfo is not None and fixture.sport is Sport.CRICKET:
            try:
                return await self._from_cricinfo(self._cricinfo, fixture, league, deadline)
            except FeedError:
                pass  # ESPN's own summary tells the same
        body = await self._http.get(league.path("summary"), {"event": str(fixture.id)}, deadline)
        if fixture.sport is Sport.CRICKET:
            whole = espn_cricket.parse_summary(body, self._feed, fixture.id)
            return replace(whole, league=fixture.league, venue=whole.venue or fixture.venue)
        return espn_soccer.with_summary(fixture, body)

    async def _from_cricinfo(
        self, http: FeedHttp, fixture: LiveFixture, league: LeagueName, deadline: Deadline
    ) -> LiveFixture:
        params = {"lang": "en", "seriesId": league.slug, "matchId": str(fixture.id)}
        body = await http.get("/v1/pages/match/scorecard", params, deadline)
        whole = cricinfo.parse_page(body, feed=self._feed, match_id=fixture.id, home_id=fixture.home.id)
        return replace(whole, league=fixture.league)

    def _recalled(self, fixture: LiveFixture) -> _Remembered | None:
        known = self._known.get(fixture.id)
        return known if known is not None and known.score == fixture.score else None

    def _forget(self) -> None:
        """So that a corrected wicket is heard of, and the memory does not grow with the season."""
        now = self._now()
        self._known = {id_: each for id_, each in self._known.items() if now - each.at < KEPT}


def _is_whole(fixture: LiveFixture) -> bool:
    return espn_cricket.is_whole(fixture) if fixture.sport is Sport.CRICKET else espn_soccer.is_whole(fixture)
