"""What the port `ScoreFeed` promises, over every feed that there is.

Both feeds tell of the same matches: one that was decided in a shoot-out, one that has not begun, and one whose
entry in the answer is broken.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import RecordingSource, Scenario
from footy_simulator.server import Simulator
from found_footy.errors import FeedError, FeedNotFound, FeedSchemaError, FeedUnauthorized, FeedUnavailable
from found_footy.feeds.api_football import ApiFootball
from found_footy.feeds.espn import Espn
from found_footy.feeds.models import ScoreFeed
from found_footy.feeds.snapshot import decode, to_payload
from found_footy.fixtures.models import GoalKind, LiveFixture, MatchMinute, Score, Side
from tests.feeds.conftest import AT_ONCE
from tests.feeds.espn_answers import AWAY, HOME, event, kick, play, record, scoreboard

START = datetime(2025, 11, 22, 15, 0, tzinfo=UTC)
DECIDED, UPCOMING, BROKEN, NEVER_HEARD_OF = 1, 2, 3, 99

MATCHES = """
leagues:
  pl: {id: 39, name: Premier League, country: England, season: 2025, round: Final}
matches:
  - id: 1
    league: pl
    home: {id: 40, name: Liverpool}
    away: {id: 50, name: Manchester City}
    kickoff: -200m
    stoppage: [2, 0, 0, 0]
    ends: PEN
    goals:
      - {minute: 12, side: home, kind: own_goal, player: {id: 567, name: R. Dias}}
      - {minute: 30, side: away, kind: penalty, player: {id: 1100, name: E. Haaland}}
      - {minute: 45+2, side: home}
      - {minute: 70, side: away, player: {id: 631, name: P. Foden}}
    incidents:
      - {minute: 60, side: home, kind: missed_penalty, player: {id: 306, name: M. Salah}}
      - {minute: 65, side: away, kind: yellow_card, player: {id: 567, name: R. Dias}}
    shootout:
      - {side: home, player: {id: 306, name: M. Salah}, scored: true}
      - {side: away, player: {id: 631, name: P. Foden}, scored: false}
      - {side: home, player: {id: 283, name: Trent}, scored: true}
  - id: 2
    league: pl
    home: {id: 40, name: Liverpool}
    away: {id: 50, name: Manchester City}
    kickoff: +2h
  - id: 3
    league: pl
    home: {id: 40, name: Liverpool}
    away: {id: 50, name: Manchester City}
    kickoff: -20m
faults:
  - {at: +0m, kind: bad_schema, match: 3, polls: 100}
