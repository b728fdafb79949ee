"""What in a scenario must fit together, beyond the type of each field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from found_footy.simulator.cricket_checks import cricket_problems
from found_footy.simulator.fault_checks import crex_fault_problems, fault_problems
from found_footy.simulator.match_checks import match_problems
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import Scenario


@dataclass(slots=True)
class _Seen:
    """What the matches before have used."""

    matches: dict[int, str]
    teams: dict[int, str]


def problems(scenario: Scenario) -> list[Problem]:
    scripted = bool(scenario.matches or scenario.cricket)
    if scripted == (scenario.recording is not None):
        given = "both" if scripted else "neither"
        return [Problem("matches", given, "either matches or a recording")]
    if scenario.recording is not None:
        return [
            Problem(field, "a value", "nothing: a recording has neither faults nor leagues")
            for field in ("faults", "leagues")
            if getattr(scenario, field)
        ]
    found = [*_identities(scenario), *_cricket_identities(scenario)]
    for index, match in enumerate(scenario.matches):
        found += match_problems(f"matches[{index}]", match)
    for index, played in enumerate(scenario.cricket):
        found += cricket_problems(f"cricket[{index}]", played)
    for index, fault in enumerate(scenario.faults):
        found += fault_problems(f"faults[{index}]", fault, scenario.matches)
    for index, fault in enumerate(() if scenario.feeds.espn is None else scenario.feeds.espn.faults):
        found += fault_problems(f"feeds.espn.faults[{index}]", fault, scenario.matches)
    for index, fault in enumerate(scenario.feeds.crex.faults):
        found += crex_fault_problems(f"feeds.crex.faults[{index}]", fault)
    return found


def _identities(scenario: Scenario) -> Iterator[Problem]:
    seen = _Seen({}, {})
    for index, match in enumerate(scenario.matches):
        path = f"matches[{index}]"
        if match.id in seen.matches:
            yield Problem(f"{path}.id", match.id, f"an id of its own; {seen.matches[match.id]} has it already")
        seen.matches.setdefault(match.id, path)
        if match.league not in scenario.leagues:
            yield Problem(f"{path}.league", match.league, f"one of {', '.join(scenario.leagues) or '(none)'}")
        if match.home.id == match.away.id:
            yield Problem(f"{path}.away.id", match.away.id, "another team than the home side")
        for side, team in (("home", match.home), ("away", match.away)):
            known = seen.teams.setdefault(team.id, team.name)
            if known != team.name:
                yield Problem(f"{path}.{side}.name", team.name, f"{known!r}, as team {team.id} is called before")


def _cricket_identities(scenario: Scenario) -> Iterator[Problem]:
    codes: dict[str, str] = {}
    names: dict[str, str] = {}
    for index, match in enumerate(scenario.cricket):
        path = f"cricket[{index}]"
        if match.code in codes:
            yield Problem(f"{path}.code", match.code, f"a code of its own; {codes[match.code]} has it already")
        codes.setdefault(match.code, path)
        if match.home.key == match.away.key:
            yield Problem(f"{path}.away.key", match.away.key, "another team than the home side")
        for side, team in (("home", match.home), ("away", match.away)):
            known = names.setdefault(team.key, team.name)
            if known != team.name:
                yield Problem(f"{path}.{side}.name", team.name, f"{known!r}, as team {team.key} is called before")
