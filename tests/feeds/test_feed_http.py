"""Requests to a feed: permits, deadlines and bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from found_footy.errors import FeedBusy, FeedError, FeedMalformed, FeedRateLimited, FeedRejected, FeedUnavailable
from found_footy.feeds.http import FeedClient, is_block_page, response_time
from found_footy.runtime.retry import Deadline, RetryRules, with_retries
from tests.feeds.raw_server import RawServer, Reply, json_reply

SLOW = RetryRules(base_seconds=30)


class OneAtATime:
    """Lets one request through at a time, and remembers how many there were."""

    def __init__(self) -> None:
        self.taken = 0
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        async with self._lock:
            self.taken += 1
            yield


async def test_each_request_and_redirect_waits_for_a_permit() -> None:
    turns = OneAtATime()

    async with RawServer.in_turn([Reply(status=302, headers={"location": "/there"}), json_reply({})]) as server:
        http = FeedClient(server.url, 5, permit=turns)
        await asyncio.gather(*(http.get("/", {}) for _ in range(5)))
        await http.aclose()
    assert turns.taken == len(server.requests) == 6
    assert server.most_at_once == 1


async def test_without_a_permit_no_request_is_sent() -> None:
    @asynccontextmanager
    async def never() -> AsyncIterator[None]:
        raise FeedBusy("the limit is reached")
        yield

    async with RawServer(json_reply({})) as server:
        http = FeedClient(server.url, 5, permit=never)
        with pytest.raises(FeedBusy, match="the limit is reached"):
            await http.get("/", {})
        await http.aclose()
    assert server.requests == []


async def test_waiting_for_a_permit_times_out() -> None:
    turns = OneAtATime()
    async with RawServer(json_reply({})) as server, turns():
        http = FeedClient(server.url, 5, permit=turns)
        with pytest.raises(FeedBusy, match="no permit before the deadline"):
            await http.get("/", {}, Deadline(0.05))
        await http.aclose()
    assert server.requests == []


async def test_a_request_takes_no_longer_than_the_poll_has_left() -> None:
    async with RawServer(Reply(held=True)) as server:
        http = FeedClient(server.url, 60)
        with pytest.raises(FeedUnavailable, match="no response within"):
            await http.get("/", {}, Deadline(0.2))
        await http.aclose()


async def test_a_poll_without_time_sends_no_request() -> None:
    async with RawServer(json_reply({})) as server:
        http = FeedClient(server.url, 60)
        with pytest.raises(FeedUnavailable, match="no time left"):
            await http.get("/", {}, Deadline(0))
        await http.aclose()
    assert server.requests == []


async def attempts(error: FeedError, rules: RetryRules, deadline: Deadline) -> int:
    calls = 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        raise error

    with pytest.raises(type(error)):
        await with_retries(call, rules, deadline)
    return calls


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (FeedUnavailable("down"), 3),
        (FeedMalformed("no JSON"), 3),
        (FeedRateLimited("slowly"), 1),
        (FeedBusy("our own limits"), 1),
        (FeedRejected("no"), 1),
    ],
)
async def test_a_failure_is_tried_three_times_where_that_can_help(error: FeedError, calls: int) -> None:
    assert await attempts(error, RetryRules(base_seconds=0), Deadline()) == calls


async def test_a_retry_after_the_end_of_the_poll_is_skipped() -> None:
    assert await attempts(FeedUnavailable("down"), SLOW, Deadline(5)) == 1


async def test_the_first_response_is_used() -> None:
    failures = [FeedUnavailable("down")]

    async def call() -> str:
        if failures:
            raise failures.pop()
        return "here"

    assert await with_retries(call, RetryRules(base_seconds=0), Deadline()) == "here"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Sat, 22 Aug 2026 14:00:00 GMT", datetime(2026, 8, 22, 14, tzinfo=UTC)),
        ("Sat, 22 Aug 2026 16:00:00 +0200", datetime(2026, 8, 22, 14, tzinfo=UTC)),
        ("Sat, 22 Aug 2026 14:00:00 -0000", datetime(2026, 8, 22, 14, tzinfo=UTC)),
        ("", None),
        ("soon", None),
        ("Sat, 99 Aug 2026 14:00:00 GMT", None),
        ("Sat, 22 Aug 99999999999 14:00:00 GMT", None),
        ("9" * 5000, None),
    ],
)
def test_an_invalid_response_time_is_ignored(text: str, moment: datetime | None) -> None:
    assert response_time({"date": text}) == moment


@pytest.mark.parametrize(
    ("status", "headers", "body", "blocked"),
    [
        (200, {}, b"<html>Please solve this captcha</html>", True),
        (200, {"content-type": "text/html"}, b"verify you are human", True),
        (503, {}, b"cf-chl-bypass", True),
        (200, {"cf-mitigated": "challenge"}, b"", True),
        (200, {}, b'{"team": "Captcha FC"}', False),
        (200, {}, b"<html>It works!</html>", False),
        (403, {}, b"Forbidden", False),
        (500, {}, b'{"error": "captcha service"}', False),
    ],
)
def test_a_page_for_people_is_known_by_its_signs(
    status: int, headers: dict[str, str], body: bytes, blocked: bool
) -> None:
    assert is_block_page(status, headers, body) is blocked
