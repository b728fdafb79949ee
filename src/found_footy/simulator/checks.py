"""What in a scenario must fit together, beyond the type of each field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from found_footy.simulator.match_checks import match_problems
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import MATCH_FAULTS, Fault, Scenario


@dataclass(slots=True)
class _Seen:
    """What the matches before have used."""

    matches: dict[int, str]
    teams: dict[int, str]


def problems(scenario: Scenario) -> list[Problem]:
    if bool(scenario.matches) == (scenario.recording is not None):
        given = "both" if scenario.matches else "neither"
        return [Problem("matches", given, "either matches or a recording")]
    if scenario.recording is not None:
        return [
            Problem(field, "a value", "nothing: a recording has neither faults nor leagues")
            for field in ("faults", "leagues")
            if getattr(scenario, field)
        ]
    found = list(_identities(scenario))
    for index, match in enumerate(scenario.matches):
        found += match_problems(f"matches[{index}]", match)
    for index, fault in enumerate(scenario.faults):
        found += _fault_problems(f"faults[{index}]", fault, {match.id for match in scenario.matches})
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


def _fault_problems(path: str, fault: Fault, match_ids: set[int]) -> Iterator[Problem]:
    if fault.at < 0:
        yield Problem(f"{path}.at", f"{fault.at} s", "a time after the matchday's start")
    if fault.kind in MATCH_FAULTS:
        if fault.match not in match_ids:
            known = ", ".join(str(match_id) for match_id in sorted(match_ids))
            yield Problem(f"{path}.match", fault.match, f"the id of a match: {known}")
    elif fault.match is not None:
        yield Problem(f"{path}.match", fault.match, f"nothing: {fault.kind} is a fault of the whole feed")
    if (fault.kind == "timeout") != (fault.seconds is not None):
        allowed = "a number of seconds" if fault.kind == "timeout" else f"nothing with {fault.kind}"
        yield Problem(f"{path}.seconds", fault.seconds, allowed)
