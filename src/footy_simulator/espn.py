"""Serve a scripted matchday in the protocol of ESPN's scoreboard and summary."""

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

from footy_simulator.espn_cricket import EspnCricketServer
from footy_simulator.espn_requests import beyond_tomorrow, limited, refused, wanted_days
from footy_simulator.faults import DueFaults, FaultyFeed, faulty_response
from footy_simulator.football import (
    GoalView,
    MatchTimeline,
    TimelineSpan,
    goal_views,
    kickoff_time,
    match_timeline,
    shown_kicks,
)
from footy_simulator.matchday import TimeSource
from footy_simulator.scenario import (
    EspnService,
    ScriptedFault,
    ScriptedIncident,
    ScriptedKick,
    ScriptedLeague,
    ScriptedMatch,
    ScriptedMinute,
    ScriptedPlayer,
    ScriptedTeam,
    SideName,
)
from footy_simulator.team_facts import EspnLeagueFacts, espn_league, espn_match_id, espn_player, espn_team, match_id_of

STATUSES: dict[str, tuple[int, str, str, str]] = {
    "NS": (1, "STATUS_SCHEDULED", "pre", "Scheduled"),
    "1H": (25, "STATUS_FIRST_HALF", "in", "First Half"),
    "HT": (23, "STATUS_HALFTIME", "in", "Halftime"),
    "2H": (26, "STATUS_SECOND_HALF", "in", "Second Half"),
    "BT": (43, "STATUS_END_OF_REGULATION", "in", "End of Regulation"),
    "ET": (24, "STATUS_OVERTIME", "in", "Overtime"),
    "P": (44, "STATUS_SHOOTOUT", "in", "Shootout"),
    "SUSP": (48, "STATUS_SUSPENDED", "in", "Suspended"),
    "INT": (7, "STATUS_DELAYED", "in", "Delayed"),
    "FT": (28, "STATUS_FULL_TIME", "post", "Full Time"),
    "AET": (45, "STATUS_FINAL_AET", "post", "Final Score - After Extra Time"),
    "PEN": (47, "STATUS_FINAL_PEN", "post", "Final Score - After Penalties"),
    "ABD": (49, "STATUS_ABANDONED", "post", "Abandoned"),
    "PST": (6, "STATUS_POSTPONED", "pre", "Postponed"),
    "CANC": (5, "STATUS_CANCELED", "post", "Canceled"),
}
"""Number, name, state and description."""
_PERIODS = {"NS": 0, "PST": 0, "CANC": 0, "1H": 1, "HT": 1, "ET": 3, "AET": 4, "P": 5, "PEN": 5}
_FLAGS = ("scoringPlay", "redCard", "yellowCard", "penaltyKick", "ownGoal", "shootout")
_KINDS = {"normal": (70, "Goal"), "penalty": (98, "Penalty - Scored"), "own_goal": (97, "Own Goal")}
_CARDS = {"yellow_card": (94, "Yellow Card", "yellowCard"), "red_card": (93, "Red Card", "redCard")}


def espn_event(match: ScriptedMatch, league: ScriptedLeague, start: datetime, offset: float) -> dict[str, Any]:
    """The match `offset` seconds after the matchday's `start`."""
    course = match_timeline(match)
    kickoff = f"{kickoff_time(match, start):%Y-%m-%dT%H:%MZ}"
    home, away = espn_team(match.home), espn_team(match.away)
    id_, season = str(espn_match_id(match.id)), {"year": league.season, "type": 1, "slug": "regular-season"}
    uid = f"s:600~l:{espn_league(league).id}~e:{id_}"
    status = _status(course.at(offset), offset)
    venue = {"id": str(home.id + 1000), "fullName": home.ground} if home.ground else None
    game = {
        "id": id_,
        "uid": f"{uid}~c:{id_}",
        "date": kickoff,
        "startDate": kickoff,
        "timeValid": True,
        "status": status,
        **({"venue": {**venue, "address": {"country": league.country}}} if venue else {}),
        "altGameNote": f"{espn_league(league).name}, {league.round}",
        "notes": [],
        "competitors": _competitors(match, course, offset),
        "details": details_at(match, course, offset),
        "wasSuspended": False,
        "playByPlayAvailable": True,
    }
    return {
        "id": id_,
        "uid": uid,
        "date": kickoff,
        "name": f"{away.name} at {home.name}",
        "shortName": f"{away.code} @ {home.code}",
        "season": season,
        "competitions": [game],
        "status": status,
        **({"venue": {"displayName": home.ground}} if venue else {}),
        "links": [],
    }


