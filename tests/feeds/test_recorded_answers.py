"""Real answers of both feeds, read as they came, and a real tournament compared poll by poll."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx
import pytest

from footy_simulator.scenario import RecordingSource, Scenario
from footy_simulator.server import Simulator
from found_footy.feeds.api_football import parse_fixture
from found_footy.feeds.espn import Espn, parse_scoreboard
from found_footy.fixtures.models import (
    EventChange,
    EventDecision,
    GoalKind,
    KnownEvent,
    LiveFixture,
    MatchMinute,
    Player,
    Poll,
    Score,
    Side,
)
from found_footy.runtime.http import USER_AGENT
from tests.feeds.conftest import AT_ONCE
from tests.support.football import MatchMonitor
from tests.support.recorded import recorded

# --- API-Football


def answer(name: str) -> list[dict[str, Any]]:
    items = json.loads(recorded("feeds", "api-football", f"{name}.json").read_bytes())["response"]
    assert isinstance(items, list)
    return items


def counted(fixture: LiveFixture) -> Score:
    sides = Counter(goal.side for goal in fixture.goals)
    return Score(sides[Side.HOME], sides[Side.AWAY])


@pytest.mark.parametrize(
    ("name", "fixtures", "goals"),
    [
        ("fixture-1145526-own-goal", 1, 3),
        ("fixture-1208140-stoppage-goal", 1, 4),
        ("fixtures-cl-penalties", 2, 4),
        ("live-all-14-fixtures", 14, 14),
    ],
)
def test_the_goals_of_a_recorded_match_are_those_of_its_score(name: str, fixtures: int, goals: int) -> None:
    items = answer(name)
    parsed = [parse_fixture(item) for item in items]
    assert [fixture.id for fixture in parsed] == [item["fixture"]["id"] for item in items]
    assert len(parsed) == fixtures
    for fixture, item in zip(parsed, items, strict=True):
        assert counted(fixture) == fixture.score == Score(**item["goals"])
    assert sum(len(fixture.goals) for fixture in parsed) == goals


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "fixture-1145526-own-goal",
            [
                (Side.AWAY, MatchMinute(21), GoalKind.NORMAL, Player(636, "B. Silva")),
                (Side.AWAY, MatchMinute(28), GoalKind.OWN_GOAL, Player(62490, "S. Akaydin")),
                (Side.AWAY, MatchMinute(56), GoalKind.NORMAL, Player(1485, "B. Fernandes")),
            ],
        ),
        (
            "fixture-1208140-stoppage-goal",
            [
                (Side.AWAY, MatchMinute(13), GoalKind.NORMAL, Player(18784, "J. Maddison")),
                (Side.AWAY, MatchMinute(20), GoalKind.NORMAL, Player(18784, "J. Maddison")),
                (Side.AWAY, MatchMinute(52), GoalKind.NORMAL, Player(47519, "P. Porro")),
                (Side.AWAY, MatchMinute(90, 3), GoalKind.NORMAL, Player(129711, "B. Johnson")),
            ],
        ),
    ],
)
def test_recorded_goals_in_full(name: str, expected: list[tuple[Side, MatchMinute, GoalKind, Player]]) -> None:
    (item,) = answer(name)
    assert [(goal.side, goal.minute, goal.kind, goal.player) for goal in parse_fixture(item).goals] == expected


def test_recorded_shootouts_have_their_own_score_and_no_goals() -> None:
    parsed = {item["fixture"]["id"]: parse_fixture(item) for item in answer("fixtures-cl-penalties")}
    assert {id_: (each.status, each.score, each.penalties) for id_, each in parsed.items()} == {
        1149519: ("PEN", Score(2, 1), Score(3, 2)),
        1149523: ("PEN", Score(1, 0), Score(4, 2)),
    }
    assert max(goal.minute.elapsed for each in parsed.values() for goal in each.goals) == 87


def test_recorded_scorers_may_be_unknown_by_number_or_altogether() -> None:
    goals = [goal for item in answer("live-all-14-fixtures") for goal in parse_fixture(item).goals]
    without_number = [goal.player for goal in goals if goal.player.id is None]
    assert sorted(str(player.name) for player in without_number) == [
        "A. Colazo",
        "I. Zufiaurre",
        "J. E. de Andrade",
        "None",
        "None",
    ]


def test_recorded_matches_to_come_have_no_score() -> None:
    parsed = [parse_fixture(item) for item in answer("fixtures-bundes-ns-pst")]
    assert len(parsed) == 71
    assert {(each.status, each.score, each.minute, each.goals) for each in parsed} == {("NS", None, None, ())}
    assert {each.league.name for each in parsed} == {"Bundesliga"}


# --- ESPN


@dataclass
class Tournament:
    """Every recorded poll, compared in order: one monitor a match, as the store keeps them."""

    monitors: dict[int, MatchMonitor] = field(default_factory=dict)
    decisions: list[tuple[int, EventDecision]] = field(default_factory=list)
    """With the Unix time of the poll."""
    last: dict[int, LiveFixture] = field(default_factory=dict)
    polls: int = 0

    def events(self, match: int) -> list[KnownEvent]:
        return [event for event in self.monitors[match].events.values() if not event.removed]

    def of(self, match: int, verdict: EventChange) -> list[EventDecision]:
        return [d for _, d in self.decisions if d.event.fixture_id == match and d.change is verdict]


def polls() -> Iterator[tuple[int, dict[str, Any]]]:
    folder = recorded("feeds", "espn-worldcup-2026")
    for path in sorted(folder.iterdir()):
        yield int(path.name.removesuffix(".json.gz")), json.loads(gzip.decompress(path.read_bytes()))


@cache
def tournament() -> Tournament:
    seen = Tournament()
    for taken, body in polls():
        parsed = parse_scoreboard(body)
        assert parsed.failures == {}
        assert len(parsed.fixtures) == len(body["events"])
        poll = Poll(f"poll-{taken}", datetime.fromtimestamp(taken, UTC))
        for live in parsed.fixtures:
            monitor = seen.monitors.setdefault(live.id, MatchMonitor())
            seen.decisions += [(taken, decision) for decision in monitor.apply(live, poll)]
            seen.last[live.id] = live
        seen.polls += 1
    return seen


@pytest.fixture
def worldcup() -> Tournament:
    recorded("feeds", "espn-worldcup-2026")
    return tournament()


def told(body: dict[str, Any], match: int) -> tuple[Score, list[tuple[Side, str]]]:
    """The score and the goals of a match, read from the scoreboard without the adapter."""
    game = next(event["competitions"][0] for event in body["events"] if event["id"] == str(match))
    sides = {side["homeAway"]: side for side in game["competitors"]}
    goals = [
        (Side.HOME if play["team"]["id"] == sides["home"]["id"] else Side.AWAY, play["clock"]["displayValue"])
        for play in game["details"]
        if play["scoringPlay"] and not play["shootout"]
    ]
    return Score(int(sides["home"]["score"]), int(sides["away"]["score"])), goals


def test_every_recorded_poll_is_read_without_a_failure(worldcup: Tournament) -> None:
    assert (worldcup.polls, len(worldcup.monitors)) == (43, 32)


def test_in_the_end_the_events_of_each_match_are_its_score_and_its_details(worldcup: Tournament) -> None:
    *_, (_, final) = polls()
    played = [match for match, live in worldcup.last.items() if live.score is not None]
    assert len(played) == 25
    for match in played:
        score, goals = told(final, match)
        events = worldcup.events(match)
        sides = Counter(event.side for event in events)
        assert Score(sides[Side.HOME], sides[Side.AWAY]) == score == worldcup.last[match].score
        written = sorted((event.side, str(event.minute).replace("+", "'+")) for event in events)
        assert written == sorted(goals)
        if events:
            assert max(events, key=lambda event: event.after.home + event.after.away).after == score
    assert sum(len(worldcup.events(match)) for match in played) == 67


def test_matches_to_come_have_no_events(worldcup: Tournament) -> None:
    assert [worldcup.events(match) for match, live in worldcup.last.items() if live.score is None] == [[]] * 7


def test_a_real_feed_withdraws_nothing_and_misses_nothing(worldcup: Tournament) -> None:
    assert {decision.change for _, decision in worldcup.decisions} <= {
        EventChange.NEW,
        EventChange.SEEN,
        EventChange.STABLE,
        EventChange.CHANGED,
    }
    assert [event for monitor in worldcup.monitors.values() for event in monitor.removed] == []
    new = [decision.event.id for _, decision in worldcup.decisions if decision.change is EventChange.NEW]
    assert len(new) == len(set(new)) == 67


def test_a_minute_that_is_corrected_stays_the_same_event(worldcup: Tournament) -> None:
    """Belgium – Senegal: Habib Diarra's goal moved from 25' to 24' hours after the match."""
    corrected = [
        (taken, d) for taken, d in worldcup.decisions if d.event.fixture_id == 760493 and "minute" in d.changed
    ]
    assert [(taken, d.event.player.name, d.changed["minute"]) for taken, d in corrected] == [
        (1782970349, "Habib Diarra", ("25'", "24'"))
    ]
    diarra = [event for event in worldcup.events(760493) if event.player.name == "Habib Diarra"]
    assert [(event.minute, event.stable) for event in diarra] == [(MatchMinute(24), True)]
    assert len(worldcup.of(760493, EventChange.NEW)) == 5


