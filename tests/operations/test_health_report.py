"""The health report on a real database and a real cache, and without the cache."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import cast

import pytest

from found_footy.cli.health import health_line, health_view
from found_footy.feeds.cache import FeedCache, FeedCounters
from found_footy.feeds.models import MonitoringState
from found_footy.feeds.registry import FeedDeclarations
from found_footy.fixtures.store import FixtureStore
from found_footy.operations.health import HealthService, feed_lines, health_document, stale_matches
from found_footy.operations.models import FeedDeclaration, HealthLimits, HealthReport
from found_footy.operations.probe import CacheReader, SystemProbe
from found_footy.operations.store import HealthCache
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from tests.support.terminal import plain_text
from tests.support.watchdog import LAG, WatchdogSystem

ESPN = FeedDeclaration("espn", "espn", 80, enabled=True, on=True)
CREX = FeedDeclaration("crex", "crex", 60, enabled=True, on=True, switched=True, lacks="BROWSER_URL")
SPARE = FeedDeclaration("spare", "espn", 20, enabled=True, on=False, switched=False)


@pytest.fixture
async def watched(database_url: str, cache: RedisCache) -> AsyncIterator[WatchdogSystem]:
    database = Database(database_url)
    await database.open()
    made = WatchdogSystem(database, database_url, cache)
    # It answered the daily ingest: without any answer, no grade is shown.
    await FixtureStore(database).save_feed_state("espn", None, made.now - timedelta(hours=1), None)
    yield made
    await made.leading.release()
    await database.close()


async def report(watched: WatchdogSystem, cache: RedisCache | None = None) -> HealthReport:
    asked = cache or watched.cache
    cache_reader = CacheReader(asked, FeedCache(asked), HealthCache(asked))
    declared = cast(FeedDeclarations, DeclaredFeeds())
    probe = SystemProbe(watched.store, cache=cache_reader, declared=declared, objects=NoObjects())
    return await HealthService(probe, HealthLimits(save_lag=LAG)).report(watched.now)


class DeclaredFeeds:
    async def declared(self) -> Sequence[FeedDeclaration]:
        return [ESPN, CREX, SPARE]


async def test_each_feed_is_shown_with_its_requests(watched: WatchdogSystem) -> None:
    await watched.follow([1, 2])
    await watched.answer([1])
    until = watched.now + timedelta(minutes=2)
    failing = watched.record(
        2, state=MonitoringState.PAUSED, paused_until=until, consecutive_failures=5, error="FeedBlocked: a captcha"
    )
    await watched.records.save([failing])
    await FeedCounters(watched.cache).note("espn", ok=3, failed=1)
    await watched.after(50)
    found = await report(watched)
    espn = feed_lines(found.measured)[0]
    assert (espn.ok, espn.failed, espn.matches, espn.failing, espn.paused) == (3, 1, 2, 1, 1)
    assert (espn.error, espn.last_answer) == ("FeedBlocked: a captcha", watched.now - timedelta(seconds=50))
    assert [(each.fixture_id, each.title, each.seconds) for each in stale_matches(found)] == [
        (1, "Home 1 – Away", 50.0),
        (2, "Home 2 – Away", 50.0),
    ]
    text = plain_text(health_view(found))
    assert "feeds HEALTHY for 35 s 2 matches in play: updates are median 50 s" in text
    assert "crex not configured" in text
    assert "spare off (set manually)" in text
    assert "stale 2 Home 2 – Away, last update 50 s ago" in text


@pytest.mark.parametrize(("late", "counts"), [(60, True), (61, False)])
async def test_a_health_check_counts_for_a_minute(watched: WatchdogSystem, late: float, counts: bool) -> None:
    await watched.after(0)
    watched.now += timedelta(seconds=late)
    found = await report(watched)
    assert (found.state is not None, found.is_working) == (counts, counts)
    text, line, document = plain_text(health_view(found)), health_line(found), health_document(found)
    assert ("No health check for 61 s" in text) is not counts
    assert ("The last grade was healthy" in text) is not counts
    assert ("no health check since" in line) is not counts
    assert (document["grade"], document["judged_seconds"]) == ("healthy" if counts else "unknown", late)


async def test_without_the_cache_the_report_is_made_from_the_database(watched: WatchdogSystem) -> None:
    await watched.follow([1])
    await watched.after(50)
    away = RedisCache("redis://127.0.0.1:9/0", connect_seconds=0.2)
    found = await report(watched, away)
    assert (found.feeds_grade, len(stale_matches(found))) == ("healthy", 1)
    assert "Redis is unreachable" in plain_text(health_view(found))
    await away.aclose()


async def test_a_recovery_is_shown(watched: WatchdogSystem) -> None:
    await watched.follow([1])
    await watched.after(15)
    await watched.after(90)
    await watched.until_recovered()
    found = await report(watched)
    assert (found.feeds_grade, found.is_working) == ("recovering", False)
    assert "soft_restart in progress: no feed has responded for 105 s" in plain_text(health_view(found))
    assert "1 match, median 105 s" in health_line(found)


async def test_before_the_first_health_check_the_grade_is_unknown(watched: WatchdogSystem) -> None:
    found = await report(watched)
    assert (found.state, found.feeds_grade, found.is_working) == (None, "unknown", False)
    assert "No health check yet. Is `footy watchdog` running?" in plain_text(health_view(found))


class NoObjects(ObjectStore):
    async def head(self, key: str) -> None:
        return None
