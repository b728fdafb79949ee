"""ESPN's cricket over a scripted matchday. It knows no range of days, so the plain scoreboard is the poll."""

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
from found_footy.simulator.faults import DueFaults
from found_footy.simulator.feed_view import FeedView

SLUG = f"cricket/{LEAGUE}"


class EspnCricketScripted:
    """`poll` is told of each poll, and says what is wrong with its round."""

    def __init__(self, view: FeedView, poll: Callable[[str], DueFaults], closing: asyncio.Event) -> None:
        self._view = view
        self._poll = poll
        self._closing = closing

    def routes(self) -> list[Route]:
        base = f"/apis/site/v2/sports/{SLUG}"
        return [Route(f"{base}/scoreboard", self._scoreboard), Route(f"{base}/summary", self._summary)]

    async def _scoreboard(self, request: Request) -> Response:
        day = request.query_params.get("dates")
        due = self._poll(SLUG) if day is None else DueFaults()
        listed = [now for now in self._now() if day is None or f"{now.start:%Y%m%d}" == day]
        leagues = [espn_cricket_league(now) for now in listed[:1]]
        answer = JSONResponse({"leagues": leagues, "events": [espn_cricket_event(now) for now in listed]})
        if due.feed is None:
            return answer
        limited = JSONResponse({"code": 429, "message": "Too Many Requests"}, status_code=429)
        return await broken(due.feed, request, answer, limited, self._closing)

    async def _summary(self, request: Request) -> Response:
        asked = request.query_params.get("event", "")
        wanted = match_id_of(int(asked)) if asked.isdecimal() and len(asked) < 16 else 0
        for now in self._now():
            if int(now.code, 36) == wanted:
                return JSONResponse(espn_cricket_summary(now))
        return JSONResponse({"code": 404, "message": "no such event"}, status_code=404)

    def _now(self) -> list[CricketNow]:
        return self._view.matchday.cricket(self._view.offset)
