"""ESPN's public JSON (soccer and cricket): no key, no batch by ids, no stated quota.

Late 2026: a soccer scoreboard is requested for one day (`dates=20261118`) or one month (`dates=202611`), never a range,
with a `limit` of at most 500. Days are US-Eastern. A single day reaches no further than tomorrow; the month does.

A match is found again by its locator, `soccer/eng.1 20261118`: its league and Eastern day. A poll asks once for each
pair of league and day among the matches it was given. Only a match without a locator is looked for in every league.
The summary of a single match is requested only where the scoreboard counts more goals or wickets than it lists.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from found_footy.adapters.feeds.espn_details import MatchDetails
from found_footy.adapters.feeds.espn_scoreboard import FEED, LeagueName, days_of, parse_scoreboard
from found_footy.adapters.feeds.http import FeedHttp, Turn, at_once
from found_footy.adapters.feeds.retrying import BUDGET_SECONDS, Deadline, with_retries
from found_footy.domain.errors import (
    FeedClientRefused,
    FeedError,
    FeedNotFound,
    FeedQueryRejected,
    FeedUnauthorized,
    SettingsError,
)
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.feeds.retry import RetryRules
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.ports import FeedAnswer
from found_footy.user_agent import USER_AGENT

log = logging.getLogger(__name__)

__all__ = ["FEED", "Espn", "Locator", "eastern_day", "parse_scoreboard"]

EASTERN = ZoneInfo("America/New_York")
LIMIT = 500
"""Events per answer. With a larger limit ESPN silently returns 25."""
MONTH_SECONDS = 300.0
"""How long the answer for a month is reused: one ingest asks for many days of it."""
MONTH_DIGITS = len("202611")
PLAIN = ""
"""Cricket without `dates`: what is under way. A day of cricket only lists what begins on it."""
REMEMBERED = 5000
SHOWN = 6
"""Leagues that a check names."""

T = TypeVar("T")
Place = tuple[LeagueName, str]
"""A league, and the `dates` to ask it for."""
Leagues = Sequence[str] | Callable[[], Sequence[str]]


def eastern_day(moment: datetime) -> date:
    """The day under which ESPN files a match that kicks off at this moment."""
    return moment.astimezone(EASTERN).date()


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a match is listed. Its text form is stored with the listing."""

    league: LeagueName
    day: date

    @classmethod
    def of(cls, text: str) -> Locator | None:
        """None where the text is not a locator, such as one that another adapter wrote."""
        league, _, day = text.partition(" ")
        if not re.fullmatch(r"\d{8}", day, re.ASCII):
            return None
        try:
            return cls(LeagueName.of(league), date(int(day[:4]), int(day[4:6]), int(day[6:])))
        except (SettingsError, ValueError):
            return None

    def __str__(self) -> str:
        return f"{self.league.sport}/{self.league.slug} {self.day:%Y%m%d}"


@dataclass(frozen=True, slots=True)
class _Month:
    """The answer for one league and month."""

    at: float
    answer: FeedAnswer


