"""What `footy health` tells, from a real database and a real cache, and what it says where one is away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis import (
    RedisCache,
    RedisFeedCounters,
    RedisFreshness,
    RedisHealthCache,
    RedisMonitorRecords,
)
from found_footy.domain.feeds.health_values import HealthGrade
from found_footy.domain.feeds.monitoring import MatchLife
from found_footy.domain.feeds.source import FeedSource
from found_footy.feed_registry import DeclaredFeed
from found_footy.ops.health_report import HealthReport, Reporting
from found_footy.ops.health_view import health_line, health_page, seconds
from tests.support.watching import LAG, Watched

ESPN = DeclaredFeed(FeedSource("espn", "espn"), on=True, switched=None)
CREX = DeclaredFeed(FeedSource("crex", "crex"), on=True, switched=True, lacks="BROWSER_URL")
SPARE = DeclaredFeed(FeedSource("spare", "espn", enabled=True), on=False, switched=False)


@pytest.fixture
async def watched(database_url: str, cache: RedisCache) -> AsyncIterator[Watched]:
    database = Database(database_url)
    await database.open()
    made = Watched(database, database_url, cache)
    # It answered the daily ingest: without any answer, no grade is shown.
    await PostgresStore(database).save_feed_state("espn", None, made.now - timedelta(hours=1), None)
    yield made
    await made.leading.release()
    await database.close()


async def report(watched: Watched, cache: RedisCache | None = None) -> HealthReport:
    asked = cache or watched.cache
    reporting = Reporting(
        watched.store,
        RedisHealthCache(asked),
        RedisFreshness(asked),
        RedisMonitorRecords(asked),
        RedisFeedCounters(asked),
        stale_seconds=45,
        judgement_seconds=15,
        lag=LAG,
    )
    return await reporting.report([ESPN, CREX, SPARE], watched.now)


def printed(shown: Any) -> str:
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return " ".join(capture.get().split())


async def test_each_feed_is_told_with_what_came_of_it(watched: Watched) -> None:
    await watched.follow([1, 2])
    await watched.answer([1])
    failing = watched.record(2, life=MatchLife.PAUSED, failures_in_a_row=5, error="FeedBlocked: a captcha")
    await watched.records.save([failing])
    await RedisFeedCounters(watched.cache).note("espn", ok=3, failed=1)
    await watched.after(50)
    told = await report(watched)
    espn = told.feeds[0]
    assert (espn.ok, espn.failed, espn.matches, espn.failing, espn.paused) == (3, 1, 2, 1, 1)
    assert (espn.error, espn.last_answer) == ("FeedBlocked: a captcha", watched.now - timedelta(seconds=50))
    assert [(each.fixture_id, each.title, each.seconds) for each in told.stale] == [
        (1, "Home 1 – Away", 50.0),
        (2, "Home 2 – Away", 50.0),
    ]
    words = printed(health_page(told))
    assert "HEALTHY for 35 s 2 matches followed: median 50 s" in words
    assert "crex lacks" in words
    assert "spare off (by hand)" in words
    assert "stale 2 Home 2 – Away, last heard of 50 s ago" in words


@pytest.mark.parametrize(("late", "judged"), [(60, True), (61, False)])
async def test_a_judgement_holds_for_a_minute_and_then_nobody_judges(
    watched: Watched, late: float, judged: bool
) -> None:
    await watched.after(0)
    watched.now += timedelta(seconds=late)
    told = await report(watched)
    assert (told.judged, told.good) == (judged, judged)
    words, line, document = printed(health_page(told)), health_line(told), told.to_json()
    assert ("nobody has judged for 61 s" in words) is not judged
    assert ("UNKNOWN it was HEALTHY" in words) is not judged
    assert (line.split(";")[0].split()[-1], "not judged since" in line) == (told.grade, not judged)
    assert (document["grade"], document["judged_seconds"]) == ("healthy" if judged else "unknown", late)


async def test_without_the_cache_the_database_tells_and_the_report_says_so(watched: Watched) -> None:
    await watched.follow([1])
    await watched.after(50)
    away = RedisCache("redis://127.0.0.1:9/0", connect_seconds=0.2)
    told = await report(watched, away)
    assert told.summary is not None
    assert (told.summary.grade, told.good, len(told.stale)) == (HealthGrade.HEALTHY, True, 1)
    assert "the cache does not answer" in printed(health_page(told))
    await away.aclose()


async def test_recovering_is_no_more_good_than_failing(watched: Watched) -> None:
    await watched.follow([1])
    await watched.after(15)
    await watched.after(90)
    await watched.acted()
    told = await report(watched)
    assert told.summary is not None
    assert (told.summary.grade, told.good) == (HealthGrade.RECOVERING, False)
    assert "soft_restart under way: no feed has answered for 105 s" in printed(health_page(told))
    assert "recovering; 1 matches, median 105 s" in health_line(told)


async def test_before_the_first_judgement_nothing_is_good(watched: Watched) -> None:
    told = await report(watched)
    assert (told.summary, told.judged, told.good) == (None, False, False)
    assert "nobody has judged yet" in health_line(told)


@pytest.mark.parametrize(
    ("number", "words"), [(-3, "0 s"), (0.4, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h")]
)
def test_time_in_words(number: float, words: str) -> None:
    assert seconds(number) == words
