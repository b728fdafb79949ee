"""Every way in which an answer of API-Football can fail, with its class and how often it is asked for."""

from __future__ import annotations

import json
import socket
import time
from datetime import date
from typing import Any

import pytest

from found_footy.errors import (
    FeedError,
    FeedMalformed,
    FeedNotFound,
    FeedPlanRefused,
    FeedQuotaExhausted,
    FeedRateLimited,
    FeedRejected,
    FeedUnauthorized,
    FeedUnavailable,
)
from found_footy.feeds import http
from tests.feeds.api_answers import body, item, refusal
from tests.feeds.conftest import KEY, Open
from tests.feeds.raw_server import RawServer, Reply, json_reply
from tests.support.recorded import recorded

DAY = date(2026, 8, 22)
GOOD = json_reply(body([item(1)]))


@pytest.mark.parametrize(
    ("errors", "kind", "words"),
    [
        (
            {"rateLimit": "Too many requests. Your rate limit is 10 requests per minute."},
            FeedRateLimited,
            "10 requests",
        ),
        ({"requests": "You have reached the request limit for the day"}, FeedQuotaExhausted, "for the day"),
        ({"token": "Error/Missing application key."}, FeedUnauthorized, "application key"),
        ({"access": "Your account is suspended"}, FeedUnauthorized, "suspended"),
        ({"plan": "Free plans do not have access to this season"}, FeedPlanRefused, "plan: Free plans"),
        ({"ids": "The Ids field must contain an integer."}, FeedRejected, "ids: The Ids"),
        ({"report": "see below", "rateLimit": "Too many requests."}, FeedRateLimited, "Too many requests"),
        (["no such endpoint"], FeedRejected, "no such endpoint"),
        ("down for maintenance", FeedRejected, "maintenance"),
    ],
)
@pytest.mark.parametrize("left_out", [(), ("response",), ("response", "paging")])
async def test_errors_inside_an_http_200_have_their_class_and_are_not_retried(
    api_football: Open, errors: Any, kind: type[FeedError], words: str, left_out: tuple[str, ...]
) -> None:
    answer = {key: value for key, value in body([], errors=errors).items() if key not in left_out}
    async with RawServer(json_reply(answer)) as server:
        with pytest.raises(FeedError) as raised:
            await api_football(server.url).fixtures_on(DAY)
    assert type(raised.value) is kind
    assert words in str(raised.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", ["injuries-error", "team-leipzig-error", "venue-camp-nou-error"])
async def test_recorded_errors_keep_the_feeds_message(api_football: Open, name: str) -> None:
    answer = recorded("feeds", "api-football", f"{name}.json").read_bytes()
    (words,) = json.loads(answer)["errors"].values()
    async with RawServer(Reply(answer)) as server:
        with pytest.raises(FeedRejected) as raised:
            await api_football(server.url).fixtures_on(DAY)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("status", "kind", "asked"),
    [
        (500, FeedUnavailable, 3),
        (502, FeedUnavailable, 3),
        (404, FeedNotFound, 1),
        (301, FeedUnavailable, 3),
        (204, FeedUnavailable, 3),
        (401, FeedUnauthorized, 1),
        (403, FeedUnauthorized, 1),
        (429, FeedRateLimited, 1),
    ],
)
async def test_an_http_status_has_its_class_and_three_attempts_at_most(
    api_football: Open, status: int, kind: type[FeedError], asked: int
) -> None:
    async with RawServer(json_reply(body([item(1)]), status)) as server:
        with pytest.raises(FeedError, match=f"HTTP {status}") as raised:
            await api_football(server.url).fixtures_on(DAY)
    assert type(raised.value) is kind
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(GOOD.body[:-40], id="truncated JSON"),
        pytest.param(b"<html><body><h1>502 Bad Gateway</h1></body></html>", id="HTML"),
        pytest.param(b"\xff\xfe\xff" * 9, id="no text"),
        pytest.param(b"[" * 100_000, id="nested too deep"),
        pytest.param(b'{"response": ' + b"9" * 5000 + b"}", id="a number without end"),
        pytest.param(json.dumps([body([item(1)])]).encode(), id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"errors": []}', id="no response"),
        pytest.param(json.dumps(body([], response={"fixture": 1})).encode(), id="an object as the response"),
        pytest.param(json.dumps(body([], response=None)).encode(), id="null as the response"),
        pytest.param(json.dumps(body([], paging={"total": "all"})).encode(), id="pages as text"),
        pytest.param(json.dumps(body([], paging="none")).encode(), id="paging as text"),
    ],
)
async def test_an_answer_that_is_not_the_json_that_it_should_be_is_malformed(api_football: Open, answer: bytes) -> None:
    async with RawServer(Reply(answer)) as server:
        with pytest.raises(FeedMalformed):
            await api_football(server.url).fixtures_on(DAY)
    assert len(server.requests) == 3


