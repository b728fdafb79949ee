"""One poll of one feed, in which something goes wrong: real store, real cache, feeds that fault."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from found_footy.errors import CacheUnavailable
from found_footy.feeds import activities as feed_asking
from found_footy.feeds.models import FeedAnswer, FeedPollInput, MatchPosition
from found_footy.fixtures.models import FixtureStage, LiveFixture
from found_footy.fixtures.store import FixtureStore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed
from tests.support.football import START, follow_matches, match
from tests.support.polling import FeedSystem

MATCHES = (5000, 5001, 5002)


class OneByOne(ScriptedFeed):
    """One match a request; a request for some of them ends in a way that nobody has thought of."""

    def __init__(self, *fixtures: LiveFixture) -> None:
        super().__init__(*fixtures)
        self.faults: dict[int, Exception] = {}
        self.done: list[int] = []

    @property
    def ids_per_request(self) -> int | None:
        return 1

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        (id_,) = ids
        if id_ in self.faults:
            raise self.faults[id_]
        await asyncio.sleep(0.05)
        self.done.append(id_)
        return await super().fixtures_by_ids(ids, locators)


@pytest.fixture
async def system(store: FixtureStore, cache: RedisCache, objects: ObjectStore) -> FeedSystem:
    matches = [match(fixture_id=id_) for id_ in MATCHES]
    await follow_matches(store, [(each, FixtureStage.ACTIVE) for each in matches], START)
    return FeedSystem(store, cache, objects, {"test": OneByOne(*matches)})


def feed(system: FeedSystem) -> OneByOne:
    assert isinstance(system.feed, OneByOne)
    return system.feed


async def errors(system: FeedSystem) -> dict[int, str | None]:
    found = await system.memory.records.load([f"test_{id_}" for id_ in MATCHES])
    return {record.feed_id: record.error for record in found.values()}


async def test_a_fault_in_one_request_stops_no_other(system: FeedSystem, caplog: pytest.LogCaptureFixture) -> None:
    feed(system).faults[5001] = KeyError("nobody thought of it")
    system.number = 1
    polled = (await system.poll_feeds())["test"]
    assert (polled.asked, polled.answered, polled.failed) == (3, 2, 1)
    said = "InternalFault: KeyError: 'nobody thought of it'"
    assert await errors(system) == {5000: None, 5001: said, 5002: None}
    assert [record.exc_info is not None for record in caplog.records if record.levelname == "ERROR"] == [True]
    system.number = 2
    feed(system).faults.clear()
    assert (await system.poll_feeds())["test"].answered == 3


async def test_a_fault_in_checking_one_answer_stops_no_other(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [match(fixture_id=id_) for id_ in MATCHES]
    await follow_matches(store, [(each, FixtureStage.ACTIVE) for each in matches], START)
    system = FeedSystem(store, cache, objects, {"test": ScriptedFeed(*matches)})  # all in one request
    real = feed_asking.find_problem

    def faulty(previous: MatchPosition | None, live: LiveFixture, now: datetime) -> object:
        return 1 / 0 if live.id == 5001 else real(previous, live, now)

    monkeypatch.setattr(feed_asking, "find_problem", faulty)
    system.number = 1
    polled = (await system.poll_feeds())["test"]
    assert (polled.asked, polled.answered, polled.failed) == (3, 2, 1)
    assert "ZeroDivisionError" in str((await errors(system))[5001])


async def test_a_fault_in_encoding_one_answer_stops_no_other(
    system: FeedSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = feed_asking.encode

    def faulty(live: LiveFixture) -> object:
        return 1 / 0 if live.id == 5001 else real(live)

    monkeypatch.setattr(feed_asking, "encode", faulty)
    system.number = 1
    polled = (await system.poll_feeds())["test"]
    assert (polled.asked, polled.answered, polled.failed) == (3, 2, 1)


async def test_without_the_cache_the_poll_fails_after_all_of_it_has_ended(system: FeedSystem) -> None:
    """It is tried again as a whole; nothing of it goes on that nobody waits for."""
    feed(system).faults[5000] = CacheUnavailable("the turn was lost")
    system.number = 1
    with pytest.raises(Exception, match="the turn was lost"):
        await system.poll_feeds()
    assert sorted(feed(system).done) == [5001, 5002]


async def test_a_retried_answer_keeps_its_age(system: FeedSystem) -> None:
    environment = ActivityEnvironment()
    wanted = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
    begun = wanted + timedelta(seconds=121)
    environment.info = replace(environment.info, attempt=2, scheduled_time=wanted, started_time=begun)
    await environment.run(system.feed_activities.poll_feed, FeedPollInput("test", START))
    heard = await system.memory.snapshots.load(["test_5000"])
    late = heard["test_5000"].created_at - START
    assert timedelta(seconds=121) <= late < timedelta(seconds=150)
