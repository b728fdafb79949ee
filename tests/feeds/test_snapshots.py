"""Snapshots in a real cache: numbers, times, history."""

from __future__ import annotations

import asyncio
import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio.connection import AbstractConnection

from found_footy.feeds.cache import HISTORY, LATEST, SEQUENCE, SnapshotCache
from found_footy.feeds.models import NewSnapshot
from found_footy.feeds.snapshot import encode, encode_payload, snapshot_delta
from found_footy.storage.redis import RedisCache
from tests.support.football import match

NOW = datetime(2026, 3, 7, 15, 0, 0, 123_456, tzinfo=UTC)
ID = "espn_401"


def a_payload(goals: int = 0) -> dict[str, Any]:
    return {"score": {"home": goals, "away": 0}, "teams": ["Kärnten", "東京", "\ud83d"], "toss": None}


def a_snapshot(
    goals: int = 0, *, match_id: str = ID, second: float = 0, lasts: float = 15, fresh: float = 15
) -> NewSnapshot:
    return NewSnapshot(
        match_id=match_id,
        domain_id="espn",
        body=encode_payload(a_payload(goals)),
        created_at=NOW + timedelta(seconds=second),
        ttl=timedelta(seconds=lasts),
        fresh_for=timedelta(seconds=fresh),
        provenance={"score": {"source": "espn", "confidence": 1.0}},
    )


@pytest.fixture
def snapshots(cache: RedisCache) -> SnapshotCache:
    return SnapshotCache(cache)


async def lifetime(cache: RedisCache, pattern: str) -> float:
    return float(await cache.run("PTTL", cache.key(pattern, ID))) / 1000


async def run_out(cache: RedisCache, pattern: str) -> None:
    """As if the time of the key were over."""
    await cache.run("PEXPIRE", cache.key(pattern, ID), 0)


async def test_a_stored_snapshot_is_returned_unchanged(snapshots: SnapshotCache) -> None:
    given = a_snapshot(1)
    await snapshots.save([given])
    found = (await snapshots.load([ID]))[ID]
    assert (found.match_id, found.domain_id, found.sequence) == (ID, "espn", 1)
    assert found.created_at == NOW, "to the microsecond"
    assert (found.payload, found.provenance) == (a_payload(1), given.provenance)
    assert found.checksum == given.body.checksum


async def test_a_match_without_a_snapshot_is_missing(snapshots: SnapshotCache) -> None:
    assert await snapshots.load([ID]) == {}
    assert list(await snapshots.history(ID)) == []
    assert await snapshots.load([]) == {}
    await snapshots.save([])


async def test_each_change_counts_one_up_and_the_last_five_stay(snapshots: SnapshotCache) -> None:
    for goals in range(7):
        await snapshots.save([a_snapshot(goals, second=goals)])
    history = await snapshots.history(ID)
    assert [one.sequence for one in history] == [7, 6, 5, 4, 3]
    assert [one.payload["score"]["home"] for one in history] == [6, 5, 4, 3, 2]
    change = snapshot_delta(history[1], history[0])
    assert (change["score"], change["_sequence_delta"]) == ({"home": 6, "away": 0}, 1)


async def test_an_unchanged_snapshot_only_updates_the_time(cache: RedisCache, snapshots: SnapshotCache) -> None:
    await snapshots.save([a_snapshot(0)])
    await run_out(cache, "match_latest")
    await snapshots.save([replace(a_snapshot(0, second=30), provenance={"score": {"source": "other"}})])
    found = (await snapshots.load([ID]))[ID]
    assert (found.sequence, found.created_at) == (1, NOW + timedelta(seconds=30))
    assert len(await snapshots.history(ID)) == 1
    assert await lifetime(cache, "match_latest") > 14


@pytest.mark.parametrize("lasts", [15, 24 * 3600])
async def test_each_key_has_its_time(cache: RedisCache, snapshots: SnapshotCache, lasts: float) -> None:
    await snapshots.save([a_snapshot(lasts=lasts)])
    assert lasts - 5 < await lifetime(cache, "match_latest") <= lasts
    assert 3595 < await lifetime(cache, "match_history") <= 3600
    assert 24 * 3600 - 5 < await lifetime(cache, "match_sequence") <= 24 * 3600


