"""A free key of API-Football works within its means.

Source: free keys are refused for `ids=` ("Free plans do not have access to the Ids parameter"), cover `date=` from
yesterday to tomorrow ("Free plans do not have access to this date, try from … to …") and the seasons 2022 to 2024, with
100 requests a day; refusals come under `errors.plan` in an HTTP 200. As reported by users of the service in 2026.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

import pytest

from footy_simulator.loader import parse_scenario
from footy_simulator.server import Simulator
from found_footy.errors import FeedPlanRefused
from found_footy.feeds.api_football import ApiFootball
from tests.feeds.api_answers import body, item, refusal
from tests.feeds.conftest import AT_ONCE, Open
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply

TODAY = date(2026, 8, 22)
FREE_HEADERS = {"x-ratelimit-requests-limit": "100", "x-ratelimit-requests-remaining": "90"}
NO_IDS = "Free plans do not have access to the Ids parameter."


def free(request: Request) -> Reply:
    """As the service answers a free key; the limits are not told, so that only the refusals show the plan."""
    if "ids" in request.params:
        return json_reply(refusal(plan=NO_IDS))
    if "id" in request.params:
        return json_reply(body([item(int(request.params["id"]))]))
    if abs(date.fromisoformat(request.params["date"]) - TODAY) > timedelta(days=1):
        words = "Free plans do not have access to this date, try from 2026-08-21 to 2026-08-23."
        return json_reply(refusal(plan=words))
    return json_reply(body([item(1)]))


def asked(server: RawServer) -> list[dict[str, str]]:
    return [dict(request.params) for request in server.requests]


async def test_a_key_without_batch_access_requests_single_matches(api_football: Open) -> None:
    async with RawServer(free) as server:
        feed = api_football(server.url)
        assert (feed.ids_per_request, feed.requests_for(5)) == (20, 1)
        answer = await feed.fixtures_by_ids([1, 2, 3])
        assert [fixture.id for fixture in answer.fixtures] == [1, 2, 3]
        assert asked(server) == [{"ids": "1-2-3"}, {"id": "1"}, {"id": "2"}, {"id": "3"}]
        assert (feed.ids_per_request, feed.requests_for(5)) == (1, 5)
        server.requests.clear()
        await feed.fixtures_by_ids([1, 2])
    assert asked(server) == [{"id": "1"}, {"id": "2"}]


async def test_a_day_limit_of_a_hundred_shows_a_free_key_before_any_refusal(api_football: Open) -> None:
    async with RawServer(lambda request: Reply(free(request).body, headers=FREE_HEADERS)) as server:
        feed = api_football(server.url)
        await feed.fixtures_on(TODAY)
        await feed.fixtures_by_ids([1, 2])
    assert asked(server) == [{"date": "2026-08-22"}, {"id": "1"}, {"id": "2"}]


async def test_days_that_a_free_plan_does_not_cover_are_empty_and_no_failure(api_football: Open) -> None:
    async with RawServer(free) as server:
        feed = api_football(server.url)
        for apart, found in [(-2, 0), (-1, 1), (0, 1), (1, 1), (2, 0)]:
            assert len((await feed.fixtures_on(TODAY + timedelta(days=apart))).fixtures) == found
        await feed.fixtures_by_ids([1])
        server.requests.clear()
        # Now the plan is known: such a day costs no request any more.
        assert await feed.fixtures_on(TODAY + timedelta(days=9)) == await feed.fixtures_on(TODAY - timedelta(days=9))
    assert server.requests == []


@pytest.mark.parametrize("apart", [-1, 0, 1])
@pytest.mark.parametrize(
    "words",
    [
        "Free plans do not have access to this season, try from 2022 to 2024.",
        "Free plans do not have access to this date, try from 2026-08-20 to 2026-08-24.",
    ],
)
async def test_a_refusal_of_a_day_that_should_be_covered_is_an_error_with_a_hint(
    api_football: Open, apart: int, words: str
) -> None:
    async with RawServer(json_reply(refusal(plan=words))) as server:
        with pytest.raises(FeedPlanRefused, match="Free plans do not have access") as raised:
            await api_football(server.url).fixtures_on(TODAY + timedelta(days=apart))
    assert "yesterday to tomorrow" in raised.value.hint
    assert len(server.requests) == 1


async def test_a_failing_match_does_not_affect_the_others(api_football: Open) -> None:
    def answer(request: Request) -> Reply:
        return Reply(status=500) if request.params.get("id") == "2" else free(request)

    async with RawServer(answer) as server:
        found = await api_football(server.url).fixtures_by_ids([1, 2, 3])
    assert ([fixture.id for fixture in found.fixtures], list(found.failures)) == ([1, 3], [2])


SCENARIO = """
leagues:
  pl: {id: 39, name: Premier League, country: England, season: 2026, round: Round 1}
matches:
  - {id: 1, league: pl, home: {id: 40, name: Liverpool}, away: {id: 50, name: Manchester City}, kickoff: -20m}
  - {id: 2, league: pl, home: {id: 42, name: Arsenal}, away: {id: 49, name: Chelsea}, kickoff: +3d}
services: {api_football: {plan: free}}
"""


@pytest.fixture
async def free_key() -> AsyncIterator[ApiFootball]:
    async with Simulator(parse_scenario(SCENARIO, "free")) as simulator:
        feed = ApiFootball(simulator.url, simulator.key, timeout=5, now=lambda: datetime.now(UTC), retry=AT_ONCE)
        yield feed
        await feed.aclose()


async def test_the_simulator_refuses_and_accepts_the_same(free_key: ApiFootball) -> None:
    today = datetime.now(UTC).date()
    answer = await free_key.fixtures_by_ids([1])
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert free_key.is_free
    assert (await free_key.fixtures_on(today + timedelta(days=3))).fixtures == ()
    assert free_key.quota is not None
    assert (free_key.quota.day_limit, free_key.quota.day_remaining) == (100, 98)  # the refusal was counted as well
    said = "2 of 100 requests used today (free plan: one match per request, yesterday to tomorrow)"
    assert await free_key.check() == said
