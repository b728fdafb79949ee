"""What a consumer came to know, judged: by teams where the ids are another feed's, and nothing invented."""

from __future__ import annotations

from typing import Any

import pytest
from cricket_helpers import T20
from feed_helpers import scenario
from sim_helpers import goal, script

from footy_simulator.checks import check_fixtures, has_settled
from footy_simulator.expectations import ExpectedOutcome
from footy_simulator.truth import expected_outcome

Documents = list[dict[str, Any]]

TWICE = {"home": {"id": 33, "name": "Manchester United"}, "away": {"id": 45, "name": "Everton"}}
KNOWN = expected_outcome(
    scenario(
        script(
            goals=[goal(9), goal(20, "away", player={"id": 1100, "name": "E. Haaland"}), goal(30, cancelled_after=3)]
        ),
        script(id=2, kickoff="-300m", **TWICE),
        script(id=3, **TWICE),
        cricket=[T20],
    )
)


def event(number: int, line: Any) -> dict[str, Any]:
    after = line.score_after or (0, 0)
    return {
        "_event_id": f"event-{number}",
        "type": line.type,
        "time": {"elapsed": line.elapsed, "extra": line.extra, "innings": line.innings},
        "player": {"name": line.player},
        "detail": line.kind,
        "_scoring_team": line.side,
        "_score_after": {"home": after[0], "away": after[1]},
        "_removed": line.state == "withdrawn",
        "_debounce_complete": True,
        "_download_complete": True,
    }


def documents(known: ExpectedOutcome = KNOWN) -> Documents:
    """What a consumer without fault has in the end."""
    return [
        {
            "_id": match.id,
            "sport": match.sport,
            "stage": match.stage,
            "fixture": {"date": f"2025-11-22T1{place}:00:00+00:00", "status": {"short": match.status}},
            "teams": {"home": {"name": match.home}, "away": {"name": match.away}},
            "goals": {"home": match.score and match.score[0], "away": match.score and match.score[1]},
            "score": {"penalty": {"home": None, "away": None}},
            "events": [event(number, line) for number, line in enumerate(match.goals)],
        }
        for place, match in enumerate(known.matches)
    ]


def found(told: Documents) -> list[tuple[str, str, str]]:
    return [(each.what, each.expected, each.got) for each in check_fixtures(KNOWN, told).mismatches]


def test_a_perfect_consumer_is_passed() -> None:
    verdict = check_fixtures(KNOWN, documents())
    assert verdict.mismatches == ()
    assert (verdict.matches, verdict.goals, verdict.wickets, verdict.withdrawn, verdict.unconfirmed) == (4, 2, 3, 1, 0)
    assert has_settled(KNOWN, documents())


def test_ids_and_spellings_of_another_feed_are_accepted() -> None:
    told = documents()
    told[0] |= {"_id": 77, "teams": {"home": {"name": "Liverpool"}, "away": {"name": "Man City"}}}
    told[0]["events"][1]["player"] = {"name": "Erling Haaland"}
    told[1]["_id"], told[2]["_id"] = 1002, 1003
    told[3] |= {"_id": 5_000_000_000_001}
    assert found(told) == []
    assert has_settled(KNOWN, told)


def test_two_matches_of_the_same_teams_are_distinguished_by_order() -> None:
    told = documents()
    told[1]["_id"], told[2]["_id"] = 1003, 1002
    told[1]["events"] = [{**event(9, KNOWN.matches[0].goals[0])}]
    told[1]["goals"] = {"home": 1, "away": 0}
    (score, invented) = check_fixtures(KNOWN, told).mismatches
    assert (score.match, invented.match) == (2, 2), "the earlier one is the one that began earlier"


def test_a_fixture_that_is_there_twice() -> None:
    told = documents()
    told.append({**told[0], "_id": 88})
    assert found(told) == [("match", "one", "another: 88")]


def test_an_unscripted_fixture_and_one_of_the_wrong_sport() -> None:
    told = documents()
    told.append({**told[0], "_id": 88, "teams": {"home": {"name": "Nobody"}, "away": {"name": "Liverpool"}}})
    told.append({**told[3], "_id": 89, "sport": "football"})
    assert found(told) == [("match", "none", "an unscripted match")] * 2


def test_a_fixture_that_is_missing() -> None:
    told = documents()[1:]
    assert found(told) == [("match", "Liverpool - Manchester City", "nothing")]
    assert not has_settled(KNOWN, told)


def lie(**fields: Any) -> dict[str, Any]:
    made = event(9, KNOWN.matches[0].goals[0])
    return {**made, "player": {"name": "A. Nobody"}, "time": {"elapsed": 40, "extra": None}, **fields}


@pytest.mark.parametrize(
    ("fields", "mismatches", "unconfirmed"),
    [
        ({"_removed": True, "_debounce_complete": False}, 0, 1),
        ({"_removed": True}, 1, 0),  # it was believed once, and has been announced
        ({}, 1, 0),
        ({"_debounce_complete": False}, 1, 0),  # it is still there
    ],
)
def test_a_false_report_may_be_recorded_but_not_accepted(
    fields: dict[str, Any], mismatches: int, unconfirmed: int
) -> None:
    told = documents()
    told[0]["events"].append(lie(**fields))
    verdict = check_fixtures(KNOWN, told)
    assert (len(verdict.mismatches), verdict.unconfirmed) == (mismatches, unconfirmed)
    assert verdict.withdrawn == 1 + (bool(fields.get("_removed")) and not unconfirmed)


@pytest.mark.parametrize(
    ("place", "number", "fields", "told"),
    [
        (0, 0, {"player": {"name": "Nobody"}}, "goal"),
        (0, 0, {"_debounce_complete": False}, "goal"),
        (0, 2, {"_removed": False}, "goal"),
        (3, 0, {"time": {"elapsed": 4, "extra": 3, "innings": 2}}, "wicket"),
        (3, 0, {"time": {"elapsed": 4, "extra": 2, "innings": 1}}, "wicket"),
        (3, 2, {"detail": "Bowled"}, "wicket"),
        (3, 2, {"_scoring_team": "away"}, "wicket"),
    ],
)
def test_a_wrong_goal_or_wicket_counts_as_missing_and_invented(
    place: int, number: int, fields: dict[str, Any], told: str
) -> None:
    wrong = documents()
    wrong[place]["events"][number] |= fields
    kinds = [(what, expected == "nothing", got == "nothing") for what, expected, got in found(wrong)]
    assert kinds == [(told, False, True), (told, True, False)]


def test_a_goal_that_is_there_twice() -> None:
    told = documents()
    told[0]["events"].append({**told[0]["events"][0], "_event_id": "again"})
    assert found(told) == [("goal", "nothing", "stable: 9' home M. Salah (Normal Goal) 1-0")]


def test_message_for_a_missing_wicket() -> None:
    told = documents()
    del told[3]["events"][2]
    assert found(told) == [("wicket", "stable: 1.1 of innings 2, home B. B3 (Run Out) 1-2", "nothing")]
