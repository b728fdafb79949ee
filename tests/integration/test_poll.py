"""The poll: a scripted feed, the real store and the real cache."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from psycopg import AsyncCursor
from pydantic import SecretStr
from temporalio.client import Client

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.bootstrap import open_worker
from found_footy.config import Settings
from found_footy.domain.errors import FeedSchemaError, FeedUnavailable
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures import comparison, polling
from found_footy.domain.fixtures.model import LiveFixture, Minute, Stage
from found_footy.ports import ObjectStore
from found_footy.workflows import announce_contracts, clip_contracts, contracts, feed_contracts
from found_footy.workflows.contracts import Call, EventWorkflow, Polled
from tests.support.feeds import ScriptedFeed
from tests.support.following import follow
from tests.support.football import START, match
from tests.support.polling import POLL, System

PLAYER_7 = "5000_40_7_Goal_1"


@pytest.fixture
async def system(store: PostgresStore, cache: RedisCache, objects: ObjectStore) -> System:
    await follow(store, [(match(), Stage.ACTIVE)], START)
    return System(store, cache, objects, {"test": ScriptedFeed(match())})


async def test_a_goal_becomes_certain_and_is_handed_to_the_search(system: System) -> None:
    results = [await system.poll(match("23 home 7")) for _ in range(4)]
    assert [result.to_search for result in results] == [[], [], [PLAYER_7], [PLAYER_7]]
    order = EventWorkflow(PLAYER_7, "search-1")
    await system.call(system.search.set_monitor_complete, order)
    await system.call(system.search.set_download_complete, order)
    assert (await system.poll()).to_search == []


async def test_a_match_completes_when_its_goals_are_done(system: System) -> None:
    for _ in range(5):
        await system.poll(match("23 home 7", status="FT"))
    assert (await system.store.fixture(5000))["stage"] == "active"
    order = EventWorkflow(PLAYER_7, "search-1")
    await system.call(system.search.set_monitor_complete, order)
    await system.call(system.search.set_download_complete, order)
    assert (await system.poll()).completed == 1
    assert (await system.store.fixture(5000))["stage"] == "completed"
    assert await system.poll() == Polled()


async def test_a_poll_that_failed_counts_for_nothing(system: System) -> None:
    for _ in range(2):
        await system.poll(match("23 home 7"))
    system.feed.down = FeedUnavailable("gone")
    for _ in range(4):
        assert (await system.poll()).failed == 1
    assert await system.states() == [2]
    state = await system.store.feed_state("test")
    assert state is not None
    assert state.error == "FeedUnavailable: gone"
    system.feed.down = None
    assert (await system.poll()).to_search == [PLAYER_7]


async def test_one_fixtures_failure_stops_no_other(system: System) -> None:
    await follow(system.store, [(match(fixture_id=id_), Stage.ACTIVE) for id_ in (5001, 5002)], START)
    system.feed.failures = {5001: FeedSchemaError("goals.home", "x", "a number")}
    result = await system.poll(match("23 home 7"), match("23 home 7", fixture_id=5001))
    assert (result.asked, result.answered, result.failed) == (3, 1, 2)
    assert await system.states() == [1]
    assert await system.states(5001) == []
    errors = {document["_id"]: document["error"] for document in await system.store.fixtures()}
    assert errors[5000] is None
    assert "goals.home: got 'x', expected a number" in errors[5001]["message"]
    assert "NotInAnswer" in errors[5002]["message"]


async def test_a_fault_of_our_own_in_one_fixture_stops_no_other(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    await follow(system.store, [(match(fixture_id=5001), Stage.ACTIVE)], START)
    real = comparison.compare

    def faulty(live: LiveFixture, *rest: Any) -> Any:
        if live.id == 5001:
            raise ZeroDivisionError("a fault")
        return real(live, *rest)

    monkeypatch.setattr(polling, "compare", faulty)
    result = await system.poll(match("23 home 7"), match("23 home 7", fixture_id=5001))
    assert (result.answered, result.failed) == (2, 1)
    assert await system.states() == [1]
    assert (await system.store.fixture(5001))["error"]["class"] == "ProgramFault"


async def test_a_retried_poll_counts_once(system: System) -> None:
    system.feed.says(match("23 home 7"))
    system.number = 1
    for _ in range(4):
        await system.ask()
        await system.call(system.monitor.poll_active_fixtures, system.order)
    assert await system.states() == [1]


async def test_an_answer_counts_once_however_many_polls_find_it_fresh(system: System) -> None:
    await system.poll(match("23 home 7"))
    for _ in range(5):
        system.number += 1
        result = await system.call(system.monitor.poll_active_fixtures, system.order)
        assert (result.asked, result.answered) == (1, 0)
    assert await system.states() == [1]


async def test_an_index_of_freshness_that_was_lost_is_filled_with_what_the_database_knows(system: System) -> None:
    async def index() -> int:
        """The poll since which the match is waited for, or at which it was heard of."""
        return int((await system.memory.freshness.times())[5000].timestamp() - START.timestamp()) // 30

    await system.poll()
    await system.poll()
    assert await index() == 2
    system.feed.down = FeedUnavailable("gone")
    system.number += 9
    await system.cache.run("DEL", system.cache.key("freshness_index"))
    await system.poll()
    assert await index() == 2


async def test_the_clock_moves_with_the_minute_and_the_status_and_not_with_a_repeated_answer(system: System) -> None:
    async def moved() -> int:
        async with system.store.database.connection() as connection:
            row = await (await connection.execute("select clock_moved_at as at from fixtures")).fetchone()
        assert row is not None
        return round((row["at"] - START) / POLL)

    polls = [("1H", 20), ("1H", 20), ("1H", 21), ("1H", 21), ("1H", 21), ("HT", 21), ("HT", 21), ("2H", 46)]
    clocks = []
    for status, elapsed in polls:
        await system.poll(replace(match(status=status), minute=Minute(elapsed)))
        clocks.append(await moved())
    assert clocks == [1, 1, 3, 3, 3, 6, 6, 8]


@pytest.mark.parametrize(
    ("answer", "stage"),
    [
        (match(status="PST", score=None), "staging"),
        (match(status="ABD"), "completed"),
        (match(status="CANC", score=None), "completed"),
        (match(status="SUSP"), "active"),
        (match(status="HT"), "active"),
    ],
)
async def test_where_a_match_goes_after_three_polls(system: System, answer: LiveFixture, stage: str) -> None:
    for _ in range(3):
        await system.poll(answer)
    assert (await system.store.fixture(5000))["stage"] == stage


@pytest.mark.parametrize(
    ("status", "hours", "stage"),
    [("2H", 3, "active"), ("2H", 13, "staging"), ("FT", 3, "active"), ("FT", 13, "completed")],
)
async def test_a_match_that_the_feed_has_lost_does_not_stay_active_for_good(
    system: System, status: str, hours: int, stage: str
) -> None:
    await system.poll(match(status=status))
    system.feed.fixtures.clear()
    system.number += hours * 120
    assert (await system.poll()).failed == 1
    document = await system.store.fixture(5000)
    assert document["stage"] == stage
    assert "NotInAnswer" in document["error"]["message"]


async def test_polls_are_left_out_to_save_the_days_requests(system: System) -> None:
    async def asked() -> tuple[int, str]:
        system.number += 1
        polled = (await system.ask())["test"]
        return polled.asked, polled.slowed

    at = START + POLL
    # 100 are kept back: 8 polls for ten hours, which is one in 75 minutes.
    system.feed.quota = Quota(at, day_limit=5000, day_remaining=108)
    assert await asked() == (1, "")
    assert await asked() == (0, "108 of 5000 requests are left until 00:00 UTC")
    system.number += 150
    assert await asked() == (1, "")
    system.feed.quota = Quota(at, day_limit=5000, day_remaining=0)
    system.number += 200
    await asked()
    system.number += 300
    assert (await asked())[1]


async def test_a_small_plan_is_spent_on_the_matches_in_play(system: System) -> None:
    """One match in play with 115 minutes to go, 92 requests to spend: 75 seconds. The others are not asked for."""
    at = START + POLL
    upcoming = replace(match(fixture_id=2, status="NS", score=None), kickoff=at + timedelta(days=1))
    await follow(system.store, [(upcoming, Stage.STAGING)], START - timedelta(hours=1))
    await follow(system.store, [(match(fixture_id=3, status="FT"), Stage.COMPLETED)], START)
    system.feed.says(upcoming, match(fixture_id=3, status="FT"))
    await system.store.save_feed_state("test", Quota(START, day_limit=100, day_remaining=100), START, None)
    system.feed.quota = Quota(at, day_limit=100, day_remaining=99)
    for _ in range(7):
        system.number += 1
        polled = (await system.ask())["test"]
    assert {id_ for batch in system.feed.asked for id_ in batch} == {5000}
    assert len(system.feed.asked) in (2, 3)
    assert "requests are left" in polled.slowed or polled.asked == 1
    system.feed.quota = Quota(at, day_limit=100, day_remaining=8)
    await system.store.save_feed_state("test", system.feed.quota, system.order.at, None)
    system.number += 10
    assert (await system.ask())["test"].asked == 0, "what is left is kept for ingest"


async def test_staging_is_polled_once_an_interval_and_moves_what_has_begun(system: System) -> None:
    waiting = {1: "NS", 2: "NS", 3: "PST", 4: "NS"}
    far = START + timedelta(days=1)
    for id_, status in waiting.items():
        fixture = replace(match(fixture_id=id_, status=status, score=None), kickoff=far)
        await follow(system.store, [(fixture, Stage.STAGING)], START - timedelta(hours=1))
    system.feed.says(
        match(fixture_id=1, status="1H"),  # begun a day early
        replace(match(fixture_id=2, status="NS", score=None), kickoff=far + timedelta(hours=2)),
        match(fixture_id=3, status="CANC", score=None),
    )
    system.feed.failures = {4: FeedSchemaError("x", "y", "z")}
    asked = (await system.ask())["test"]
    assert (asked.asked, asked.answered, asked.failed) == (5, 4, 1)
    result = await system.call(system.monitor.poll_staging_fixtures, system.order)
    assert (result.asked, result.moved, result.failed) == (3, 2, 0)
    stages = {document["_id"]: document["stage"] for document in await system.store.fixtures()}
    assert stages == {1: "active", 2: "staging", 3: "completed", 4: "staging", 5000: "active"}
    assert (await system.ask())["test"].asked == 2  # those that are under way
    again = await system.call(system.monitor.poll_staging_fixtures, system.order)
    assert again.asked == 0


async def test_each_call_of_the_workflows_has_an_activity(
    temporal: Client, database_url: str, valkey_server: str
) -> None:
    settings = Settings(
        database_url=SecretStr(database_url), redis_url=SecretStr(valkey_server), api_football_key=SecretStr("key")
    )
    async with open_worker(settings, temporal) as worker:
        registered = {getattr(each, "__temporal_activity_definition").name for each in worker.config()["activities"]}
    modules = (contracts, feed_contracts, clip_contracts, announce_contracts)
    calls = {value.name for module in modules for value in vars(module).values() if isinstance(value, Call)}
    assert registered == calls


# --- the number of statements


class CountingCursor(AsyncCursor[Any]):
    statements: ClassVar[list[str]] = []

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        if query:  # the pool asks nothing, to see whether a connection is alive
            CountingCursor.statements.append(str(query))
        return await super().execute(query, *args, **kwargs)


async def test_a_poll_takes_as_many_statements_for_many_fixtures_as_for_one(
    database_url: str, cache: RedisCache, objects: ObjectStore
) -> None:
    database = Database(database_url, cursor_factory=CountingCursor)
    await database.open()
    system = System(PostgresStore(database), cache, objects, {"test": ScriptedFeed()})
    counts = []
    for last in (1, 200):
        ids = range(1, last + 1)
        await follow(system.store, [(match(fixture_id=id_), Stage.ACTIVE) for id_ in ids], START)
        for text in ("23 home 7", "24 home 9"):
            CountingCursor.statements.clear()
            assert (await system.poll(*(match(text, fixture_id=id_) for id_ in ids))).failed == 0
            counts.append(len(CountingCursor.statements))
    await database.close()
    assert counts == [15, 16, 16, 16]  # the first poll has no change of attribution to store
