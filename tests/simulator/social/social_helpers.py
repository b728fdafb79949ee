"""Short ways to a scenario with posts."""

from __future__ import annotations

from typing import Any

import yaml

from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario

LEAGUE = {"id": 9001, "name": "Local League", "country": "Nowhere", "season": 2025, "round": "Round 1"}


def scenario_with(*clips: Any, minute: int | str = 20, goals: list[dict[str, Any]] | None = None) -> Scenario:
    """One match that kicks off after a minute, with one goal of the home side and its clips, or with these goals."""
    scored = {"minute": minute, "side": "home", "player": {"id": 1, "name": "A. Smith"}, "clips": list(clips)}
    played = {
        "id": 5001,
        "league": "local",
        "home": {"id": 701, "name": "Town"},
        "away": {"id": 702, "name": "Rovers"},
        "kickoff": "+1m",
        "half_time": 2,
        "broadcast": {"style": "classic"},
        "goals": goals or [scored],
    }
    return parse_scenario(yaml.safe_dump({"leagues": {"local": LEAGUE}, "matches": [played]}), "day.yaml")
