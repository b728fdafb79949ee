"""Short ways to write cricket scripts."""

from __future__ import annotations

from typing import Any

from footy_simulator.scenario import ScriptedCricketMatch

BOWLER = {"key": "C1", "name": "A. Bowler"}


def wicket(ball: float | str, key: str = "B1", **fields: Any) -> dict[str, Any]:
    return {"ball": ball, "batter": {"key": key, "name": f"B. {key}"}, "bowler": BOWLER, **fields}


def innings(batting: str, **fields: Any) -> dict[str, Any]:
    return {"batting": batting, "lasts": 20, "overs": 20, "runs": 120, **fields}


T20: dict[str, Any] = {
    "code": "sim1",
    "home": {"key": "1F", "name": "Harbour Lions", "short": "HBL"},
    "away": {"key": "2B", "name": "River Kings", "short": "RVK"},
    "start": "+2m",
    "series": "Coastal T20 League",
    "venue": "Harbour Oval, Port Ashby",
    "toss": {"winner": "home", "decision": "bat"},
    "innings": [
        innings("home", wickets=[wicket(4.3), wicket(9.6, "B2", runs=70)]),
        innings("away", overs=19.4, runs=118, wickets=[wicket(1.1, "B3", kind="run_out", bowler=None)]),
    ],
    "result": "Harbour Lions won by 2 runs",
}


def played(**fields: Any) -> ScriptedCricketMatch:
    return ScriptedCricketMatch.model_validate({**T20, **fields})
