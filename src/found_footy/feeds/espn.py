"""Parser of ESPN soccer matches: a scoreboard entry, and the goals of its summary if the scoreboard lags behind."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from found_footy.errors import (
    FeedBusy,
    FeedClientRefused,
    FeedError,
    FeedMalformed,
    FeedNotFound,
    FeedQueryRejected,
    FeedSchemaError,
    FeedUnauthorized,
    FootyError,
    SettingsError,
    UnknownStatus,
)
from found_footy.feeds import cricinfo, espn_cricket
from found_footy.feeds.http import FeedClient, Permit, unlimited
from found_footy.feeds.models import FeedAnswer, Quota, compact, venue_name
from found_footy.feeds.validation import MAX_GOALS, require_storable
from found_footy.fixtures.models import (
    GoalKind,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Phase,
    Player,
    Score,
    Side,
    Sport,
    Team,
    phase_of,
)
from found_footy.json_reader import JsonReader
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import USER_AGENT
from found_footy.runtime.retry import BUDGET_SECONDS, Deadline, RetryRules, with_retries

MAX_COUNT = 200
"""Maximum goals, or shoot-out kicks, of one side."""

STATUSES = {
    "STATUS_SCHEDULED": "NS",
    "STATUS_FIRST_HALF": "1H",
    "STATUS_HALFTIME": "HT",
    "STATUS_SECOND_HALF": "2H",
    "STATUS_IN_PROGRESS": "LIVE",
    "STATUS_END_OF_REGULATION": "BT",
    "STATUS_OVERTIME": "ET",
    "STATUS_EXTRA_TIME": "ET",
    "STATUS_HALFTIME_ET": "BT",
    "STATUS_END_OF_EXTRATIME": "BT",
    "STATUS_SHOOTOUT": "P",
    "STATUS_FULL_TIME": "FT",
    "STATUS_FINAL": "FT",
    "STATUS_FINAL_AET": "AET",
    "STATUS_FINAL_PEN": "PEN",
    "STATUS_POSTPONED": "PST",
    "STATUS_DELAYED": "INT",
    "STATUS_RAIN_DELAY": "INT",
    "STATUS_SUSPENDED": "SUSP",
    "STATUS_ABANDONED": "ABD",
    "STATUS_CANCELED": "CANC",
    "STATUS_FORFEIT": "WO",
}


def parse_event(event: JsonReader, league: JsonReader, feed: str) -> LiveFixture:
    competition = event["competitions"][0]
    sides = {side["homeAway"].text(): side for side in competition["competitors"].items()}
    if set(sides) != {"home", "away"}:
        raise FeedSchemaError("competitors.homeAway", sorted(sides), "home and away")
    teams = {Side(name): _team(side) for name, side in sides.items()}
    vendor_status = competition["status"]["type"]["name"].text()
    if vendor_status not in STATUSES:
        raise UnknownStatus(f"unknown ESPN status {vendor_status!r}")
    status = STATUSES[vendor_status]
    not_started = phase_of(status) in (Phase.UPCOMING, Phase.POSTPONED)
    has_started = not not_started and competition["status"]["type"].get("state") != "pre"
    details = competition["details"].items() if competition.get("details") else []
    shootout = all(side.get("shootoutScore") is not None for side in sides.values())
    return LiveFixture(
        id=event["id"].lenient_integer(),
        feed=feed,
        status=status,
        kickoff=event["date"].timestamp(),
        league=League(
            league["id"].lenient_integer(),
            league["name"].text(),
            season=_season(event),
            slug=league.display_text("slug"),
        ),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=_score(sides, "score") if has_started else None,
        penalties=_score(sides, "shootoutScore") if shootout else None,
        minute=_minute(competition["status"]["displayClock"]) if has_started else None,
        goals=_goals(details, teams, "competitions.0.details"),
        raw=require_storable({"event": _essential_fields(event.value)}),
        venue=venue_name(
            competition.display_text("venue", "fullName") or event.display_text("venue", "displayName"),
            competition.display_text("venue", "address", "city"),
        ),
        last_event=_last_event(details, teams),
        metadata=compact(
            note=competition.display_text("altGameNote"),
            stage=event.display_text("season", "slug"),
            phase=competition.display_text("status", "type", "description"),
            attendance=competition.display_text("attendance"),
        ),
    )


def has_all_goals(match: LiveFixture) -> bool:
    """Return whether the match lists every goal in its score."""
    return match.score is None or len(match.goals) >= match.score.home + match.score.away


def merge_summary(match: LiveFixture, body: Any) -> LiveFixture:
    """Return the match with the goals of its summary, if the summary lists more."""
    summary = JsonReader(body)
    if summary["header"]["id"].lenient_integer() != match.id:
        raise FeedSchemaError("header.id", summary["header"]["id"].value, f"{match.id}, as requested")
    teams = {Side.HOME: match.home, Side.AWAY: match.away}
    entries = summary["keyEvents"].items() if summary.get("keyEvents") else []
    goals = _goals(entries, teams, "keyEvents")
    return replace(match, goals=goals) if len(goals) > len(match.goals) else match


def _team(side: JsonReader) -> Team:
    return Team(
        side["id"].lenient_integer(), side["team"]["displayName"].text(), side["team"].display_text("abbreviation")
    )


def _score(sides: Mapping[str, JsonReader], field: str) -> Score:
    return Score(sides["home"][field].lenient_integer(MAX_COUNT), sides["away"][field].lenient_integer(MAX_COUNT))


def _season(event: JsonReader) -> int | None:
    has_year = isinstance(season := event.get("season"), dict) and season.get("year") is not None
    return event["season"]["year"].lenient_integer(9999) if has_year else None


def _goals(entries: list[JsonReader], teams: Mapping[Side, Team], field: str) -> tuple[LiveGoal, ...]:
    goals = tuple(_goal(entry, teams) for entry in entries if _is_goal(entry))
    if len(goals) > MAX_GOALS:
        raise FeedSchemaError(field, len(goals), f"at most {MAX_GOALS} goals")
    return goals


def _is_goal(entry: JsonReader) -> bool:
    return entry.get("scoringPlay") is True and entry.get("shootout") is not True


def _goal(entry: JsonReader, teams: Mapping[Side, Team]) -> LiveGoal:
    team = entry["team"]["id"].lenient_integer()
    side = next((side for side, each in teams.items() if each.id == team), None)
    if side is None:
        raise FeedSchemaError(f"{entry.path}.team.id", team, "one of the two sides")
    people = _scorers(entry)
    return LiveGoal(
        side=side,
        minute=_minute(entry["clock"]["displayValue"]),
        player=_person(people[0]) if people else Player(),
        kind=_kind(entry),
    )


def _kind(entry: JsonReader) -> GoalKind:
    """Return the kind of goal: the scoreboard uses flags, the summary text."""
    type_text = (entry.display_text("type", "text") or "").casefold()
    if entry.get("ownGoal") is True or "own goal" in type_text:
        return GoalKind.OWN_GOAL
    return GoalKind.PENALTY if entry.get("penaltyKick") is True or "penalty" in type_text else GoalKind.NORMAL


def _scorers(entry: JsonReader) -> list[JsonReader]:
    if entry.get("athletesInvolved"):
        return entry["athletesInvolved"].items()
    if entry.get("participants"):
        return [each["athlete"] for each in entry["participants"].items() if each.get("athlete")]
    return []


def _person(athlete: JsonReader) -> Player:
    """Return the player; id or name may be missing."""
    return Player(
        athlete["id"].lenient_integer() if athlete.get("id") is not None else None,
        athlete["displayName"].text() if athlete.get("displayName") is not None else None,
    )


def _minute(clock: JsonReader) -> MatchMinute:
    """Parse 67' or 90'+5'."""
    match = re.fullmatch(r"(\d{1,3})'?(?:\+(\d{1,2})'?)?", clock.text(), re.ASCII)
    if match is None:
        raise FeedSchemaError(clock.path, clock.value, "a minute such as 67' or 90'+5'")
    return MatchMinute(int(match[1]), int(match[2]) if match[2] else None)


