"""The scripted matchday as ESPN tells it, read by the real adapter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from feed_helpers import feeds_of, scenario
from sim_helpers import FODEN, goal, recorded, script

from footy_simulator.espn import STATUSES, espn_event
from footy_simulator.espn_recording import EspnRecording
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import ScriptedLeague, ScriptedMatch
from footy_simulator.server import Simulator
from footy_simulator.team_facts import PLAYERS, TEAMS, espn_league, espn_match_id
from footy_simulator.truth import expected_outcome
from found_footy.fixtures.models import GoalKind, Score, Side

PLAYED = script(
    kickoff="-20m",
    goals=[
        goal(15),
        goal(25, "away", kind="own_goal", player={"id": 9, "name": "E. Haaland"}),
        goal("45+2", kind="penalty"),
    ],
    stoppage=[3, 0],
    incidents=[{"minute": 16, "side": "away", "kind": "yellow_card", "player": FODEN}],
)
ESPN = {"espn": {"delay": 40}}
ID = espn_match_id(1)
HONEST = {"user-agent": "a-test/1.0 (+https://example.invalid)"}
SCOREBOARD = "/apis/site/v2/sports/soccer/eng.1/scoreboard"


async def test_it_has_its_own_ids_and_its_own_spellings() -> None:
    async with feeds_of(scenario(PLAYED, feeds=ESPN)) as feeds:
        await feeds.poll(feeds.espn, ID)
        ours = await feeds.one(feeds.api_football, 1, 60)
        theirs = await feeds.one(feeds.espn, ID)
    assert (theirs.home.name, theirs.away.short) == ("Liverpool", "MNC")
    assert theirs.venue == "Anfield"
    assert {ours.id, ours.home.id, ours.away.id, ours.league.id}.isdisjoint(
        {theirs.id, theirs.home.id, theirs.away.id, theirs.league.id}
    )
    names = [(mine.player.name, other.player.name) for mine, other in zip(ours.goals, theirs.goals, strict=True)]
    assert names == [("M. Salah", "M. Salah"), ("E. Haaland", "Erling Haaland"), ("M. Salah", "M. Salah")]
    assert {goal.player.id for goal in ours.goals}.isdisjoint({goal.player.id for goal in theirs.goals})
    assert [(g.side, g.kind, str(g.minute)) for g in theirs.goals] == [
        (Side.HOME, GoalKind.NORMAL, "15'"),
        (Side.AWAY, GoalKind.OWN_GOAL, "25'"),
        (Side.HOME, GoalKind.PENALTY, "45+2'"),
    ]


async def test_it_is_late_by_its_delay() -> None:
    async with feeds_of(scenario(PLAYED, feeds=ESPN)) as feeds:
        await feeds.poll(feeds.api_football, 1)  # the first poll sees the very start: minute 20
        # Five minutes on, the goal of minute 25 is just in; ESPN is 40 s behind.
        assert (await feeds.one(feeds.api_football, 1, 5)).score == Score(1, 1)
        assert (await feeds.one(feeds.espn, ID, 0)).score == Score(1, 0)
        assert (await feeds.one(feeds.espn, ID, 39 / 60)).score == Score(1, 0)
        assert (await feeds.one(feeds.espn, ID, 1 / 60)).score == Score(1, 1)


async def test_a_day_is_a_poll_and_a_month_is_none() -> None:
    async with feeds_of(scenario(PLAYED, feeds=ESPN), ["eng.1"]) as feeds:
        yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
        listed = await feeds.espn.fixtures_on(yesterday)
        assert [fixture.id for fixture in listed.fixtures] == [ID]
        assert (await feeds.espn.fixtures_on(yesterday - timedelta(days=1))).fixtures == ()
        assert feeds.simulator.state().polls == 0
        await feeds.poll(feeds.espn, ID)
        assert feeds.simulator.state().polls == 1


@pytest.mark.parametrize(
    ("agent", "status"),
    [
        ("found-footy/0.3.0 (+https://example.invalid/found-footy)", 200),
        ("found-footy", 403),
        ("python-httpx/0.28", 403),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0 Safari/537.36", 403),
        ("", 403),
    ],
)
async def test_only_a_user_agent_with_a_version_and_a_link_is_answered(agent: str, status: int) -> None:
    async with Simulator(scenario(PLAYED, feeds=ESPN)) as simulator, httpx.AsyncClient() as client:
        found = await client.get(simulator.url + SCOREBOARD, headers={"user-agent": agent})
    assert found.status_code == status


@pytest.mark.parametrize(("refuses", "status"), [("client", 403), ("query", 400)])
async def test_a_scenario_can_have_espn_refuse_everything(refuses: str, status: int) -> None:
    refusing = scenario(PLAYED, feeds=ESPN, services={"espn": {"refuses": refuses}})
    async with Simulator(refusing) as simulator, httpx.AsyncClient(headers=HONEST) as client:
        found = await client.get(simulator.url + SCOREBOARD, params={"dates": "20251122"})
    assert found.status_code == status


async def test_days_are_eastern_and_only_a_month_reaches_beyond_tomorrow() -> None:
    """01:40 UTC on the 22nd is the evening of the 21st in New York."""
    start = datetime(2025, 11, 22, 1, 30, tzinfo=UTC)
    night, later = script(kickoff="+10m"), {**script(kickoff="+3d"), "id": 2}
    played = scenario(night, later, feeds={"espn": {}})

    async def listed(dates: str, limit: int = 500) -> list[str]:
        found = await client.get(simulator.url + SCOREBOARD, params={"dates": dates, "limit": limit})
        return [event["id"] for event in found.json()["events"]]

    async with Simulator(played, start=start) as simulator, httpx.AsyncClient(headers=HONEST) as client:
        assert await listed("20251121") == [str(ID)]
        assert await listed("20251122") == []
        assert await listed("20251124") == []
        assert await listed("202511") == [str(ID), str(ID + 1)]
        assert await listed("202512") == []
        assert await listed("202511", limit=1) == [str(ID)]


async def test_a_limit_above_500_returns_25_events() -> None:
    many = [{**script(kickoff="+1m"), "id": number} for number in range(1, 31)]
    start = datetime(2025, 11, 22, 15, 0, tzinfo=UTC)
    async with (
        Simulator(scenario(*many, feeds={"espn": {}}), start=start) as simulator,
        httpx.AsyncClient(headers=HONEST) as client,
    ):
        url, counts = simulator.url + SCOREBOARD, {}
        for limit in (500, 501, 1000):
            counts[limit] = len((await client.get(url, params={"dates": "202511", "limit": limit})).json()["events"])
    assert counts == {500: 30, 501: 25, 1000: 25}


async def test_one_poll_is_a_round_over_the_leagues() -> None:
    played = load_scenario("matchday").football
    slugs = [espn_league(league).slug for league in played.leagues.values()]
    async with feeds_of(played, slugs) as feeds:
        for _ in range(3):
            await feeds.poll(feeds.espn, ID)
        assert feeds.simulator.state().polls == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (SCOREBOARD.replace("eng.1", "esp.1"), 200),
        (SCOREBOARD.replace("eng.1", "nonsense"), 404),
        (f"{SCOREBOARD}?dates=yesterday", 400),
        (f"{SCOREBOARD}?dates=20251122-20251123", 400),
        (f"{SCOREBOARD}?dates=20251399", 400),
        (f"{SCOREBOARD}?dates=2025", 400),
        (SCOREBOARD.replace("scoreboard", "summary?event=7"), 404),
        (SCOREBOARD.replace("scoreboard", "summary?event=abc"), 404),
        (SCOREBOARD.replace("scoreboard", "summary"), 404),
    ],
)
async def test_missing_items(path: str, status: int) -> None:
    async with Simulator(scenario(PLAYED, feeds=ESPN)) as simulator, httpx.AsyncClient(headers=HONEST) as client:
        assert (await client.get(simulator.url + path)).status_code == status


async def test_a_scenario_without_espn_has_none() -> None:
    async with Simulator(scenario(PLAYED)) as simulator, httpx.AsyncClient() as client:
        assert (await client.get(simulator.url + SCOREBOARD)).status_code == 404


async def test_the_summary_covers_one_match() -> None:
    async with feeds_of(scenario(PLAYED, feeds=ESPN)) as feeds, httpx.AsyncClient(headers=HONEST) as client:
        await feeds.poll(feeds.espn, ID)
        url = feeds.simulator.url + SCOREBOARD.replace("scoreboard", "summary")
        body = (await client.get(url, params={"event": ID})).json()
    assert body["header"]["id"] == str(ID)
    assert body["gameInfo"]["venue"]["fullName"] == "Anfield"
    assert [(event["text"], event["clock"]["displayValue"]) for event in body["keyEvents"]] == [
        ("Goal", "15'"),
        ("Yellow Card", "16'"),
    ]


@pytest.mark.parametrize("name", ["matchday", "quick"])
async def test_a_whole_matchday_leads_to_its_truth(name: str) -> None:
    whole = load_scenario(name).football
    assert whole.feeds.espn is not None
    quiet = whole.feeds.model_copy(update={"espn": whole.feeds.espn.model_copy(update={"faults": ()})})
    played = whole.model_copy(update={"feeds": quiet, "faults": ()})
    slugs = [espn_league(league).slug for league in played.leagues.values()]
    async with feeds_of(played, slugs) as feeds:
        await feeds.poll(feeds.espn, *(espn_match_id(match.id) for match in played.matches))
        answer = await feeds.poll(feeds.espn, *(espn_match_id(match.id) for match in played.matches), minutes=200)
    found = {fixture.id: fixture for fixture in answer.fixtures}
    for match in expected_outcome(played).matches:
        fixture = found.get(espn_match_id(match.id))
        if fixture is None:
            assert match.status == "NS", "tomorrow's is beyond the days that are asked for"
            continue
        assert fixture.status == match.status
        assert fixture.home.name in (match.home, *match.home_also)
        assert (fixture.score and (fixture.score.home, fixture.score.away)) == match.score
        assert (fixture.penalties and (fixture.penalties.home, fixture.penalties.away)) == match.penalties
        stable = [each for each in match.goals if each.state == "stable"]
        for told, known in zip(fixture.goals, stable, strict=True):
            assert told.player.name in (known.player, *known.also)
            assert (told.side.value, told.kind.value) == (known.side, known.kind)
            assert (told.minute.elapsed, told.minute.extra) == (known.elapsed, known.extra)


def missing_keys(made: Any, real: Any, path: str = "") -> list[str]:
    """Keys that are made and that the real service does not know, or that have another type there."""
    if isinstance(made, dict) and isinstance(real, dict):
        strange = [f"{path}.{key}" for key in made.keys() - real.keys()]
        return strange + [
            found for key in made.keys() & real.keys() for found in missing_keys(made[key], real[key], f"{path}.{key}")
        ]
    if isinstance(made, list) and isinstance(real, list) and made and real:
        return [found for item in made for found in missing_keys(item, real[0], f"{path}[]")]
    return [] if made is None or real is None or type(made) is type(real) else [f"{path}: {made!r} is not {real!r}"]


def test_an_event_has_the_shape_of_a_real_one() -> None:
    recording = EspnRecording.load(recorded("espn-worldcup-2026"))
    real = next(e for e in recording.answers[-1].body["events"] if e["competitions"][0]["details"])
    league = ScriptedLeague(id=39, name="Premier League", country="England", season=2025, round="Round 1")
    made = espn_event(ScriptedMatch.model_validate(PLAYED), league, datetime(2025, 11, 22, tzinfo=UTC), 3600)
    assert missing_keys(made, real) == []


def test_the_statuses_of_the_recording_have_the_numbers_of_the_real_ones() -> None:
    recording = EspnRecording.load(recorded("espn-worldcup-2026"))
    real = {
        (int(kind["id"]), kind["name"], kind["state"], kind["description"])
        for answer in recording.answers
        for event in answer.body["events"]
        for kind in [event["status"]["type"]]
    }
    ours = {each[1]: each for each in STATUSES.values()}
    assert {each for each in real if each[1] in ours and each != ours[each[1]]} == set()


def test_every_team_of_the_bundled_scenarios_has_a_name_there() -> None:
    for name in ("matchday", "quick"):
        played = load_scenario(name)
        assert {team.name for match in played.matches for team in (match.home, match.away)} <= TEAMS.keys()
        scorers = {goal.player.name for match in played.matches for goal in match.goals if goal.player}
        assert {each for each in scorers if each[1:2] == "."} <= PLAYERS.keys()


def test_ids_of_espn_are_unique() -> None:
    ids = [team.id for team in TEAMS.values()]
    assert len(set(ids)) == len(ids)