"""

SCOREBOARD = scoreboard(
    event(
        DECIDED,
        "STATUS_FINAL_PEN",
        state="post",
        clock="120'",
        score=(2, 2),
        shootout=(2, 0),
        details=[
            play(HOME, "12'", ownGoal=True, athletesInvolved=[{"id": "567", "displayName": "R. Dias"}]),
            play(AWAY, "30'", penaltyKick=True, athletesInvolved=[{"id": "1100", "displayName": "E. Haaland"}]),
            play(HOME, "45'+2'", athletesInvolved=[]),
            play(HOME, "60'", scoringPlay=False, penaltyKick=True),
            play(AWAY, "65'", scoringPlay=False),
            play(AWAY, "70'", athletesInvolved=[{"id": "631", "displayName": "P. Foden"}]),
            kick(HOME, scored=True),
            kick(AWAY, scored=False),
            kick(HOME, scored=True),
        ],
    ),
    event(
        UPCOMING,
        "STATUS_SCHEDULED",
        state="pre",
        clock="0'",
        score=(0, 0),
        details=[],
        date="2025-11-22T17:00Z",
    ),
    event(BROKEN, date="soon"),
)


@dataclass(frozen=True)
class Case:
    name: str
    scenario: Scenario
    simulator: Simulator
    stack: AsyncExitStack

    def feed(self, *, entitled: bool = True, url: str | None = None, **options: Any) -> ScoreFeed:
        at = url or self.simulator.url
        if self.name == "espn":
            feed: ScoreFeed = Espn(at, ["eng.1" if entitled else "ger.1"], timeout=5, retry=AT_ONCE, **options)
        else:
            key = self.simulator.key if entitled else "wrong"
            feed = ApiFootball(at, key, timeout=5, now=lambda: datetime.now(UTC), retry=AT_ONCE, **options)
        self.stack.push_async_callback(feed.aclose)
        return feed


@pytest.fixture(params=["api_football", "espn"])
async def case(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Case]:
    if request.param == "espn":
        recording = record(tmp_path / "polls", SCOREBOARD)
        scenario = Scenario(recording=RecordingSource(espn=recording))
    else:
        scenario = parse_scenario(MATCHES, "contract")
    async with Simulator(scenario, start=START) as simulator, AsyncExitStack() as stack:
        yield Case(request.param, scenario, simulator, stack)


@pytest.fixture
def feed(case: Case) -> ScoreFeed:
    return case.feed()


async def ask(feed: ScoreFeed, fixture_id: int) -> LiveFixture:
    (fixture,) = (await feed.fixtures_by_ids([fixture_id])).fixtures
    return fixture


async def test_each_requested_fixture_is_in_exactly_one_part_of_the_answer(feed: ScoreFeed) -> None:
    answer = await feed.fixtures_by_ids([DECIDED, NEVER_HEARD_OF, BROKEN, UPCOMING, DECIDED, BROKEN, NEVER_HEARD_OF])
    assert [fixture.id for fixture in answer.fixtures] == [DECIDED, UPCOMING]
    assert {id_: type(error) for id_, error in answer.failures.items()} == {BROKEN: FeedSchemaError}
    assert answer.unknown == (NEVER_HEARD_OF,)


async def test_only_requested_fixtures_are_returned(feed: ScoreFeed) -> None:
    answer = await feed.fixtures_by_ids([UPCOMING])
    assert [fixture.id for fixture in answer.fixtures] == [UPCOMING]
    assert (answer.failures, answer.unknown) == ({}, ())


async def test_an_empty_request_returns_nothing(feed: ScoreFeed) -> None:
    answer = await feed.fixtures_by_ids([])
    assert (answer.fixtures, answer.failures, answer.unknown) == ((), {}, ())


async def test_goals_count_for_the_side_that_benefits_without_shootout_kicks(feed: ScoreFeed) -> None:
    goals = (await ask(feed, DECIDED)).goals
    assert [(goal.side, goal.minute, goal.kind, goal.player.id, goal.player.name) for goal in goals] == [
        (Side.HOME, MatchMinute(12), GoalKind.OWN_GOAL, 567, "R. Dias"),
        (Side.AWAY, MatchMinute(30), GoalKind.PENALTY, 1100, "E. Haaland"),
        (Side.HOME, MatchMinute(45, 2), GoalKind.NORMAL, None, None),
        (Side.AWAY, MatchMinute(70), GoalKind.NORMAL, 631, "P. Foden"),
    ]
    assert {goal.type for goal in goals} == {"Goal"}


async def test_a_match_has_teams_status_score_and_shootout(feed: ScoreFeed) -> None:
    match = await ask(feed, DECIDED)
    assert (match.feed, match.status, match.score, match.penalties) == (feed.name, "PEN", Score(2, 2), Score(2, 0))
    assert (match.home.id, match.home.name, match.away.id, match.away.name) == (40, "Liverpool", 50, "Manchester City")
    assert match.minute is not None
    assert match.minute.elapsed == 120
    assert match.kickoff == datetime(2025, 11, 22, 11, 40, tzinfo=UTC)
    assert (match.league.name, match.league.season) == ("Premier League", 2025)


async def test_a_match_that_has_not_started_has_neither_score_nor_minute(feed: ScoreFeed) -> None:
    match = await ask(feed, UPCOMING)
    assert (match.status, match.score, match.penalties, match.minute, match.goals) == ("NS", None, None, None, ())
    assert match.kickoff == datetime(2025, 11, 22, 17, 0, tzinfo=UTC)


async def test_the_fixtures_of_a_day_need_no_ids(feed: ScoreFeed) -> None:
    answer = await feed.fixtures_on(date(2025, 11, 22))
    assert {DECIDED, UPCOMING} <= {fixture.id for fixture in answer.fixtures}
    assert answer.unknown == ()


async def test_the_raw_data_is_json(feed: ScoreFeed) -> None:
    raw = (await ask(feed, DECIDED)).raw
    assert raw
    assert json.loads(json.dumps(raw, allow_nan=False)) == raw


async def test_the_check_summarizes_the_response(case: Case) -> None:
    said = {"api_football": "0 of 150000 requests used today (Pro plan)", "espn": "2 matches today in eng.1"}
    assert await case.feed().check() == said[case.name]


async def test_the_check_fails_where_the_feed_does_not_let_us_in(case: Case) -> None:
    refusal = {"api_football": FeedUnauthorized, "espn": FeedNotFound}
    with pytest.raises(FeedError) as raised:
        await case.feed(entitled=False).check()
    assert type(raised.value) is refusal[case.name]


async def test_a_feed_that_is_down_is_unavailable_and_never_empty(case: Case) -> None:
    async with Simulator(case.scenario) as gone:
        url = gone.url
    feed = case.feed(url=url)
    with pytest.raises(FeedUnavailable):
        await feed.check()
    with pytest.raises(FeedUnavailable):
        await feed.fixtures_on(date(2025, 11, 22))
    answer = await feed.fixtures_by_ids([DECIDED, UPCOMING])
    assert (answer.fixtures, answer.unknown) == ((), ())
    assert {id_: type(error) for id_, error in answer.failures.items()} == {
        DECIDED: FeedUnavailable,
        UPCOMING: FeedUnavailable,
    }


async def test_a_poll_costs_at_least_one_request(case: Case) -> None:
    feed, located = case.feed(), ["soccer/eng.1 20251122"] * 20
    assert [feed.requests_for(fixtures, located[:fixtures]) for fixtures in (1, 20)] == [1, 1]


async def test_a_feed_is_named_as_declared(case: Case) -> None:
    feed = case.feed(name="second")
    assert (feed.name, (await ask(feed, DECIDED)).feed) == ("second", "second")


async def test_a_snapshot_survives_the_cache(feed: ScoreFeed) -> None:
    for fixture in (await feed.fixtures_by_ids([DECIDED, UPCOMING])).fixtures:
        assert decode(json.loads(json.dumps(to_payload(fixture)))) == fixture


async def test_each_request_is_made_in_its_turn(case: Case) -> None:
    taken = []

    @asynccontextmanager
    async def permit() -> AsyncIterator[None]:
        taken.append(case.name)
        yield

    feed = case.feed(permit=permit)
    await feed.fixtures_by_ids([DECIDED, UPCOMING], dict.fromkeys((DECIDED, UPCOMING), "soccer/eng.1 20251122"))
    await feed.fixtures_on(date(2025, 11, 22))
    assert len(taken) == 2
    await feed.check()
    assert len(taken) == {"api_football": 3, "espn": 4}[case.name]