def _last_event(details: list[JsonReader], teams: Mapping[Side, Team]) -> LastEvent | None:
    type_text = details[-1].display_text("type", "text") if details else None
    if type_text is None:
        return None
    last = details[-1]
    team = next((each.name for each in teams.values() if str(each.id) == last.display_text("team", "id")), None)
    parts = (
        last.display_text("clock", "displayValue"),
        type_text,
        last.display_text("athletesInvolved", 0, "displayName"),
    )
    type_ = "goal" if _is_goal(last) else type_text.lower()
    return LastEvent(type_, " ".join(part for part in (*parts, team and f"({team})") if part))


def _essential_fields(raw: Any) -> dict[str, Any]:
    """Drop tickets, odds and links, which make up most of the document."""
    competition = raw["competitions"][0]
    essential = {key: competition[key] for key in ("status", "details") if key in competition}
    essential["competitors"] = [
        {key: side[key] for key in ("id", "homeAway", "score", "shootoutScore") if key in side}
        for side in competition["competitors"]
    ]
    return {"id": raw["id"], "date": raw["date"], "shortName": raw.get("shortName"), "competitions": [essential]}


# --- ESPN's scoreboard of one league; an invalid match does not affect the others.


FEED = "espn"


@dataclass(frozen=True, slots=True)
class EspnLeague:
    """A league such as `soccer/eng.1` or `cricket/8048`; a bare name is a soccer league."""

    sport: str
    slug: str

    @classmethod
    def of(cls, text: str) -> EspnLeague:
        found = re.fullmatch(r"(?:(soccer|cricket)/)?([A-Za-z0-9][A-Za-z0-9._-]{0,60})", text)
        if found is None:
            raise SettingsError(f"leagues: got {text[:80]!r}, expected names such as soccer/eng.1 and cricket/8048")
        return cls(found[1] or "soccer", found[2])

    @property
    def is_cricket(self) -> bool:
        return self.sport == "cricket"

    def path(self, page: str) -> str:
        return f"/apis/site/v2/sports/{self.sport}/{self.slug}/{page}"

    def __str__(self) -> str:
        return f"{self.sport}/{self.slug}" if self.is_cricket else self.slug


