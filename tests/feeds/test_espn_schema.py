"""Fields of ESPN's scoreboard that do not fit: each is named, and only its own fixture fails."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.errors import FeedMalformed, FeedSchemaError, FeedUnavailable, UnknownStatus
from found_footy.feeds.espn import STATUSES, Espn, parse_scoreboard
from found_footy.feeds.validation import MAX_GOALS
from found_footy.fixtures.models import PHASES, GoalKind, LiveGoal, MatchMinute, Player, Score, Side
from tests.feeds.api_answers import GONE, changed
from tests.feeds.conftest import AT_ONCE
from tests.feeds.espn_answers import AWAY, HOME, event, kick, play, scoreboard
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply

GAME = "competitions.0"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("date", "soon", "date"),
        ("date", 7, "date"),
        ("competitions", [], "competitions.0"),
        (f"{GAME}.competitors", GONE, "competitions.0.competitors"),
        (f"{GAME}.competitors.0.homeAway", "left", "competitors.homeAway"),
        (f"{GAME}.competitors.0.score", "abc", "competitions.0.competitors.0.score"),
        (f"{GAME}.competitors.0.score", "-1", "competitions.0.competitors.0.score"),
        (f"{GAME}.competitors.0.score", "201", "competitions.0.competitors.0.score"),
        (f"{GAME}.competitors.0.score", True, "competitions.0.competitors.0.score"),
        (f"{GAME}.competitors.0.id", "forty", "competitions.0.competitors.0.id"),
        (f"{GAME}.competitors.0.team", GONE, "competitions.0.competitors.0.team"),
        (f"{GAME}.competitors.0.team.displayName", "Liver\x00pool", "competitions.0.competitors.0.team.displayName"),
        (f"{GAME}.competitors.0.team.displayName", "\ud800", "competitions.0.competitors.0.team.displayName"),
        (f"{GAME}.competitors.0.team.displayName", "L" * 301, "competitions.0.competitors.0.team.displayName"),
        (f"{GAME}.status.displayClock", "half past", "competitions.0.status.displayClock"),
        (f"{GAME}.details", "none", "competitions.0.details"),
        (f"{GAME}.details", [play("77", "12'")], "competitions.0.details.0.team.id"),
        (f"{GAME}.details", [play(HOME, "late")], "competitions.0.details.0.clock.displayValue"),
        (
            f"{GAME}.details",
            [play(HOME, "9'", athletesInvolved=[{"id": "?", "displayName": "X"}])],
            "competitions.0.details.0.athletesInvolved.0.id",
        ),
        (f"{GAME}.details", [play(HOME, f"{n}'") for n in range(1, MAX_GOALS + 2)], "competitions.0.details"),
        (f"{GAME}.details", [play(HOME, "9'", scoringPlay=False, note="a\x00b")], "raw"),
        (f"{GAME}.details", [play(HOME, "9'", value=float("inf"))], "raw"),
        ("season", {"year": 10**12}, "season.year"),
    ],
)
def test_a_field_that_does_not_fit_is_named_and_fails_only_its_fixture(path: str, value: object, field: str) -> None:
    answer = parse_scoreboard(scoreboard(event(1), changed(event(2), path, value), event(3)))
    assert [fixture.id for fixture in answer.fixtures] == [1, 3]
    error = answer.failures[2]
    assert isinstance(error, FeedSchemaError)
    assert error.field == field


def test_an_unknown_status_has_its_own_error() -> None:
    answer = parse_scoreboard(scoreboard(event(1, "STATUS_ON_THE_MOON"), event(2)))
    assert type(answer.failures[1]) is UnknownStatus
    assert "'STATUS_ON_THE_MOON'" in str(answer.failures[1])
    assert [fixture.id for fixture in answer.fixtures] == [2]


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_every_status_has_its_place_in_the_life_of_a_fixture(status: str) -> None:
    assert STATUSES[status] in PHASES
    (fixture,) = parse_scoreboard(scoreboard(event(1, status))).fixtures
    assert fixture.status == STATUSES[status]


@pytest.mark.parametrize("status", ["STATUS_SCHEDULED", "STATUS_POSTPONED"])
@pytest.mark.parametrize("state", ["pre", "post"])
def test_a_match_that_was_not_played_has_no_score(status: str, state: str) -> None:
    (fixture,) = parse_scoreboard(scoreboard(event(1, status, state=state, score=(0, 0), details=[]))).fixtures
    assert (fixture.score, fixture.minute) == (None, None)


@pytest.mark.parametrize("body", [None, [], {}, {"events": {}}, {"events": None}, "events"])
def test_a_scoreboard_without_events_is_malformed(body: Any) -> None:
    with pytest.raises(FeedMalformed, match="no list of events"):
        parse_scoreboard(body)


@pytest.mark.parametrize(
    ("leagues", "field"),
    [
        (None, "leagues.0"),
        ([], "uid"),
        ({}, "leagues.0"),
        ([{"id": "700"}], "leagues.0.name"),
        ([{"id": "700", "name": "A\x00"}], "leagues.0.name"),
    ],
)
def test_a_league_that_does_not_fit_is_named(leagues: Any, field: str) -> None:
    error = parse_scoreboard({"leagues": leagues, "events": [event(1)]}).failures[1]
    assert isinstance(error, FeedSchemaError)
    assert error.field == field


@pytest.mark.parametrize("entry", [None, 7, [], {}, {"id": "x"}, {"id": "9" * 5000}, {"id": None}, {"id": True}])
def test_an_entry_without_an_id_does_not_affect_others(entry: Any) -> None:
    answer = parse_scoreboard(scoreboard(entry, event(2)))
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert answer.failures == {}


def test_an_id_may_be_a_number() -> None:
    answer = parse_scoreboard(scoreboard({**event(1), "id": 1}, {**event(2), "id": 2, "date": "soon"}))
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert list(answer.failures) == [2]


@pytest.mark.parametrize("second", [event(1), event(1, score=(9, 9)), event(1, date="soon")])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_duplicate_fixture_is_rejected(second: Any, swapped: bool) -> None:
    pair = [second, event(1)] if swapped else [event(1), second]
    answer = parse_scoreboard(scoreboard(*pair, event(2)))
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert list(answer.failures) == [1]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (play(HOME, "67'"), LiveGoal(Side.HOME, MatchMinute(67), Player(306, "Mohamed Salah"))),
        (play(AWAY, "90'+5'"), LiveGoal(Side.AWAY, MatchMinute(90, 5), Player(306, "Mohamed Salah"))),
        (
            play(HOME, "9'", ownGoal=True),
            LiveGoal(Side.HOME, MatchMinute(9), Player(306, "Mohamed Salah"), GoalKind.OWN_GOAL),
        ),
        (
            play(HOME, "9'", penaltyKick=True),
            LiveGoal(Side.HOME, MatchMinute(9), Player(306, "Mohamed Salah"), GoalKind.PENALTY),
        ),
        (play(HOME, "9'", athletesInvolved=[]), LiveGoal(Side.HOME, MatchMinute(9), Player())),
        (
            play(HOME, "9'", athletesInvolved=[{"displayName": "A. Colazo"}]),
            LiveGoal(Side.HOME, MatchMinute(9), Player(None, "A. Colazo")),
        ),
        (play(HOME, "9'", athletesInvolved=[{"id": "7"}]), LiveGoal(Side.HOME, MatchMinute(9), Player(7))),
        (play(HOME, "9'", scoringPlay=False), None),
        (kick(HOME, scored=True), None),
        (kick(HOME, scored=False), None),
    ],
)
def test_a_play_is_this_goal_or_none(detail: dict[str, Any], expected: LiveGoal | None) -> None:
    (fixture,) = parse_scoreboard(scoreboard(event(1, details=[detail]))).fixtures
    assert fixture.goals == ((expected,) if expected else ())


@pytest.mark.parametrize(("shootout", "score"), [((3, 4), Score(3, 4)), (None, None)])
def test_a_shootout_has_its_own_score(shootout: tuple[int, int] | None, score: Score | None) -> None:
    (fixture,) = parse_scoreboard(scoreboard(event(1, shootout=shootout))).fixtures
    assert (fixture.score, fixture.penalties) == (Score(1, 0), score)


def boards(**answers: Reply) -> RawServer:
    """A server with a scoreboard for each of these leagues."""

    def answer(request: Request) -> Reply:
        return answers[request.path.split("/")[-2]]

    return RawServer(answer)


async def test_a_match_that_two_leagues_list_is_answered_once() -> None:
    async with boards(
        a=json_reply(scoreboard(event(1), event(2, date="soon"))), b=json_reply(scoreboard(event(1), event(2)))
    ) as server:
        feed = Espn(server.url, ["a", "b"], timeout=5, retry=AT_ONCE)
        answer = await feed.fixtures_by_ids([1, 2, 3])
        await feed.aclose()
    assert [fixture.id for fixture in answer.fixtures] == [1, 2]
    assert (answer.failures, answer.unknown) == ({}, (3,))
    assert feed.requests_for(3) == len(server.requests) == 2 * 3  # two leagues, three days


async def test_a_failing_league_is_not_treated_as_empty() -> None:
    async with boards(a=json_reply(scoreboard(event(1))), b=Reply(status=500)) as server:
        feed = Espn(server.url, ["a", "b"], timeout=5, retry=AT_ONCE)
        answer = await feed.fixtures_by_ids([1, 2])
        asked = len(server.requests)
        with pytest.raises(FeedUnavailable):
            await feed.check()
        await feed.aclose()
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert {id_: type(error) for id_, error in answer.failures.items()} == {2: FeedUnavailable}
    assert answer.unknown == ()
    assert [type(error) for error in answer.errors] == [FeedUnavailable] * 3
    assert asked == 3 * (1 + 3)  # three days; a failed request is tried three times


@pytest.mark.parametrize(
    ("note", "name"), [("Norwegian Eliteserien, Matchday 30", "Norwegian Eliteserien"), (None, "Football")]
)
def test_the_scoreboard_of_all_leagues_has_the_league_in_each_event(note: str | None, name: str) -> None:
    # vasqued2/ha-teamtracker#283, #364: `soccer/all` names no league; events have `l:` in the uid, and `altGameNote`.
    listed = event(1)
    listed["uid"] = "s:600~l:3911~e:1"
    if note is not None:
        listed["competitions"][0]["altGameNote"] = note
    answer = parse_scoreboard({"leagues": [], "events": [listed]})
    assert answer.failures == {}
    assert [(each.league.id, each.league.name) for each in answer.fixtures] == [(3911, name)]


def test_an_event_without_any_league_fails_alone() -> None:
    listed = event(1)
    listed["uid"] = "s:600~e:1"
    assert isinstance(parse_scoreboard({"leagues": [], "events": [listed]}).failures[1], FeedSchemaError)
