"""What is sent to ESPN, and how its refusals are told, as of late 2026. The simulator enforces the same rules.

Sources: ranges of days answer HTTP 400 since September 2026 [Pharaoh-Labs/teamarr#873, pseudo-r/Public-ESPN-API#23,
ChuckBuilds/LEDMatrix#591]; `limit` above 500 returns 25 events [teamarr#630]; days are US-Eastern [teamarr#808]; single
soccer days do not reach beyond tomorrow, months do [vasqued2/ha-teamtracker#379]; User-Agents without a version and a
link get 403 since August 2026 [LEDMatrix#436, gtonic/nfl_mcp#135, dguay/line-mover#120].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from footy_simulator.loader import parse_scenario
from footy_simulator.server import Simulator
from found_footy.errors import FeedClientRefused, FeedError, FeedQueryRejected
from found_footy.feeds.espn import Espn, eastern_day
from found_footy.runtime.http import USER_AGENT
from tests.feeds.conftest import AT_ONCE
from tests.feeds.espn_answers import event, scoreboard
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply

NOW = datetime(2026, 11, 18, 19, 0, tzinfo=UTC)
Open = Callable[..., Espn]


@pytest.fixture
async def espn() -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_(url: str, leagues: Any = ("eng.1",), now: datetime = NOW) -> Espn:
            feed = Espn(url, leagues, timeout=5, now=lambda: now, retry=AT_ONCE)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_


class Board:
    """Matches of leagues by kick-off, listed as ESPN lists them."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now
        self.matches: dict[int, tuple[str, datetime]] = {}
        self.server = RawServer(self._answer)

    def has(self, id_: int, kickoff: datetime, league: str = "eng.1") -> None:
        self.matches[id_] = (league, kickoff)

    @property
    def asked(self) -> Counter[tuple[str, str]]:
        return Counter((request.path.split("/")[-2], request.params["dates"]) for request in self.server.requests)

    def _answer(self, request: Request) -> Reply:
        assert request.headers["user-agent"] == USER_AGENT.lower()
        assert request.params["limit"] == "500"
        league, dates = request.path.split("/")[-2], request.params["dates"]
        if "-" in dates:
            return json_reply({"code": 400, "message": "Failed to get events endpoint."}, 400)
        tomorrow = f"{eastern_day(self.now) + timedelta(days=1):%Y%m%d}"
        found = [
            event(id_, date=f"{kickoff:%Y-%m-%dT%H:%MZ}")
            for id_, (at, kickoff) in self.matches.items()
            if at == league and f"{eastern_day(kickoff):%Y%m%d}".startswith(dates)
        ]
        return json_reply(scoreboard(*([] if len(dates) == 8 and dates > tomorrow else found), league=league))


@pytest.mark.parametrize(
    ("kickoff", "day"),
    [
        (datetime(2026, 11, 18, 20, 0, tzinfo=UTC), date(2026, 11, 18)),
        (datetime(2026, 11, 19, 1, 40, tzinfo=UTC), date(2026, 11, 18)),
        (datetime(2026, 11, 19, 5, 0, tzinfo=UTC), date(2026, 11, 19)),
        (datetime(2026, 7, 1, 3, 59, tzinfo=UTC), date(2026, 6, 30)),  # summer time: four hours
        (datetime(2026, 7, 1, 4, 0, tzinfo=UTC), date(2026, 7, 1)),
    ],
)
def test_a_match_is_filed_under_its_eastern_day(kickoff: datetime, day: date) -> None:
    assert eastern_day(kickoff) == day


async def test_a_poll_requests_each_league_and_day_once(espn: Open) -> None:
    leagues = [f"l{number}" for number in range(20)]
    board = Board()
    for id_ in range(1, 9):
        board.has(id_, NOW + timedelta(hours=id_ % 2), leagues[id_ % 2])
    board.has(9, datetime(2026, 11, 19, 1, 40, tzinfo=UTC), "l3")
    locators = {
        id_: f"soccer/{league} {eastern_day(kickoff):%Y%m%d}" for id_, (league, kickoff) in board.matches.items()
    }
    async with board.server as server:
        feed = espn(server.url, leagues)
        answer = await feed.fixtures_by_ids(list(board.matches), locators)
    assert sorted(fixture.id for fixture in answer.fixtures) == list(range(1, 10))
    assert board.asked == {("l0", "20261118"): 1, ("l1", "20261118"): 1, ("l3", "20261118"): 1}
    assert feed.requests_for(9, locators.values()) == 3
    assert {fixture.id: fixture.locator for fixture in answer.fixtures} == locators