def parse_scoreboard(body: Any, *, cricket: bool = False, feed: str = FEED) -> FeedAnswer:
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise FeedMalformed("the scoreboard has no list of events")
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FootyError] = {}
    for entry in body["events"]:
        event = JsonReader(entry)
        try:
            league = _league_of(body, event)
            fixture = (espn_cricket.parse_event if cricket else parse_event)(event, league, feed)
        except FootyError as error:
            # Failures are keyed by id; without one, the fixture counts as missing from the answer.
            if (id_ := _id_of(event)) is not None:
                failures[id_] = error
            continue
        if fixture.id in fixtures:
            failures[fixture.id] = FeedSchemaError("id", fixture.id, "each fixture once in an answer")
        fixtures[fixture.id] = fixture
    return FeedAnswer(tuple(each for id_, each in fixtures.items() if id_ not in failures), failures)


def _league_of(body: Mapping[str, Any], event: JsonReader) -> JsonReader:
    """Return the scoreboard's league. `soccer/all` has none: the event's uid holds the id, a note holds the name."""
    if body.get("leagues") != []:
        return JsonReader(body.get("leagues"), "leagues")[0]
    found = re.search(r"~l:(\d{1,9})~", event["uid"].text())
    if found is None:
        raise FeedSchemaError("uid", event["uid"].text(), "the id of a league, as in s:600~l:700~e:1")
    note = event["competitions"][0].display_text("altGameNote")
    return JsonReader({"id": found[1], "name": (note or "").partition(",")[0].strip() or "Football"}, "uid")


