"""ESPN's public scoreboard and summary over a scripted matchday.

A reader asks for each league and day on its own, so one poll is one round of requests for single days: it ends when a
league is asked for the same day again, or after a moment. A request for a month, as an ingest sends it, is not a poll.
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.simulator.broken_answers import broken
from found_footy.simulator.clock import TimeSource
from found_footy.simulator.espn_cricket_scripted import EspnCricketScripted
from found_footy.simulator.espn_event import espn_event
from found_footy.simulator.espn_names import EspnLeague, espn_league, match_id_of
from found_footy.simulator.espn_requests import beyond_tomorrow, limited, refused, wanted_days
from found_footy.simulator.faults import DueFaults
from found_footy.simulator.feed_script import Fault
from found_footy.simulator.feed_view import FeedView
from found_footy.simulator.script import League, Match
from found_footy.simulator.services_script import EspnService
from found_footy.simulator.timeline import kickoff_time

_SLUG = re.compile(r"[a-z]{2,9}\.[a-z0-9_]+(\.[a-z0-9_]+)*|all")
"""The form of a league's name. One that is not scripted has no matches, as most leagues have on most days."""
_ROUND_SECONDS = 0.6
"""Real time within which a reader asks for all leagues and days."""


class EspnScripted:
    def __init__(
        self,
        view: FeedView,
        closing: asyncio.Event,
        time_source: TimeSource,
        service: EspnService | None = None,
    ) -> None:
        self._view = view
        self._service = service or EspnService()
        self._matchday = view.matchday
        self._closing = closing
        self._time = time_source
        self._round: set[str] = set()
        self._began = 0.0
        self._due = DueFaults()

    def routes(self, *, cricket: bool = False) -> list[Route]:
        base = "/apis/site/v2/sports/soccer/{league}"
        soccer = [Route(f"{base}/scoreboard", self._scoreboard), Route(f"{base}/summary", self._summary)]
        if not cricket:
            return soccer
        return soccer + EspnCricketScripted(self._view, self._poll, self._closing, self._service).routes()

    async def _scoreboard(self, request: Request) -> Response:
        slug = request.path_params["league"]
        league = self._league(slug)
        wanted = wanted_days(request, self._service)
        if isinstance(wanted, JSONResponse):
            return wanted
        if league is None:
            if _SLUG.fullmatch(slug) is None or slug in self._service.not_served:
                return refused(404, f"league {slug} is not known")
            return JSONResponse({"leagues": [{"slug": slug, "calendar": []}], "events": [], "provider": {"id": "100"}})
        due = self._poll(f"{slug} {wanted.first}") if wanted.is_day else DueFaults()
        events: list[dict[str, Any]] = []
        for match in [] if beyond_tomorrow(wanted, self._now()) else self._matches(slug):
            if wanted.has(kickoff_time(match, self._matchday.start)):
                events += entries(self._event(match, due.matches), match, due.matches)
        body = {"leagues": [_league(league)], "events": limited(events, request), "provider": {"id": "100"}}
        answer = JSONResponse(body)
        if due.feed is None:
            return answer
        too_many = refused(429, "Too Many Requests")
        return await broken(due.feed, request, answer, too_many, self._closing)

    async def _summary(self, request: Request) -> Response:
        refusal = wanted_days(request, self._service)
        if isinstance(refusal, JSONResponse):
            return refusal
        asked = request.query_params.get("event", "")
        wanted = match_id_of(int(asked)) if asked.isdecimal() and len(asked) < 16 else 0
        match = next((each for each in self._matches(request.path_params["league"]) if each.id == wanted), None)
        if match is None:
            return refused(404, f"event {asked[:20]} is not scripted")
        event = self._event(match, ())
        game = event["competitions"][0]
        header = {"id": event["id"], "uid": event["uid"], "season": event["season"], "competitions": [game]}
        facts = {"venue": game["venue"]} if "venue" in game else {}
        return JSONResponse({"header": header, "gameInfo": facts, "keyEvents": _key_events(game["details"])})

    def _now(self) -> datetime:
        return self._matchday.start + timedelta(seconds=self._matchday.offset)

    def _poll(self, place: str) -> DueFaults:
        """The faults of the round that this request belongs to."""
        now = self._time()
        if not self._round or place in self._round or now - self._began > _ROUND_SECONDS:
            self._round, self._began = set(), now
            self._view.poll()
            self._due = self._view.faults({match.id for match in self._matchday.scenario.matches})
        self._round.add(place)
        return self._due

    def _event(self, match: Match, faults: Sequence[Fault]) -> dict[str, Any]:
        sight = self._view.sight(match, faults)
        return espn_event(sight.match, self._matchday.scenario.league_of(match), self._matchday.start, sight.offset)

    def _league(self, slug: str) -> League | None:
        leagues = self._matchday.scenario.leagues.values()
        return next((league for league in leagues if espn_league(league).slug == slug), None)

    def _matches(self, slug: str) -> list[Match]:
        scenario = self._matchday.scenario
        return [match for match in scenario.matches if espn_league(scenario.league_of(match)).slug == slug]


def entries(event: dict[str, Any], match: Match, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """The event with the faults of its match put in; twice where two of one id are the fault."""
    mine = [fault.kind for fault in faults if fault.match == match.id]
    if not mine:
        return [event]
    event = copy.deepcopy(event)
    game = event["competitions"][0]
    if "wrong_score" in mine:
        home = game["competitors"][0]
        home["score"] = str(int(home["score"]) + 1)
    if "bad_schema" in mine:
        game["status"]["displayClock"] = event["status"]["displayClock"] = "abc"
    if "unknown_status" in mine:
        game["status"]["type"]["name"] = event["status"]["type"]["name"] = "STATUS_UNHEARD_OF"
    return [event, event] if "duplicate_id" in mine else [event]


def _league(league: League) -> dict[str, Any]:
    named: EspnLeague = espn_league(league)
    return {
        "id": str(named.id),
        "uid": f"s:600~l:{named.id}",
        "name": named.name,
        "abbreviation": named.name,
        "slug": named.slug,
        "season": {"year": league.season, "displayName": f"{league.season} {named.name}"},
        "calendar": [],
    }


def _key_events(details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(number),
            "type": detail["type"],
            "text": detail["type"]["text"],
            "clock": detail["clock"],
            "scoringPlay": detail["scoringPlay"],
            "shootout": detail["shootout"],
            "team": detail["team"],
            "participants": [{"athlete": athlete} for athlete in detail.get("athletesInvolved", [])],
        }
        for number, detail in enumerate(details, start=1)
    ]