@pytest.mark.parametrize("paging", [[], None, {"current": 1, "total": 1}])
async def test_paging_may_be_empty_in_the_ways_of_php(api_football: Open, paging: Any) -> None:
    async with RawServer(json_reply(body([item(1)], paging=paging))) as server:
        answer = await api_football(server.url).fixtures_on(DAY)
    assert [fixture.id for fixture in answer.fixtures] == [1]


async def test_every_page_is_requested(api_football: Open) -> None:
    pages = [json_reply(body([item(n)], paging={"current": n, "total": 3})) for n in (1, 2, 3)]
    async with RawServer.in_turn(pages) as server:
        answer = await api_football(server.url).fixtures_on(DAY)
    assert [fixture.id for fixture in answer.fixtures] == [1, 2, 3]
    assert [request.params for request in server.requests] == [
        {"date": "2026-08-22"},
        {"date": "2026-08-22", "page": "2"},
        {"date": "2026-08-22", "page": "3"},
    ]


async def test_a_later_page_without_a_list_is_malformed(api_football: Open) -> None:
    first, second = body([item(1)], paging={"total": 2}), body([], response={"a": 1})
    async with RawServer(lambda request: json_reply(second if "page" in request.params else first)) as server:
        with pytest.raises(FeedMalformed, match="dict as its response"):
            await api_football(server.url).fixtures_on(DAY)


async def test_an_answer_over_the_bound_is_not_read_to_its_end(
    api_football: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_BYTES", 10_000)
    async with RawServer(Reply(b" " * (10_001 - len(GOOD.body)) + GOOD.body)) as server:
        with pytest.raises(FeedMalformed, match="larger than 10000 bytes"):
            await api_football(server.url).fixtures_on(DAY)
        server.answer = Reply(b" " * (10_000 - len(GOOD.body)) + GOOD.body)
        assert len((await api_football(server.url).fixtures_on(DAY)).fixtures) == 1


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(held=True), id="no answer"),
        pytest.param(Reply(GOOD.body, drips=True), id="a drip that never ends"),
        pytest.param(Reply(GOOD.body, missing=1, drips=True), id="a drip instead of the rest"),
    ],
)
async def test_one_answer_takes_no_longer_than_the_timeout(api_football: Open, reply: Reply) -> None:
    async with RawServer(reply) as server:
        before = time.monotonic()
        with pytest.raises(FeedUnavailable, match=r"no response within 1 s"):
            await api_football(server.url, timeout=1).check()
        assert time.monotonic() - before < 20
    assert len(server.requests) == 1


async def test_a_connection_that_breaks_off_is_unavailable(api_football: Open) -> None:
    async with RawServer(Reply(GOOD.body[:50], missing=500)) as server:
        with pytest.raises(FeedUnavailable):
            await api_football(server.url).fixtures_on(DAY)
    assert len(server.requests) == 3


async def test_a_refused_connection_is_unavailable(api_football: Open) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(FeedUnavailable, match=r"127\.0\.0\.1:\d+/fixtures"):
            await api_football(url).fixtures_on(DAY)


@pytest.mark.parametrize("bad", [Reply(status=500), Reply(b"<html>"), Reply(GOOD.body[:50], missing=9)])
async def test_the_third_attempt_can_still_succeed(api_football: Open, bad: Reply) -> None:
    async with RawServer.in_turn([bad, bad, GOOD]) as server:
        answer = await api_football(server.url).fixtures_on(DAY)
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert len(server.requests) == 3


async def test_each_request_carries_the_key(api_football: Open) -> None:
    async with RawServer(GOOD) as server:
        feed = api_football(server.url)
        await feed.fixtures_on(DAY)
        await feed.fixtures_by_ids([1])
    assert [request.headers["x-apisports-key"] for request in server.requests] == [KEY, KEY]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refusal(token="Error/Missing application key."), FeedUnauthorized),
        (body([], response=[]), FeedError),
        (body([], response={"requests": {"current": 3}}), FeedError),
    ],
)
async def test_the_check_fails_without_account_data(
    api_football: Open, answer: dict[str, Any], kind: type[FeedError]
) -> None:
    async with RawServer(json_reply(answer)) as server:
        with pytest.raises(kind):
            await api_football(server.url).check()


async def test_no_message_holds_the_key(api_football: Open) -> None:
    replies = [Reply(status=500), Reply(b"<html>"), Reply(held=True), json_reply(refusal(token="Missing key"))]
    for reply in replies:
        async with RawServer(reply) as server:
            with pytest.raises(FeedError) as raised:
                await api_football(server.url, timeout=0.2).check()
        assert KEY not in str(raised.value)