def event_days(body: Any) -> dict[int, date]:
    """Return the UTC day of each event with a readable id and date, including events that fail to parse."""
    days = {}
    for entry in body["events"]:
        event = JsonReader(entry)
        try:
            days[event["id"].lenient_integer()] = event["date"].timestamp().astimezone(UTC).date()
        except FeedSchemaError:
            continue
    return days


def _id_of(event: JsonReader) -> int | None:
    try:
        return event["id"].lenient_integer()
    except FeedSchemaError:
        return None


# --- Details missing from ESPN's scoreboard, requested per match: wickets nearly always, goals occasionally.


MAX_DETAIL_REQUESTS = 20
"""Maximum matches per poll; the remaining ones follow in the next poll."""
DETAIL_CONCURRENCY = 4
MAX_LATE_WICKETS = 2
"""Wickets that may be in the score but not yet in the list. If more are missing, the list is broken, not late."""
DETAIL_TTL = timedelta(minutes=2)
"""How long a match with an unchanged score is not requested again."""


@dataclass(frozen=True, slots=True)
class _CachedDetails:
    score: Score | None
    goals: tuple[LiveGoal, ...]
    at: datetime


class DetailFetcher:
    def __init__(
        self,
        http: FeedClient,
        cricinfo_http: FeedClient | None,
        feed: str,
        now: Callable[[], datetime],
        retry: RetryRules | None = None,
    ) -> None:
        self._http = http
        self._cricinfo = cricinfo_http
        self._feed = feed
        self._now = now
        self._retry = retry or RetryRules()
        self._slots = asyncio.Semaphore(DETAIL_CONCURRENCY)
        self._cache: dict[int, _CachedDetails] = {}

    async def add_details(
        self, fixtures: Sequence[LiveFixture], league_of: Mapping[int, EspnLeague], deadline: Deadline
    ) -> tuple[tuple[LiveFixture, ...], dict[int, FootyError]]:
        """Return the matches with their details, and the failures by match id.

        A goal missing from the scoreboard may follow with the next poll. A cricket match without its wickets, however,
        would look as if they had been revoked.
        """
        self._evict_expired()
        incomplete = [
            fixture for fixture in fixtures if not _is_complete(fixture) and not self._cached_details(fixture)
        ]
        requested = {fixture.id for fixture in incomplete[:MAX_DETAIL_REQUESTS]}
        results = await asyncio.gather(
            *(self._details_of(fixture, requested, league_of, deadline) for fixture in fixtures)
        )
        complete = tuple(result for result in results if isinstance(result, LiveFixture))
        pairs = zip(fixtures, results, strict=True)
        return complete, {fixture.id: result for fixture, result in pairs if isinstance(result, FootyError)}

    async def _details_of(
        self, fixture: LiveFixture, requested: set[int], league_of: Mapping[int, EspnLeague], deadline: Deadline
    ) -> LiveFixture | FootyError:
        if _is_complete(fixture):
            return fixture
        if cached := self._cached_details(fixture):
            return replace(fixture, goals=max(fixture.goals, cached.goals, key=len))
        if fixture.id not in requested:
            busy = FeedBusy(f"more than {MAX_DETAIL_REQUESTS} matches of one poll need their details")
            return busy if fixture.sport is Sport.CRICKET else fixture
        try:
            async with self._slots:
                league = league_of[fixture.id]
                complete = await with_retries(
                    lambda: self._fetch_details(fixture, league, deadline), self._retry, deadline
                )
        except FootyError as error:
            return error if fixture.sport is Sport.CRICKET else fixture
        wickets_in_score = sum(each.wickets for each in complete.innings)
        if wickets_in_score - len(complete.goals) > MAX_LATE_WICKETS and complete.sport is Sport.CRICKET:
            return FeedSchemaError("wickets", len(complete.goals), f"{wickets_in_score}, as the innings count")
        # Some leagues never list scorers, so those are not requested again; missing wickets are.
        if fixture.sport is not Sport.CRICKET or _is_complete(complete):
            self._cache[fixture.id] = _CachedDetails(complete.score, complete.goals, self._now())
        return complete

    async def _fetch_details(self, fixture: LiveFixture, league: EspnLeague, deadline: Deadline) -> LiveFixture:
        if self._cricinfo is not None and fixture.sport is Sport.CRICKET:
            try:
                return await self._from_cricinfo(self._cricinfo, fixture, league, deadline)
            except FeedError:
                pass  # fall back to ESPN's summary
        body = await self._http.get(league.path("summary"), {"event": str(fixture.id)}, deadline)
        if fixture.sport is Sport.CRICKET:
            complete = espn_cricket.parse_summary(body, self._feed, fixture.id)
            return replace(complete, league=fixture.league, venue=complete.venue or fixture.venue)
        return merge_summary(fixture, body)

    async def _from_cricinfo(
        self, http: FeedClient, fixture: LiveFixture, league: EspnLeague, deadline: Deadline
    ) -> LiveFixture:
        params = {"lang": "en", "seriesId": league.slug, "matchId": str(fixture.id)}
        body = await http.get("/v1/pages/match/scorecard", params, deadline)
        complete = cricinfo.parse_page(body, feed=self._feed, match_id=fixture.id, home_id=fixture.home.id)
        return replace(complete, league=fixture.league)

    def _cached_details(self, fixture: LiveFixture) -> _CachedDetails | None:
        cached = self._cache.get(fixture.id)
        return cached if cached is not None and cached.score == fixture.score else None

    def _evict_expired(self) -> None:
        """Evict old entries, to pick up corrected wickets and to bound the memory."""
        now = self._now()
        self._cache = {id_: each for id_, each in self._cache.items() if now - each.at < DETAIL_TTL}


