"""Serve a scripted matchday in the protocol of API-Football v3."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footy_simulator.faults import FaultyFeed, faulty_response
from footy_simulator.football import team_reference
from footy_simulator.matchday import TimeSource
from footy_simulator.scenario import (
    ApiFootballService,
    Scenario,
    ScriptedFault,
    ScriptedLimits,
    ScriptedMatch,
    ScriptedTeam,
)


def corrupted(item: dict[str, Any], faults: Sequence[ScriptedFault]) -> dict[str, Any]:
    """The `/fixtures` item with the faults of its match applied."""
    mine = [fault for fault in faults if fault.match == item["fixture"]["id"]]
    if not mine:
        return item
    item = copy.deepcopy(item)
    for fault in mine:
        if fault.kind == "wrong_score":
            item["goals"]["home"] = (item["goals"]["home"] or 0) + 1
        elif fault.kind == "bad_schema":
            item["fixture"]["status"]["elapsed"] = "abc"
        elif fault.kind == "unknown_status":
            item["fixture"]["status"].update(short="XYZ", long="Unheard Of")
    return item


def entries(item: dict[str, Any], faults: Sequence[ScriptedFault]) -> list[dict[str, Any]]:
    """Usually one entry; two with the same id for the fault `duplicate_id`."""
    twice = any(fault.kind == "duplicate_id" and fault.match == item["fixture"]["id"] for fault in faults)
    return [corrupted(item, faults)] * (2 if twice else 1)


# --- Parse requests; errors are worded as by the service.


MAX_IDS = 20
_SELECTORS = ("date", "id", "ids", "live")


class QueryError(Exception):
    """An invalid request, with the service's `errors` object. Handled in the HTTP layer."""

    def __init__(self, field: str, text: str) -> None:
        self.errors = {field: text}
        super().__init__(f"{field}: {text}")


@dataclass(frozen=True, slots=True)
class FixtureQuery:
    """A request to `/fixtures`: a day, some ids, or live matches (of these leagues, or all)."""

    day: date | None = None
    ids: frozenset[int] | None = None
    live_leagues: frozenset[int] | None = None


def parse_fixtures(params: Mapping[str, str]) -> FixtureQuery:
    given = [name for name in _SELECTORS if name in params]
    if not given or set(params) - {*_SELECTORS, "timezone"}:
        raise QueryError("required", "At least one parameter is required.")
    if len(given) > 1:
        first, second = given[0], given[1]
        text = f"The {first.title()} field cannot be used with the {second.title()} field."
        raise QueryError(first, text)
    if params.get("timezone", "UTC") != "UTC":
        raise QueryError("timezone", "The Timezone field must be UTC.")
    name, value = given[0], params[given[0]]
    if name == "date":
        return FixtureQuery(day=_day(value))
    if name == "live":
        return FixtureQuery(live_leagues=None if value == "all" else _numbers("live", value))
    ids = frozenset({parse_number("id", value)}) if name == "id" else _numbers("ids", value)
    if len(ids) > MAX_IDS:
        raise QueryError("ids", f"The Ids field must not contain more than {MAX_IDS} ids.")
    return FixtureQuery(ids=ids)


def required(params: Mapping[str, str], *names: str, optional: tuple[str, ...] = ()) -> None:
    """Reject a request without one of `names`, or with an unknown parameter."""
    if set(names) - set(params) or set(params) - {*names, *optional}:
        raise QueryError("required", "At least one parameter is required.")


def parse_number(name: str, value: str) -> int:
    if not value.isdecimal():
        raise QueryError(name, f"The {name.title()} field must contain an integer.")
    return int(value)


def _numbers(name: str, value: str) -> frozenset[int]:
    return frozenset(parse_number(name, part) for part in value.split("-"))


