"""Serve cricket in the protocol of ESPN's scoreboard and summary.

Each side has a line for every innings; only the summary tells how a batter got out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from footy_simulator.espn_requests import limited, refused, wanted_days
from footy_simulator.faults import DueFaults, FaultyFeed, faulty_response
from footy_simulator.scenario import EspnService
from footy_simulator.team_facts import espn_match_id, match_id_of
from found_footy.fixtures.models import Phase, Side, WicketKind, phase_of

LEAGUE = 8048
"""The league under which ESPN lists all cricket of a scenario."""
_TEAMS, _PLAYERS = 60_000, 300_000
_WORDS = {
    "NS": "Scheduled",
    "LIVE": "Live",
    "INNBRK": "Innings break",
    "DRINKS": "Drinks",
    "LUNCH": "Lunch",
    "TEA": "Tea",
    "DINNER": "Dinner",
    "RAIN": "Rain",
    "STUMPS": "Stumps",
    "RESULT": "Result",
    "DRAW": "Match drawn",
    "TIE": "Match tied",
    "NR": "No result",
    "ABD": "Abandoned",
}
_CARDS = {
    WicketKind.BOWLED: "b",
    WicketKind.CAUGHT: "c",
    WicketKind.LBW: "lbw",
    WicketKind.RUN_OUT: "run out",
    WicketKind.STUMPED: "st",
    WicketKind.HIT_WICKET: "hit wicket",
    WicketKind.OTHER: "retired out",
}


def espn_cricket_event(now: CricketState, *, falls: bool = False) -> dict[str, Any]:
    """A scoreboard entry; `falls` adds the wickets, which only the summary has."""
    id_, date = str(espn_match_id(int(now.code, 36))), f"{now.start:%Y-%m-%dT%H:%MZ}"
    game = {
        "id": id_,
        "date": date,
        "description": f"{now.match_number} {now.match_type}",
        "class": {"eventType": now.match_type, "generalClassCard": now.match_type},
        "status": _status(now),
        "venue": {"fullName": now.venue.partition(",")[0], "address": {"city": now.venue.rpartition(", ")[2]}},
        "notes": [{"type": "toss", "text": _toss(now)}] if now.toss_winner is not None else [],
        "competitors": [_competitor(now, side, falls) for side in (Side.HOME, Side.AWAY)],
    }
    title = f"{now.home.name} v {now.away.name}"
    return {"id": id_, "date": date, "name": title, "season": {"year": now.start.year}, "competitions": [game]}


def espn_cricket_summary(now: CricketState) -> dict[str, Any]:
    event = espn_cricket_event(now, falls=True)
    return {
        "header": {**event, "league": espn_cricket_league(now)},
        "notes": event["competitions"][0]["notes"],
        "rosters": [{"roster": [_card(each, wicket) for each in now.innings for wicket in each.wickets]}],
    }


def espn_cricket_league(now: CricketState) -> dict[str, Any]:
    return {"id": str(LEAGUE), "name": now.series, "slug": str(LEAGUE), "season": {"year": now.start.year}}


def _status(now: CricketState) -> dict[str, Any]:
    phase = phase_of(now.status)
    state = "post" if phase.is_over else "pre" if phase is Phase.UPCOMING else "in"
    words = _WORDS[now.status]
    return {
        "period": len(now.innings),
        "summary": now.result or (f"Day {now.day}: {words}" if now.status == "STUMPS" else words),
        "type": {
            "name": f"STATUS_{words.upper().replace(' ', '_')}",
            "state": state,
            "completed": phase.is_over,
            "description": words,
            "detail": words,
            "shortDetail": words,
        },
    }


def _competitor(now: CricketState, side: Side, falls: bool) -> dict[str, Any]:
    team: CricketSide = now.home if side is Side.HOME else now.away
    id_ = str(_TEAMS + int(team.key, 36))
    return {
        "id": id_,
        "homeAway": side.value,
        "team": {"id": id_, "displayName": team.name, "shortDisplayName": team.name, "abbreviation": team.short},
        "linescores": [_line(now, innings, side, falls) for innings in now.innings],
    }


def _line(now: CricketState, innings: CricketInnings, side: Side, falls: bool) -> dict[str, Any]:
    if innings.batting is not side:
        return {"period": innings.number, "isBatting": False, "runs": 0, "wickets": 0, "overs": 0}
    line = {
        "period": innings.number,
        "isBatting": True,
        "isCurrent": int(innings is now.innings[-1] and not innings.over),
        "runs": innings.runs,
        "wickets": len(innings.wickets),
        "overs": f"{innings.overs}.{innings.balls}",
    }
    return {**line, "fow": [_fall(wicket) for wicket in innings.wickets]} if falls else line


def _fall(wicket: CricketWicket) -> dict[str, Any]:
    return {
        "wicketNumber": wicket.number,
        "wicketOver": f"{wicket.over}.{wicket.ball}",
        "runs": wicket.runs,
        "athlete": _athlete(wicket.batter),
    }


def _card(innings: CricketInnings, wicket: CricketWicket) -> dict[str, Any]:
    out = {
        "dismissalCard": _CARDS[wicket.kind],
        "shortText": _CARDS[wicket.kind],
        **({"bowler": _athlete(wicket.bowler)} if wicket.bowler is not None else {}),
    }
    line = {"period": innings.number, "statistics": {"batting": {"outDetails": out}}}
    return {"athlete": _athlete(wicket.batter), "linescores": [line]}


def _athlete(player: CricketPlayer) -> dict[str, Any]:
    return {"id": str(_PLAYERS + int(player.key, 36)), "displayName": player.name, "fullName": player.name}


def _toss(now: CricketState) -> str:
    winner = now.home if now.toss_winner is Side.HOME else now.away
    return f"{winner.name}, elected to {now.toss_decision} first"


# --- Routes. The scoreboard without `dates` lists matches in progress: that request is the poll.


SLUG = f"cricket/{LEAGUE}"


class EspnCricketServer:
    """`poll` counts a poll and returns the faults of its round."""

    def __init__(
        self, view: FaultyFeed, poll: Callable[[str], DueFaults], closing: asyncio.Event, service: EspnService
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
        return await faulty_response(due.feed, request, answer, refused(429, "Too Many Requests"), self._closing)

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

    def _now(self) -> list[CricketState]:
        return self._view.matchday.cricket(self._view.offset)
