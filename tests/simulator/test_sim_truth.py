"""Playing a scenario to its end leads to its truth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim_helpers import FODEN, LEAGUE, SALAH, START, goal, match, script

from footy_simulator.cricket import cricket_settled_from
from footy_simulator.football import fixture_at, settled_from
from footy_simulator.loader import bundled_scenarios, load_scenario
from footy_simulator.scenario import Scenario, ScriptedMatch
from footy_simulator.truth import expected_outcome

Listed = tuple[str, str | None, str, int, int | None]


def poll_through(played: ScriptedMatch, until: int) -> list[dict[str, Any]]:
    return [fixture_at(played, LEAGUE, START, offset) for offset in range(0, until + 60, 60)]


def listed_goals(played: ScriptedMatch, fixture: dict[str, Any]) -> list[Listed]:
    """The goals as a careful consumer reads them."""
    return [
        (
            "home" if event["team"]["id"] == played.home.id else "away",
            event["player"]["name"],
            event["detail"],
            event["time"]["elapsed"],
            event["time"]["extra"],
        )
        for event in fixture["events"]
        if event["type"] == "Goal" and event["detail"] != "Missed Penalty" and event["comments"] is None
    ]


def check_against_truth(scenario: Scenario) -> None:
    known = expected_outcome(scenario)
    for played in scenario.matches:
        expected = known.match(played.id)
        polls = poll_through(played, max(settled_from(played), 0))
        final = polls[-1]
        score = final["goals"]["home"], final["goals"]["away"]
        assert final["fixture"]["status"]["short"] == expected.status
        assert score == (expected.score or (None, None))
        stable = [(g.side, g.player, g.kind, g.elapsed, g.extra) for g in expected.goals if g.state == "stable"]
        assert listed_goals(played, final) == stable
        if stable:
            assert [g.score_after for g in expected.goals if g.state == "stable"][-1] == expected.score
        ever = {listed for poll in polls for listed in listed_goals(played, poll)}
        for lost in (g for g in expected.goals if g.state == "withdrawn"):
            assert (lost.side, lost.player, lost.kind, lost.elapsed, lost.extra) in ever
        penalty = final["score"]["penalty"]
        assert (penalty["home"], penalty["away"]) == (expected.penalties or (None, None))


@pytest.mark.parametrize("name", bundled_scenarios())
def test_the_bundled_scenarios_lead_to_their_truth(name: str) -> None:
    check_against_truth(load_scenario(name))


@given(
    goals=st.lists(
        st.builds(
            goal,
            st.integers(1, 90),
            st.sampled_from(["home", "away"]),
            kind=st.sampled_from(["normal", "penalty", "own_goal"]),
            player=st.sampled_from([SALAH, FODEN, None]),
            cancelled_after=st.sampled_from([None, 1, 2, 10]),
            flickers=st.sampled_from([[], [1], [1, 4]]),
        ),
        max_size=6,
    )
)
def test_any_script_leads_to_its_truth(goals: list[dict[str, Any]]) -> None:
    played = match(goals=goals, stoppage=[0, 12])
    check_against_truth(Scenario(leagues={"pl": LEAGUE}, matches=(played,)))


def test_the_default_matchday_has_everything() -> None:
    scenario = load_scenario("matchday")
    known = expected_outcome(scenario)
    goals = [g for m in known.matches for g in m.goals]
    assert len(known.matches) >= 8
    assert len([g for g in goals if g.state == "stable"]) >= 20
    assert {m.status for m in known.matches} == {"FT", "PEN", "ABD", "PST", "NS", "RESULT"}
    assert {m.stage for m in known.matches} == {"completed", "staging"}
    assert {g.kind for g in goals if g.type == "Goal"} == {"Normal Goal", "Penalty", "Own Goal"}
    assert {g.kind for g in goals if g.type == "Wicket"} == {"Bowled", "Caught", "LBW", "Run Out", "Stumped"}
    assert {g.cancelled_after for m in scenario.matches for g in m.goals} == {None, 4, 10}
    assert len({fault.kind for fault in scenario.faults}) == 8
    assert max(settled_from(m) for m in scenario.matches) <= 105 * 60


@pytest.mark.parametrize("name", ["matchday", "quick"])
def test_the_scenario_has_an_outage_a_false_goal_and_an_early_end_of_cricket(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.feeds.espn is not None
    assert scenario.feeds.espn.delay > 0
    espn = [fault.kind for fault in scenario.feeds.espn.faults]
    outages = [fault for fault in (*scenario.faults, *scenario.feeds.espn.faults) if fault.lasts is not None]
    assert espn.count("invented_goal") == 1
    assert len(outages) == 2
    first, second = sorted(outages, key=lambda fault: fault.at)
    assert first.at + (first.lasts or 0) * 60 < second.at, "never both at once"
    # Whoever has no browser plays without it, and must not have to wait for it.
    football = max(settled_from(match) for match in scenario.matches)
    assert max(cricket_settled_from(match) for match in scenario.cricket) < football


def test_the_quick_one_is_quick_and_has_something_to_poll_at_once() -> None:
    scenario = load_scenario("quick")
    assert max(settled_from(m) for m in scenario.matches) <= 26 * 60
    assert min(m.kickoff for m in scenario.matches) < 0


def test_the_truth_as_json() -> None:
    played = ScriptedMatch.model_validate(script(goals=[goal(9, cancelled_after=2), goal("45+2")], stoppage=[2, 0]))
    known = expected_outcome(Scenario(leagues={"pl": LEAGUE}, matches=(played,))).to_json()
    assert known["matches"][0]["score"] == (1, 0)
    also = {"also": (), "type": "Goal", "innings": None}
    assert known["matches"][0]["goals"] == (
        {
            "side": "home",
            "player": "M. Salah",
            "kind": "Normal Goal",
            "elapsed": 9,
            "extra": None,
            "state": "withdrawn",
            "score_after": None,
            **also,
        },
        {
            "side": "home",
            "player": "M. Salah",
            "kind": "Normal Goal",
            "elapsed": 45,
            "extra": 2,
            "state": "stable",
            "score_after": (1, 0),
            **also,
        },
    )