def _day(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise QueryError("date", "The Date field must contain a valid date in the format YYYY-MM-DD.") from None


# --- Request limits, counted and worded as by the service.


_WINDOW = 60.0
DAY_ERROR = (
    "You have reached the request limit for the day, Go to https://dashboard.api-football.com to upgrade your plan."
)


FREE_LIMITS = ScriptedLimits(per_day=100, per_minute=10)


class RequestQuota:
    """Counts requests. The day never ends, because a matchday fits into one."""

    def __init__(self, limits: ScriptedLimits, time_source: TimeSource) -> None:
        self.limits = limits
        self.used = 0
        self._time = time_source
        self._window_start = time_source()
        self._in_window = 0

    def take(self) -> dict[str, str]:
        """Count one request; returns the service's `errors` object if it exceeds a limit, else an empty one."""
        now = self._time()
        if now - self._window_start >= _WINDOW:
            self._window_start, self._in_window = now, 0
        if self.used >= self.limits.per_day:
            return {"requests": DAY_ERROR}
        if self._in_window >= self.limits.per_minute:
            return self.rate_error()
        self.used += 1
        self._in_window += 1
        return {}

    def rate_error(self) -> dict[str, str]:
        limit = self.limits.per_minute
        return {"rateLimit": f"Too many requests. Your rate limit is {limit} requests per minute."}

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-requests-limit": str(self.limits.per_day),
            "x-ratelimit-requests-remaining": str(self.limits.per_day - self.used),
            "x-ratelimit-limit": str(self.limits.per_minute),
            "x-ratelimit-remaining": str(self.limits.per_minute - self._in_window),
        }


# --- `/teams`.


_MIN_SEARCH_LENGTH = 3
_NO_VENUE = dict.fromkeys(("id", "name", "address", "city", "capacity", "surface", "image"))


def find_teams(scenario: Scenario, params: Mapping[str, str]) -> list[dict[str, Any]]:
    """Find clubs by `id`, by `search` in the name, or by `league` and `season`."""
    if "search" in params and "league" in params:
        raise QueryError("league", "The League field cannot be used with the Search field.")
    if "id" in params:
        required(params, "id")
        wanted = parse_number("id", params["id"])
        found = [entry for entry in _clubs(scenario) if entry[0].id == wanted]
    elif "search" in params:
        required(params, "search")
        text = params["search"].lower()
        if len(text) < _MIN_SEARCH_LENGTH:
            raise QueryError("search", f"The Search field must be at least {_MIN_SEARCH_LENGTH} characters.")
        found = [entry for entry in _clubs(scenario) if text in entry[0].name.lower()]
    else:
        required(params, "league", "season")
        league, season = (parse_number(name, params[name]) for name in ("league", "season"))
        found = _clubs(scenario, league, season)
    return [_entry(team, country) for team, country in found]


def _clubs(
    scenario: Scenario, league_id: int | None = None, season: int | None = None
) -> list[tuple[ScriptedTeam, str]]:
    """Each club once, with the country of its league, in the order of the matches."""
    clubs: dict[int, tuple[ScriptedTeam, str]] = {}
    for match in scenario.matches:
        league = scenario.league_of(match)
        if league_id is not None and (league.id, league.season) != (league_id, season):
            continue
        for team in (match.home, match.away):
            clubs.setdefault(team.id, (team, league.country))
    return list(clubs.values())


def _entry(team: ScriptedTeam, country: str) -> dict[str, Any]:
    reference = team_reference(team)
    return {
        "team": {
            "id": team.id,
            "name": team.name,
            "code": None,
            "country": country,
            "founded": None,
            "national": False,
            "logo": reference["logo"],
        },
        "venue": dict(_NO_VENUE),
    }


# --- Routes.


CLIENT = "api_football"
TOKEN_ERROR = (
    "Error/Missing application key. Go to https://www.api-football.com/documentation-v3 "
    "to learn how to get your API application key."
)
_NO_DETAILS: dict[str, Any] = {"lineups": [], "statistics": [], "players": []}
"""The service returns these with `id` and `ids`; the simulator leaves them empty."""

Params = Mapping[str, str]


