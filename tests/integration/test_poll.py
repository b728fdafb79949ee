"""The poll and ingest activities: a scripted feed, the real store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from psycopg import AsyncCursor
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from found_footy.activities.ingest import IngestActivities
from found_footy.activities.monitor import MonitorActivities
from found_footy.activities.search import SearchActivities, SearchRules
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap import open_worker
from found_footy.config import Settings
from found_footy.domain.errors import FeedQuotaExhausted, FeedSchemaError, FeedUnavailable
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures import comparison, polling
from found_footy.domain.fixtures.lifecycle import LifecycleRules
from found_footy.domain.fixtures.model import LiveFixture, Stage
from found_footy.ports import ObjectStore
from found_footy.workflows import announce_contracts, clip_contracts, contracts
from found_footy.workflows.contracts import Call, CleanUp, EventWorkflow, IngestDay, IngestIds, Polled, PollInput
from tests.support.feeds import ScriptedFeed
from tests.support.football import RULES, START, match

LIFECYCLE = LifecycleRules()
PLAYER_7 = "5000_40_7_Goal_1"


class System:
    """The activities around one store and one feed, called as Temporal calls them."""

    def __init__(self, store: PostgresStore, objects: ObjectStore, feed: ScriptedFeed) -> None:
        self.store = store
        self.feed = feed
        self.monitor = MonitorActivities(
            store, feed, RULES, LIFECYCLE, timedelta(seconds=30), search_silence=timedelta(days=-9999)
        )
        self.objects = objects
        self.ingest = IngestActivities(store, objects, feed, LIFECYCLE)
        self.search = SearchActivities(
            store, PostgresClips(store.database), objects, [], SearchRules(), lambda: START + timedelta(hours=1)
        )
        self.number = 0

    async def call(self, activity: Any, order: Any) -> Any:
        return await ActivityEnvironment().run(activity, order)

    async def poll(self, *answers: LiveFixture) -> Polled:
        self.feed.says(*answers)
        self.number += 1
        order = PollInput(f"monitor-{self.number}", START + timedelta(seconds=30 * self.number))
        result: Polled = await self.call(self.monitor.poll_active_fixtures, order)
        return result

    async def states(self, fixture_id: int = 5000) -> list[int]:
        return [event["_stable_count"] for event in (await self.store.fixture(fixture_id))["events"]]


@pytest.fixture
async def system(store: PostgresStore, objects: ObjectStore) -> System:
    await store.add_fixtures([(match(), Stage.ACTIVE)], START)
    return System(store, objects, ScriptedFeed(match()))


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
    assert len(system.feed.asked) == 6  # what is completed is not asked for again


async def test_a_poll_that_failed_counts_for_nothing(system: System) -> None:
    for _ in range(2):
        await system.poll(match("23 home 7"))
    system.feed.down = FeedUnavailable("gone")
    for _ in range(5):
        assert (await system.poll()).failed == 1
    assert await system.states() == [2]
    state = await system.store.feed_state("test")
    assert state is not None
    assert state.error == "FeedUnavailable: gone"
    system.feed.down = None
    assert (await system.poll()).to_search == [PLAYER_7]


async def test_one_fixtures_failure_stops_no_other(system: System) -> None:
    await system.store.add_fixtures([(match(fixture_id=id_), Stage.ACTIVE) for id_ in (5001, 5002)], START)
    system.feed.failures = {5001: FeedSchemaError("goals.home", "x", "a number")}
    result = await system.poll(match("23 home 7"), match("23 home 7", fixture_id=5001))
    assert (result.asked, result.answered, result.failed) == (3, 1, 2)
    assert await system.states() == [1]
    assert await system.states(5001) == []
    errors = {document["_id"]: document["error"] for document in await system.store.fixtures()}
    assert errors[5000] is None
    assert errors[5001]["message"] == "goals.home: got 'x', expected a number"
    assert errors[5002]["class"] == "NotInAnswer"


async def test_a_fault_of_our_own_in_one_fixture_stops_no_other(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    await system.store.add_fixtures([(match(fixture_id=5001), Stage.ACTIVE)], START)
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
    order = PollInput("monitor-1", START + timedelta(seconds=30))
    for _ in range(4):
        await system.call(system.monitor.poll_active_fixtures, order)
    assert await system.states() == [1]


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
    assert (document["stage"], document["error"]["class"]) == (stage, "NotInAnswer")


async def test_polls_are_left_out_to_save_the_days_requests(system: System) -> None:
    at = START + timedelta(seconds=30)
    system.feed.quota = Quota(at, day_limit=100, day_remaining=10)  # 8 polls for ten hours: one in 75 minutes
    assert (await system.poll()).asked == 1
    skipped = await system.poll()
    assert (skipped.asked, skipped.slowed) == (0, "10 of 100 requests are left until 00:00 UTC")
    system.number += 150
    assert (await system.poll()).asked == 1
    system.feed.quota = Quota(at, day_limit=100, day_remaining=0)
    system.number += 200
    await system.poll()
    system.number += 300
    assert (await system.poll()).slowed


async def test_staging_is_polled_once_an_interval_and_moves_what_has_begun(system: System) -> None:
    waiting = {1: "NS", 2: "NS", 3: "PST", 4: "NS"}
    far = START + timedelta(days=1)
    for id_, status in waiting.items():
        fixture = replace(match(fixture_id=id_, status=status, score=None), kickoff=far)
        await system.store.add_fixtures([(fixture, Stage.STAGING)], START - timedelta(hours=1))
    system.feed.says(
        match(fixture_id=1, status="1H"),  # begun a day early
        replace(match(fixture_id=2, status="NS", score=None), kickoff=far + timedelta(hours=2)),
        match(fixture_id=3, status="CANC", score=None),
    )
    system.feed.failures = {4: FeedSchemaError("x", "y", "z")}
    order = PollInput("monitor-1", START)
    result = await system.call(system.monitor.poll_staging_fixtures, order)
    assert (result.asked, result.moved, result.failed) == (4, 2, 1)
    stages = {document["_id"]: document["stage"] for document in await system.store.fixtures()}
    assert stages == {1: "active", 2: "staging", 3: "completed", 4: "staging", 5000: "active"}
    again = await system.call(system.monitor.poll_staging_fixtures, order)
    assert again.asked == 0


async def test_ingest_places_fixtures_and_tells_what_it_rejected(system: System) -> None:
    system.feed.days[date(2026, 8, 22)] = [
        match(fixture_id=1, status="FT"),
        match(fixture_id=2, status="1H"),
        replace(match(fixture_id=3, status="NS", score=None), kickoff=START + timedelta(hours=5)),
    ]
    system.feed.failures = {4: FeedSchemaError("x", "y", "z")}
    result = await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    assert (result.found, result.tracked, result.added, result.rejected) == (3, 3, 3, 1)
    stages = {document["_id"]: document["stage"] for document in await system.store.fixtures()}
    assert stages == {1: "completed", 2: "active", 3: "staging", 5000: "active"}
    again = await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    assert again.added == 0


@pytest.mark.parametrize(
    ("teams", "leagues", "tracked"), [((), (), 2), ((40,), (), 2), ((99,), (), 0), ((99,), (39,), 2), ((), (1,), 0)]
)
async def test_only_tracked_teams_and_leagues_are_ingested(
    store: PostgresStore, objects: ObjectStore, teams: tuple[int, ...], leagues: tuple[int, ...], tracked: int
) -> None:
    feed = ScriptedFeed()
    feed.days[date(2026, 8, 22)] = [match(fixture_id=1), match(fixture_id=2)]
    ingest = IngestActivities(store, objects, feed, LIFECYCLE, teams, leagues)
    result = await ActivityEnvironment().run(ingest.ingest_day, IngestDay("2026-08-22", START))
    assert (result.found, result.tracked) == (2, tracked)


async def test_given_fixtures_are_ingested_whoever_plays(system: System) -> None:
    system.feed.says(match(fixture_id=1, status="1H"))
    result = await system.call(system.ingest.ingest_fixtures, IngestIds([1, 9], START))
    assert (result.added, result.unknown) == (1, [9])


async def test_what_came_is_kept_where_a_part_of_the_feed_failed(system: System) -> None:
    system.feed.days[date(2026, 8, 22)] = [match(fixture_id=1, status="1H")]
    system.feed.errors = (FeedUnavailable("one league is away"),)
    with pytest.raises(ApplicationError, match="one league is away"):
        await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    assert (await system.store.fixture(1))["stage"] == "active"


@pytest.mark.parametrize(
    ("error", "retryable"), [(FeedUnavailable("gone"), True), (FeedQuotaExhausted("used up"), False)]
)
async def test_errors_reach_temporal_with_their_class(system: System, error: Any, retryable: bool) -> None:
    system.feed.down = error
    with pytest.raises(ApplicationError) as failure:
        await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    assert failure.value.type == error.kind
    assert failure.value.non_retryable is not retryable


async def test_what_is_past_retention_goes_with_its_files(system: System, tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"clip")
    old = replace(match(fixture_id=1, status="FT"), kickoff=START - timedelta(days=20))
    await system.store.add_fixtures([(old, Stage.COMPLETED)], START - timedelta(days=20))
    kept = f"5000/{PLAYER_7}/{'a' * 32}.mp4"
    for key in (f"1/1_40_7_Goal_1/{'a' * 32}.mp4", f"staging/1_40_7_Goal_1/{'b' * 32}.mp4", kept):
        await system.objects.put(key, file)
    result = await system.call(system.ingest.cleanup_old_fixtures, CleanUp(START - timedelta(days=14)))
    assert result.deleted == 1
    left = sorted([stored.key async for stored in system.objects.list()])
    assert left == [kept, f"staging/1_40_7_Goal_1/{'b' * 32}.mp4"], "what was staged just now may still be needed"
    await system.call(system.ingest.cleanup_old_fixtures, CleanUp(datetime.now(UTC) + timedelta(hours=1)))
    assert [stored.key async for stored in system.objects.list("staging/")] == []


async def test_each_call_of_the_workflows_has_an_activity(temporal: Client, database_url: str) -> None:
    settings = Settings(database_url=SecretStr(database_url), api_football_key=SecretStr("key"))
    async with open_worker(settings, temporal) as worker:
        registered = {getattr(each, "__temporal_activity_definition").name for each in worker.config()["activities"]}
    modules = (contracts, clip_contracts, announce_contracts)
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
    database_url: str, objects: ObjectStore
) -> None:
    database = Database(database_url, cursor_factory=CountingCursor)
    await database.open()
    system = System(PostgresStore(database), objects, ScriptedFeed())
    counts = []
    for last in (1, 200):
        ids = range(1, last + 1)
        await system.store.add_fixtures([(match(fixture_id=id_), Stage.ACTIVE) for id_ in ids], START)
        for text in ("23 home 7", "24 home 9"):
            CountingCursor.statements.clear()
            assert (await system.poll(*(match(text, fixture_id=id_) for id_ in ids))).failed == 0
            counts.append(len(CountingCursor.statements))
    await database.close()
    assert counts == [11, 12, 12, 12]  # the first poll has no change of attribution to store
