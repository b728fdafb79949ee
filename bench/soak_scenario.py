"""Scenario of one day of the soak: four matches with two goals each. No day has the clips of another."""

from __future__ import annotations

from typing import Any

import yaml

from bench.saturday_scenario import PLAYERS, TEAMS
from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario

MATCHES = 4
SPEED = 60.0
KICKOFF_MINUTES = 1
"""Kick-off times are real times: a match that the simulator ends earlier is rejected until then."""
CLIPS = ("copy 360p", "copy logo 360p +2m", "copy no_clock 360p", "wrong_minute 360p")


def soak_day(day: int) -> Scenario:
    """`day` counts from 0."""
    league = {"id": 39, "name": "Premier League", "country": "England", "season": 2025, "round": "Regular Season - 9"}
    matches = [_match(day, number) for number in range(MATCHES)]
    return parse_scenario(yaml.safe_dump({"leagues": {"premier_league": league}, "matches": matches}), "soak")


def _match(day: int, number: int) -> dict[str, Any]:
    place = MATCHES * day + number
    home, away = ({"id": 1000 + each, "name": TEAMS[each]} for each in (2 * place, 2 * place + 1))
    return {
        "id": 1397001 + place,
        "league": "premier_league",
        "home": home,
        "away": away,
        "broadcast": {"style": "classic"},
        "kickoff": f"+{KICKOFF_MINUTES}m",
        "goals": [
            _goal(2 * number, 8 + 2 * day + number, "home"),
            _goal(2 * number + 1, 55 + 2 * day + number, "away"),
        ],
    }


def _goal(player: int, minute: int, side: str) -> dict[str, Any]:
    scorer = {"id": 5000 + player, "name": PLAYERS[player]}
    return {"minute": minute, "side": side, "player": scorer, "clips": list(CLIPS)}
