"""CREX and time: no page waits beyond the deadline of its match, and a list that does not come costs nobody much."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from found_footy.errors import FeedUnavailable
from found_footy.feeds.crex import LIST_TIME_SHARE, Crex
from found_footy.feeds.poll_state import is_feed_failure
from tests.feeds.conftest import AT_ONCE
from tests.feeds.crex_answers import MATCH_ID, list_answer, match_answer
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply

Open = Callable[..., Crex]
BUDGET = 3.0


@pytest.fixture
async def crex() -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_(browser_url: str, **options: Any) -> Crex:
            feed = Crex(
                "https://crex.example", browser_url, **{"timeout": 60, "retry": AT_ONCE, "http_first": False, **options}
            )
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_


@asynccontextmanager
async def never() -> AsyncIterator[None]:
    await asyncio.sleep(600)
    yield


def pages(listed: Reply, match: Reply | None = None) -> Callable[[Request], Reply]:
    """The browser service, as CREX's adapter sees it."""
    read = match or json_reply({"data": match_answer()})
    return lambda request: listed if request.params["reader"] == "crex_list" else read


def asked(server: RawServer) -> list[str]:
    return [request.params["reader"] for request in server.requests]


async def test_no_permit_before_the_deadline_is_our_own_limit(crex: Open) -> None:
    async with RawServer(pages(json_reply({"data": list_answer()}))) as server:
        began = time.monotonic()
        answer = await crex(server.url, permit=never, budget=0.5).fixtures_by_ids([MATCH_ID])
    assert time.monotonic() - began < 30
    (error,) = answer.failures.values()
    assert (error.kind, is_feed_failure(error), server.requests) == ("FeedBusy", False, [])


async def test_a_permit_at_the_deadline_is_not_used(crex: Open) -> None:
    """A page that has no time at all would fail, and be held against the feed."""
    async with RawServer(pages(json_reply({"data": list_answer()}))) as server:
        answer = await crex(server.url, budget=0).fixtures_by_ids([MATCH_ID])
    (error,) = answer.failures.values()
    assert (error.kind, server.requests) == ("FeedBusy", [])


async def test_a_list_that_hangs_leaves_the_matches_most_of_their_time(crex: Open) -> None:
    async with RawServer(pages(Reply(held=True))) as server:
        feed = crex(server.url, budget=BUDGET)
        began = time.monotonic()
        # As a poll asks: each match by itself, all of them together.
        answers = await asyncio.gather(*(feed.fixtures_by_ids([MATCH_ID]) for _ in range(5)))
        assert time.monotonic() - began < 5 * BUDGET * LIST_TIME_SHARE, "they do not wait one after the other"
        assert [len(answer.fixtures) for answer in answers] == [1] * 5, [answer.failures for answer in answers]
    assert asked(server).count("crex_list") == 1


async def test_a_failed_list_is_not_retried_for_a_while_by_optional_readers(
    crex: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = json_reply({"error": {"class": "FeedUnavailable", "message": "HTTP 500"}}, 503)
    # Of another match, so that the address of ours stays unknown.
    other = json_reply({"data": match_answer(path="")})
    async with RawServer(pages(failing, other)) as server:
        feed = crex(server.url)
        for _ in range(3):
            await feed.fixtures_by_ids([MATCH_ID])
        assert asked(server).count("crex_list") == AT_ONCE.attempts
        with pytest.raises(FeedUnavailable):  # who wants the list itself asks for it
            await feed.check()
        assert asked(server).count("crex_list") == 2 * AT_ONCE.attempts
        server.answer = pages(json_reply({"data": list_answer()}), other)
        monkeypatch.setattr("found_footy.feeds.crex.LIST_MISSING_SECONDS", 0.0)
        await feed.fixtures_by_ids([MATCH_ID])
    assert asked(server).count("crex_list") == 2 * AT_ONCE.attempts + 1


async def test_an_answer_of_no_browser_service_is_not_held_against_the_feed(crex: Open) -> None:
    async with RawServer(Reply(b"<html>", status=502)) as server:
        (error,) = (await crex(server.url).fixtures_by_ids([MATCH_ID])).failures.values()
    assert (error.kind, is_feed_failure(error)) == ("BrowserUnavailable", False)
