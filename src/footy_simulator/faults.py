"""Faults of feeds: which responses are wrong, and how. The same for every feed."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footy_simulator.football import match_timeline
from footy_simulator.matchday import Matchday
from footy_simulator.scenario import (
    MATCH_FAULTS,
    ScriptedFault,
    ScriptedFeed,
    ScriptedGoal,
    ScriptedMatch,
    ScriptedPlayer,
)

BOMB_BYTES = 96 * 1024 * 1024
"""More than a client should decompress; about 100 kB compressed."""
LOOP = "/simulator/loop"
CAPTCHA = (
    "<html><head><title>Just a moment...</title></head>"
    "<body><h1>Are you human?</h1><p>Please solve the captcha to continue.</p></body></html>"
)


async def faulty_response(
    fault: ScriptedFault, request: Request, answer: Response, limited: Response, closing: asyncio.Event
) -> Response:
    """`answer` is the correct response, `limited` this feed's rate-limit response.

    A held request gets the correct response, too late.
    """
    match fault.kind:
        case "server_error":
            return PlainTextResponse("Internal Server Error", status_code=500)
        case "truncated":
            body = bytes(answer.body)
            return Response(body[: len(body) * 2 // 3], media_type="application/json")
        case "html":
            return HTMLResponse("<html><body><h1>502 Bad Gateway</h1></body></html>")
        case "captcha":
            return HTMLResponse(CAPTCHA, status_code=403, headers={"cf-mitigated": "challenge"})
        case "rate_limit":
            return limited
        case "redirect_loop":
            return await _loop(request)
        case "gzip_bomb":
            return Response(_bomb(), media_type="application/json", headers={"content-encoding": "gzip"})
        case "hour_off":
            answer.headers["date"] = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
            return answer
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(closing.wait(), fault.seconds)
    return answer


async def _loop(request: Request) -> Response:
    return RedirectResponse(LOOP, status_code=302)


def loop_routes() -> list[Route]:
    """Target of an endless redirect; following it counts as one poll."""
    return [Route(LOOP, _loop)]


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * BOMB_BYTES, compresslevel=6)


# --- Every response carries a Date header; the fault `hour_off` sets its own.


def dated(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_date(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("date", format_datetime(datetime.now(UTC), usegmt=True))
            await send(message)

        await app(scope, receive, with_date)

    return answer


# --- Fault schedules.


@dataclass(frozen=True, slots=True)
class DueFaults:
    """Faults of one response: of the whole feed, or of some matches."""

    feed: ScriptedFault | None = None
    matches: tuple[ScriptedFault, ...] = ()


class FaultSchedule:
    """Counts faults in polls, so that the speed of the matchday does not matter, unless they have a duration."""

    def __init__(self, faults: Sequence[ScriptedFault]) -> None:
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self._polls_left = [fault.polls for fault in self._faults]

    def due(self, offset: float, match_ids: Collection[int]) -> DueFaults:
        """Faults of the poll at `offset` for these matches; each is then used up by one poll."""
        running = [index for index in range(len(self._faults)) if self._runs(index, offset)]
        for index in running:
            fault = self._faults[index]
            if fault.kind not in MATCH_FAULTS:
                # One at a time: the next waits until this one is over.
                self._polls_left[index] -= 1
                return DueFaults(feed=fault)
        wanted = [index for index in running if self._faults[index].match in match_ids]
        for index in wanted:
            self._polls_left[index] -= 1
        return DueFaults(matches=tuple(self._faults[index] for index in wanted))

    def _runs(self, index: int, offset: float) -> bool:
        fault = self._faults[index]
        if fault.lasts is not None:
            return fault.at <= offset < fault.at + fault.lasts * 60
        return fault.at <= offset and self._polls_left[index] > 0


# --- The matchday as one feed reports it: delayed, and sometimes wrong.


STALE_ANSWER_OFFSET = 20 * 60
"""Seconds by which a match goes back in time."""
INVENTED_GOAL_AGE = 60
"""Age in seconds of an invented goal when it first appears."""


@dataclass(frozen=True, slots=True)
class FeedMatch:
    """The match as a feed reports it, and the moment it refers to."""

    match: ScriptedMatch
    offset: float


class FaultyFeed:
    def __init__(self, matchday: Matchday, script: ScriptedFeed) -> None:
        self.matchday = matchday
        self._delay = script.delay
        self._faults = FaultSchedule(script.faults)

    @property
    def offset(self) -> float:
        """Progress of the matchday as seen by this feed."""
        return self.matchday.offset - self._delay

    def poll(self, reader: str | None = None) -> None:
        """Count a poll of this feed: matchday time advances for all feeds, but waits for a named client."""
        self.matchday.poll(reader)

    def faults(self, match_ids: Collection[int]) -> DueFaults:
        """Faults of the response to this poll."""
        return self._faults.due(self.matchday.offset, match_ids)

    def sight(self, match: ScriptedMatch, faults: Sequence[ScriptedFault] = ()) -> FeedMatch:
        offset = self.offset
        for fault in faults:
            if fault.match == match.id and fault.kind == "back_in_time":
                offset -= STALE_ANSWER_OFFSET
            elif fault.match == match.id and fault.kind == "invented_goal":
                match = with_invented_goal(match, fault, self._delay)
        return FeedMatch(match, offset)


def with_invented_goal(match: ScriptedMatch, fault: ScriptedFault, delay: int = 0) -> ScriptedMatch:
    """The match with an invented goal of the home side, at the minute at which the fault begins."""
    moment = fault.at - delay - INVENTED_GOAL_AGE
    minute = match_timeline(match).at(moment).clock(moment)
    if minute is None:
        return match
    lie = ScriptedGoal(minute=minute, side="home", player=ScriptedPlayer(id=999_999, name="A. Nobody"))
    return match.model_copy(update={"goals": (*match.goals, lie)})
