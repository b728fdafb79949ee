"""Snapshots in a real cache: numbers, times, history."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from found_footy.adapters.storage.redis import RedisCache, RedisSnapshots
from found_footy.domain.feeds.deltas import checksum, delta
from found_footy.ports_feeds import NewSnapshot, Snapshots

NOW = datetime(2026, 3, 7, 15, 0, 0, 123_456, tzinfo=UTC)
ID = "espn_401"


def a_snapshot(goals: int = 0, *, match_id: str = ID, second: float = 0, lasts: float = 15) -> NewSnapshot:
    return NewSnapshot(
        match_id=match_id,
        domain_id="espn",
        payload={"score": {"home": goals, "away": 0}, "teams": ["Kärnten", "東京", "\ud83d"], "toss": None},
        created_at=NOW + timedelta(seconds=second),
        lasts=timedelta(seconds=lasts),
        provenance={"score": {"source": "espn", "confidence": 1.0}},
    )


@pytest.fixture
def snapshots(cache: RedisCache) -> Snapshots:
    return RedisSnapshots(cache)


async def lifetime(cache: RedisCache, pattern: str) -> float:
    return float(await cache.run("PTTL", cache.key(pattern, ID))) / 1000


async def run_out(cache: RedisCache, pattern: str) -> None:
    """As if the time of the key were over."""
    await cache.run("PEXPIRE", cache.key(pattern, ID), 0)


async def test_what_was_kept_comes_back_as_it_was(snapshots: Snapshots) -> None:
    given = a_snapshot(1)
    await snapshots.keep([given])
    found = (await snapshots.fresh([ID]))[ID]
    assert (found.match_id, found.domain_id, found.sequence) == (ID, "espn", 1)
    assert found.created_at == NOW, "to the microsecond"
    assert (found.payload, found.provenance) == (given.payload, given.provenance)
    assert found.checksum == checksum(given.payload)


async def test_a_match_that_nobody_kept_is_not_there(snapshots: Snapshots) -> None:
    assert await snapshots.fresh([ID]) == await snapshots.last_known([ID]) == {}
    assert list(await snapshots.history(ID)) == []
    assert await snapshots.fresh([]) == {}
    await snapshots.keep([])


async def test_each_change_counts_one_up_and_the_last_five_stay(snapshots: Snapshots) -> None:
    for goals in range(7):
        await snapshots.keep([a_snapshot(goals, second=goals)])
    history = await snapshots.history(ID)
    assert [one.sequence for one in history] == [7, 6, 5, 4, 3]
    assert [one.payload["score"]["home"] for one in history] == [6, 5, 4, 3, 2]
    change = delta(history[1], history[0])
    assert (change["score"], change["_sequence_delta"]) == ({"home": 6, "away": 0}, 1)


async def test_the_same_word_again_only_renews_the_time(cache: RedisCache, snapshots: Snapshots) -> None:
    await snapshots.keep([a_snapshot(0)])
    await run_out(cache, "match_latest")
    await snapshots.keep([replace(a_snapshot(0, second=30), provenance={"score": {"source": "other"}})])
    found = (await snapshots.fresh([ID]))[ID]
    assert (found.sequence, found.created_at) == (1, NOW + timedelta(seconds=30))
    assert len(await snapshots.history(ID)) == 1
    assert await lifetime(cache, "match_latest") > 14


@pytest.mark.parametrize("lasts", [15, 24 * 3600])
async def test_each_key_has_its_time(cache: RedisCache, snapshots: Snapshots, lasts: float) -> None:
    await snapshots.keep([a_snapshot(lasts=lasts)])
    assert lasts - 5 < await lifetime(cache, "match_latest") <= lasts
    assert 3595 < await lifetime(cache, "match_history") <= 3600
    assert 24 * 3600 - 5 < await lifetime(cache, "match_known") <= 24 * 3600
    assert 24 * 3600 - 5 < await lifetime(cache, "match_sequence") <= 24 * 3600


async def test_when_its_time_is_over_a_snapshot_is_known_and_no_longer_fresh(
    cache: RedisCache, snapshots: Snapshots
) -> None:
    await snapshots.keep([a_snapshot(2)])
    await run_out(cache, "match_latest")
    assert await snapshots.fresh([ID]) == {}
    assert (await snapshots.last_known([ID]))[ID].created_at == NOW


async def test_a_word_that_was_overtaken_changes_nothing(cache: RedisCache, snapshots: Snapshots) -> None:
    await snapshots.keep([a_snapshot(1, second=10)])
    await snapshots.keep([a_snapshot(0, second=5)])
    assert (await snapshots.fresh([ID]))[ID].payload["score"]["home"] == 1
    await run_out(cache, "match_latest")
    await snapshots.keep([a_snapshot(0, second=6)])
    assert (await snapshots.fresh([ID]))[ID].sequence == 2, "a clock that was ahead does not block the others for good"


async def test_numbers_stay_monotonic_when_many_write_at_once(cache: RedisCache, snapshots: Snapshots) -> None:
    others = [RedisSnapshots(cache) for _ in range(8)]
    await asyncio.gather(*(each.keep([a_snapshot(n)]) for n, each in enumerate(others * 5)))
    history = [one.sequence for one in await snapshots.history(ID)]
    assert history == [40, 39, 38, 37, 36]


async def test_a_thousand_matches_take_a_handful_of_round_trips(
    cache: RedisCache, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [a_snapshot(match_id=f"espn_{number}") for number in range(1000)]
    await snapshots.keep(many[:1])
    before = await commands(cache)
    await snapshots.keep(many)
    assert len(await snapshots.fresh([one.match_id for one in many])) == 1000
    assert await commands(cache) - before == pytest.approx(1000 + 4 + 4, abs=3), "a thousand scripts in four goes"


async def commands(cache: RedisCache) -> int:
    """Scripts, texts of scripts, and reads of many keys, as the server counts them."""
    stats: dict[str, Any] = await cache.run("INFO", "commandstats")
    wanted = ("cmdstat_evalsha", "cmdstat_script|load", "cmdstat_mget")
    return sum(stats[name]["calls"] for name in wanted if name in stats)


async def test_what_cannot_be_json_or_is_far_too_large_is_left_out_and_the_rest_is_kept(
    snapshots: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    nonsense = replace(a_snapshot(match_id="espn_1"), payload={"runs": float("nan")})
    huge = replace(a_snapshot(match_id="espn_2"), payload={"title": "x" * 600_000})
    await snapshots.keep([nonsense, huge, a_snapshot()])
    assert set(await snapshots.last_known(["espn_1", "espn_2", ID])) == {ID}
    assert [record.action for record in caplog.records] == ["snapshot_refused"] * 2  # type: ignore[attr-defined]


async def test_the_text_in_the_cache_has_the_known_names(cache: RedisCache, snapshots: Snapshots) -> None:
    await snapshots.keep([a_snapshot()])
    fields = json.loads(await cache.run("GET", cache.key("match_latest", ID)))
    assert list(fields) == [
        "sequence_number",
        "match_id",
        "domain_id",
        "normalized_payload",
        "created_at",
        "provenance",
        "checksum",
    ]