def _is_complete(fixture: LiveFixture) -> bool:
    return espn_cricket.has_all_wickets(fixture) if fixture.sport is Sport.CRICKET else has_all_goals(fixture)


# --- ESPN's public JSON (soccer and cricket): no key, no batch by ids, no stated quota.


log = logging.getLogger(__name__)


EASTERN = ZoneInfo("America/New_York")
MAX_EVENTS_PER_ANSWER = 500
"""Events per answer. With a larger limit ESPN silently returns 25."""
MONTH_SECONDS = 300.0
"""How long the answer for a month is reused: one ingest requests many of its days."""
MONTH_DIGITS = len("202611")
IN_PROGRESS = ""
"""Cricket without `dates`: matches in progress. A cricket day only lists matches that start on it."""
MAX_REMEMBERED = 5000
MAX_NAMES_IN_MESSAGE = 6
"""Maximum leagues that a check lists."""

T = TypeVar("T")
ScoreboardQuery = tuple[EspnLeague, str]
"""A league and its `dates` parameter."""
Leagues = Sequence[str] | Callable[[], Sequence[str]]


def eastern_day(moment: datetime) -> date:
    """Return the Eastern day under which ESPN lists a match with this kick-off."""
    return moment.astimezone(EASTERN).date()


@dataclass(frozen=True, slots=True)
class Locator:
    """League and day that list a match. The text form is stored with the listing."""

    league: EspnLeague
    day: date

    @classmethod
    def of(cls, text: str) -> Locator | None:
        """Parse a locator; None if the text is not one, such as another adapter's."""
        league, _, day = text.partition(" ")
        if not re.fullmatch(r"\d{8}", day, re.ASCII):
            return None
        try:
            return cls(EspnLeague.of(league), date(int(day[:4]), int(day[4:6]), int(day[6:])))
        except (SettingsError, ValueError):
            return None

    def __str__(self) -> str:
        return f"{self.league.sport}/{self.league.slug} {self.day:%Y%m%d}"


