"""A cricket match at a moment, as ESPN's scoreboard and its summary have it. Pure.

As there, each side has a line for every innings of the match, and only the summary tells how a batter got out.
"""

from __future__ import annotations

from typing import Any

from found_footy.domain.fixtures.model import Side, WicketKind
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.cricket import CricketInnings, CricketNow, CricketPlayer, CricketSide, CricketWicket
from found_footy.simulator.espn_names import espn_match_id

LEAGUE = 8048
"""The one league under which ESPN lists all cricket of a scenario."""
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


def espn_cricket_event(now: CricketNow, *, falls: bool = False) -> dict[str, Any]:
    """An entry of the scoreboard; `falls` adds the wickets, which only the summary has."""
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


def espn_cricket_summary(now: CricketNow) -> dict[str, Any]:
    event = espn_cricket_event(now, falls=True)
    return {
        "header": {**event, "league": espn_cricket_league(now)},
        "notes": event["competitions"][0]["notes"],
        "rosters": [{"roster": [_card(each, wicket) for each in now.innings for wicket in each.wickets]}],
    }


def espn_cricket_league(now: CricketNow) -> dict[str, Any]:
    return {"id": str(LEAGUE), "name": now.series, "slug": str(LEAGUE), "season": {"year": now.start.year}}


def _status(now: CricketNow) -> dict[str, Any]:
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


def _competitor(now: CricketNow, side: Side, falls: bool) -> dict[str, Any]:
    team: CricketSide = now.home if side is Side.HOME else now.away
    id_ = str(_TEAMS + int(team.key, 36))
    return {
        "id": id_,
        "homeAway": side.value,
        "team": {"id": id_, "displayName": team.name, "shortDisplayName": team.name, "abbreviation": team.short},
        "linescores": [_line(now, innings, side, falls) for innings in now.innings],
    }


def _line(now: CricketNow, innings: CricketInnings, side: Side, falls: bool) -> dict[str, Any]:
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


def _toss(now: CricketNow) -> str:
    winner = now.home if now.toss_winner is Side.HOME else now.away
    return f"{winner.name}, elected to {now.toss_decision} first"
