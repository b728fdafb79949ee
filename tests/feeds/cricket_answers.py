"""ESPN's cricket scoreboard and summary, and a match of ESPNcricinfo, as short as they can be."""

from __future__ import annotations

from typing import Any

HOME, AWAY = 6, 2


def line(period: int, runs: int, wickets: int, overs: float | str, **fields: Any) -> dict[str, Any]:
    return {"period": period, "runs": runs, "wickets": wickets, "overs": overs, "isBatting": True, **fields}


def fielding(period: int) -> dict[str, Any]:
    """A side's lines have the innings of the other side, too."""
    return {"period": period, "runs": 0, "wickets": 0, "overs": 20.0, "isBatting": False}


def fall(number: int, over: float, batter: int, **fields: Any) -> dict[str, Any]:
    return {
        "wicketNumber": number,
        "wicketOver": over,
        "runs": 10 * number,
        "athlete": {"id": str(batter), "displayName": f"Batter {batter}"},
        **fields,
    }


def side(name: str, team: int, lines: list[dict[str, Any]]) -> dict[str, Any]:
    names = {HOME: ("India", "IND"), AWAY: ("Australia", "AUS")}
    return {
        "id": str(team),
        "homeAway": name,
        "score": "",
        "team": {"id": str(team), "displayName": names[team][0], "abbreviation": names[team][1]},
        "linescores": lines,
    }


def game(
    home: list[dict[str, Any]] | None = None,
    away: list[dict[str, Any]] | None = None,
    *,
    state: str = "in",
    description: str = "Live",
    summary: str = "",
    **type_fields: Any,
) -> dict[str, Any]:
    type_ = {"name": "STATUS_IN_PROGRESS", "state": state, "description": description, **type_fields}
    return {
        "date": "2025-11-22T14:00Z",
        "description": "3rd T20I",
        "status": {"summary": summary, "type": type_},
        "competitors": [
            side("home", HOME, [line(1, 187, 2, 20, isCurrent=0)] if home is None else home),
            side("away", AWAY, [line(2, 95, 1, 12.3, isCurrent=1)] if away is None else away),
        ],
        "venue": {"fullName": "MCG", "address": {"city": "Melbourne"}},
        "class": {"eventType": "T20I"},
    }


def event(event_id: int, played: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": str(event_id),
        "date": "2025-11-22T14:00Z",
        "name": "India v Australia",
        "season": {"year": 2025},
        "competitions": [game() if played is None else played],
        **fields,
    }


def scoreboard(*events: Any) -> dict[str, Any]:
    return {"leagues": [{"id": "8048", "name": "Indian Premier League"}], "events": list(events)}


def card(batter: int, period: int, dismissal: str, short: str, bowler: int | None = None) -> dict[str, Any]:
    """A player's entry in a roster of the summary."""
    out: dict[str, Any] = {"dismissalCard": dismissal, "shortText": short}
    if bowler is not None:
        out["bowler"] = {"id": str(bowler), "displayName": f"Bowler {bowler}"}
    batted = {"statistics": {"batting": {"order": 1, "outDetails": out}}}
    return {
        "athlete": {"id": str(batter), "displayName": f"Batter {batter}"},
        "linescores": [{"period": period, "linescores": [batted]}],
    }


def summary(event_id: int, played: dict[str, Any], *players: dict[str, Any], toss: str = "") -> dict[str, Any]:
    return {
        "header": {
            "id": str(event_id),
            "season": {"year": 2025},
            "league": {"id": "8048", "name": "Indian Premier League"},
            "competitions": [played],
        },
        "notes": [{"type": "toss", "text": toss}] if toss else [],
        "rosters": [{"team": {"displayName": "India"}, "roster": list(players)}],
    }


def info_team(number: int, name: str, *, home: bool, score: str, innings: list[int], info: str = "") -> dict[str, Any]:
    short = name[:3].upper()
    team = {"id": 1000 + number, "objectId": number, "name": short, "longName": name, "abbreviation": short}
    return {
        "team": team,
        "isHome": home,
        "isLive": not home,
        "score": score,
        "scoreInfo": info,
        "inningNumbers": innings,
    }


def info_match(**fields: Any) -> dict[str, Any]:
    return {
        "id": 77,
        "objectId": 1478914,
        "state": "LIVE",
        "stage": "RUNNING",
        "status": "Live",
        "statusText": "AUS need 93 runs",
        "title": "3rd T20I",
        "format": "T20",
        "startTime": "2025-11-22T14:00:00.000Z",
        "series": {"id": 5, "objectId": 8048, "longName": "Australia tour of India", "year": 2025},
        "ground": {"longName": "MCG", "town": {"name": "Melbourne"}, "country": {"name": "Australia"}},
        "tossWinnerTeamId": 1000 + HOME,
        "tossWinnerChoice": 1,
        "teams": [
            info_team(AWAY, "Australia", home=False, score="95/1", innings=[2], info="12.3/20 ov, T:188"),
            info_team(HOME, "India", home=True, score="187/2", innings=[1]),
        ],
        **fields,
    }


def info_wicket(number: int, over: float, batter: int, how: str, **fields: Any) -> dict[str, Any]:
    return {
        "player": {"objectId": batter, "longName": f"Batter {batter}"},
        "isOut": True,
        "dismissalText": {"short": how, "long": how, "commentary": f"Batter {batter} {how} 12 (9b)"},
        "dismissalBowler": {"objectId": 9, "longName": "Bowler 9"},
        "fowWicketNum": number,
        "fowOvers": over,
        **fields,
    }


def info_innings(number: int, team: int, runs: int, wickets: int, overs: float, *fallen: Any, **fields: Any) -> Any:
    return {
        "inningNumber": number,
        "isCurrent": number == 2,
        "isBatted": True,
        "team": {"objectId": team},
        "runs": runs,
        "wickets": wickets,
        "overs": overs,
        "inningWickets": list(fallen),
        **fields,
    }
