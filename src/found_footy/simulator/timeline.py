"""A scripted match at a moment of the matchday, as the service's `/fixtures` item. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from found_footy.simulator.course import Course, course_of
from found_footy.simulator.incidents import events_at, goal_views, shown_kicks, team_reference
from found_footy.simulator.script import League, Match, SideName, Team

LONG_STATUS = {
    "NS": "Not Started",
    "1H": "First Half",
    "HT": "Halftime",
    "2H": "Second Half",
    "BT": "Break Time",
    "ET": "Extra Time",
    "P": "Penalty In Progress",
    "SUSP": "Match Suspended",
    "INT": "Match Interrupted",
    "FT": "Match Finished",
    "AET": "Match Finished",
    "PEN": "Match Finished",
    "ABD": "Match Abandoned",
    "PST": "Match Postponed",
    "CANC": "Match Cancelled",
}

Pair = dict[str, int | None]
NOTHING: Pair = {"home": None, "away": None}


def fixture_at(match: Match, league: League, start: datetime, offset: float) -> dict[str, Any]:
    """The match `offset` seconds after the matchday's `start`, with its events."""
    course = course_of(match)
    goals, score = _score(match, course, offset)
    return {
        "fixture": _fixture(match, course, start, offset),
        "league": _league(league),
        "teams": _teams(match, goals, score["penalty"]),
        "goals": goals,
        "score": score,
        "events": events_at(match, course, offset),
    }


def status_at(match: Match, offset: float) -> str:
    return course_of(match).at(offset).status


def settled_from(match: Match) -> int:
    """The matchday second from which the match is in its final state."""
    return course_of(match).final.start


def kickoff_time(match: Match, start: datetime) -> datetime:
    return start + timedelta(seconds=match.kickoff)


def _fixture(match: Match, course: Course, start: datetime, offset: float) -> dict[str, Any]:
    span = course.at(offset)
    minute = span.clock(offset)
    kickoff = kickoff_time(match, start)
    return {
        "id": match.id,
        "referee": None,
        "timezone": "UTC",
        "date": kickoff.isoformat(),
        "timestamp": int(kickoff.timestamp()),
        "periods": {
            "first": _begun(course.start_of("1H"), start, offset),
            "second": _begun(course.start_of("2H"), start, offset),
        },
        "venue": {"id": None, "name": None, "city": None},
        "status": {
            "long": LONG_STATUS[span.status],
            "short": span.status,
            "elapsed": minute.elapsed if minute else None,
            "extra": minute.extra if minute else None,
        },
    }


def _begun(moment: int | None, start: datetime, offset: float) -> int | None:
    return None if moment is None or moment > offset else int(start.timestamp()) + moment


def _league(league: League) -> dict[str, Any]:
    return {
        "id": league.id,
        "name": league.name,
        "country": league.country,
        "logo": f"https://media.api-sports.io/football/leagues/{league.id}.png",
        "flag": None,
        "season": league.season,
        "round": league.round,
    }


def _score(match: Match, course: Course, offset: float) -> tuple[Pair, dict[str, Pair]]:
    """The goals, and their parts: the half-time score is the current one during the first half."""
    if not match.starts or offset < match.kickoff:
        return NOTHING, dict.fromkeys(("halftime", "fulltime", "extratime", "penalty"), NOTHING)
    counted = [view for view in goal_views(match, course, offset) if view.counted]
    half, full = match.half_length, 2 * match.half_length
    parts = {
        "halftime": _pair(view.goal.side for view in counted if view.minute.elapsed <= half),
        "fulltime": NOTHING,
        "extratime": NOTHING,
        "penalty": NOTHING,
    }
    if course.full_time is not None and offset >= course.full_time:
        parts["fulltime"] = _pair(view.goal.side for view in counted if view.minute.elapsed <= full)
    if course.extra_time is not None and offset >= course.extra_time:
        parts["extratime"] = _pair(view.goal.side for view in counted if view.minute.elapsed > full)
    if course.shootout is not None and offset >= course.shootout:
        parts["penalty"] = _pair(kick.side for kick in shown_kicks(match, course, offset) if kick.scored)
    return _pair(view.goal.side for view in counted), parts


def _pair(sides: Iterable[SideName]) -> Pair:
    listed = list(sides)
    return {"home": listed.count("home"), "away": listed.count("away")}


def _teams(match: Match, goals: Pair, penalty: Pair) -> dict[str, Any]:
    """The service names a winner as soon as one side leads, and the shoot-out decides a draw."""
    lead = _lead(penalty) or _lead(goals)
    return {
        "home": _team(match.home, None if lead == 0 else lead > 0),
        "away": _team(match.away, None if lead == 0 else lead < 0),
    }


def _lead(pair: Pair) -> int:
    return (pair["home"] or 0) - (pair["away"] or 0)


def _team(team: Team, winner: bool | None) -> dict[str, Any]:
    return {**team_reference(team), "winner": winner}
