"""A match of ESPNcricinfo: own small documents, and the recording of a real one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from found_footy.errors import FeedSchemaError, UnknownStatus
from found_footy.feeds.cricinfo import parse_match
from found_footy.feeds.espn import Espn
from found_footy.feeds.snapshot import decode, to_payload
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Team,
    Toss,
    WicketKind,
)
from tests.feeds.api_answers import GONE, changed
from tests.feeds.conftest import AT_ONCE
from tests.feeds.cricket_answers import (
    AWAY,
    HOME,
    event,
    fall,
    game,
    info_innings,
    info_match,
    info_wicket,
    line,
    scoreboard,
    summary,
)
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.clocks import DatetimeClock
from tests.support.recorded import recorded

SCORECARD = [
    info_innings(
        1, HOME, 187, 2, 20, info_wicket(2, 16.2, 12, "run out"), info_wicket(1, 2.4, 11, "caught"), isCurrent=False
    ),
    info_innings(2, AWAY, 95, 1, 12.3, info_wicket(1, 1.2, 21, "bowled")),
]


def test_a_match_with_its_scorecard_is_complete() -> None:
    match = parse_match(info_match(), SCORECARD)
    assert (match.id, match.status, match.score) == (1478914, "LIVE", Score(home=1, away=2))
    assert (match.home, match.away) == (Team(HOME, "India", "IND"), Team(AWAY, "Australia", "AUS"))
    assert match.innings == (
        Innings(1, Side.HOME, 187, 2, 20, 0, over=True),
        Innings(2, Side.AWAY, 95, 1, 12, 3, over=False),
    )
    bowler = Player(9, "Bowler 9")
    assert match.goals == (
        LiveGoal(Side.AWAY, MatchMinute(2, 4, 1), Player(11, "Batter 11"), WicketKind.CAUGHT, bowler, WICKET),
        LiveGoal(Side.AWAY, MatchMinute(16, 2, 1), Player(12, "Batter 12"), WicketKind.RUN_OUT, Player(), WICKET),
        LiveGoal(Side.HOME, MatchMinute(1, 2, 2), Player(21, "Batter 21"), WicketKind.BOWLED, bowler, WICKET),
    )
    assert (match.toss, match.venue) == (Toss(Side.HOME, "bat"), "MCG, Melbourne")
    assert decode(to_payload(match)) == match


def test_without_a_score_card_the_innings_come_from_the_scores() -> None:
    match = parse_match(info_match())
    assert match.goals == ()
    assert match.innings == (
        Innings(1, Side.HOME, 187, 2, 0, 0, over=True),
        Innings(2, Side.AWAY, 95, 1, 12, 3, over=False),
    )


def test_a_side_that_batted_twice_has_both_innings() -> None:
    teams = info_match()["teams"]
    twice = [{**teams[0], "score": "250 & 120/3", "inningNumbers": [2, 4]}, {**teams[1], "inningNumbers": [1]}]
    innings = parse_match(info_match(teams=twice)).innings
    assert [(each.number, each.runs, each.wickets) for each in innings] == [(1, 187, 2), (2, 250, 10), (4, 120, 3)]


def test_the_home_side_can_come_from_another_source() -> None:
    match = parse_match(info_match(), SCORECARD, home_id=AWAY)
    assert (match.home.id, match.score, match.goals[0].side) == (AWAY, Score(home=2, away=1), Side.HOME)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "Stumps"}, "STUMPS"),
        ({"status": "Match delayed by rain"}, "RAIN"),
        ({"state": "PRE", "status": "Not covered", "stage": "SCHEDULED"}, "NS"),
        ({"state": "POST", "stage": "FINISHED", "status": "RESULT", "statusText": "India won by 9 runs"}, "RESULT"),
        ({"state": "POST", "stage": "FINISHED", "status": "No result", "statusText": "No result"}, "NR"),
        ({"state": "POST", "stage": "RUNNING", "status": "Stumps", "statusText": "Day 2"}, "STUMPS"),
        ({"isCancelled": True}, "CANC"),
    ],
)
def test_a_state_and_its_description_map_to_one_status(fields: dict[str, Any], status: str) -> None:
    assert parse_match(info_match(**fields)).status == status


def test_an_unknown_state_has_its_own_error() -> None:
    with pytest.raises(UnknownStatus):
        parse_match(info_match(state="SIDEWAYS"))


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("objectId", GONE, "match.objectId"),
        ("objectId", "x", "match.objectId"),
        ("startTime", "soon", "match.startTime"),
        ("teams", [], "match.teams"),
        ("teams.0.team.objectId", -1, "match.teams.0.team.objectId"),
        ("teams.0.score", "lots", "match.teams.0.score"),
        ("series", None, "match.series.objectId"),
        ("state", 7, "match.state"),
    ],
)
def test_a_field_of_the_match_that_does_not_fit_is_named(path: str, value: object, field: str) -> None:
    with pytest.raises(FeedSchemaError) as raised:
        parse_match(changed(info_match(), path, value))
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("0.runs", -3, "scorecard.0.runs"),
        ("0.wickets", None, "scorecard.0.wickets"),
        ("0.overs", "many", "scorecard.0.overs"),
        ("0.team.objectId", 77, "scorecard.0.team.objectId"),
        ("0.inningNumber", 2, "scorecard.1.inningNumber"),
        ("0.inningWickets.0.fowOvers", -1, "scorecard.0.inningWickets.0.fowOvers"),
        ("0.inningWickets.0.player", None, "scorecard.0.inningWickets.0.player.objectId"),
        ("0.inningWickets", "none", "scorecard.0.inningWickets"),
    ],
)
def test_a_field_of_the_score_card_that_does_not_fit_is_named(path: str, value: object, field: str) -> None:
    with pytest.raises(FeedSchemaError) as raised:
        parse_match(info_match(), changed(SCORECARD, path, value))
    assert raised.value.field == field


def test_the_recorded_match_maps_to_the_unified_schema() -> None:
    folder = recorded("feeds", "cricinfo")
    match = json.loads((folder / "match_1478914_match.json").read_bytes())
    scorecard = json.loads((folder / "match_1478914_scorecard.json").read_bytes())
    live = parse_match(match, scorecard)
    payload = json.loads(json.dumps(to_payload(live)))
    assert decode(payload) == live
    assert (payload["status"], payload["venue"]) == ("completed", "Adelaide Oval")
    assert payload["score"] == {
        "team_a": {"wickets_taken": 6, "runs": 159, "wickets": 9, "overs": 20.0},
        "team_b": {"wickets_taken": 9, "runs": 176, "wickets": 6, "overs": 20.0},
    }
    assert payload["toss"] == {"winner": "team_b", "decision": "bat"}
    assert [(str(goal.minute), goal.kind.value, goal.player.name) for goal in live.goals[:6]] == [
        ("2.4 ov", "Caught", "Shafali Verma"),
        ("16.2 ov", "Caught", "Smriti Mandhana"),
        ("18.4 ov", "Caught", "Richa Ghosh"),
        ("19.3 ov", "Caught", "Jemimah Rodrigues"),
        ("19.5 ov", "Run Out", "Amanjot Kaur"),
        ("19.6 ov", "Run Out", "Deepti Sharma"),
    ]
    assert [goal.kind.value for goal in live.goals[6:]].count("LBW") == 2
    assert (len(live.goals), live.goals[12].kind) == (15, WicketKind.HIT_WICKET)
    assert live.goals[0].assist.name == "Kim Garth"
    assert parse_match(match).score == live.score


@pytest.mark.parametrize("there", [True, False])
async def test_cricinfo_provides_wickets_if_configured_with_espn_as_fallback(clock: DatetimeClock, there: bool) -> None:
    page = {"match": info_match(objectId=1), "content": {"innings": SCORECARD}}

    def answer(request: Request) -> Reply:
        if request.path == "/v1/pages/match/scorecard":
            return json_reply(page) if there else Reply(status=503)
        if request.path.endswith("summary"):
            return json_reply(summary(1, game([line(1, 187, 2, 20, fow=[fall(1, 2.4, 11), fall(2, 16.2, 12)])])))
        return json_reply(scoreboard(event(1)))

    async with RawServer(answer) as server:
        feed = Espn(
            server.url, ["cricket/8048"], timeout=5, now=clock, retry=AT_ONCE, name="second", cricinfo_url=server.url
        )
        (match,) = (await feed.fixtures_by_ids([1])).fixtures
        await feed.aclose()
    assert (match.feed, match.league.name, len(match.goals)) == ("second", "Indian Premier League", 3 if there else 2)
    assert server.requests[1].params == {"lang": "en", "seriesId": "8048", "matchId": "1"}
    assert len(server.requests) == (2 if there else 3)
