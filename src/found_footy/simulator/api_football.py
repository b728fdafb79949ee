"""API-Football v3 over a scripted matchday.

As the real service does, it answers 200 with an `errors` object when a request is wrong, and with `errors: []`
when all is well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.simulator.api_football_faults import entries
from found_footy.simulator.broken_answers import broken
from found_footy.simulator.feed_view import FeedView
from found_footy.simulator.queries import FixtureQuery, QueryError, parse_fixtures, parse_number, required
from found_footy.simulator.quota import Quota
from found_footy.simulator.script import Match
from found_footy.simulator.services_script import ApiFootballService
from found_footy.simulator.teams import find_teams

READER = "api_football"
TOKEN_ERROR = (
    "Error/Missing application key. Go to https://www.api-football.com/documentation-v3 "
    "to learn how to get your API application key."
)
_NO_DETAILS: dict[str, Any] = {"lineups": [], "statistics": [], "players": []}
"""The service gives these with `id` and `ids`; the simulator has none of them."""

Params = Mapping[str, str]


class ApiFootball:
    """The service's routes. `closing` lets go of held requests when the server stops."""

    def __init__(
        self,
        view: FeedView,
        key: str,
        quota: Quota,
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
        """The service's own words, as observed in 2026."""
        if "ids" in params:
            return "Free plans do not have access to the Ids parameter."
        today = (self._matchday.start + timedelta(seconds=self._matchday.offset)).date()
        first, last = today - timedelta(days=1), today + timedelta(days=1)
        if query.day is not None and not first <= query.day <= last:
            return f"Free plans do not have access to this date, try from {first} to {last}."
        return ""

    async def _poll(self, request: Request, query: FixtureQuery) -> Response:
        matchday, view = self._matchday, self._view
        view.poll(READER)  # what it shows for a minute only, nobody may miss because others polled, too
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
        matchday.forget(READER)
        limited = self._answer("fixtures", request, errors=self._quota.rate_error())
        return await broken(due.feed, request, answer, limited, self._closing)

    async def _events(self, request: Request) -> Response:
        return self._listing("fixtures/events", request, self._find_events)

    async def _teams(self, request: Request) -> Response:
        return self._listing("teams", request, lambda params: find_teams(self._matchday.scenario, params))

    async def _status(self, request: Request) -> Response:
        """The account; asking for it costs no request, as at the real service."""
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

    def _without_events(self, match: Match) -> dict[str, Any]:
        return {part: value for part, value in self._now(match).items() if part != "events"}

    def _now(self, match: Match) -> dict[str, Any]:
        return self._matchday.fixture(match, self._view.offset)

    def _refused(self, get: str, request: Request) -> Response | None:
        """The answer to a request without the key, or beyond the limits."""
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
            # An empty PHP array: a list when there is nothing in it, an object otherwise.
            "parameters": dict(request.query_params) or [],
            "errors": errors or [],
            "results": len(found) if isinstance(found, list) else 1,
            "paging": {"current": 1, "total": 1},
            "response": found,
        }
        return JSONResponse(body, headers=self._quota.headers())