class ApiFootballServer:
    """The service's routes. `closing` releases pending requests on shutdown."""

    def __init__(
        self,
        view: FaultyFeed,
        key: str,
        quota: RequestQuota,
        closing: asyncio.Event,
        service: ApiFootballService | None = None,
    ) -> None:
        self._free = service is not None and service.plan == "free"
        self._view = view
        self._matchday = view.matchday
        self._key = key
        self._quota = quota
        self._closing = closing

    def routes(self) -> list[Route]:
        return [
            Route("/fixtures", self._fixtures),
            Route("/fixtures/events", self._events),
            Route("/teams", self._teams),
            Route("/status", self._status),
        ]

    async def _fixtures(self, request: Request) -> Response:
        refused = self._refused("fixtures", request)
        if refused is not None:
            return refused
        try:
            query = parse_fixtures(request.query_params)
        except QueryError as error:
            return self._answer("fixtures", request, errors=error.errors)
        if self._free and (beyond := self._not_in_free_plan(request.query_params, query)):
            return self._answer("fixtures", request, errors={"plan": beyond})
        if query.day is not None:
            found = [self._without_events(match) for match in self._matchday.on(query.day)]
            return self._answer("fixtures", request, found)
        return await self._poll(request, query)

    def _not_in_free_plan(self, params: Params, query: FixtureQuery) -> str:
        """Wording observed in 2026."""
        if "ids" in params:
            return "Free plans do not have access to the Ids parameter."
        today = (self._matchday.start + timedelta(seconds=self._matchday.offset)).date()
        first, last = today - timedelta(days=1), today + timedelta(days=1)
        if query.day is not None and not first <= query.day <= last:
            return f"Free plans do not have access to this date, try from {first} to {last}."
        return ""

    async def _poll(self, request: Request, query: FixtureQuery) -> Response:
        matchday, view = self._matchday, self._view
        view.poll(CLIENT)  # what it shows for a minute only, nobody may miss because others polled, too
        live = query.ids is None
        matches = matchday.live(query.live_leagues, view.offset) if query.ids is None else matchday.by_ids(query.ids)
        due = view.faults({match.id for match in matches})
        items = []
        for match in matches:
            sight = view.sight(match, due.matches)
            item = {**matchday.fixture(sight.match, sight.offset), **({} if live else _NO_DETAILS)}
            items += entries(item, due.matches)
        answer = self._answer("fixtures", request, items)
        if due.feed is None:
            return answer
        matchday.forget(CLIENT)
        limited = self._answer("fixtures", request, errors=self._quota.rate_error())
        return await faulty_response(due.feed, request, answer, limited, self._closing)

    async def _events(self, request: Request) -> Response:
        return self._listing("fixtures/events", request, self._find_events)

    async def _teams(self, request: Request) -> Response:
        return self._listing("teams", request, lambda params: find_teams(self._matchday.scenario, params))

    async def _status(self, request: Request) -> Response:
        """The account. This request is free, as at the real service."""
        if request.headers.get("x-apisports-key") != self._key:
            return self._answer("status", request, errors={"token": TOKEN_ERROR})
        limits = self._quota.limits
        account = {
            "account": {"firstname": "Found", "lastname": "Footy", "email": "simulator@example.invalid"},
            "subscription": {
                "plan": "Free" if self._free else "Pro",
                "end": "2099-12-31T00:00:00+00:00",
                "active": True,
            },
            "requests": {"current": self._quota.used, "limit_day": limits.per_day},
        }
        return self._answer("status", request, account)

    def _listing(self, get: str, request: Request, find: Callable[[Params], list[dict[str, Any]]]) -> Response:
        refused = self._refused(get, request)
        if refused is not None:
            return refused
        try:
            return self._answer(get, request, find(request.query_params))
        except QueryError as error:
            return self._answer(get, request, errors=error.errors)

    def _find_events(self, params: Params) -> list[dict[str, Any]]:
        required(params, "fixture", optional=("type", "team"))
        matches = self._matchday.by_ids({parse_number("fixture", params["fixture"])})
        events = [event for match in matches for event in self._now(match)["events"]]
        if "type" in params:
            events = [event for event in events if event["type"].lower() == params["type"].lower()]
        if "team" in params:
            team = parse_number("team", params["team"])
            events = [event for event in events if event["team"]["id"] == team]
        return events

    def _without_events(self, match: ScriptedMatch) -> dict[str, Any]:
        return {part: value for part, value in self._now(match).items() if part != "events"}

    def _now(self, match: ScriptedMatch) -> dict[str, Any]:
        return self._matchday.fixture(match, self._view.offset)

    def _refused(self, get: str, request: Request) -> Response | None:
        """The response to a request without the key or beyond the limits."""
        if request.headers.get("x-apisports-key") != self._key:
            return self._answer(get, request, errors={"token": TOKEN_ERROR})
        errors = self._quota.take()
        return self._answer(get, request, errors=errors) if errors else None

    def _answer(
        self,
        get: str,
        request: Request,
        response: list[dict[str, Any]] | dict[str, Any] | None = None,
        *,
        errors: dict[str, str] | None = None,
    ) -> Response:
        found = [] if response is None else response
        body = {
            "get": get,
            # PHP serialises an empty array as a list, any other as an object.
            "parameters": dict(request.query_params) or [],
            "errors": errors or [],
            "results": len(found) if isinstance(found, list) else 1,
            "paging": {"current": 1, "total": 1},
            "response": found,
        }
        return JSONResponse(body, headers=self._quota.headers())
