"""Bringing matches in, and letting old ones go: scripted feeds, the real store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from found_footy.adapters.storage.postgres.follows import PostgresFollows
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.domain.errors import FeedQuotaExhausted, FeedSchemaError, FeedUnavailable
from found_footy.domain.fixtures.following import following_of
from found_footy.domain.fixtures.model import Stage
from found_footy.domain.fixtures.tracking import Tracked
from found_footy.follow_book import FollowBook
from found_footy.ports import ObjectStore
from found_footy.workflows.contracts import CleanUp, IngestDay, IngestIds
from tests.support.feeds import ScriptedFeed
from tests.support.following import follow
from tests.support.football import START, match
from tests.support.polling import System

PLAYER_7 = "5000_40_7_Goal_1"


@pytest.fixture
async def system(store: PostgresStore, cache: RedisCache, objects: ObjectStore) -> System:
    await follow(store, [(match(), Stage.ACTIVE)], START)
    return System(store, cache, objects, {"test": ScriptedFeed(match())})


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
    ("follow_list", "teams", "leagues", "tracked"),
    [
        ("all", (), (), 2),
        ("Serie A", (), (), 0),
        ("Premier League", (), (), 2),
        ("Liverpool", (), (), 2),
        ("Serie A", (40,), (), 2),
        ("Serie A", (99,), (), 0),
        ("Serie A", (99,), (39,), 2),
        ("Serie A", (), (1,), 0),
    ],
)
async def test_only_matches_of_the_follow_list_and_of_the_ids_are_ingested(
    store: PostgresStore,
    cache: RedisCache,
    objects: ObjectStore,
    follow_list: str,
    teams: tuple[int, ...],
    leagues: tuple[int, ...],
    tracked: int,
) -> None:
    feed = ScriptedFeed()
    feed.days[date(2026, 8, 22)] = [match(fixture_id=1), match(fixture_id=2)]
    system = System(store, cache, objects, {"test": feed}, Tracked(teams, leagues, following_of([follow_list])))
    result = await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    assert (result.found, result.tracked) == (2, tracked)


async def test_a_change_of_the_follow_list_holds_from_the_next_ingest_on(
    store: PostgresStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feed = ScriptedFeed()
    feed.days[date(2026, 8, 22)] = [match(fixture_id=1)]
    worker = FollowBook(["Serie A"], PostgresFollows(store.database))
    system = System(store, cache, objects, {"test": feed}, follows=worker)
    assert (await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))).tracked == 0
    elsewhere = FollowBook(["Serie A"], PostgresFollows(store.database))
    await elsewhere.add(["EPL"], "cli", START)
    assert (await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))).tracked == 1


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
    await follow(system.store, [(old, Stage.COMPLETED)], START - timedelta(days=20))
    kept = f"5000/{PLAYER_7}/{'a' * 32}.mp4"
    for key in (f"1/1_40_7_Goal_1/{'a' * 32}.mp4", f"staging/1_40_7_Goal_1/{'b' * 32}.mp4", kept):
        await system.objects.put(key, file)
    result = await system.call(system.ingest.cleanup_old_fixtures, CleanUp(START - timedelta(days=14)))
    assert result.deleted == 1
    left = sorted([stored.key async for stored in system.objects.list()])
    assert left == [kept, f"staging/1_40_7_Goal_1/{'b' * 32}.mp4"], "what was staged just now may still be needed"
    await system.call(system.ingest.cleanup_old_fixtures, CleanUp(datetime.now(UTC) + timedelta(hours=1)))
    assert [stored.key async for stored in system.objects.list("staging/")] == []


async def test_where_a_feed_lists_a_match_is_kept_and_handed_to_the_next_poll(system: System) -> None:
    """A poll then asks only there, also after a restart."""
    here = replace(match(fixture_id=2, status="1H"), locator="soccer/eng.1 20260822")
    system.feed.days[date(2026, 8, 22)] = [here, match(fixture_id=3, status="1H")]
    system.feed.says(here, match(fixture_id=3, status="1H"))
    await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    await system.poll()
    assert system.feed.locators == {2: "soccer/eng.1 20260822"}
    # The kick-off moves: the poll that finds it there saves it, and so does an ingest.
    await system.poll(replace(here, locator="soccer/eng.1 20260823"))
    await system.poll()
    assert system.feed.locators == {2: "soccer/eng.1 20260823"}
    system.feed.days[date(2026, 8, 22)] = [replace(here, locator="soccer/eng.1 20260824")]
    await system.call(system.ingest.ingest_day, IngestDay("2026-08-22", START))
    await system.poll(replace(here, locator="soccer/eng.1 20260824"))
    assert system.feed.locators == {2: "soccer/eng.1 20260824"}