def espn_clock(minute: ScriptedMinute) -> str:
    """`67'`, and `90'+3'` in stoppage time."""
    return f"{minute.elapsed}'+{minute.extra}'" if minute.extra else f"{minute.elapsed}'"


def _status(span: TimelineSpan, offset: float) -> dict[str, Any]:
    number, name, state, description = STATUSES[span.status]
    minute = span.clock(offset) or ScriptedMinute(0)
    short = {"FT": "FT", "AET": "AET", "PEN": "FT-Pens", "HT": "HT"}.get(span.status, description)
    running = espn_clock(minute) if span.in_play else short
    return {
        "clock": float(minute.elapsed * 60),
        "displayClock": espn_clock(minute),
        "period": _PERIODS.get(span.status, 2),
        "type": {
            "id": str(number),
            "name": name,
            "state": state,
            "completed": state == "post",
            "description": description,
            "detail": running,
            "shortDetail": running,
        },
    }


def _competitors(match: ScriptedMatch, course: MatchTimeline, offset: float) -> list[dict[str, Any]]:
    goals = [view.goal.side for view in goal_views(match, course, offset) if view.counted]
    kicks = [kick.side for kick in shown_kicks(match, course, offset) if kick.scored]
    in_shootout = course.shootout is not None and offset >= course.shootout
    sides: tuple[SideName, SideName] = ("home", "away")
    listed = []
    for order, side in enumerate(sides):
        other: SideName = "away" if side == "home" else "home"
        leads = (kicks if in_shootout else goals).count(side) > (kicks if in_shootout else goals).count(other)
        listed.append(
            {
                "id": str(espn_team(match.team(side)).id),
                "uid": f"s:600~t:{espn_team(match.team(side)).id}",
                "type": "team",
                "order": order,
                "homeAway": side,
                "winner": leads and offset >= course.final.start,
                "score": str(goals.count(side)),
                **({"shootoutScore": kicks.count(side)} if in_shootout else {}),
                "team": _team(match.team(side)),
            }
        )
    return listed


def _team(team: ScriptedTeam) -> dict[str, Any]:
    named = espn_team(team)
    return {
        "id": str(named.id),
        "uid": f"s:600~t:{named.id}",
        "abbreviation": named.code,
        "displayName": named.name,
        "shortDisplayName": named.short,
        "name": named.name,
        "location": named.name,
        "isActive": True,
        "logo": f"https://a.espncdn.com/i/teamlogos/soccer/500/{named.id}.png",
        "links": [],
    }


def details_at(match: ScriptedMatch, course: MatchTimeline, offset: float) -> list[dict[str, Any]]:
    """Goals and cards by minute, then the shoot-out."""
    timed = [(view.minute, _goal(match, view)) for view in goal_views(match, course, offset) if view.listed]
    for incident in match.incidents:
        shown = course.moment_of(incident.minute)
        if incident.kind in _CARDS and shown is not None and shown <= offset:
            timed.append((incident.minute, _card(match, incident)))
    timed.sort(key=lambda item: item[0].order)
    end = ScriptedMinute(2 * (match.half_length + match.extra_half_length))
    kicks = [_kick(match, kick, end) for kick in shown_kicks(match, course, offset)]
    return [detail for _, detail in timed] + kicks