async def test_a_match_without_a_locator_is_looked_for_once_in_all_leagues_around_today(espn: Open) -> None:
    board = Board()
    board.has(1, datetime(2026, 11, 19, 1, 40, tzinfo=UTC), "esp.1")
    async with board.server as server:
        feed = espn(server.url, ["eng.1", "esp.1"])
        assert feed.requests_for(1) == 6
        assert [fixture.id for fixture in (await feed.fixtures_by_ids([1])).fixtures] == [1]
        days = ["20261117", "20261118", "20261119"]
        assert board.asked == Counter((league, day) for league in ("eng.1", "esp.1") for day in days)
        server.requests.clear()
        await feed.fixtures_by_ids([1])
    assert board.asked == {("esp.1", "20261118"): 1}


async def test_a_locator_that_is_none_is_ignored(espn: Open) -> None:
    board = Board()
    board.has(1, NOW)
    async with board.server as server:
        for locator in ("", "crex/ABC", "soccer/eng.1 20261399", "soccer/../x 20261118", "soccer/eng.1"):
            answer = await espn(server.url).fixtures_by_ids([1], {1: locator})
            assert [fixture.id for fixture in answer.fixtures] == [1]


async def test_a_kickoff_that_moves_to_the_next_day_is_found_there(espn: Open) -> None:
    board = Board()
    board.has(1, NOW + timedelta(days=1))
    async with board.server as server:
        (match,) = (await espn(server.url).fixtures_by_ids([1], {1: "soccer/eng.1 20261118"})).fixtures
    assert match.locator == "soccer/eng.1 20261119"
    assert set(board.asked) == {("eng.1", f"202611{day}") for day in (17, 18, 19)}


@pytest.mark.parametrize("days", [-9, 3, 20, 40])
async def test_a_kickoff_that_moves_far_is_found_by_its_month(espn: Open, days: int) -> None:
    board = Board()
    board.has(1, NOW + timedelta(days=days))
    async with board.server as server:
        feed = espn(server.url)
        (match,) = (await feed.fixtures_by_ids([1], {1: "soccer/eng.1 20261118"})).fixtures
        assert match.locator == f"soccer/eng.1 {NOW + timedelta(days=days):%Y%m%d}"
        server.requests.clear()
        assert (await feed.fixtures_by_ids([1], {1: match.locator})).fixtures
    assert sum(board.asked.values()) <= 1  # a past day singly; a month is still known


async def test_a_match_after_tomorrow_is_requested_by_month(espn: Open) -> None:
    board = Board()
    board.has(1, NOW + timedelta(days=2))
    board.has(2, NOW + timedelta(days=3))
    located = {1: "soccer/eng.1 20261120", 2: "soccer/eng.1 20261121"}
    async with board.server as server:
        feed = espn(server.url)
        assert feed.requests_for(2, located.values()) == 1
        assert len((await feed.fixtures_by_ids([1, 2], located)).fixtures) == 2
    assert board.asked == {("eng.1", "202611"): 1}


async def test_a_removed_match_is_unknown_and_its_month_is_not_requested_again_at_once(espn: Open) -> None:
    async with (board := Board()).server as server:
        feed = espn(server.url)
        for _ in range(3):
            assert (await feed.fixtures_by_ids([1], {1: "soccer/eng.1 20261118"})).unknown == (1,)
    assert board.asked["eng.1", "202611"] == board.asked["eng.1", "202612"] == 1


async def test_an_ingest_of_thirty_days_costs_two_requests_a_league(espn: Open) -> None:
    board, leagues = Board(), [f"l{number}" for number in range(20)]
    for day in range(30):
        board.has(day + 1, NOW + timedelta(days=day), leagues[day % 20])
    async with board.server as server:
        feed, found = espn(server.url, leagues), []
        for day in range(30):
            found += (await feed.fixtures_on((NOW + timedelta(days=day)).date())).fixtures
    assert sorted(fixture.id for fixture in found) == list(range(1, 31))
    assert board.asked == Counter((league, month) for league in leagues for month in ("202611", "202612"))


async def test_a_day_of_ours_has_the_late_matches_of_the_eastern_day_before(espn: Open) -> None:
    """30 November, 20:40 in New York, is 1 December in UTC."""
    board = Board()
    board.has(1, datetime(2026, 12, 1, 1, 40, tzinfo=UTC))
    board.has(2, datetime(2026, 12, 1, 20, 0, tzinfo=UTC))
    board.has(3, datetime(2026, 12, 2, 1, 40, tzinfo=UTC))
    board.has(4, datetime(2026, 11, 30, 20, 0, tzinfo=UTC))
    async with board.server as server:
        answer = await espn(server.url).fixtures_on(date(2026, 12, 1))
    assert sorted(fixture.id for fixture in answer.fixtures) == [1, 2]
    assert board.asked == {("eng.1", "202611"): 1, ("eng.1", "202612"): 1}


