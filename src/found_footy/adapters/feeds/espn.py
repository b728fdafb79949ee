"""ESPN's public JSON (soccer and cricket). It needs no key, has no batch by ids, and tells no quota.

A poll asks for the scoreboards of its leagues. The summary of a single match is asked for only where the scoreboard
counts more goals or wickets than it tells, and never for more than a few matches in one poll.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from found_footy.adapters.feeds.espn_details import MatchDetails
from found_footy.adapters.feeds.espn_scoreboard import FEED, LeagueName, parse_scoreboard
from found_footy.adapters.feeds.http import FeedHttp, Turn, at_once
from found_footy.adapters.feeds.retrying import BUDGET_SECONDS, Deadline, with_retries
from found_footy.domain.errors import FeedError, FeedNotFound
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.ports import FeedAnswer

log = logging.getLogger(__name__)

__all__ = ["FEED", "Espn", "parse_scoreboard"]


class Espn:
    def __init__(
        self,
        base_url: str,
        leagues: Sequence[str] | Callable[[], Sequence[str]],
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        retry: RetryRules | None = None,
        turn: Turn = at_once,
        name: str = FEED,
        cricinfo_url: str | None = None,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self._named = leagues
        self.requests_for(0)  # refuses a wrong name at once
        self._http = FeedHttp(base_url, timeout, turn=turn, now=now)
        self._cricinfo = FeedHttp(cricinfo_url, timeout, turn=turn, now=now) if cricinfo_url else None
        self._now = now
        self._retry = retry or RetryRules()
        self._details = MatchDetails(self._http, self._cricinfo, name, now, self._retry)
        self._name = name
        self._budget = budget
        self._league_of: dict[int, LeagueName] = {}

    @property
    def _leagues(self) -> tuple[LeagueName, ...]:
        """At the moment: the follow list may change while the feed is open."""
        named = self._named() if callable(self._named) else self._named
        return tuple(LeagueName.of(league) for league in named)

    @property
    def name(self) -> str:
        return self._name

    @property
    def quota(self) -> Quota | None:
        return None

    @property
    def ids_per_request(self) -> int | None:
        return None

    def requests_for(self, fixtures: int) -> int:
        return len(self._leagues)

    async def fixtures_on(self, day: date) -> FeedAnswer:
        deadline = Deadline(self._budget)
        answer = await self._scoreboards({"dates": f"{day:%Y%m%d}"}, self._leagues, deadline)
        cricket = [league for league in self._leagues if league.is_cricket]
        if cricket and day == self._now().date():
            # A day of cricket is only what begins on it; the plain scoreboard has what goes on.
            answer = _joined([answer, await self._scoreboards({}, cricket, deadline)])
        if answer.errors and not answer.fixtures:
            raise answer.errors[0]
        return answer

    async def fixtures_by_ids(self, ids: Sequence[int]) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        if not ids:
            return FeedAnswer()
        deadline = Deadline(self._budget)
        answer = await self._current(ids, deadline)
        wanted = set(ids)
        fixtures = tuple(fixture for fixture in answer.fixtures if fixture.id in wanted)
        failures = {id_: error for id_, error in answer.failures.items() if id_ in wanted}
        fixtures, lacking = await self._details.completed(fixtures, self._league_of, deadline)
        failures |= lacking
        seen = {fixture.id for fixture in fixtures}
        rest = [id_ for id_ in ids if id_ not in failures and id_ not in seen]
        if answer.errors:  # they may be in the league that failed
            return FeedAnswer(fixtures, {**failures, **dict.fromkeys(rest, answer.errors[0])}, errors=answer.errors)
        return FeedAnswer(fixtures, failures, tuple(rest))

    async def check(self) -> str:
        answer = await self._scoreboards({}, self._leagues, Deadline(self._budget))
        if answer.errors:
            raise answer.errors[0]
        return f"{len(answer.fixtures)} matches on the scoreboard of {', '.join(map(str, self._leagues))}"

    async def aclose(self) -> None:
        await self._http.aclose()
        if self._cricinfo is not None:
            await self._cricinfo.aclose()

    async def _current(self, ids: Sequence[int], deadline: Deadline) -> FeedAnswer:
        # Without dates the scoreboard of soccer drops a match at midnight, whether it has ended or not.
        today = self._now().date()
        yesterday, tomorrow = today - timedelta(days=1), today + timedelta(days=1)
        soccer = [league for league in self._leagues if not league.is_cricket]
        cricket = [league for league in self._leagues if league.is_cricket]
        answers = await asyncio.gather(
            self._scoreboards({"dates": f"{yesterday:%Y%m%d}-{tomorrow:%Y%m%d}"}, soccer, deadline),
            self._scoreboards({}, cricket, deadline),
        )
        answer = _joined(answers)
        found = {fixture.id for fixture in answer.fixtures} | set(answer.failures)
        if cricket and not found.issuperset(ids) and not answers[1].errors:
            # Cricket knows no range of days: one that has just ended, or is about to begin, is found by its day.
            days = [{"dates": f"{day:%Y%m%d}"} for day in (yesterday, today, tomorrow)]
            more = await asyncio.gather(*(self._scoreboards(each, cricket, deadline) for each in days))
            answer = _joined([answer, *more])
        return answer

    async def _scoreboards(
        self, params: Mapping[str, str], leagues: Sequence[LeagueName], deadline: Deadline
    ) -> FeedAnswer:
        return _joined(await asyncio.gather(*(self._scoreboard(league, params, deadline) for league in leagues)))

    async def _scoreboard(self, league: LeagueName, params: Mapping[str, str], deadline: Deadline) -> FeedAnswer:
        async def ask() -> FeedAnswer:
            body = await self._http.get(league.path("scoreboard"), params, deadline)
            return parse_scoreboard(body, cricket=league.is_cricket, feed=self._name)

        try:
            answer = await with_retries(ask, self._retry, deadline)
        except FeedError as error:
            return FeedAnswer(errors=(error,))
        self._league_of |= {fixture.id: league for fixture in answer.fixtures}
        return answer


def _without_unknown_leagues(answers: Sequence[FeedAnswer]) -> Sequence[FeedAnswer]:
    """A league that ESPN does not know costs only itself; where it knows none of them, the address is wrong."""
    known = [answer for answer in answers if not any(isinstance(error, FeedNotFound) for error in answer.errors)]
    if not known:
        return answers
    for error in {str(error) for answer in answers if answer not in known for error in answer.errors}:
        log.warning(error, extra={"action": "league_unknown"})
    return known


def _joined(answers: Sequence[FeedAnswer]) -> FeedAnswer:
    answers = _without_unknown_leagues(answers)
    fixtures: dict[int, LiveFixture] = {}
    for answer in answers:
        for fixture in answer.fixtures:
            fixtures.setdefault(fixture.id, fixture)
    return FeedAnswer(
        fixtures=tuple(fixtures.values()),
        # Two leagues may list the same match, and one of them may have it wrong.
        failures={id_: e for answer in answers for id_, e in answer.failures.items() if id_ not in fixtures},
        errors=tuple(error for answer in answers for error in answer.errors),
    )
