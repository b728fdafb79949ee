"""How the asking goes, in a real cache."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import FeedUnavailable
from found_footy.feeds.cache import MonitoringRecords
from found_footy.feeds.models import MatchMonitoringRecord, MatchPriority, MonitoringState
from found_footy.feeds.poll_state import MonitoringRules, advance, after_failure, after_success, new_record
from found_footy.storage.limits import LeaseSemaphore
from found_footy.storage.redis import RedisCache

NOW = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)
RULES = MonitoringRules()


def a_record(feed_id: int = 401, now: datetime = NOW) -> MatchMonitoringRecord:
    return after_success(new_record("espn", feed_id, MatchPriority.LIVE, now, "Arsenal v Spurs"), now, is_over=False)


@pytest.fixture
def records(cache: RedisCache) -> MonitoringRecords:
    return MonitoringRecords(cache)


@pytest.mark.parametrize("state", list(MonitoringState))
async def test_a_record_comes_back_as_it_was(records: MonitoringRecords, state: MonitoringState) -> None:
    record = replace(
        a_record(),
        state=state,
        priority=MatchPriority.IMMINENT,
        consecutive_failures=3,
        total=9,
        total_failures=4,
        paused_until=NOW + timedelta(minutes=2),
        completed_at=NOW,
        error="FeedUnavailable: \ud800 ü",
    )
    await records.save([record])
    assert await records.load(["espn_401", "espn_402"]) == {"espn_401": record}


async def test_a_paused_match_is_in_the_set_until_it_is_back(records: MonitoringRecords) -> None:
    record = a_record()
    for _ in range(5):
        record = after_failure(record, FeedUnavailable("down"), NOW, RULES)
    await records.save([record, a_record(402)])
    assert await records.paused() == ["espn_401"]
    await records.save([after_success(record, NOW, is_over=False)])
    assert await records.paused() == []


async def test_all_records_come_with_the_longest_untouched_first(records: MonitoringRecords) -> None:
    some = [a_record(number, NOW - timedelta(minutes=number)) for number in range(300)]
    await records.save(some)
    assert list(await records.all()) == some[::-1]


async def test_more_than_five_thousand_matches_are_all_counted(records: MonitoringRecords) -> None:
    await records.save([a_record(number) for number in range(5_001)])
    assert len(await records.all()) == 5_001


async def test_an_archived_match_leaves_the_index_and_is_forgotten_after_a_day(
    cache: RedisCache, records: MonitoringRecords
) -> None:
    record = after_success(a_record(), NOW, is_over=True)
    await records.save([record])
    archived = advance(record, NOW + RULES.archive, RULES)
    await records.save([archived])
    assert list(await records.all()) == []
    assert await records.load(["espn_401"]) == {"espn_401": archived}
    assert 0 < await cache.run("TTL", cache.key("match_monitor", "espn_401")) <= 24 * 3600


async def test_evicted_records_leave_index_and_set_at_the_next_read(
    cache: RedisCache, records: MonitoringRecords
) -> None:
    await records.save([replace(a_record(), state=MonitoringState.PAUSED), a_record(402)])
    await cache.run("DEL", cache.key("match_monitor", "espn_401"))
    assert [one.match_id for one in await records.all()] == ["espn_402"]
    assert await records.paused() == []
    assert await cache.run("ZCARD", cache.key("monitor_index")) == 1


async def test_no_record_stays_for_ever(cache: RedisCache, records: MonitoringRecords) -> None:
    await records.save([a_record()])
    assert 0 < await cache.run("TTL", cache.key("match_monitor", "espn_401")) <= 7 * 24 * 3600


async def test_queues_are_stored_by_feed_and_priority_for_a_minute(
    cache: RedisCache, records: MonitoringRecords
) -> None:
    assert await records.queues() == {}
    await records.note_queue("espn", {MatchPriority.LIVE: 3, MatchPriority.COMPLETED: 47}, "espn")
    await records.note_queue("crex", {}, "crex")
    assert await records.queues() == {
        "espn": {"live": 3, "imminent": 0, "completed": 47, "active": 0},
        "crex": {"live": 0, "imminent": 0, "completed": 0, "active": 0},
    }
    assert 0 < await cache.run("TTL", cache.key("feed_queue", "espn")) <= 60
    await cache.run("DEL", cache.key("feed_queue", "espn"))
    assert list(await records.queues()) == ["crex"]


async def test_active_counts_the_permits_that_each_feed_holds(cache: RedisCache, records: MonitoringRecords) -> None:
    def permit(feed: str) -> AbstractAsyncContextManager[None]:
        return LeaseSemaphore(cache).permit("espn@its.host:443", 3, wait_seconds=20, holder=feed)

    for feed in ("espn", "espn-2"):
        await records.note_queue(feed, {}, "espn@its.host:443")
    async with permit("espn"):
        async with permit("espn"), permit("espn-2"):
            assert {feed: queue["active"] for feed, queue in (await records.queues()).items()} == {
                "espn": 2,
                "espn-2": 1,
            }
        assert (await records.queues())["espn"]["active"] == 1
    assert (await records.queues())["espn"]["active"] == 0


async def test_ending_pauses_changes_no_other_records(cache: RedisCache, records: MonitoringRecords) -> None:
    later = NOW + timedelta(hours=1)
    paused = replace(a_record(1), state=MonitoringState.PAUSED, paused_until=later, consecutive_failures=5)
    over = replace(a_record(2), state=MonitoringState.PAUSED, paused_until=NOW - timedelta(seconds=1))
    await records.save([paused, over, a_record(3)])
    assert await records.end_pauses(NOW) == 1
    assert (await records.load(["espn_1"]))["espn_1"] == replace(paused, paused_until=NOW)
    assert (await records.load(["espn_2"]))["espn_2"] == over
    assert await records.end_pauses(NOW) == 0