def _goal(match: ScriptedMatch, view: GoalView) -> dict[str, Any]:
    number, text = _KINDS[view.kind]
    flags = {"penaltyKick": view.kind == "penalty", "ownGoal": view.kind == "own_goal"}
    return _detail(match, view.goal.side, view.minute, number, text, view.player, scoringPlay=True, **flags)


def _card(match: ScriptedMatch, incident: ScriptedIncident) -> dict[str, Any]:
    number, text, flag = _CARDS[incident.kind]
    return _detail(match, incident.side, incident.minute, number, text, incident.player, **{flag: True})


def _kick(match: ScriptedMatch, kick: ScriptedKick, end: ScriptedMinute) -> dict[str, Any]:
    number, text = (104, "Penalty - Scored") if kick.scored else (114, "Penalty - Saved")
    return _detail(
        match, kick.side, end, number, text, kick.player, scoringPlay=kick.scored, penaltyKick=True, shootout=True
    )


def _detail(
    match: ScriptedMatch,
    side: SideName,
    minute: ScriptedMinute,
    number: int,
    text: str,
    player: ScriptedPlayer | None,
    **flags: bool,
) -> dict[str, Any]:
    # As at API-Football, an own goal is credited to the side that benefits.
    team = {"id": str(espn_team(match.team(side)).id)}
    return {
        "type": {"id": str(number), "text": text},
        "clock": {"value": float(minute.played * 60), "displayValue": espn_clock(minute)},
        "team": team,
        "scoreValue": int(flags.get("scoringPlay", False)),
        **{flag: flags.get(flag, False) for flag in _FLAGS},
        **({"athletesInvolved": [{**_athlete(player), "team": team}]} if player else {}),
    }


def _athlete(player: ScriptedPlayer) -> dict[str, Any]:
    id_, name = espn_player(player)
    first, _, last = name.partition(" ")
    short = f"{first[0]}. {last}" if last else name
    return {"id": str(id_), "displayName": name, "shortName": short, "fullName": name, "links": []}


# --- Routes.


_SLUG = re.compile(r"[a-z]{2,9}\.[a-z0-9_]+(\.[a-z0-9_]+)*|all")
"""Form of a league slug. A league that is not scripted has no matches."""
_ROUND_SECONDS = 0.6
"""Real time within which a client requests all leagues and days of one poll."""


class EspnServer:
    def __init__(
        self,
        view: FaultyFeed,
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
        return soccer + EspnCricketServer(self._view, self._poll, self._closing, self._service).routes()

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
        return await faulty_response(due.feed, request, answer, too_many, self._closing)

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
        """Faults of the round that this request belongs to."""
        now = self._time()
        if not self._round or place in self._round or now - self._began > _ROUND_SECONDS:
            self._round, self._began = set(), now
            self._view.poll()
            self._due = self._view.faults({match.id for match in self._matchday.scenario.matches})
        self._round.add(place)
        return self._due

    def _event(self, match: ScriptedMatch, faults: Sequence[ScriptedFault]) -> dict[str, Any]:
        sight = self._view.sight(match, faults)
        return espn_event(sight.match, self._matchday.scenario.league_of(match), self._matchday.start, sight.offset)

    def _league(self, slug: str) -> ScriptedLeague | None:
        leagues = self._matchday.scenario.leagues.values()
        return next((league for league in leagues if espn_league(league).slug == slug), None)

    def _matches(self, slug: str) -> list[ScriptedMatch]:
        scenario = self._matchday.scenario
        return [match for match in scenario.matches if espn_league(scenario.league_of(match)).slug == slug]


def entries(event: dict[str, Any], match: ScriptedMatch, faults: Sequence[ScriptedFault]) -> list[dict[str, Any]]:
    """The event with the faults of its match applied; two entries for the fault `duplicate_id`."""
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


def _league(league: ScriptedLeague) -> dict[str, Any]:
    named: EspnLeagueFacts = espn_league(league)
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