@pytest.mark.parametrize(
    ("match", "player", "minute", "texts", "goals"),
    [
        (760505, "Julián Quiñones", "42'", ["Goal", "Goal - Volley", "Goal"], 5),
        (760509, "Lionel Messi", "83'", ["Goal - Volley", "Goal", "Goal - Volley", "Goal"], 5),
    ],
)
def test_a_changed_json_type_is_not_unexpected(
    worldcup: Tournament, match: int, player: str, minute: str, texts: list[str], goals: int
) -> None:
    flips: list[str] = []
    for _, body in polls():
        games = [event["competitions"][0] for event in body["events"] if event["id"] == str(match)]
        plays = [play for game in games for play in game["details"] if play["clock"]["displayValue"] == minute]
        for play in plays:
            if play["scoringPlay"] and flips[-1:] != [play["type"]["text"]]:
                flips.append(play["type"]["text"])
    assert flips == texts, "the recording has what this test is about"
    mine = [d for _, d in worldcup.decisions if d.event.fixture_id == match and d.event.player.name == player]
    assert {d.event.id for d in mine} == {next(e.id for e in worldcup.events(match) if e.player.name == player)}
    assert [d.changed for d in mine if d.changed] == []
    assert len(worldcup.of(match, EventChange.NEW)) == len(worldcup.events(match)) == goals


