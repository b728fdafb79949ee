"""Snapshots of a match with age and deltas, and the provenance of its fields."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from found_footy.app import open_web
from found_footy.feeds.cache import MonitoringRecords, SnapshotCache
from found_footy.feeds.models import RECONCILED, MonitoringState, NewSnapshot
from found_footy.feeds.snapshot import encode_payload
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.redis import RedisCache
from found_footy.web.app import create_app
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.operations import a_record, paused
from tests.support.web_world import NOW, served


@dataclass(frozen=True)
class Site:
    web: httpx.AsyncClient
    snapshots: SnapshotCache
    records: MonitoringRecords


@pytest.fixture
async def site(small_world: SampleDataCopy, valkey_server: str, cache: RedisCache) -> AsyncIterator[Site]:
    """A server whose cache has keys of its own."""
    settings = small_world.settings.model_copy(update={"redis_url": SecretStr(valkey_server)})
    snapshots, records = SnapshotCache(cache), MonitoringRecords(cache)
    async with open_web(settings) as services:
        scores = replace(services.scores, snapshots=snapshots, records=records)
        server = HttpServer(create_app(replace(services, now=lambda: NOW, scores=scores)), grace_seconds=1)
        async with server, httpx.AsyncClient(base_url=server.url) as client:
            yield Site(client, snapshots, records)
            services.live.close()


async def keep(site: Site, seconds_ago: float, **payload: Any) -> None:
    await site.snapshots.save(
        [
            NewSnapshot(
                "7001",
                RECONCILED,
                encode_payload({"status": "live", "score": {"team_a": {"goals": 1}}, "raw": {"secret": 1}, **payload}),
                NOW - timedelta(seconds=seconds_ago),
                timedelta(hours=24),
                timedelta(seconds=15),
                {"score": {"source": "espn", "confidence": 1.0}},
            )
        ]
    )


@pytest.mark.parametrize(("age", "stale"), [(10, False), (45, False), (46, True), (4000, True)])
async def test_the_latest_snapshot_is_returned_with_its_age(site: Site, age: float, stale: bool) -> None:
    await keep(site, age)
    answer = await site.web.get("/api/v1/fixtures/7001/snapshot")
    told = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert (told["stale"], told["age_seconds"], told["sequence"], told["delta"]) == (stale, age, 1, None)
    assert told["snapshot"] == {"status": "live", "score": {"team_a": {"goals": 1}}}
    assert (len(told["checksum"]), told["provenance"]["score"]["source"]) == (64, "espn")


async def test_a_delta_has_the_changes_since_a_sequence_number(site: Site) -> None:
    await keep(site, 40)
    await keep(site, 20, score={"team_a": {"goals": 2}}, venue="Anfield")
    told = (await site.web.get("/api/v1/fixtures/7001/snapshot?since=1")).json()
    assert told["delta"] == {
        "score": {"team_a": {"goals": 2}},
        "venue": "Anfield",
        "_diff_type": "update",
        "_sequence_delta": 1,
    }
    same = (await site.web.get("/api/v1/fixtures/7001/snapshot?since=2")).json()
    assert same["delta"] == {"_diff_type": "update", "_sequence_delta": 0}
    lost = (await site.web.get("/api/v1/fixtures/7001/snapshot?since=0")).json()["delta"]
    assert (lost["_diff_type"], lost["venue"], "raw" in lost) == ("initial", "Anfield", False)


async def test_a_missing_snapshot_and_a_missing_cache_are_different_errors(
    site: Site, small_world: SampleDataCopy
) -> None:
    assert (await site.web.get("/api/v1/fixtures/7001/snapshot")).json()["error"]["message"] == (
        "no snapshot of fixture 7001"
    )
    assert (await site.web.get("/api/v1/fixtures/1/snapshot")).json()["error"]["message"] == "fixture 1 not found"
    for since in ("-1", "x", "9" * 30):
        assert (await site.web.get(f"/api/v1/fixtures/7001/snapshot?since={since}")).status_code == 422
    async with served(small_world.settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        none = await web.get("/api/v1/fixtures/7001/snapshot")
    assert (none.status_code, none.json()["error"]["class"]) == (503, "CacheUnavailable")


async def test_without_the_cache_the_rest_is_returned(small_world: SampleDataCopy) -> None:
    nowhere = {"redis_url": SecretStr("redis://:secret-word@127.0.0.1:9/0")}
    settings = small_world.settings.model_copy(update=nowhere)
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url, timeout=30) as web:
        away = await web.get("/api/v1/fixtures/7001/snapshot")
        feeds = (await web.get("/api/v1/fixtures/7001/feeds")).json()
        status = (await web.get("/status")).json()
        page = await web.get("/operations", headers={"accept": "text/html"})
    assert (away.status_code, away.json()["error"]["class"]) == (503, "CacheUnavailable")
    assert "secret-word" not in away.text + page.text
    assert [(feed["feed"], feed["state"]) for feed in feeds["feeds"]] == [("api_football", None), ("espn", None)]
    assert (status["engines"]["cache"], status["grade"], status["queue_depth"]) == ("failed", "healthy", None)
    assert "Redis is unreachable" in page.text


async def test_provenance_lists_the_source_of_each_field(site: Site) -> None:
    await site.records.save([a_record(heard_seconds=12), paused(4017001)])
    told = (await site.web.get("/api/v1/fixtures/7001/feeds")).json()
    score = told["fields"]["score"]
    assert (score["feed"], score["value"], score["confidence"]) == ("api_football", {"home": 2, "away": 1}, 1.0)
    assert [(other["feed"], other["value"]) for other in score["others"]] == [("espn", {"home": 1, "away": 1})]
    assert told["fields"]["venue"]["feed"] == "espn"
    first, second = told["feeds"]
    assert (first["feed"], first["founding"], first["state"]) == ("api_football", True, "active")
    assert (second["feed_id"], second["state"], second["failures_in_a_row"]) == (4017001, MonitoringState.PAUSED, 5)
    assert (second["confidence"], second["reasons"][1]) == (pytest.approx(0.97), "same kick-off")
    (dispute,) = told["disputes"]
    assert (dispute["field"], dispute["chosen"], dispute["polls"]) == ("score", "api_football", 1)
    assert (told["stale"], told["age_seconds"] > 4000) == (True, True)


async def test_the_provenance_page_lists_sources_and_conflicts(
    web: httpx.AsyncClient, server: tuple[str, WebServices]
) -> None:
    page = (await web.get("/operations/match/7001", headers={"accept": "text/html"})).text
    assert "Which feed" not in page
    assert "espn: 1–1" in page
    assert "Conflicts" in page
    hidden = await web.get("/operations/match/7001/fragment", headers={"cookie": "spoilers=hidden"})
    assert "1–1" not in hidden.text
    assert "Anfield" not in hidden.text
    assert (await web.get("/operations/match/1")).status_code == 404