async def test_a_broken_match_counts_against_its_own_day_alone(espn: Open) -> None:
    broken = [event(1, "STATUS_UNHEARD_OF", date="2026-11-18T20:00Z"), event(2, date="soon")]
    async with RawServer(json_reply(scoreboard(*broken))) as server:
        feed = espn(server.url)
        assert set((await feed.fixtures_on(date(2026, 11, 18))).failures) == {1, 2}
        assert set((await feed.fixtures_on(date(2026, 11, 19))).failures) == {2}  # nobody knows its day


async def test_the_leagues_may_change_while_the_feed_is_open(espn: Open) -> None:
    board, followed = Board(), ["eng.1"]
    board.has(1, NOW, "ger.1")
    async with board.server as server:
        feed = espn(server.url, lambda: followed)
        assert (await feed.fixtures_on(NOW.date())).fixtures == ()
        followed.append("ger.1")
        assert [fixture.id for fixture in (await feed.fixtures_on(NOW.date())).fixtures] == [1]
        assert feed.requests_for(1) == 6


async def test_the_check_sends_what_a_poll_and_an_ingest_send(espn: Open) -> None:
    board = Board()
    board.has(1, NOW, "eng.1")
    board.has(2, NOW, "esp.1")
    async with board.server as server:
        feed = espn(server.url, ["eng.1", "esp.1"])
        assert await feed.check() == "2 matches today in eng.1, esp.1"
        checked = {(request.path, *sorted(request.params.items())) for request in server.requests}
        server.requests.clear()
        located = {1: "soccer/eng.1 20261118", 2: "soccer/esp.1 20261118"}
        await feed.fixtures_by_ids([1, 2], located)
        polled = {(request.path, *sorted(request.params.items())) for request in server.requests}
    assert polled < checked
    assert {params for _, *rest in checked - polled for params in rest} == {("dates", "202611"), ("limit", "500")}


REFUSALS = {
    "a client": (
        json_reply({"code": 403, "message": "Forbidden"}, 403),
        FeedClientRefused,
        ["HTTP 403", USER_AGENT],
    ),
    "a query": (
        json_reply({"code": 400, "message": "Failed to get events endpoint."}, 400),
        FeedQueryRejected,
        ["HTTP 400", "Failed to get events endpoint", "dates=20261118", "limit=500"],
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refusal_has_its_own_class_and_hint_and_no_check_passes(espn: Open, refusal: str) -> None:
    reply, kind, words = REFUSALS[refusal]
    async with RawServer(reply) as server:
        feed = espn(server.url)
        answer = await feed.fixtures_by_ids([1], {1: "soccer/eng.1 20261118"})
        assert len(server.requests) == 1  # asking again would not help
        with pytest.raises(FeedError) as raised:
            await feed.check()
    assert type(answer.failures[1]) is type(raised.value) is kind
    for each in words:
        assert each in str(answer.failures[1])
    assert kind.hint


SCRIPTED = """
leagues:
  pl: {{id: 39, name: Premier League, country: England, season: 2026, round: Round 12}}
matches:
  - {{id: 1, league: pl, home: {{id: 40, name: Liverpool}}, away: {{id: 50, name: Manchester City}}, kickoff: -20m}}
  - {{id: 2, league: pl, home: {{id: 42, name: Arsenal}}, away: {{id: 49, name: Chelsea}}, kickoff: +3d}}
feeds: {{espn: {{}}}}
services: {{espn: {{refuses: {refuses}}}}}
"""


@pytest.mark.parametrize(
    ("refuses", "kind"), [("null", None), ("client", FeedClientRefused), ("query", FeedQueryRejected)]
)
async def test_the_simulator_accepts_and_refuses_the_same(
    espn: Open, refuses: str, kind: type[FeedError] | None
) -> None:
    scenario = parse_scenario(SCRIPTED.format(refuses=refuses), "refusals")
    now = datetime.now(UTC)
    async with Simulator(scenario, start=now) as simulator:
        feed = espn(simulator.url, now=now)
        if kind is not None:
            with pytest.raises(kind):
                await feed.check()
            return
        listed: Sequence[Any] = (await feed.fixtures_on((now + timedelta(days=3)).date())).fixtures
        assert [fixture.home.name for fixture in listed] == ["Arsenal"]
        assert "matches today in eng.1" in await feed.check()
