"""Generated answers have the shape of the real service's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sim_helpers import FODEN, SALAH, at, goal, match, recorded

from footy_simulator.api_football import find_teams
from footy_simulator.loader import load_scenario

OPTIONAL = {"extra"}
"""Older recordings have no `status.extra`; newer ones do."""


def real(name: str) -> list[dict[str, Any]]:
    return json.loads(recorded("api-football", name).read_text())["response"]


def mismatches(made: object, real: object, path: str = "") -> list[str]:
    """Where keys differ, or values have different types. Null may stand for anything."""
    if isinstance(made, dict) and isinstance(real, dict):
        differ = [f"{path}.{key}" for key in made.keys() ^ real.keys() if key not in OPTIONAL]
        common = made.keys() & real.keys()
        return differ + [found for key in common for found in mismatches(made[key], real[key], f"{path}.{key}")]
    if made is None or real is None or type(made) is type(real):
        return []
    return [f"{path}: {made!r} is not like {real!r}"]


CUP = match(
    ends="PEN",
    goals=[goal(10, assist=FODEN), goal("45+2", "away")],
    incidents=[{"minute": 3, "side": "home", "kind": "yellow_card", "player": SALAH}],
    stoppage=[3, 0],
    shootout=[{"side": "home", "player": SALAH, "scored": True}],
)


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("fixtures-cl-penalties.json", 500),
        ("fixture-1208140-stoppage-goal.json", 500),
        ("live-all-14-fixtures.json", 30),
    ],
)
def test_fixtures_with_events(name: str, minutes: float) -> None:
    made = at(CUP, minutes)
    for item in real(name):
        item = {key: value for key, value in item.items() if key not in ("lineups", "statistics", "players")}
        assert list(made) == list(item)
        assert mismatches(made, item) == []
        for mine in made["events"]:
            assert [found for event in item["events"] for found in mismatches(mine, event)] == []


def test_upcoming_fixtures() -> None:
    made = at(CUP, -10)
    del made["events"]
    for item in real("fixtures-bundes-ns-pst.json"):
        assert list(made) == list(item)
        assert mismatches(made, item) == []
        assert (made["goals"], made["score"]) == (item["goals"], item["score"])


def test_the_real_shoot_out_has_the_order_of_the_scripted_one() -> None:
    shootouts = [
        [e["time"]["extra"] for e in item["events"] if e["comments"] == "Penalty Shootout"]
        for item in real("fixtures-cl-penalties.json")
    ]
    assert sorted(shootouts[0], reverse=True) == shootouts[0]


def test_teams() -> None:
    made = find_teams(load_scenario("matchday"), {"search": "Manchester"})
    assert [entry["team"]["id"] for entry in made] == [50]
    for entry in real("team-manchester.json"):
        assert mismatches(made[0], entry) == []


def test_errors_are_worded_as_the_real_ones() -> None:
    for name, words in (
        ("injuries-error", "At least one parameter is required."),
        ("team-leipzig-error", "The League field"),
    ):
        errors = json.loads(recorded("api-football", f"{name}.json").read_text())["errors"]
        assert all(text.startswith(words) for text in errors.values())
