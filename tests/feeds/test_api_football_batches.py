"""Many fixtures in few requests, one that breaks them, and the limits that the service tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import pytest

from found_footy.errors import (
    FeedMalformed,
    FeedQuotaExhausted,
    FeedRateLimited,
    FeedRejected,
    FeedUnauthorized,
    FeedUnavailable,
    FootyError,
)
from found_footy.feeds.api_football import IDS_PER_REQUEST
from found_footy.feeds.models import Quota
from tests.feeds.api_answers import body, item, refusal
from tests.feeds.conftest import Open
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.clocks import DatetimeClock

ATTEMPTS = 3
HEADERS = {
    "x-ratelimit-requests-limit": "7500",
    "x-ratelimit-requests-remaining": "7400",
    "x-ratelimit-limit": "300",
    "x-ratelimit-remaining": "299",
}


def found(request: Request) -> Reply:
    return json_reply(body([item(id_) for id_ in request.ids]))


def poisoned_by(poison: Iterable[int], broken: Reply) -> RawServer:
    """Every answer that a poisonous fixture would be in is broken."""
    bad = set(poison)
    return RawServer(lambda request: broken if bad & set(request.ids) else found(request))


def kinds(failures: Mapping[int, FootyError]) -> dict[int, type[FootyError]]:
    return {id_: type(error) for id_, error in failures.items()}


@pytest.mark.parametrize(("fixtures", "sizes"), [(0, []), (1, [1]), (20, [20]), (21, [20, 1]), (45, [20, 20, 5])])
async def test_twenty_fixtures_go_into_one_request(api_football: Open, fixtures: int, sizes: list[int]) -> None:
    ids = list(range(1, fixtures + 1))
    async with RawServer(found) as server:
        feed = api_football(server.url)
        answer = await feed.fixtures_by_ids(ids)
    assert [fixture.id for fixture in answer.fixtures] == ids
    assert (answer.failures, answer.unknown) == ({}, ())
    asked = sorted(request.ids for request in server.requests)
    assert [len(batch) for batch in asked] == sizes
    assert [id_ for batch in asked for id_ in batch] == ids
    assert feed.requests_for(fixtures) == len(sizes)


async def test_no_more_than_four_requests_are_under_way_at_once(api_football: Open) -> None:
    async with RawServer(found) as server:
        await api_football(server.url).fixtures_by_ids(range(1, 201))
    assert len(server.requests) == 10
    assert server.most_at_once == 4


async def test_a_fixture_requested_twice_is_returned_once(api_football: Open) -> None:
    async with RawServer(lambda request: json_reply(body([item(1)]))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1, 2, 1, 2])
    assert ([fixture.id for fixture in answer.fixtures], answer.unknown) == ([1], (2,))
    assert [request.ids for request in server.requests] == [[1, 2]]


@pytest.mark.parametrize("poison", [1, 8, 10, 11, 14, 20])
@pytest.mark.parametrize("broken", [Reply(status=500), Reply(b'{"response": [')], ids=["HTTP 500", "truncated"])
async def test_one_poisonous_fixture_is_found_by_halving_and_the_others_arrive(
    api_football: Open, poison: int, broken: Reply
) -> None:
    ids = list(range(1, 21))
    async with poisoned_by([poison], broken) as server:
        answer = await api_football(server.url).fixtures_by_ids(ids)
    assert sorted(fixture.id for fixture in answer.fixtures) == [id_ for id_ in ids if id_ != poison]
    assert kinds(answer.failures) == {poison: FeedUnavailable if broken.status == 500 else FeedMalformed}
    assert answer.unknown == ()
    # Twenty are halved five times at most, and each time both halves are asked for once.
    assert len(server.requests) <= ATTEMPTS + 2 * math.ceil(math.log2(IDS_PER_REQUEST)) == 13


async def test_a_failing_fixture_does_not_affect_other_batches(api_football: Open) -> None:
    ids = list(range(1, 46))
    async with poisoned_by([33], Reply(status=500)) as server:
        answer = await api_football(server.url).fixtures_by_ids(ids)
    assert sorted(fixture.id for fixture in answer.fixtures) == [id_ for id_ in ids if id_ != 33]
    assert set(answer.failures) == {33}
    assert len(server.requests) <= 13 + 2


@pytest.mark.parametrize(
    ("fixtures", "requests"),
    [
        pytest.param(1, 3, id="one: three attempts"),
        pytest.param(20, 5, id="a batch: three attempts and two halves"),
        pytest.param(45, 15, id="three batches: five each"),
    ],
)
async def test_a_feed_that_is_down_for_all_is_not_hammered(api_football: Open, fixtures: int, requests: int) -> None:
    ids = list(range(1, fixtures + 1))
    async with RawServer(Reply(status=503)) as server:
        answer = await api_football(server.url).fixtures_by_ids(ids)
    assert kinds(answer.failures) == dict.fromkeys(ids, FeedUnavailable)
    assert (answer.fixtures, answer.unknown) == ((), ())
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ({"rateLimit": "Too many requests."}, FeedRateLimited),
        ({"requests": "the limit for the day"}, FeedQuotaExhausted),
        ({"token": "Missing application key"}, FeedUnauthorized),
        ({"bug": "This is on our side"}, FeedRejected),
    ],
)
async def test_a_refused_batch_is_neither_repeated_nor_halved(
    api_football: Open, errors: dict[str, str], kind: type[FootyError]
) -> None:
    ids = list(range(1, 46))
    async with poisoned_by([30], json_reply(refusal(**errors))) as server:
        answer = await api_football(server.url).fixtures_by_ids(ids)
    assert kinds(answer.failures) == dict.fromkeys(range(21, 41), kind)
    assert [fixture.id for fixture in answer.fixtures] == [*range(1, 21), *range(41, 46)]
    assert len(server.requests) == 3


async def test_the_limits_are_read_from_the_headers(api_football: Open, clock: DatetimeClock) -> None:
    async with RawServer(json_reply(body([item(1)]), headers=HEADERS)) as server:
        feed = api_football(server.url)
        assert feed.quota is None
        await feed.fixtures_by_ids([1])
    assert feed.quota == Quota(clock.now, 7500, 7400, 300, 299)


@pytest.mark.parametrize("value", ["", "many", "-1", "1.5", "1e3"])
async def test_a_non_numeric_header_is_ignored(api_football: Open, value: str) -> None:
    headers = {**HEADERS, "x-ratelimit-remaining": value}
    async with RawServer(json_reply(body([item(1)]), headers=headers)) as server:
        feed = api_football(server.url)
        answer = await feed.fixtures_by_ids([1])
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert feed.quota is not None
    assert (feed.quota.minute_remaining, feed.quota.day_remaining) == (None, 7400)


async def test_an_answer_without_limits_leaves_those_that_are_known(api_football: Open, clock: DatetimeClock) -> None:
    replies = [json_reply(body([item(1)]), headers=HEADERS), json_reply(body([item(1)]))]
    async with RawServer.in_turn(replies) as server:
        feed = api_football(server.url)
        await feed.fixtures_by_ids([1])
        known = feed.quota
        await feed.fixtures_by_ids([1])
    assert feed.quota == known is not None


@pytest.mark.parametrize("status", [200, 429])
async def test_a_used_up_minute_stops_the_asking_until_it_is_over(
    api_football: Open, clock: DatetimeClock, status: int
) -> None:
    last = json_reply(body([item(1)]), status, {**HEADERS, "x-ratelimit-remaining": "0"})
    async with RawServer.in_turn([last, json_reply(body([item(1)]), headers=HEADERS)]) as server:
        feed = api_football(server.url)
        await feed.fixtures_by_ids([1])
        clock.advance(59)
        refused = await feed.fixtures_by_ids([1, 2])
        assert kinds(refused.failures) == {1: FeedRateLimited, 2: FeedRateLimited}
        with pytest.raises(FeedRateLimited, match="the minute's request quota is exhausted"):
            await feed.check()
        assert len(server.requests) == 1
        clock.advance(1)
        answer = await feed.fixtures_by_ids([1])
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert len(server.requests) == 2


async def test_waiting_requests_fail_when_the_minute_is_exhausted(api_football: Open) -> None:
    headers = {**HEADERS, "x-ratelimit-remaining": "0"}
    async with RawServer(lambda r: json_reply(body([item(id_) for id_ in r.ids]), headers=headers)) as server:
        answer = await api_football(server.url).fixtures_by_ids(range(1, 201))
    assert len(server.requests) == 4
    assert len(answer.fixtures) == 4 * 20
    assert set(kinds(answer.failures).values()) == {FeedRateLimited}
