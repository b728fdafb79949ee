"""Freshness, counters, missing matches, switches and health, in a real cache."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from found_footy.feeds.cache import FeedCounters, FeedSwitches, FreshnessIndex, NegativeCache, PollPaces
from found_footy.feeds.scheduling import PollPace
from found_footy.operations.models import (
    FreshnessStats,
    HealthGrade,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.operations.store import HealthCache
from found_footy.storage.redis import RedisCache

NOW = datetime(2026, 3, 7, 15, 0, 0, 250_000, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


async def test_expected_matches_count_from_their_start_and_others_leave(cache: RedisCache) -> None:
    freshness: FreshnessIndex = FreshnessIndex(cache)
    await freshness.expect({1: NOW, 2: NOW})
    await freshness.record([2], later(10))
    await freshness.expect({2: later(30), 3: later(-30)})
    assert await freshness.times() == {2: later(10), 3: later(-30)}
    await freshness.expect({})
    assert await freshness.times() == {}


async def test_a_snapshot_never_makes_a_match_older_and_counts_only_if_expected(cache: RedisCache) -> None:
    freshness: FreshnessIndex = FreshnessIndex(cache)
    await freshness.expect({1: NOW})
    await freshness.record([1, 99], later(10))
    await freshness.record([1], later(5))
    await freshness.record([], later(20))
    assert await freshness.times() == {1: later(10)}


async def test_each_expected_match_has_the_interval_at_which_it_is_polled(cache: RedisCache) -> None:
    freshness = FreshnessIndex(cache)
    await freshness.expect({1: NOW, 2: NOW, 3: NOW}, {1: timedelta(seconds=30), 2: timedelta(minutes=23)})
    assert await freshness.intervals() == {1: timedelta(seconds=30), 2: timedelta(minutes=23)}
    await freshness.expect({2: NOW}, {})
    assert await freshness.intervals() == {}
    await cache.run("HSET", cache.key("poll_intervals"), "7", "x", "y", "30", "8", "-1", "9", "1e9")
    assert await freshness.intervals() == {}


async def test_the_pace_of_a_feed_comes_back_until_it_expires(cache: RedisCache) -> None:
    paces = PollPaces(cache)
    slow, none = PollPace(timedelta(minutes=23), True, "25 left"), PollPace(None, True, "none left")
    await paces.save("api_football", slow)
    await paces.save("espn", none)
    assert await paces.load(["api_football", "espn", "crex"]) == {"api_football": slow, "espn": none}
    assert 0 < await cache.run("TTL", cache.key("feed_pace", "espn")) <= 600


async def test_five_thousand_matches_can_be_expected(cache: RedisCache) -> None:
    freshness: FreshnessIndex = FreshnessIndex(cache)
    await freshness.expect(dict.fromkeys(range(5_000), NOW))
    await freshness.record(range(5_000), later(1))
    assert set((await freshness.times()).values()) == {later(1)}


async def test_counters_add_up_and_fill_their_buckets(cache: RedisCache) -> None:
    counters: FeedCounters = FeedCounters(cache)
    await counters.note("espn", ok=3, failed=1, seconds=[0.05, 0.1, 2.0], navigation_failures=1)
    await counters.note("espn", ok=1, seconds=[0.3, 120.0, math.nan])
    await counters.note("crex", failed=2)
    totals = await counters.totals()
    espn = totals["espn"]
    assert (espn.ok, espn.failed, espn.navigation_failures) == (4, 1, 1)
    assert math.isclose(espn.seconds, 122.45)
    assert [espn.buckets[bound] for bound in (0.1, 0.25, 0.5, 1.0, 3.0, 45.0, math.inf)] == [2, 2, 3, 3, 4, 4, 5]
    assert totals["crex"].buckets[math.inf] == 0
    assert await counters.recent() == {"espn": (4, 1), "crex": (0, 2)}


async def test_recent_answers_are_those_of_five_minutes(cache: RedisCache) -> None:
    counters: FeedCounters = FeedCounters(cache)
    await counters.note("espn", ok=1)
    slot = int(await cache.seconds_since_epoch()) // 30
    key = cache.key("feed_recent", "espn")
    await cache.run("HSET", key, f"{slot - 8}:ok", 10, f"{slot - 10}:ok", 100, f"{slot - 20}:failed", 100)
    assert await counters.recent() == {"espn": (11, 0)}
    await counters.note("espn", failed=1)
    assert (await counters.recent())["espn"] == (11, 1)
    assert await cache.run("HEXISTS", key, f"{slot - 20}:failed") == 0, "what is too old is thrown away"
    assert 0 < await cache.run("TTL", key) <= 300


async def test_an_unknown_match_is_cached_for_a_minute(cache: RedisCache) -> None:
    missing: NegativeCache = NegativeCache(cache)
    await missing.note(["espn_1", "espn_2"])
    await missing.note([])
    assert await missing.among(["espn_2", "espn_3"]) == {"espn_2"}
    assert await missing.among([]) == frozenset()
    assert 0 < await cache.run("TTL", cache.key("negative_cache", "espn_1")) <= 60


async def test_a_switch_is_on_off_or_left_to_the_file(cache: RedisCache) -> None:
    switches: FeedSwitches = FeedSwitches(cache)
    assert await switches.switched() == {}
    await switches.switch("espn", False)
    await switches.switch("crex", True)
    assert await switches.switched() == {"espn": False, "crex": True}
    await switches.switch("espn", None)
    await switches.switch("nobody", None)
    assert await switches.switched() == {"crex": True}
    assert await cache.run("TTL", cache.key("domain_config", "crex")) == -1, "it stays until somebody changes it"


def a_summary() -> HealthSummary:
    return HealthSummary(
        grade=HealthGrade.DEGRADED,
        since=NOW,
        freshness=FreshnessStats(61.5, 80.0, 95.25, 12),
        generated_at=later(15),
        last_success=later(12),
        stall_seconds=3.0,
        queue={"live": 3, "imminent": 0, "completed": 47},
        active=2,
        failure_ratio=0.05,
        paused=("espn_401",),
        reasons=("the median age is 61 s",),
    )


async def test_a_summary_comes_back_as_it_was_and_lasts_for_three_judgements(cache: RedisCache) -> None:
    health: HealthCache = HealthCache(cache, every=timedelta(seconds=15))
    assert await health.summary() is None
    for summary in (a_summary(), replace(a_summary(), last_success=None, paused=(), queue={}, reasons=())):
        await health.publish(summary)
        assert await health.summary() == summary
    assert 40 < await cache.run("TTL", cache.key("health_summary")) <= 45


def a_recovery(number: int) -> Recovery:
    return Recovery(f"id-{number}", later(number), RecoveryAction.BROWSER_RECYCLE, "no answer", {"grade": "failing"})


async def test_the_audit_log_keeps_a_hundred_and_an_entry_that_ends_keeps_its_place(cache: RedisCache) -> None:
    health = HealthCache(cache)
    await cache.run("LPUSH", cache.key("audit_log"), "not an entry")
    for number in range(101):
        await health.publish_recovery(a_recovery(number))
    ended = replace(a_recovery(99), outcome=RecoveryOutcome.SUCCESS, seconds=1.5, healthy_at=later(9), after={"n": [1]})
    await health.publish_recovery(ended)
    found = await health.recoveries()
    assert found == [a_recovery(100), ended, *(a_recovery(number) for number in range(98, 0, -1))]
    assert await health.recoveries(limit=1) == [a_recovery(100)]
    assert await cache.run("LLEN", cache.key("audit_log")) == 100