async def test_an_older_answer_does_not_overwrite_a_newer_one(snapshots: SnapshotCache) -> None:
    await snapshots.save([a_snapshot(1, second=10)])
    await snapshots.save([a_snapshot(0, second=5)])
    assert (await snapshots.load([ID]))[ID].payload["score"]["home"] == 1


async def test_a_clock_that_ran_ahead_blocks_no_answer_after_its_own_expired(
    snapshots: SnapshotCache,
) -> None:
    """The reconciled snapshot stays for a day, and is fresh for a few seconds."""
    await snapshots.save([a_snapshot(1, second=10, lasts=24 * 3600)])
    await snapshots.save([a_snapshot(0, second=6, lasts=24 * 3600, fresh=0)])
    found = (await snapshots.load([ID]))[ID]
    assert (found.sequence, found.payload["score"]["home"]) == (2, 0)


async def test_numbers_stay_monotonic_when_many_write_at_once(cache: RedisCache, snapshots: SnapshotCache) -> None:
    others = [SnapshotCache(cache) for _ in range(8)]
    await asyncio.gather(*(each.save([a_snapshot(n)]) for n, each in enumerate(others * 5)))
    history = [one.sequence for one in await snapshots.history(ID)]
    assert history == [40, 39, 38, 37, 36]


async def test_a_thousand_matches_take_a_handful_of_round_trips(
    snapshots: SnapshotCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [a_snapshot(match_id=f"espn_{number}") for number in range(1000)]
    await snapshots.save(many[:1])
    trips = 0
    send = AbstractConnection.send_packed_command

    async def counting_send(self: AbstractConnection, *args: Any, **options: Any) -> None:
        nonlocal trips
        trips += 1
        await send(self, *args, **options)

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counting_send)
    await snapshots.save(many)
    assert len(await snapshots.load([one.match_id for one in many])) == 1000
    assert trips == 1 + 4, "one pipeline, and a read of 250 values each"


async def test_a_snapshot_that_is_far_too_large_is_refused_and_the_rest_is_saved(
    snapshots: SnapshotCache, caplog: pytest.LogCaptureFixture
) -> None:
    huge = replace(a_snapshot(match_id="espn_2"), body=encode_payload({"title": "x" * 600_000}))
    await snapshots.save([huge, a_snapshot()])
    assert set(await snapshots.load(["espn_2", ID])) == {ID}
    assert [record.action for record in caplog.records] == ["snapshot_rejected"]  # type: ignore[attr-defined]


async def test_a_value_is_the_number_and_compressed_json_whose_last_field_is_the_payload(
    cache: RedisCache, snapshots: SnapshotCache
) -> None:
    await snapshots.save([a_snapshot()])
    number, _, compressed = (await cache.run("GET", cache.key("match_latest", ID))).partition(b"\n")
    fields = json.loads(zlib.decompress(compressed))
    assert number == b"1"
    assert list(fields) == ["match_id", "domain_id", "created_at", "provenance", "checksum", "normalized_payload"]


async def test_an_api_football_match_takes_less_than_twelve_kilobytes_with_its_history(
    cache: RedisCache, snapshots: SnapshotCache
) -> None:
    """10,000 matches and their reconciled snapshots fit into the 256 MB of the embedded cache."""
    live = match(*(f"{minute} home {minute}" for minute in range(1, 90, 11)))
    raw = {"events": [{"time": {"elapsed": n}, "player": {"id": n, "name": f"Player {n}"}} for n in range(30)]}
    for second in range(6):
        body = encode(replace(live, raw={**raw, "second": second}))
        await snapshots.save([replace(a_snapshot(second=second), body=body)])
    sizes = [await cache.run("MEMORY", "USAGE", cache.key(key, ID)) for key in (LATEST, HISTORY, SEQUENCE)]
    assert sum(sizes) < 12_000
