"""Short ways to write scripts, and to read what is made of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.recorded import recorded as recorded_data

from footy_simulator.football import fixture_at
from footy_simulator.scenario import ScriptedLeague, ScriptedMatch

START = datetime(2025, 11, 22, 15, 0, tzinfo=UTC)
LEAGUE = ScriptedLeague(id=39, name="Premier League", country="England", season=2025, round="Regular Season - 12")
SALAH = {"id": 306, "name": "M. Salah"}
FODEN = {"id": 631, "name": "P. Foden"}


def recorded(*parts: str) -> Path:
    return recorded_data("feeds", *parts)


def script(**fields: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "league": "pl",
        "home": {"id": 40, "name": "Liverpool"},
        "away": {"id": 50, "name": "Manchester City"},
        "kickoff": "+0m",
        "half_time": 3,
        **fields,
    }


def match(**fields: Any) -> ScriptedMatch:
    return ScriptedMatch.model_validate(script(**fields))


def goal(minute: int | str, side: str = "home", **fields: Any) -> dict[str, Any]:
    return {"minute": minute, "side": side, "player": SALAH, **fields}


def at(played: ScriptedMatch, minutes: float) -> dict[str, Any]:
    """The fixture so many minutes after the matchday's start."""
    return fixture_at(played, LEAGUE, START, minutes * 60)


def status(fixture: dict[str, Any]) -> tuple[str, int | None, int | None]:
    found = fixture["fixture"]["status"]
    return found["short"], found["elapsed"], found["extra"]


def pair(scores: dict[str, Any]) -> tuple[int | None, int | None]:
    return scores["home"], scores["away"]


def events(fixture: dict[str, Any]) -> list[tuple[Any, ...]]:
    """(minute, team id, player's name, type, detail) of each event."""
    return [
        (
            f"{e['time']['elapsed']}+{e['time']['extra']}" if e["time"]["extra"] else e["time"]["elapsed"],
            e["team"]["id"],
            e["player"]["name"],
            e["type"],
            e["detail"],
        )
        for e in fixture["events"]
    ]
