"""What a scenario file may not say, and how that is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sim_helpers import FODEN, LEAGUE, SALAH, goal, script

from footy_simulator.loader import bundled_scenarios, load_scenario, parse_scenario
from found_footy.errors import ScenarioError

KICKS = [{"side": "home", "player": SALAH, "scored": True}]


def scenario(*matches: dict[str, Any], **fields: Any) -> str:
    leagues = {"pl": LEAGUE.model_dump()}
    return yaml.safe_dump({"leagues": leagues, "matches": list(matches), **fields})


def problem(text: str) -> str:
    with pytest.raises(ScenarioError) as raised:
        parse_scenario(text, "day.yaml")
    return str(raised.value)


def test_the_bundled_ones_are_found_by_name() -> None:
    assert bundled_scenarios() == ["matchday", "quick"]
    assert len(load_scenario("matchday").matches) == 10


def test_a_file_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "day.yaml"
    path.write_text(scenario(script()))
    assert load_scenario(path) == load_scenario(str(path))


def test_no_such_file() -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.yaml.*bundled are matchday, quick"):
        load_scenario("nowhere.yaml")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"id": 0}, "matches[0].id: got 0, expected greater than 0"),
        ({"kickoff": "2m"}, "matches[0].kickoff: got '2m', expected a time from the matchday's start"),
        ({"ends": "XX"}, "matches[0].ends: got 'XX', expected 'FT', 'AET', 'PEN', 'ABD', 'PST' or 'CANC'"),
        ({"goasl": []}, "matches[0].goasl: got [], expected the fields id, league, home"),
        ({"goals": [{"minute": 3}]}, "matches[0].goals[0].side: got nothing, expected a value"),
        ({"goals": [goal("9x")]}, "matches[0].goals[0].minute: got '9x', expected a minute of play"),
        ({"goals": [goal(9, kind="header")]}, "matches[0].goals[0].kind: got 'header', expected 'normal', "),
        ({"league": "serie_z"}, "matches[0].league: got 'serie_z', expected one of pl"),
        ({"away": {"id": 40, "name": "Liverpool"}}, "matches[0].away.id: got 40, expected another team"),
        ({"goals": [goal(91)]}, "matches[0].goals[0].minute: got '91', expected a minute that is played, up to 90"),
        ({"goals": [goal("90+1")]}, "matches[0].goals[0].minute: got '90+1', expected a minute that is played"),
        ({"goals": [goal("44+1")]}, "matches[0].goals[0].minute: got '44+1'"),
        (
            {"ends": "ABD", "abandoned_at": 71, "goals": [goal(80)]},
            "matches[0].goals[0].minute: got '80', expected a minute that is played, up to 71",
        ),
        ({"ends": "ABD"}, "matches[0].abandoned_at: got nothing, expected the minute of the end"),
        ({"abandoned_at": 9}, "matches[0].abandoned_at: got '9', expected nothing with ends: FT"),
        ({"ends": "ABD", "abandoned_at": 95}, "matches[0].abandoned_at: got '95', expected a minute of"),
        ({"ends": "ABD", "abandoned_at": "45+5"}, "matches[0].abandoned_at: got '45+5'"),
        ({"ends": "PST"}, "matches[0].called_off_at: got nothing, expected the time of the announcement"),
        ({"ends": "PST", "called_off_at": "+9m"}, "matches[0].called_off_at: got '540 s', expected a time before"),
        ({"kickoff": "+1d", "goals": [goal(3)]}, "matches[0].goals: got 'a list', expected nothing in a match"),
        ({"ends": "PEN"}, "matches[0].shootout: got '0-0', expected kicks that give a winner"),
        ({"shootout": KICKS}, "matches[0].shootout: got 'a list', expected nothing with ends: FT"),
        ({"stoppage": [1]}, "matches[0].stoppage: got [1], expected two numbers with ends: FT"),
        ({"goals": [goal(80, cancelled_after=11)]}, "goals[0].cancelled_after: got 11, expected up to 10 minutes"),
        ({"goals": [goal(80, flickers=[2, 3])]}, "goals[0].flickers[1]: got 3, expected 4 to 9"),
        ({"goals": [goal(80, changes=[{"after": 1}])]}, "goals[0].changes[0]: got 'no change'"),
        (
            {"goals": [goal(80, changes=[{"after": 12, "kind": "penalty"}])]},
            "changes[0].after: got 12, expected 1 to 10",
        ),
        ({"goals": [goal(80, changes=[{"after": 1, "minute": 85}])]}, "changes[0].minute: got '85'"),
        (
            {"incidents": [{"minute": 3, "side": "home", "kind": "substitution", "player": SALAH}]},
            "incidents[0].other: got nothing, expected the player who goes off",
        ),
        (
            {"incidents": [{"minute": 99, "side": "home", "kind": "red_card", "player": FODEN}]},
            "incidents[0].minute: got '99'",
        ),
        (
            {"interruptions": [{"minute": 90, "lasts": 5}]},
            "interruptions[0].minute: got '90', expected a minute inside",
        ),
        ({"interruptions": [{"minute": 9, "lasts": 5}] * 2}, "interruptions[1].minute: got '9'"),
    ],
)
def test_problems_of_a_match(fields: dict[str, Any], told: str) -> None:
    message = problem(scenario(script(**fields)))
    assert message.startswith("day.yaml: ")
    assert told in message


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"at": "-1m", "kind": "html"}, "faults[0].at: got '-60 s'"),
        ({"at": "+1m", "kind": "flood"}, "faults[0].kind: got 'flood', expected 'server_error', 'timeout'"),
        ({"at": "+1m", "kind": "html", "match": 1}, "faults[0].match: got 1, expected nothing: html is"),
        ({"at": "+1m", "kind": "wrong_score"}, "faults[0].match: got nothing, expected the id of a match: 1"),
        ({"at": "+1m", "kind": "bad_schema", "match": 7}, "faults[0].match: got 7"),
        ({"at": "+1m", "kind": "timeout"}, "faults[0].seconds: got nothing, expected a number of seconds"),
        ({"at": "+1m", "kind": "html", "seconds": 3}, "faults[0].seconds: got 3, expected nothing with html"),
        ({"at": "+1m", "kind": "html", "polls": 0}, "faults[0].polls: got 0, expected greater than 0"),
    ],
)
def test_problems_of_a_fault(fault: dict[str, Any], told: str) -> None:
    assert told in problem(scenario(script(), faults=[fault]))


def test_two_matches_with_one_id() -> None:
    assert "matches[1].id: got 1, expected an id of its own; matches[0]" in problem(scenario(script(), script()))


def test_a_team_with_two_names() -> None:
    other = script(id=2, home={"id": 40, "name": "Everton"})
    assert "matches[1].home.name: got 'Everton', expected 'Liverpool'" in problem(scenario(script(), other))


def test_all_problems_are_reported_at_once() -> None:
    text = scenario(script(goals=[goal(95), goal(99)]))
    assert len(problem(text).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("matches: [", "day.yaml: invalid YAML"),
        ("title: a\ntitle: b\n", "the field 'title' is there twice"),
        ("- 1", "(the whole file): got [1]"),
        ("", "(the whole file): got nothing"),
        ("title: x", "matches: got 'neither', expected either matches or a recording"),
        ("recording: {espn: x}\nfaults: [{at: +1m, kind: html}]", "faults: got 'a value', expected nothing"),
    ],
)
def test_problems_of_a_file(text: str, told: str) -> None:
    assert told in problem(text)
