"""Everything bad that can come from outside, over every feed that is asked by HTTP.

Each kind is a classified failure of that feed for those matches: never an empty answer, and never an invented one.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import date, timedelta
from email.utils import format_datetime
from functools import cache
from typing import Any

import pytest

from found_footy.errors import (
    FeedBlocked,
    FeedClientRefused,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedSchemaError,
    FeedTimeWrong,
    FeedUnauthorized,
    FeedUnavailable,
)
from found_footy.feeds import http
from found_footy.feeds.api_football import ApiFootball
from found_footy.feeds.espn import Espn
from found_footy.feeds.models import ScoreFeed
from tests.feeds import api_answers, cricket_answers, espn_answers
from tests.feeds.api_answers import changed
from tests.feeds.conftest import AT_ONCE, KEY
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.clocks import DatetimeClock

DAY = date(2026, 8, 23)
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Kind:
    """A feed, and its words for a good answer."""

    open: Callable[..., ScoreFeed]
    entry: Callable[[int], dict[str, Any]]
    body: Callable[[list[Any]], dict[str, Any]]
    id_field: str
    number: str
    """Where an entry has a score."""
    as_text: object
    """What a number as text comes to: a class of failure, or that it is understood."""
    refusal: type[FeedError] = FeedUnauthorized
    """The class of an HTTP 403."""
    requests: int = 1
    """How many requests an ingest of one day sends."""


FEEDS = {
    "api_football": Kind(
        lambda url, **options: ApiFootball(url, KEY, **options),
        api_answers.item,
        api_answers.body,
        "fixture.id",
        "goals.home",
        FeedSchemaError,
    ),
    "espn soccer": Kind(
        lambda url, **options: Espn(url, ["soccer/eng.1"], **options),
        lambda id_: espn_answers.event(id_, date=f"{DAY}T14:00Z"),
        lambda entries: espn_answers.scoreboard(*entries),
        "id",
        "competitions.0.competitors.0.score",
        "understood",
        FeedClientRefused,
    ),
    "espn cricket": Kind(
        lambda url, **options: Espn(url, ["cricket/8048"], **options),
        lambda id_: {
            **cricket_answers.event(id_, cricket_answers.game([cricket_answers.line(1, 9, 0, 2)], [])),
            "date": f"{DAY}T14:00Z",
        },
        lambda entries: cricket_answers.scoreboard(*entries),
        "id",
        "competitions.0.competitors.0.linescores.0.runs",
        "understood",
        FeedClientRefused,
        requests=2,
    ),
}


@dataclass
class Case:
    kind: Kind
    clock: DatetimeClock
    stack: AsyncExitStack
    good: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.good = json.dumps(self.kind.body([self.kind.entry(1), self.kind.entry(2)])).encode()

    def feed(self, server: RawServer) -> ScoreFeed:
        feed = self.kind.open(server.url, timeout=5, now=self.clock, retry=AT_ONCE)
        self.stack.push_async_callback(feed.aclose)
        return feed


@pytest.fixture(params=FEEDS)
async def case(request: pytest.FixtureRequest, clock: DatetimeClock) -> AsyncIterator[Case]:
    async with AsyncExitStack() as stack:
        yield Case(FEEDS[request.param], clock, stack)


@cache
def bomb() -> bytes:
    return gzip.compress(b"0" * (40 * MEBIBYTE))


def dated(case: Case, off: timedelta) -> dict[str, str]:
    return {"date": format_datetime(case.clock.now + off, usegmt=True)}


def page(words: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>{words}</title></head><body></body></html>".encode()


BAD: dict[str, tuple[Callable[[Case], Reply], type[FeedError], int]] = {
    "nothing": (lambda case: Reply(b""), FeedMalformed, 3),
    "HTML where JSON was expected": (lambda case: Reply(page("502 Bad Gateway")), FeedMalformed, 3),
    "HTML that calls itself JSON": (
        lambda case: Reply(b"\xef\xbb\xbf\n" + page("Oops"), headers={"content-type": "application/json"}),
        FeedMalformed,
        3,
    ),
    "truncated JSON": (lambda case: Reply(case.good[:-30]), FeedMalformed, 3),
    "JSON of another kind": (lambda case: Reply(b"[1, 2]"), FeedMalformed, 3),
    "a captcha": (lambda case: Reply(page("Please solve the CAPTCHA")), FeedBlocked, 1),
    "a question whether we are human": (lambda case: Reply(page("Are you human?"), 403), FeedBlocked, 1),
    "a challenge": (lambda case: Reply(page("Just a moment..."), 403, {"cf-mitigated": "challenge"}), FeedBlocked, 1),
    "a consent page": (lambda case: Reply(page("Before you continue")), FeedBlocked, 1),
    "a captcha in JSON": (lambda case: Reply(b'{"url": "https://geo.captcha.test"}', 403), FeedBlocked, 1),
    "a refusal": (lambda case: Reply(page("Forbidden"), 403), FeedUnauthorized, 1),
    "too many requests": (lambda case: Reply(b"{}", 429), FeedRateLimited, 1),
    "a server's error": (lambda case: Reply(case.good, 503), FeedUnavailable, 3),
    "a redirect loop": (lambda case: Reply(status=302, headers={"location": "/round"}), FeedUnavailable, 12),
    "a redirect to another host": (
        lambda case: Reply(status=301, headers={"location": "http://elsewhere.test/"}),
        FeedRejected,
        1,
    ),
    "a redirect to another service": (
        lambda case: Reply(status=301, headers={"location": "http://127.0.0.1:9/"}),
        FeedRejected,
        1,
    ),
    "a redirect to a file": (
        lambda case: Reply(status=301, headers={"location": "file:///etc/hosts"}),
        FeedRejected,
        1,
    ),
    "a redirect to a consent page": (
        lambda case: Reply(status=302, headers={"location": "https://consent.feed.test/?back=1"}),
        FeedBlocked,
        1,
    ),
    "a redirect without an address": (lambda case: Reply(status=302), FeedUnavailable, 3),
    "a redirect to no address": (
        lambda case: Reply(status=302, headers={"location": "http://127.0.0.1:many/"}),
        FeedUnavailable,
        3,
    ),
    "a gzip bomb": (lambda case: Reply(bomb(), headers={"content-encoding": "gzip"}), FeedMalformed, 3),
    "gzip that is cut off": (
        lambda case: Reply(gzip.compress(case.good)[:-20], headers={"content-encoding": "gzip"}),
        FeedMalformed,
        3,
    ),
    "gzip that is none": (lambda case: Reply(case.good, headers={"content-encoding": "gzip"}), FeedMalformed, 3),
    "a packing that nobody asked for": (
        lambda case: Reply(b"\x0b\x02\x80", headers={"content-encoding": "br"}),
        FeedMalformed,
        3,
    ),
    "a clock that is an hour behind": (
        lambda case: Reply(case.good, headers=dated(case, timedelta(hours=-1))),
        FeedTimeWrong,
        1,
    ),
    "a clock that is an hour ahead": (
        lambda case: Reply(case.good, headers=dated(case, timedelta(hours=1))),
        FeedTimeWrong,
        1,
    ),
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_answer_is_a_failure_of_its_class_and_never_an_empty_one(
    case: Case, bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_BYTES", MEBIBYTE)
    reply, kind, requests = BAD[bad]
    kind = case.kind.refusal if kind is FeedUnauthorized else kind
    async with RawServer(reply(case)) as server:
        feed = case.feed(server)
        with pytest.raises(FeedError) as raised:
            await feed.fixtures_on(DAY)
        assert type(raised.value) is kind
        assert len(server.requests) == requests * case.kind.requests
        answer = await feed.fixtures_by_ids([1, 2])
        assert (answer.fixtures, answer.unknown) == ((), ())
        assert {id_: type(error) for id_, error in answer.failures.items()} == {1: kind, 2: kind}
        server.answer = Reply(case.good)
        answer = await feed.fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [1, 2]
    assert KEY not in str(raised.value)


GOOD: dict[str, Callable[[Case], Reply]] = {
    "plain": lambda case: Reply(case.good),
    "packed": lambda case: Reply(gzip.compress(case.good), headers={"content-encoding": "gzip"}),
    "packed, with something behind it": lambda case: Reply(
        gzip.compress(case.good) + b"\0" * 9, headers={"content-encoding": "GZIP"}
    ),
    "with the right time": lambda case: Reply(case.good, headers=dated(case, timedelta(minutes=-4))),
    "with a time that is none": lambda case: Reply(case.good, headers={"date": "yesterday, about noon"}),
    "that talks of captchas": lambda case: Reply(case.good.replace(b"Liverpool", b"Captcha FC")),
}


@pytest.mark.parametrize("good", GOOD)
async def test_a_good_answer_stays_one(case: Case, good: str) -> None:
    async with RawServer(GOOD[good](case)) as server:
        answer = await case.feed(server).fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [1, 2]
    assert answer.failures == {}


async def test_a_redirect_on_the_same_host_is_followed(case: Case) -> None:
    moved = Reply(status=301, headers={"location": "/moved?to=here"})

    def answer_(request: Request) -> Reply:
        return Reply(case.good) if len(server.requests) > 3 * case.kind.requests else moved

    async with RawServer(answer_) as server:
        answer = await case.feed(server).fixtures_on(DAY)
    assert [fixture.id for fixture in answer.fixtures] == [1, 2]
    assert [request.path for request in server.requests[case.kind.requests :]] == ["/moved"] * 3 * case.kind.requests


@pytest.mark.parametrize("value", [-1, "-1", 2.5, "many", True, 10**9, [3], {"value": 3}])
async def test_an_invalid_score_affects_only_its_match(case: Case, value: object) -> None:
    entries = [case.kind.entry(1), changed(case.kind.entry(2), case.kind.number, value), case.kind.entry(3)]
    async with RawServer(json_reply(case.kind.body(entries))) as server:
        answer = await case.feed(server).fixtures_by_ids([1, 2, 3])
    assert [fixture.id for fixture in answer.fixtures] == [1, 3]
    assert isinstance(answer.failures[2], FeedSchemaError)
    assert answer.failures[2].field.endswith(case.kind.number.rsplit(".", 1)[-1])


async def test_a_number_as_text_is_understood_where_that_is_the_feeds_way_and_named_where_it_is_not(case: Case) -> None:
    entry = changed(case.kind.entry(1), case.kind.number, "7")
    async with RawServer(json_reply(case.kind.body([entry, case.kind.entry(2)]))) as server:
        answer = await case.feed(server).fixtures_by_ids([1, 2])
    outcome = type(answer.failures[1]) if 1 in answer.failures else "understood"
    assert outcome == case.kind.as_text
    assert 2 in {fixture.id for fixture in answer.fixtures}


async def test_matches_with_duplicate_ids_are_both_rejected(case: Case) -> None:
    other = changed(case.kind.entry(3), case.kind.id_field, case.kind.entry(1).get("id", 1))
    async with RawServer(json_reply(case.kind.body([case.kind.entry(1), other, case.kind.entry(2)]))) as server:
        answer = await case.feed(server).fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert isinstance(answer.failures[1], FeedSchemaError)