class Espn:
    """`leagues` may be a function: it is called for each poll, so the list can change at run time."""

    def __init__(
        self,
        base_url: str,
        leagues: Leagues,
        *,
        timeout: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        retry: RetryRules | None = None,
        turn: Turn = at_once,
        name: str = FEED,
        cricinfo_url: str | None = None,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self._leagues_now = leagues if callable(leagues) else lambda: leagues
        self._leagues()  # a league that is spelled wrong is reported when the feed is built
        self._http = FeedHttp(base_url, timeout, turn=turn, now=now)
        self._cricinfo = FeedHttp(cricinfo_url, timeout, turn=turn, now=now) if cricinfo_url else None
        self._now = now
        self._retry = retry or RetryRules()
        self._details = MatchDetails(self._http, self._cricinfo, name, now, self._retry)
        self._name = name
        self._budget = budget
        self._located: dict[int, Locator] = {}
        """Where this process last saw a match, oldest first."""
        self._failed_days: dict[int, date | None] = {}
        """The day of matches that could not be parsed, where at least that could be."""
        self._months: dict[tuple[LeagueName, str], _Month] = {}
        self._month_locks: dict[tuple[LeagueName, str], asyncio.Lock] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def quota(self) -> Quota | None:
        return None

    @property
    def ids_per_request(self) -> int | None:
        return None

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        """One per league and day. Matches without a locator cost three days of every league."""
        known = [locator for text in locators if (locator := Locator.of(text)) is not None]
        return len(self._places(known, everywhere=fixtures > len(known)))

    async def fixtures_on(self, day: date) -> FeedAnswer:
        """The matches that kick off on this UTC day; for today also the cricket that is still on.

        A UTC day is the end of one Eastern day and most of the next, so the first of a month needs two months.
        """
        deadline = Deadline(self._budget)
        leagues = self._leagues()
        eastern = (day - timedelta(days=1), day)
        soccer = [league for league in leagues if not league.is_cricket]
        cricket = [league for league in leagues if league.is_cricket]
        months = sorted({f"{each:%Y%m}" for each in eastern})
        asked = [self._month(league, month, deadline) for league in soccer for month in months]
        # Nothing is known of months in cricket. A day lists what begins on it.
        asked += [self._scoreboard(league, f"{each:%Y%m%d}", deadline) for league in cricket for each in eastern]
        begins = self._on(day, _joined(await asyncio.gather(*asked)))
        if cricket and day == self._now().date():
            begins = _joined([begins, await self._at({(league, PLAIN) for league in cricket}, deadline)])
        if begins.errors and not begins.fixtures:
            raise begins.errors[0]
        return begins

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        if not ids:
            return FeedAnswer()
        deadline = Deadline(self._budget)
        where = {id_: found for id_ in ids if (found := self._locator(id_, locators or {})) is not None}
        answer = await self._poll(ids, where, deadline)
        wanted = set(ids)
        fixtures = tuple(fixture for fixture in answer.fixtures if fixture.id in wanted)
        failures = {id_: error for id_, error in answer.failures.items() if id_ in wanted}
        leagues = {each.id: at.league for each in fixtures if (at := Locator.of(each.locator)) is not None}
        fixtures, lacking = await self._details.completed(fixtures, leagues, deadline)
        failures |= lacking
        seen = {fixture.id for fixture in fixtures}
        rest = [id_ for id_ in ids if id_ not in failures and id_ not in seen]
        if answer.errors:  # they may be in the part that failed
            return FeedAnswer(fixtures, {**failures, **dict.fromkeys(rest, answer.errors[0])}, errors=answer.errors)
        return FeedAnswer(fixtures, failures, tuple(rest))

    async def check(self) -> str:
        """The requests of a poll (today, each league) and of an ingest (this month, one league)."""
        deadline, today = Deadline(self._budget), eastern_day(self._now())
        leagues = self._leagues()
        answer = await self._at({self._place(league, today) for league in leagues}, deadline)
        first = next((league for league in leagues if not league.is_cricket), None)
        month = FeedAnswer() if first is None else await self._scoreboard(first, f"{today:%Y%m}", deadline)
        if errors := (*answer.errors, *month.errors):
            raise errors[0]
        shown = ", ".join(str(league) for league in leagues[:SHOWN])
        more = f" and {len(leagues) - SHOWN} more" if len(leagues) > SHOWN else ""
        return f"{len(answer.fixtures)} matches today in {shown}{more}"

    async def aclose(self) -> None:
        await self._http.aclose()
        if self._cricinfo is not None:
            await self._cricinfo.aclose()

    def _leagues(self) -> tuple[LeagueName, ...]:
        return tuple(dict.fromkeys(LeagueName.of(league) for league in self._leagues_now()))

    def _days_around_today(self) -> list[date]:
        return _around(eastern_day(self._now()))

    def _locator(self, id_: int, told: Mapping[int, str]) -> Locator | None:
        """What this process saw last is at least as new as what was stored."""
        return self._located.get(id_) or Locator.of(told.get(id_, ""))

    def _place(self, league: LeagueName, day: date) -> Place:
        """How to ask for what a league lists on an Eastern day."""
        if league.is_cricket:
            return league, PLAIN
        beyond = day > eastern_day(self._now()) + timedelta(days=1)
        return league, f"{day:%Y%m}" if beyond else f"{day:%Y%m%d}"

    def _places(self, known: Iterable[Locator], *, everywhere: bool) -> set[Place]:
        places = {self._place(each.league, each.day) for each in known}
        if everywhere:
            places |= {self._place(league, day) for league in self._leagues() for day in self._days_around_today()}
        return places

    async def _poll(self, ids: Sequence[int], where: Mapping[int, Locator], deadline: Deadline) -> FeedAnswer:
        places = self._places(where.values(), everywhere=any(id_ not in where for id_ in ids))
        answer = await self._at(places, deadline)
        absent = _absent(ids, answer)
        if not absent or answer.errors:
            return answer
        # Filed under a neighbouring day; or, in cricket, not on the plain scoreboard because it ended or has not begun.
        answer = _joined([answer, await self._at(self._neighbours(absent, where) - places, deadline)])
        moved = [where[id_] for id_ in _absent(ids, answer) if id_ in where and not where[id_].league.is_cricket]
        if not moved or answer.errors:
            return answer
        # The kick-off has moved to another day.
        months = {(each.league, month) for each in moved for month in self._months_after(each.day)}
        return _joined([answer, await self._at(months, deadline)])

    def _neighbours(self, absent: Iterable[int], where: Mapping[int, Locator]) -> set[Place]:
        places: set[Place] = set()
        for id_ in absent:
            known = where.get(id_)
            leagues = self._leagues() if known is None else (known.league,)
            days = self._days_around_today() if known is None else _around(known.day)
            for league in leagues:
                dated = {(league, f"{day:%Y%m%d}") for day in days}
                places |= dated if league.is_cricket else {self._place(league, day) for day in days}
        return places

    def _months_after(self, day: date) -> list[str]:
        """The months in which a match is looked for that is not listed on its day any more."""
        today = eastern_day(self._now())
        days = {today, day, *((each.replace(day=1) + timedelta(days=31)) for each in (today, day))}
        return sorted({f"{each:%Y%m}" for each in days})

    async def _at(self, places: Iterable[Place], deadline: Deadline) -> FeedAnswer:
        asked = [
            self._month(league, dates, deadline)
            if len(dates) == MONTH_DIGITS
            else self._scoreboard(league, dates, deadline)
            for league, dates in sorted(places, key=str)
        ]
        return _joined(await asyncio.gather(*asked))

    async def _month(self, league: LeagueName, month: str, deadline: Deadline) -> FeedAnswer:
        key = (league, month)
        async with self._month_locks.setdefault(key, asyncio.Lock()):
            known = self._months.get(key)
            if known is not None and time.monotonic() - known.at < MONTH_SECONDS:
                return known.answer
            answer = await self._scoreboard(league, month, deadline)
            if not answer.errors:
                now = time.monotonic()
                fresh = {each: known for each, known in self._months.items() if now - known.at < MONTH_SECONDS}
                self._months = {**fresh, key: _Month(now, answer)}
            return answer

    async def _scoreboard(self, league: LeagueName, dates: str, deadline: Deadline) -> FeedAnswer:
        params = {**({} if dates == PLAIN else {"dates": dates}), "limit": str(LIMIT)}

        async def ask() -> FeedAnswer:
            body = await self._http.get(league.path("scoreboard"), params, deadline)
            answer = parse_scoreboard(body, cricket=league.is_cricket, feed=self._name)
            for id_ in answer.failures:
                _remember(self._failed_days, id_, days_of(body).get(id_))
            return answer

        try:
            answer = await with_retries(ask, self._retry, deadline)
        except FeedUnauthorized as error:
            return FeedAnswer(errors=(FeedClientRefused(f"{error} to the User-Agent {USER_AGENT!r}"),))
        except FeedQueryRejected as error:
            return FeedAnswer(errors=(FeedQueryRejected(f"{error} (dates={dates or 'none'}, limit={LIMIT})"),))
        except FeedError as error:
            return FeedAnswer(errors=(error,))
        return replace(answer, fixtures=tuple(self._placed(fixture, league) for fixture in answer.fixtures))

    def _placed(self, fixture: LiveFixture, league: LeagueName) -> LiveFixture:
        locator = Locator(league, eastern_day(fixture.kickoff))
        _remember(self._located, fixture.id, locator)
        return replace(fixture, locator=str(locator))

    def _on(self, day: date, answer: FeedAnswer) -> FeedAnswer:
        """Of a month, what kicks off on this UTC day. A match of which not even the day is known is kept."""
        return replace(
            answer,
            fixtures=tuple(each for each in answer.fixtures if each.kickoff.astimezone(UTC).date() == day),
            failures={id_: e for id_, e in answer.failures.items() if self._failed_days.get(id_) in (day, None)},
        )


def _around(day: date) -> list[date]:
    return [day - timedelta(days=1), day, day + timedelta(days=1)]


def _remember(memory: dict[int, T], id_: int, value: T) -> None:
    """Bounded: the oldest entry goes."""
    memory.pop(id_, None)
    memory[id_] = value
    if len(memory) > REMEMBERED:
        memory.pop(next(iter(memory)))


def _absent(ids: Iterable[int], answer: FeedAnswer) -> list[int]:
    found = {fixture.id for fixture in answer.fixtures} | set(answer.failures)
    return [id_ for id_ in ids if id_ not in found]


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
