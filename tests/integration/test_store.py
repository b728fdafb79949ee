"""The system of record, on a real PostgreSQL, also by many connections at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.migrate import inspect, migrate
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.domain.errors import FeedUnavailable, NotFound, StoreRejected, StoreUnavailable
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.comparison import Poll
from found_footy.domain.fixtures.lifecycle import LifecycleRules
from found_footy.domain.fixtures.model import League, LiveFixture, Person, Stage
from found_footy.domain.fixtures.polling import FixtureOutcome, apply_poll
from tests.support.following import follow
from tests.support.football import RULES, START, goal, match, poll

LIFECYCLE = LifecycleRules()
PLAYER_7 = "5000_40_7_Goal_1"


async def add(store: PostgresStore, *fixtures: LiveFixture, stage: Stage = Stage.ACTIVE) -> None:
    await follow(store, [(fixture, stage) for fixture in fixtures], START)


async def apply(store: PostgresStore, at: Poll, *answers: LiveFixture) -> list[FixtureOutcome]:
    """What the poll activity does: load, decide, save."""
    async with store.poll() as transaction:
        states = await transaction.load([answer.id for answer in answers])
        by_id = {answer.id: answer for answer in answers}
        outcomes = [apply_poll(state, by_id[state.id], at, RULES, LIFECYCLE) for state in states]
        kept = [outcome for outcome in outcomes if outcome is not None]
        assert await transaction.save(kept) == {}
        return kept


async def rows(url: str, query: str) -> Sequence[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        return await (await connection.execute(query.encode())).fetchall()


async def test_a_poll_is_stored_and_comes_back_as_it_was(store: PostgresStore) -> None:
    await add(store, match())
    assisted = replace(goal("23 home 7"), assist=Person(9, "Åsa Ölund"))
    for number in (1, 2, 3):
        outcomes = await apply(store, poll(number), match(assisted, "90+3 away ?"))
    async with store.poll() as transaction:
        (state,) = await transaction.load([5000])
    assert {event.id: event for event in state.events} == {
        decision.event.id: decision.event for decision in outcomes[0].decisions
    }
    assert state.last_poll == poll(3)


async def test_the_five_collections_are_views(store: PostgresStore, database_url: str) -> None:
    await add(store, match(fixture_id=1), stage=Stage.STAGING)
    await add(store, match(fixture_id=2), match(fixture_id=3))
    await add(store, match(fixture_id=4, status="FT"), stage=Stage.COMPLETED)
    await apply(store, poll(1), replace(match("23 home 7", fixture_id=2), raw={"said": "so"}))
    for view, ids in {"staging": [1], "active": [2, 3], "completed": [4], "live": [2]}.items():
        assert [row[0] for row in await rows(database_url, f"select _id from fixtures_{view} order by 1")] == ids
    assert await rows(database_url, "select document from fixtures_live") == [({"said": "so"},)]
    assert await rows(database_url, "select * from team_aliases") == []
    document = (await rows(database_url, "select document from fixtures_active where _id = 2"))[0][0]
    assert document == await store.fixture(2)
    assert document["events"][0]["_event_id"] == "2_40_7_Goal_1"
    assert document["events"][0]["_monitor_workflows"] == ["monitor-1"]


async def test_every_change_is_in_the_outbox_of_its_transaction(store: PostgresStore, database_url: str) -> None:
    await add(store, match(status="NS", score=None))
    for number in (1, 2, 3):
        await apply(store, poll(number), match("23 home 7"))
    await apply(store, poll(4), match("23 home 9"))
    for number in (5, 6, 7):
        await apply(store, poll(number), match())
    topics = [row[0] for row in await rows(database_url, "select topic from outbox order by id")]
    assert topics == [
        "fixture.active",
        "fixture.status",
        "fixture.score",
        "goal.seen",
        "goal.progress",
        "goal.stable",
        "goal.changed",
        "fixture.score",
        "goal.withdrawn",
    ]
    with contextlib.suppress(InterruptedError):
        async with store.poll() as transaction:
            states = await transaction.load([5000])
            outcome = apply_poll(states[0], match("70 away 3"), poll(8), RULES, LIFECYCLE)
            assert outcome is not None
            await transaction.save([outcome])
            raise InterruptedError("after the last statement, before the commit")
    assert len(await rows(database_url, "select 1 from outbox")) == len(topics)
    assert len((await store.fixture(5000))["events"]) == 1


async def test_ingest_leaves_what_is_followed_alone(store: PostgresStore) -> None:
    await add(store, match(fixture_id=1), stage=Stage.STAGING)
    await add(store, match(fixture_id=2))
    await apply(store, poll(1), match("23 home 7", fixture_id=2, status="2H"))
    moved = replace(match(status="NS"), kickoff=START + timedelta(days=2))
    added = await follow(
        store,
        [(replace(moved, id=1), Stage.STAGING), (replace(moved, id=2), Stage.STAGING), (moved, Stage.STAGING)],
        START,
    )
    assert added == {"staging": 1, "active": 0, "completed": 0}
    assert (await store.fixture(1))["fixture"]["date"].startswith("2026-08-24")
    followed = await store.fixture(2)
    assert (followed["stage"], followed["fixture"]["status"]["short"]) == ("active", "2H")
    assert len(followed["events"]) == 1


@pytest.mark.parametrize(
    ("status", "minutes", "active"),
    [("NS", 30, True), ("NS", 31, False), ("NS", -5, True), ("TBD", 5, False), ("PST", -60, False)],
)
async def test_what_is_about_to_start_is_activated(
    store: PostgresStore, status: str, minutes: int, active: bool
) -> None:
    soon = replace(match(status=status, score=None), kickoff=START + timedelta(minutes=minutes))
    await add(store, soon, stage=Stage.STAGING)
    assert await store.activate_due(START, timedelta(minutes=30)) == ([5000] if active else [])
    assert await store.activate_due(START, timedelta(minutes=30)) == []


async def test_old_fixtures_go_and_followed_ones_stay(store: PostgresStore, database_url: str) -> None:
    old = START - timedelta(days=20)
    ages = {1: (Stage.COMPLETED, "FT"), 2: (Stage.STAGING, "PST"), 3: (Stage.ACTIVE, "SUSP")}
    for id_, (stage, status) in ages.items():
        fixture = replace(match(fixture_id=id_, status=status), kickoff=old)
        await follow(store, [(fixture, stage)], old)
    await add(store, match(fixture_id=4, status="FT"), stage=Stage.COMPLETED)
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("update outbox set at = %s where fixture_id = 1", [old])
    assert await store.delete_older_than(START - timedelta(days=14)) == 2
    assert await rows(database_url, "select distinct fixture_id from outbox order by 1") == [(2,), (3,), (4,)]
    assert [document["_id"] for document in await store.fixtures()] == [3, 4]


async def test_marks_of_the_search(store: PostgresStore) -> None:
    await add(store, match())
    await apply(store, poll(1), match("23 home 7"))
    assert not await store.set_monitor_complete(PLAYER_7, "search-1")  # not certain yet
    for number in (2, 3):
        await apply(store, poll(number), match("23 home 7"))
    long_ago, later = START, datetime.now(UTC) + timedelta(hours=1)
    assert await store.events_to_search(long_ago) == [PLAYER_7]
    for still_open in ([PLAYER_7], []):
        assert await store.set_monitor_complete(PLAYER_7, f"search-{PLAYER_7}")
        assert await store.events_to_search(long_ago) == []  # somebody is at it
        assert await store.events_to_search(later) == still_open  # one that dies between its marks is started again
        await store.set_download_complete(PLAYER_7)
    assert await store.events_to_search(later) == []
    event = await store.event(PLAYER_7)
    assert event["_search_workflows"] == [f"search-{PLAYER_7}"]
    assert event["_monitor_complete"]
    assert event["_download_complete"]
    assert not await store.set_monitor_complete("nobody", "search-nobody")


async def test_nobody_searches_for_a_withdrawn_goal(store: PostgresStore) -> None:
    await add(store, match())
    for number in (1, 2, 3):
        await apply(store, poll(number), match("23 home 7"))
    for number in (4, 5, 6):
        await apply(store, poll(number), match())
    assert await store.events_to_search(START) == []
    assert not await store.set_monitor_complete(PLAYER_7, "search-1")


async def test_a_fixture_that_the_database_refuses_costs_no_other_its_poll(store: PostgresStore) -> None:
    await add(store, *(match(fixture_id=id_) for id_ in (1, 2, 3)))
    async with store.poll() as transaction:
        states = {state.id: state for state in await transaction.load([1, 2, 3])}
        outcomes = []
        for id_ in (1, 2, 3):
            answer = match("23 home 7", fixture_id=id_)
            if id_ == 2:
                answer = replace(answer, raw={"name": "\x00"})
            outcome = apply_poll(states[id_], answer, poll(1), RULES, LIFECYCLE)
            assert outcome is not None
            outcomes.append(outcome)
        failures = await transaction.save(outcomes)
    assert list(failures) == [2]
    assert isinstance(failures[2], StoreRejected)
    assert [len(document["events"]) for document in await store.fixtures()] == [1, 0, 1]


async def test_failures_are_told_until_a_poll_succeeds(store: PostgresStore) -> None:
    await add(store, match())
    await store.record_failures({5000: FeedUnavailable("no answer")}, START)
    error = (await store.fixture(5000))["error"]
    assert (error["class"], error["message"]) == ("FeedUnavailable", "no answer")
    await apply(store, poll(1), match())
    assert (await store.fixture(5000))["error"] is None


async def test_the_state_of_a_feed(store: PostgresStore) -> None:
    assert await store.feed_state("espn") is None
    quota = Quota(START, 100, 40, 10, 9)
    await store.save_feed_state("espn", quota, START, None)
    later = START + timedelta(seconds=30)
    await store.save_feed_state("espn", None, later, FeedUnavailable("gone"))
    state = await store.feed_state("espn")
    assert state is not None
    assert (state.quota, state.asked_at, state.answered_at) == (quota, later, START)
    assert state.error == "FeedUnavailable: gone"


async def test_a_fixture_that_the_database_refuses_costs_no_other_its_ingest(store: PostgresStore) -> None:
    bad = replace(match(fixture_id=2), league=League(39, "Premier League", season=2**40))
    added = await follow(
        store, [(fixture, Stage.ACTIVE) for fixture in (match(fixture_id=1), bad, match(fixture_id=3))], START
    )
    assert added["active"] == 2
    assert [document["_id"] for document in await store.fixtures()] == [1, 3]


async def test_lists_by_day_and_stage(store: PostgresStore) -> None:
    await add(store, match(fixture_id=1))
    await add(store, replace(match(fixture_id=2, status="NS"), kickoff=START + timedelta(days=1)), stage=Stage.STAGING)
    assert [document["_id"] for document in await store.fixtures(day=date(2026, 8, 23))] == [2]
    assert [document["_id"] for document in await store.fixtures(stage="active")] == [1]


async def test_what_does_not_exist_is_not_found(store: PostgresStore) -> None:
    with pytest.raises(NotFound, match="fixture 9"):
        await store.fixture(9)
    with pytest.raises(NotFound, match="event 'x'"):
        await store.event("x")


async def test_a_database_that_is_away_is_unavailable() -> None:
    database = Database("postgresql://app:secret@127.0.0.1:1/footy")
    database._pool.timeout = 0.5
    await database.open()
    try:
        with pytest.raises(StoreUnavailable) as error:
            await PostgresStore(database).feed_state("test")
    finally:
        await database.close()
    assert "secret" not in str(error.value)


async def test_migrations_run_once_however_many_run_them(database_url: str) -> None:
    assert await asyncio.gather(*(migrate(database_url) for _ in range(4))) == [[], [], [], []]
    version, lacking = await inspect(database_url)
    assert int(version.split(".")[0]) >= 15
    assert lacking == []


# --- many connections at once


async def test_one_poll_by_many_workers_counts_once(store: PostgresStore) -> None:
    await add(store, *(match(fixture_id=id_) for id_ in range(1, 21)))
    answers = [match("23 home 7", fixture_id=id_) for id_ in range(1, 21)]
    done = await asyncio.gather(*(apply(store, poll(1), *reversed(answers)) for _ in range(8)))
    assert sorted(len(outcomes) for outcomes in done) == [0] * 7 + [20]
    assert {event["_stable_count"] for document in await store.fixtures() for event in document["events"]} == {1}


async def test_polls_at_the_same_time_wait_for_each_other(store: PostgresStore) -> None:
    """Eight polls in any order, each over all fixtures: no deadlock, and the latest wins."""
    ids = range(1, 11)
    await add(store, *(match(fixture_id=id_) for id_ in ids))
    await asyncio.gather(
        *(
            apply(store, poll(number), *[match("23 home 7", fixture_id=id_) for id_ in ids])
            for number in (3, 1, 8, 5, 2, 7, 4, 6)
        )
    )
    async with store.poll() as transaction:
        states = await transaction.load(list(ids))
    assert {state.last_poll.id for state in states if state.last_poll} == {"monitor-8"}
    assert all(len(state.events) == 1 for state in states)


async def test_a_fixture_is_in_exactly_one_stage_at_every_moment(store: PostgresStore, database_url: str) -> None:
    """Connections watch the views while others move the fixture through all stages and back."""
    count = "select (select count(*) from fixtures_staging) + (select count(*) from fixtures_active)"
    count += " + (select count(*) from fixtures_completed)"
    await add(store, match(status="NS", score=None), stage=Stage.STAGING)
    finished = asyncio.Event()
    seen: set[object] = set()

    async def watch() -> None:
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
            while not finished.is_set():
                seen.add((await (await connection.execute(count.encode())).fetchall())[0][0])

    async def move() -> None:
        number = 0
        for _ in range(20):
            await store.activate_due(START, timedelta(minutes=30))
            number += 1
            await apply(store, poll(number), match(status="PST", score=None))
            await store.update_staging([(match(status="NS", score=None), Stage.STAGING)], START)
        await store.activate_due(START, timedelta(minutes=30))
        for _ in range(3):
            number += 1
            await apply(store, poll(number), match(status="FT"))
        finished.set()

    await asyncio.gather(watch(), watch(), move())
    assert seen == {1}
    assert (await store.fixture(5000))["stage"] == "completed"


async def test_readers_of_the_outbox_miss_nothing(store: PostgresStore, database_url: str) -> None:
    """Ids are given out before they are committed; a position is given only to what everybody can see."""
    database = Database(database_url)
    await database.open()

    async def news_after(position: int) -> list[dict[str, Any]]:
        await database.fetch("outbox.place")
        return await database.fetch("outbox.since", after=position, limit=100)

    await add(store, match(fixture_id=1), match(fixture_id=2))
    last = (await news_after(0))[-1]["position"]
    async with store.poll() as slow:
        states = await slow.load([1])
        outcome = apply_poll(states[0], match("23 home 7", fixture_id=1), poll(1), RULES, LIFECYCLE)
        assert outcome is not None
        await slow.save([outcome])  # holds lower ids, not committed
        await apply(store, poll(1), match("23 home 7", fixture_id=2))
        during = await news_after(last)
        assert {row["fixture_id"] for row in during} == {2}
    after = await news_after(during[-1]["position"])
    assert {row["fixture_id"] for row in after} == {1}
    assert await news_after(after[-1]["position"]) == []
    await database.close()


async def test_positions_are_given_once_by_readers_side_by_side(store: PostgresStore, database_url: str) -> None:
    database = Database(database_url)
    await database.open()
    for number in range(1, 21):
        await add(store, match(fixture_id=number))
        await asyncio.gather(*(database.fetch("outbox.place") for _ in range(4)))
    positions = [row["position"] for row in await database.fetch("outbox.since", after=0, limit=1000)]
    assert positions == list(range(1, len(positions) + 1))
    assert len(positions) >= 20
    await database.close()