@pytest.mark.parametrize(
    ("match", "player", "side", "minute"),
    [(760499, "Mohamed Hany", Side.HOME, MatchMinute(55)), (760500, "Diney Borges", Side.HOME, MatchMinute(111))],
)
def test_an_own_goal_counts_for_the_side_that_benefits(
    worldcup: Tournament, match: int, player: str, side: Side, minute: MatchMinute
) -> None:
    (own,) = [event for event in worldcup.events(match) if event.kind is GoalKind.OWN_GOAL]
    assert (own.player.name, own.side, own.minute) == (player, side, minute)


@pytest.mark.parametrize(
    ("match", "score", "penalties"),
    [
        (760488, Score(1, 1), Score(2, 3)),
        (760489, Score(1, 1), Score(3, 4)),
        (760499, Score(1, 1), Score(2, 4)),
        (760508, Score(0, 0), Score(4, 3)),
    ],
)
def test_a_shootout_adds_no_goals(worldcup: Tournament, match: int, score: Score, penalties: Score) -> None:
    live = worldcup.last[match]
    assert (live.status, live.score, live.penalties) == ("PEN", score, penalties)
    assert len(worldcup.events(match)) == score.home + score.away


async def test_the_recording_that_is_served_reads_as_the_recording_itself(worldcup: Tournament) -> None:
    scenario = Scenario(recording=RecordingSource(espn=recorded("feeds", "espn-worldcup-2026")))
    async with Simulator(scenario) as simulator:
        async with httpx.AsyncClient(base_url=simulator.url, headers={"user-agent": USER_AGENT}) as client:
            for _ in range(worldcup.polls):  # the last answer stays
                (await client.get("/apis/site/v2/sports/soccer/fifa.world/scoreboard")).raise_for_status()
        feed = Espn(simulator.url, ["fifa.world"], timeout=10, retry=AT_ONCE)
        answer = await feed.fixtures_by_ids([*worldcup.last, 1])
        await feed.aclose()
    assert {fixture.id: fixture for fixture in answer.fixtures} == worldcup.last
    assert (answer.failures, answer.unknown) == ({}, (1,))
