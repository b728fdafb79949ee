"""ESPN's cricket over a scripted matchday. The scoreboard without `dates` has what is under way: that is the poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.simulator.broken_answers import broken
from found_footy.simulator.cricket import CricketNow
from found_footy.simulator.espn_cricket_event import (
    LEAGUE,
    espn_cricket_event,
    espn_cricket_league,
    espn_cricket_summary,
)
from found_footy.simulator.espn_names import match_id_of
from found_footy.simulator.espn_requests import limited, refused, wanted_days
from found_footy.simulator.faults import DueFaults
from found_footy.simulator.feed_view import FeedView
from found_footy.simulator.services_script import EspnService

SLUG = f"cricket/{LEAGUE}"


class EspnCricketScripted:
    """`poll` counts a poll and returns the faults of its round."""

    def __init__(
        self, view: FeedView, poll: Callable[[str], DueFaults], closing: asyncio.Event, service: EspnService
    ) -> None:
        self._view = view
        self._service = service
        self._poll = poll
        self._closing = closing

    def routes(self) -> list[Route]:
        base = f"/apis/site/v2/sports/{SLUG}"
        return [Route(f"{base}/scoreboard", self._scoreboard), Route(f"{base}/summary", self._summary)]

    async def _scoreboard(self, request: Request) -> Response:
        wanted = wanted_days(request, self._service)
        if isinstance(wanted, JSONResponse):
            return wanted
        due = self._poll(SLUG) if wanted.first is None else DueFaults()
        listed = [now for now in self._now() if wanted.has(now.start)]
        leagues = [espn_cricket_league(now) for now in listed[:1]]
        events = limited([espn_cricket_event(now) for now in listed], request)
        answer = JSONResponse({"leagues": leagues, "events": events})
        if due.feed is None:
            return answer
        return await broken(due.feed, request, answer, refused(429, "Too Many Requests"), self._closing)

    async def _summary(self, request: Request) -> Response:
        refusal = wanted_days(request, self._service)
        if isinstance(refusal, JSONResponse):
            return refusal
        asked = request.query_params.get("event", "")
        wanted = match_id_of(int(asked)) if asked.isdecimal() and len(asked) < 16 else 0
        for now in self._now():
            if int(now.code, 36) == wanted:
                return JSONResponse(espn_cricket_summary(now))
        return refused(404, "no such event")

    def _now(self) -> list[CricketNow]:
        return self._view.matchday.cricket(self._view.offset)