@dataclass(frozen=True, slots=True)
class _CachedMonth:
    """Cached answer for one league and month."""

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
        now: Callable[[], datetime] = utc_now,
        retry: RetryRules | None = None,
        permit: Permit = unlimited,
        name: str = FEED,
        cricinfo_url: str | None = None,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self._current_leagues = leagues if callable(leagues) else lambda: leagues
        self._leagues()  # report a misspelt league when the feed is built
        self._http = FeedClient(base_url, timeout, permit=permit, now=now)
        self._cricinfo = FeedClient(cricinfo_url, timeout, permit=permit, now=now) if cricinfo_url else None
        self._now = now
        self._retry = retry or RetryRules()
        self._details = DetailFetcher(self._http, self._cricinfo, name, now, self._retry)
        self._name = name
        self._budget = budget
        self._locators: dict[int, Locator] = {}
        """Last known locator of each match in this process, oldest first."""
        self._failed_days: dict[int, date | None] = {}
        """Day of each match that could not be parsed, if known."""
        self._months: dict[tuple[EspnLeague, str], _CachedMonth] = {}
        self._month_locks: dict[tuple[EspnLeague, str], asyncio.Lock] = {}

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
        """Return the number of requests: one per league and day. Without a locator, three days of every league."""
        known = [locator for text in locators if (locator := Locator.of(text)) is not None]
        return len(self._queries(known, all_leagues=fixtures > len(known)))

    async def fixtures_on(self, day: date) -> FeedAnswer:
        """Return the matches that kick off on this UTC day; for today also cricket in progress.

        A UTC day spans two Eastern days, so the first of a month needs two months.
        """
        deadline = Deadline(self._budget)
        leagues = self._leagues()
        eastern_days = (day - timedelta(days=1), day)
        soccer = [league for league in leagues if not league.is_cricket]
        cricket = [league for league in leagues if league.is_cricket]
        months = sorted({f"{each:%Y%m}" for each in eastern_days})
        requests = [self._fetch_month(league, month, deadline) for league in soccer for month in months]
        # Cricket has no known month query; a day lists the matches that start on it.
        requests += [
            self._fetch_scoreboard(league, f"{each:%Y%m%d}", deadline) for league in cricket for each in eastern_days
        ]
        answer = self._only_on_day(day, _merge_answers(await asyncio.gather(*requests)))
        if cricket and day == self._now().date():
            answer = _merge_answers(
                [answer, await self._query_all({(league, IN_PROGRESS) for league in cricket}, deadline)]
            )
        if answer.errors and not answer.fixtures:
            raise answer.errors[0]
        return answer

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        ids = list(dict.fromkeys(ids))
        if not ids:
            return FeedAnswer()
        deadline = Deadline(self._budget)
        known_locators = {id_: found for id_ in ids if (found := self._locator_of(id_, locators or {})) is not None}
        answer = await self._poll(ids, known_locators, deadline)
        requested = set(ids)
        fixtures = tuple(fixture for fixture in answer.fixtures if fixture.id in requested)
        failures = {id_: error for id_, error in answer.failures.items() if id_ in requested}
        leagues = {each.id: at.league for each in fixtures if (at := Locator.of(each.locator)) is not None}
        fixtures, detail_failures = await self._details.add_details(fixtures, leagues, deadline)
        failures |= detail_failures
        seen = {fixture.id for fixture in fixtures}
        missing = [id_ for id_ in ids if id_ not in failures and id_ not in seen]
        if answer.errors:  # the matches may be in the failed part
            return FeedAnswer(fixtures, {**failures, **dict.fromkeys(missing, answer.errors[0])}, errors=answer.errors)
        return FeedAnswer(fixtures, failures, tuple(missing))

    async def check(self) -> str:
        """Check the requests of a poll (today, each league) and of an ingest (this month, one league)."""
        deadline, today = Deadline(self._budget), eastern_day(self._now())
        leagues = self._leagues()
        answer = await self._query_all({self._query(league, today) for league in leagues}, deadline)
        first = next((league for league in leagues if not league.is_cricket), None)
        month = FeedAnswer() if first is None else await self._fetch_scoreboard(first, f"{today:%Y%m}", deadline)
        if errors := (*answer.errors, *month.errors):
            raise errors[0]
        shown = ", ".join(str(league) for league in leagues[:MAX_NAMES_IN_MESSAGE])
        more = f" and {len(leagues) - MAX_NAMES_IN_MESSAGE} more" if len(leagues) > MAX_NAMES_IN_MESSAGE else ""
        return f"{len(answer.fixtures)} matches today in {shown}{more}"

    async def aclose(self) -> None:
        await self._http.aclose()
        if self._cricinfo is not None:
            await self._cricinfo.aclose()

    def _leagues(self) -> tuple[EspnLeague, ...]:
        return tuple(dict.fromkeys(EspnLeague.of(league) for league in self._current_leagues()))

    def _days_around_today(self) -> list[date]:
        return _adjacent_days(eastern_day(self._now()))

    def _locator_of(self, id_: int, stored: Mapping[int, str]) -> Locator | None:
        """Return the locator of a match; the one in memory is at least as recent as the stored one."""
        return self._locators.get(id_) or Locator.of(stored.get(id_, ""))

    def _query(self, league: EspnLeague, day: date) -> ScoreboardQuery:
        """Return the query for the matches of a league on an Eastern day."""
        if league.is_cricket:
            return league, IN_PROGRESS
        is_far_ahead = day > eastern_day(self._now()) + timedelta(days=1)
        return league, f"{day:%Y%m}" if is_far_ahead else f"{day:%Y%m%d}"

    def _queries(self, known: Iterable[Locator], *, all_leagues: bool) -> set[ScoreboardQuery]:
        queries = {self._query(each.league, each.day) for each in known}
        if all_leagues:
            queries |= {self._query(league, day) for league in self._leagues() for day in self._days_around_today()}
        return queries

    async def _poll(self, ids: Sequence[int], known_locators: Mapping[int, Locator], deadline: Deadline) -> FeedAnswer:
        queries = self._queries(known_locators.values(), all_leagues=any(id_ not in known_locators for id_ in ids))
        answer = await self._query_all(queries, deadline)
        missing = _missing_ids(ids, answer)
        if not missing or answer.errors:
            return answer
        # Listed under an adjacent day; or, in cricket, missing from the plain scoreboard because it ended or has not
        # started.
        answer = _merge_answers(
            [answer, await self._query_all(self._fallback_queries(missing, known_locators) - queries, deadline)]
        )
        rescheduled = [
            known_locators[id_]
            for id_ in _missing_ids(ids, answer)
            if id_ in known_locators and not known_locators[id_].league.is_cricket
        ]
        if not rescheduled or answer.errors:
            return answer
        # The kick-off has moved to another day.
        months = {(each.league, month) for each in rescheduled for month in self._months_after(each.day)}
        return _merge_answers([answer, await self._query_all(months, deadline)])

    def _fallback_queries(self, missing: Iterable[int], known_locators: Mapping[int, Locator]) -> set[ScoreboardQuery]:
        queries: set[ScoreboardQuery] = set()
        for id_ in missing:
            locator = known_locators.get(id_)
            leagues = self._leagues() if locator is None else (locator.league,)
            days = self._days_around_today() if locator is None else _adjacent_days(locator.day)
            for league in leagues:
                dated = {(league, f"{day:%Y%m%d}") for day in days}
                queries |= dated if league.is_cricket else {self._query(league, day) for day in days}
        return queries

    def _months_after(self, day: date) -> list[str]:
        """Return the months to search for a match that is no longer listed on its day."""
        today = eastern_day(self._now())
        days = {today, day, *((each.replace(day=1) + timedelta(days=31)) for each in (today, day))}
        return sorted({f"{each:%Y%m}" for each in days})

    async def _query_all(self, queries: Iterable[ScoreboardQuery], deadline: Deadline) -> FeedAnswer:
        requests = [
            self._fetch_month(league, dates, deadline)
            if len(dates) == MONTH_DIGITS
            else self._fetch_scoreboard(league, dates, deadline)
            for league, dates in sorted(queries, key=str)
        ]
        return _merge_answers(await asyncio.gather(*requests))

    async def _fetch_month(self, league: EspnLeague, month: str, deadline: Deadline) -> FeedAnswer:
        key = (league, month)
        async with self._month_locks.setdefault(key, asyncio.Lock()):
            cached = self._months.get(key)
            if cached is not None and time.monotonic() - cached.at < MONTH_SECONDS:
                return cached.answer
            answer = await self._fetch_scoreboard(league, month, deadline)
            if not answer.errors:
                now = time.monotonic()
                fresh = {each: cached for each, cached in self._months.items() if now - cached.at < MONTH_SECONDS}
                self._months = {**fresh, key: _CachedMonth(now, answer)}
            return answer

    async def _fetch_scoreboard(self, league: EspnLeague, dates: str, deadline: Deadline) -> FeedAnswer:
        params = {**({} if dates == IN_PROGRESS else {"dates": dates}), "limit": str(MAX_EVENTS_PER_ANSWER)}

        async def request() -> FeedAnswer:
            body = await self._http.get(league.path("scoreboard"), params, deadline)
            answer = parse_scoreboard(body, cricket=league.is_cricket, feed=self._name)
            for id_ in answer.failures:
                _remember(self._failed_days, id_, event_days(body).get(id_))
            return answer

        try:
            answer = await with_retries(request, self._retry, deadline)
        except FeedUnauthorized as error:
            return FeedAnswer(errors=(FeedClientRefused(f"{error} to the User-Agent {USER_AGENT!r}"),))
        except FeedQueryRejected as error:
            return FeedAnswer(
                errors=(FeedQueryRejected(f"{error} (dates={dates or 'none'}, limit={MAX_EVENTS_PER_ANSWER})"),)
            )
        except FeedError as error:
            return FeedAnswer(errors=(error,))
        return replace(answer, fixtures=tuple(self._with_locator(fixture, league) for fixture in answer.fixtures))

    def _with_locator(self, fixture: LiveFixture, league: EspnLeague) -> LiveFixture:
        locator = Locator(league, eastern_day(fixture.kickoff))
        _remember(self._locators, fixture.id, locator)
        return replace(fixture, locator=str(locator))

    def _only_on_day(self, day: date, answer: FeedAnswer) -> FeedAnswer:
        """Filter a month's answer to this UTC day. Failed matches without a known day are kept."""
        return replace(
            answer,
            fixtures=tuple(each for each in answer.fixtures if each.kickoff.astimezone(UTC).date() == day),
            failures={id_: e for id_, e in answer.failures.items() if self._failed_days.get(id_) in (day, None)},
        )


