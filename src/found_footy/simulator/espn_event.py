"""A scripted football match at a moment, as an event of ESPN's scoreboard. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from found_footy.simulator.course import Course, Span, course_of
from found_footy.simulator.espn_names import espn_league, espn_match_id, espn_player, espn_team
from found_footy.simulator.incidents import GoalView, goal_views, shown_kicks
from found_footy.simulator.notation import Minute
from found_footy.simulator.script import Incident, Kick, League, Match, Player, SideName, Team
from found_footy.simulator.timeline import kickoff_time

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


def espn_event(match: Match, league: League, start: datetime, offset: float) -> dict[str, Any]:
    """The match `offset` seconds after the matchday's `start`."""
    course = course_of(match)
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


def espn_clock(minute: Minute) -> str:
    """67', and 90'+3' in stoppage time."""
    return f"{minute.elapsed}'+{minute.extra}'" if minute.extra else f"{minute.elapsed}'"


def _status(span: Span, offset: float) -> dict[str, Any]:
    number, name, state, description = STATUSES[span.status]
    minute = span.clock(offset) or Minute(0)
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


def _competitors(match: Match, course: Course, offset: float) -> list[dict[str, Any]]:
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


def _team(team: Team) -> dict[str, Any]:
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


def details_at(match: Match, course: Course, offset: float) -> list[dict[str, Any]]:
    """Goals and cards in the order of their minutes, then the shoot-out."""
    timed = [(view.minute, _goal(match, view)) for view in goal_views(match, course, offset) if view.listed]
    for incident in match.incidents:
        shown = course.moment_of(incident.minute)
        if incident.kind in _CARDS and shown is not None and shown <= offset:
            timed.append((incident.minute, _card(match, incident)))
    timed.sort(key=lambda item: item[0].order)
    end = Minute(2 * (match.half_length + match.extra_half_length))
    kicks = [_kick(match, kick, end) for kick in shown_kicks(match, course, offset)]
    return [detail for _, detail in timed] + kicks


def _goal(match: Match, view: GoalView) -> dict[str, Any]:
    number, text = _KINDS[view.kind]
    flags = {"penaltyKick": view.kind == "penalty", "ownGoal": view.kind == "own_goal"}
    return _detail(match, view.goal.side, view.minute, number, text, view.player, scoringPlay=True, **flags)


def _card(match: Match, incident: Incident) -> dict[str, Any]:
    number, text, flag = _CARDS[incident.kind]
    return _detail(match, incident.side, incident.minute, number, text, incident.player, **{flag: True})


def _kick(match: Match, kick: Kick, end: Minute) -> dict[str, Any]:
    number, text = (104, "Penalty - Scored") if kick.scored else (114, "Penalty - Saved")
    return _detail(
        match, kick.side, end, number, text, kick.player, scoringPlay=kick.scored, penaltyKick=True, shootout=True
    )


def _detail(
    match: Match, side: SideName, minute: Minute, number: int, text: str, player: Player | None, **flags: bool
) -> dict[str, Any]:
    # As at API-Football, the team of an own goal is the side that benefits.
    team = {"id": str(espn_team(match.team(side)).id)}
    return {
        "type": {"id": str(number), "text": text},
        "clock": {"value": float(minute.played * 60), "displayValue": espn_clock(minute)},
        "team": team,
        "scoreValue": int(flags.get("scoringPlay", False)),
        **{flag: flags.get(flag, False) for flag in _FLAGS},
        **({"athletesInvolved": [{**_athlete(player), "team": team}]} if player else {}),
    }


def _athlete(player: Player) -> dict[str, Any]:
    id_, name = espn_player(player)
    first, _, last = name.partition(" ")
    short = f"{first[0]}. {last}" if last else name
    return {"id": str(id_), "displayName": name, "shortName": short, "fullName": name, "links": []}
