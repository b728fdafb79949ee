"""What comes broken out of the cache is as if it had been lost: never a crash, never believed."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.feeds.cache import FeedCounters, FeedSwitches, FreshnessIndex, MonitoringRecords, SnapshotCache
from found_footy.feeds.models import MatchPriority, NewSnapshot
from found_footy.feeds.poll_state import new_record
from found_footy.feeds.snapshot import encode_payload
from found_footy.operations.store import HealthCache
from found_footy.storage.redis import RedisCache

NOW = datetime(2026, 3, 7, 15, 0, tzinfo=UTC)

TEXTS = {
    "nothing": b"",
    "no JSON": b"\xff\xfe{",
    "cut": b'{"match_id":"espn_1"',
    "a list": b"[1,2]",
    "a number": b"7",
    "null": b"null",
    "no fields": b"{}",
    "other types": json.dumps({key: [] for key in ("grade", "state", "created_at", "feed_id", "enabled")}).encode(),
    "no sequence number": b'{"created_at":NaN}',
    "deep": b"[" * 100_000,
    "long number": b'{"feed_id":' + b"9" * 5000 + b"}",
    "wild times": b'{"since":1e300,"created_at":1e308,"grade":"healthy"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_any_text_in_any_place_is_dropped(
    cache: RedisCache, text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for pattern in ("match_latest:espn_1", "match_monitor:espn_1", "health_summary"):
        await cache.run("SET", cache.key(pattern), text)
    for pattern in ("domain_config:espn", "feed_queue:espn"):
        await cache.run("SET", cache.key(pattern), text)
    await cache.run("SADD", cache.key("feed_names"), "espn")
    await cache.run("ZADD", cache.key("monitor_index"), 1, "espn_1")
    for pattern in ("match_history:espn_1", "audit_log"):
        await cache.run("LPUSH", cache.key(pattern), text)

    snapshots, records, health = SnapshotCache(cache), MonitoringRecords(cache), HealthCache(cache)
    assert await snapshots.load(["espn_1"]) == {}
    assert list(await snapshots.history("espn_1")) == []
    assert await records.load(["espn_1"]) == {}
    assert list(await records.all()) == []
    assert await records.queues() == {}
    assert await FeedSwitches(cache).switched() == {}
    assert await health.summary() is None
    assert await health.recoveries() == []
    assert {record.action for record in caplog.records} == {"cache_value_dropped"}  # type: ignore[attr-defined]


def a_snapshot(payload: dict[str, int]) -> NewSnapshot:
    minute = timedelta(minutes=1)
    return NewSnapshot("espn_1", "espn", encode_payload(payload), NOW, ttl=minute, fresh_for=minute)


async def test_a_snapshot_whose_checksum_does_not_fit_is_dropped(cache: RedisCache) -> None:
    snapshots = SnapshotCache(cache)
    await snapshots.save([a_snapshot({"goals": 1})])
    key = cache.key("match_latest", "espn_1")
    value = await cache.run("GET", key)
    number, _, compressed = value.partition(b"\n")
    text = zlib.decompress(compressed).replace(b'"goals":1', b'"goals":2')
    await cache.run("SET", key, number + b"\n" + zlib.compress(text))
    assert await snapshots.load(["espn_1"]) == {}
    await cache.run("SET", key, value)
    assert len(await snapshots.load(["espn_1"])) == 1


async def test_a_value_under_the_key_of_another_match_is_dropped(cache: RedisCache) -> None:
    snapshots, records = SnapshotCache(cache), MonitoringRecords(cache)
    await snapshots.save([a_snapshot({})])
    await records.save([new_record("espn", 1, MatchPriority.LIVE, NOW)])
    for pattern in ("match_latest", "match_monitor"):
        await cache.run("SET", cache.key(pattern, "espn_2"), await cache.run("GET", cache.key(pattern, "espn_1")))
    assert await snapshots.load(["espn_2"]) == {}
    assert await records.load(["espn_2"]) == {}


async def test_odd_members_of_sets_and_hashes_are_passed_over(cache: RedisCache) -> None:
    await cache.run("ZADD", cache.key("freshness_index"), 1, "7", 2, "x", 3, b"\xff", "inf", "8")
    assert list(await FreshnessIndex(cache).times()) == [7]
    await cache.run("SADD", cache.key("feed_names"), "espn", b"\xff\xfe")
    await cache.run("HSET", cache.key("feed_totals", "espn"), "ok", "x", "seconds", "inf", b"\xff", "1")
    await cache.run("HSET", cache.key("feed_recent", "espn"), "x:ok", "1", "y", "2")
    counters = FeedCounters(cache)
    assert (await counters.totals())["espn"].ok == 0
    assert await counters.recent() == {"espn": (0, 0)}


async def test_two_systems_share_a_server(cache: RedisCache, valkey_server: str) -> None:
    other = RedisCache(valkey_server, prefix="another:")
    try:
        await FeedSwitches(cache).switch("espn", False)
        assert await FeedSwitches(other).switched() == {}
    finally:
        await other.aclose()