def _adjacent_days(day: date) -> list[date]:
    return [day - timedelta(days=1), day, day + timedelta(days=1)]


def _remember(memory: dict[int, T], id_: int, value: T) -> None:
    """Add an entry and evict the oldest when the memory is full."""
    memory.pop(id_, None)
    memory[id_] = value
    if len(memory) > MAX_REMEMBERED:
        memory.pop(next(iter(memory)))


def _missing_ids(ids: Iterable[int], answer: FeedAnswer) -> list[int]:
    found = {fixture.id for fixture in answer.fixtures} | set(answer.failures)
    return [id_ for id_ in ids if id_ not in found]


def _drop_unknown_leagues(answers: Sequence[FeedAnswer]) -> Sequence[FeedAnswer]:
    """Drop leagues that ESPN does not have, unless it has none of them: then the address is wrong."""
    found = [answer for answer in answers if not any(isinstance(error, FeedNotFound) for error in answer.errors)]
    if not found:
        return answers
    for error in {str(error) for answer in answers if answer not in found for error in answer.errors}:
        log.warning(error, extra={"action": "league_unknown"})
    return found


def _merge_answers(answers: Sequence[FeedAnswer]) -> FeedAnswer:
    answers = _drop_unknown_leagues(answers)
    fixtures: dict[int, LiveFixture] = {}
    for answer in answers:
        for fixture in answer.fixtures:
            fixtures.setdefault(fixture.id, fixture)
    return FeedAnswer(
        fixtures=tuple(fixtures.values()),
        # Two leagues may list the same match, with only one of them valid.
        failures={id_: e for answer in answers for id_, e in answer.failures.items() if id_ not in fixtures},
        errors=tuple(error for answer in answers for error in answer.errors),
    )
