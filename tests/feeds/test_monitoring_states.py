"""Every step in the life of a match at a feed, on the real cache and the real store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.errors import FeedUnavailable
from found_footy.feeds.models import MatchMonitoringRecord, MonitoringState
from found_footy.fixtures.models import FixtureStage
from found_footy.fixtures.store import FixtureStore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed
from tests.support.football import START, follow_matches, match
from tests.support.polling import POLL, FeedSystem

FIVE_MINUTES = timedelta(minutes=5) // POLL
DAY = timedelta(hours=24) // POLL
NIGHT = timedelta(hours=15) // POLL


class MonitoredMatch(FeedSystem):
    async def record(self) -> MatchMonitoringRecord:
        return (await self.memory.records.load(["test_5000"]))["test_5000"]

    async def lives_on(self, polls: int = 1) -> MonitoringState:
        self.number += polls - 1
        await self.poll()
        return (await self.record()).state


@pytest.fixture
async def life(store: FixtureStore, cache: RedisCache, objects: ObjectStore) -> MonitoredMatch:
    await follow_matches(store, [(match(), FixtureStage.ACTIVE)], START)
    return MonitoredMatch(store, cache, objects, {"test": ScriptedFeed(match())})


async def test_found_and_followed(life: MonitoredMatch) -> None:
    life.feed.down = FeedUnavailable("not yet")
    assert await life.lives_on() is MonitoringState.DISCOVERED
    life.feed.down = None
    assert await life.lives_on() is MonitoringState.ACTIVE


async def test_paused_after_five_failures_and_followed_again_after_the_cool_down(life: MonitoredMatch) -> None:
    await life.lives_on()
    life.feed.down = FeedUnavailable("gone")
    lives = [await life.lives_on() for _ in range(5)]
    assert lives == [MonitoringState.ACTIVE] * 4 + [MonitoringState.PAUSED]
    assert await life.lives_on() is MonitoringState.PAUSED
    assert await life.lives_on(4) is MonitoringState.PAUSED, "the first try after the cool-down failed"
    assert (await life.record()).consecutive_failures == 6
    life.feed.down = None
    assert await life.lives_on(2) is MonitoringState.PAUSED
    assert await life.lives_on(4) is MonitoringState.ACTIVE


async def test_a_match_that_is_over_is_polled_for_corrections_and_archived_after_a_day(life: MonitoredMatch) -> None:
    for _ in range(3):
        await life.poll(match(status="FT"))
    assert (await life.store.fixture(5000))["stage"] == FixtureStage.COMPLETED
    assert (await life.record()).state is MonitoringState.COMPLETED
    asked = len(life.feed.requests)
    for _ in range(2 * FIVE_MINUTES):
        await life.lives_on()
    assert len(life.feed.requests) == asked + 2
    assert await life.lives_on(DAY) is MonitoringState.ARCHIVED
    asked = len(life.feed.requests)
    assert await life.lives_on(FIVE_MINUTES) is MonitoringState.ARCHIVED
    assert len(life.feed.requests) == asked


async def test_a_match_that_ends_while_its_feed_is_paused_is_completed_all_the_same(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    life = MonitoredMatch(store, cache, objects, {"other": ScriptedFeed(match()), "test": ScriptedFeed(match())})
    await follow_matches(store, [(match(), FixtureStage.ACTIVE)], START)
    async with store.database.connection() as connection:
        await connection.execute(
            "insert into listings (feed, feed_id, fixture_id, founding, joined_at)"
            " values ('other', 5000, 5000, false, now())"
        )
    life.feeds["test"].down = FeedUnavailable("gone")
    for _ in range(5):
        await life.lives_on()
    assert (await life.record()).state is MonitoringState.PAUSED
    for _ in range(3):
        await life.poll(match(status="FT"))
    await life.lives_on()
    assert (await life.record()).state is MonitoringState.COMPLETED


@pytest.mark.parametrize("status", ["HT", "BT", "SUSP", "INNBRK", "DRINKS", "LUNCH", "TEA", "RAIN", "STUMPS"])
async def test_a_break_is_not_the_end(life: MonitoredMatch, status: str) -> None:
    for _ in range(5):
        await life.poll(match(status=status))
    assert (await life.record()).state is MonitoringState.ACTIVE
    assert (await life.store.fixture(5000))["stage"] == FixtureStage.ACTIVE


async def test_stumps_last_overnight(life: MonitoredMatch) -> None:
    await life.poll(match(status="STUMPS"))
    for _ in range(3):
        life.number += NIGHT // 3
        await life.poll(match(status="STUMPS"))
    assert (await life.record()).state is MonitoringState.ACTIVE
    assert (await life.store.fixture(5000))["stage"] == FixtureStage.ACTIVE


async def test_a_feed_that_never_responded_is_paused(life: MonitoredMatch) -> None:
    life.feed.down = FeedUnavailable("not yet")
    assert [await life.lives_on() for _ in range(5)] == [MonitoringState.DISCOVERED] * 4 + [MonitoringState.PAUSED]
    assert (await life.record()).updated_at is None


async def test_a_match_that_is_found_when_it_is_over_was_never_active(life: MonitoredMatch) -> None:
    life.feed.serve(match(status="FT"))
    assert await life.lives_on() is MonitoringState.COMPLETED


async def test_a_retracted_full_time_reactivates_the_match(life: MonitoredMatch) -> None:
    assert await life.lives_on() is MonitoringState.ACTIVE
    life.feed.serve(match(status="FT"))
    assert await life.lives_on() is MonitoringState.COMPLETED
    life.feed.serve(match(status="2H"))
    assert await life.lives_on() is MonitoringState.ACTIVE


async def test_a_match_resumed_after_a_day_leaves_the_archive(life: MonitoredMatch) -> None:
    """Its goal is still searched for, so it was never closed, and its feed is asked all the time."""
    for _ in range(3):
        await life.poll(match("23 home 7", status="FT"))
    assert await life.lives_on(DAY) is MonitoringState.ARCHIVED
    assert (await life.store.fixture(5000))["stage"] == FixtureStage.ACTIVE
    life.feed.serve(match("23 home 7", status="2H"))
    assert await life.lives_on() is MonitoringState.ACTIVE
