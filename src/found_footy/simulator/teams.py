"""The service's `/teams` over the clubs of a scenario. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from found_footy.simulator.incidents import team_reference
from found_footy.simulator.queries import QueryError, parse_number, required
from found_footy.simulator.script import Scenario, Team

_SHORTEST_SEARCH = 3
_NO_VENUE = dict.fromkeys(("id", "name", "address", "city", "capacity", "surface", "image"))


def find_teams(scenario: Scenario, params: Mapping[str, str]) -> list[dict[str, Any]]:
    """By `id`, by `search` in the name, or by `league` and `season`."""
    if "search" in params and "league" in params:
        raise QueryError("league", "The League field cannot be used with the Search field.")
    if "id" in params:
        required(params, "id")
        wanted = parse_number("id", params["id"])
        found = [entry for entry in _clubs(scenario) if entry[0].id == wanted]
    elif "search" in params:
        required(params, "search")
        text = params["search"].lower()
        if len(text) < _SHORTEST_SEARCH:
            raise QueryError("search", f"The Search field must be at least {_SHORTEST_SEARCH} characters.")
        found = [entry for entry in _clubs(scenario) if text in entry[0].name.lower()]
    else:
        required(params, "league", "season")
        league, season = (parse_number(name, params[name]) for name in ("league", "season"))
        found = _clubs(scenario, league, season)
    return [_entry(team, country) for team, country in found]


def _clubs(scenario: Scenario, league_id: int | None = None, season: int | None = None) -> list[tuple[Team, str]]:
    """Each club once, with its league's country, in the order of the matches."""
    clubs: dict[int, tuple[Team, str]] = {}
    for match in scenario.matches:
        league = scenario.league_of(match)
        if league_id is not None and (league.id, league.season) != (league_id, season):
            continue
        for team in (match.home, match.away):
            clubs.setdefault(team.id, (team, league.country))
    return list(clubs.values())


def _entry(team: Team, country: str) -> dict[str, Any]:
    reference = team_reference(team)
    return {
        "team": {
            "id": team.id,
            "name": team.name,
            "code": None,
            "country": country,
            "founded": None,
            "national": False,
            "logo": reference["logo"],
        },
        "venue": dict(_NO_VENUE),
    }
