"""Prometheus metrics, and that each is documented."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from found_footy.access.models import Role
from found_footy.config import Settings
from found_footy.fixtures.store import FixtureStore
from found_footy.operations.findings import assess
from found_footy.operations.health import coverage_objective
from found_footy.operations.models import CacheFacts, CoverageWindow, HealthLimits, LeagueCoverage, MemoryUse
from found_footy.operations.store import OperationsStore
from found_footy.web.metrics import CombinedRegistry, WebMetrics, families
from tests.conftest import SampleDataCopy
from tests.support.notifications import add_goal, add_match
from tests.support.operations import a_queue, a_record, cached, measured, paused, recorded, temporal
from tests.support.web_access import bearer, make_token
from tests.support.web_world import KICKOFF, SALAH, served
from tests.web.test_operations import showing

PUBLISHED = """
insert into videos (event_id, md5, state, duration, width, height, aspect, fps, bit_rate, file_size, codec, status,
    fingerprint, rank, staged_at, published_at)
values (%(goal)s, md5(%(goal)s), 'kept', 10, 1280, 720, 1.78, 25, 1000, 1000, 'h264', 'verified', '', 1, %(at)s, %(at)s)
"""

COUNTERS = {"footy_http_requests", "scraper_scrapes", "scraper_navigation_failures", "scraper_recycles"}
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name:
                found[tuple(sample.labels.values())] = sample.value
    return found


async def test_every_metric_is_documented(small_world: SampleDataCopy) -> None:
    async with showing(measured(), small_world.settings) as web:
        await web.get("/health/live")
        text = (await web.get("/metrics")).text
    names = {family.name for family in text_string_to_metric_families(text)}
    documented = set(re.findall(r"^\| ?`((?:footy|scraper)_\w+)`", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE))
    ours = {name for name in names if name.startswith(("footy_", "scraper_"))}
    assert len(ours) > 40
    assert {f"{name}_total" if name in COUNTERS else name for name in ours} == documented
    assert {name.partition("_")[0] for name in names - ours} == {"process"}


async def test_requests_are_counted_by_their_route(web: httpx.AsyncClient) -> None:
    for path in (f"/api/v1/events/{SALAH}", "/api/v1/events/none", "/nowhere/1", "/nowhere/2", "/static/footy.css"):
        await web.get(path)
    await web.request("PROPFIND", "/nowhere")
    counted = values((await web.get("/metrics")).text, "footy_http_requests_total")
    assert counted[("GET", "/api/v1/events/{event_id}", "200")] == 1
    assert counted[("GET", "/api/v1/events/{event_id}", "404")] == 1
    assert counted[("GET", "other", "404")] == 2
    assert counted[("GET", "/static", "200")] == 1
    assert not any("PROPFIND" in labels or "nowhere" in "".join(labels) for labels in counted)


async def test_refused_requests_are_counted_too(web: httpx.AsyncClient) -> None:
    await web.post("/api/v1/anything")
    await web.get("/login", headers={"authorization": "Bearer wrong"})
    counted = values((await web.get("/metrics")).text, "footy_http_requests_total")
    assert counted[("POST", "other", "401")] == 1
    assert counted[("GET", "other", "401")] == 1


async def test_metrics_of_a_populated_system(site: httpx.AsyncClient) -> None:
    text = (await site.get("/metrics")).text
    assert values(text, "footy_goals")[("complete",)] == 2
    assert values(text, "footy_clips") == {("verified",): 5, ("unverified",): 1}
    assert values(text, "footy_losses_last_day") == {("gone",): 1, ("too short",): 1}
    assert values(text, "footy_searches_last_day")[("failed", "x")] == 1
    assert values(text, "footy_poll_age_oldest_seconds")[()] > 3600
    assert values(text, "footy_news_lag") == {(): 0}


async def test_coverage_and_the_wait_for_clips_are_measured(small_world: SampleDataCopy) -> None:
    leagues = (
        LeagueCoverage("La Liga", verified=3, unverified=1, none=2, seconds=(50.0, 100.0, 100.0, 4000.0)),
        LeagueCoverage("Serie A", verified=0, unverified=0, none=1, seconds=()),
    )
    async with showing(measured(recorded=recorded(coverage=leagues)), small_world.settings) as web:
        text = (await web.get("/metrics")).text
    goals = values(text, "footy_coverage_goals")
    assert (goals[("verified", "La Liga")], goals[("none", "La Liga")], goals[("none", "Serie A")]) == (3, 2, 1)
    waits = values(text, "footy_goal_clip_seconds_bucket")
    assert (waits[("60",)], waits[("120",)], waits[("1800",)], waits[("+Inf",)]) == (1, 3, 3, 4)


async def test_the_objective_and_its_burn_rate_are_measured(small_world: SampleDataCopy) -> None:
    windows = (
        CoverageWindow("La Liga", 6, 2, 6),
        CoverageWindow("La Liga", 168, 8, 0),
        CoverageWindow("Serie A", 24, 9, 1),
    )
    async with showing(measured(recorded=recorded(coverage_windows=windows)), small_world.settings) as web:
        text = (await web.get("/metrics")).text
    settled = values(text, "footy_coverage_settled")
    assert (settled[("La Liga", "missed", "6h")], settled[("La Liga", "in_time", "7d")]) == (6, 8)
    burning = {place: round(rate, 6) for place, rate in values(text, "footy_coverage_burn_rate").items()}
    assert burning == {("La Liga", "6h"): 3.75, ("La Liga", "7d"): 0, ("Serie A", "1d"): 0.5}
    assert values(text, "footy_coverage_objective") == {("La Liga",): 0.8, ("Serie A",): 0.8}


@pytest.mark.parametrize(
    ("league", "in_time", "missed", "rate"),
    [
        ("Serie A", 8, 2, 1.0),  # exactly what 80 % allow
        ("Serie A", 4, 6, 3.0),
        ("Serie A", 0, 0, 0.0),
        ("La Liga", 8, 2, 4.0),  # of 95 %
    ],
)
def test_burn_rate(league: str, in_time: int, missed: int, rate: float) -> None:
    settings = Settings(coverage_leagues="La Liga=95")  # type: ignore[arg-type]
    objective = coverage_objective(settings)
    assert objective.burn_rate(CoverageWindow(league, 24, in_time, missed)) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("minutes_later", "windows"),
    [
        (5, {}),  # neither a clip nor the deadline
        (12, {(6, 1, 0), (24, 1, 0), (72, 1, 0), (168, 1, 0)}),
        (60, {(6, 1, 1), (24, 1, 1), (72, 1, 1), (168, 1, 1)}),
        (7 * 60, {(24, 1, 1), (72, 1, 1), (168, 1, 1)}),
        (9 * 24 * 60, {}),
    ],
)
async def test_goals_count_once_their_clip_or_their_deadline_has_come(
    store: FixtureStore, minutes_later: float, windows: set[tuple[int, int, int]]
) -> None:
    await add_match(store)
    first, second = await add_goal(store.database, 1), await add_goal(store.database, 2)
    async with store.database.connection() as connection:
        seen = KICKOFF + timedelta(minutes=20)
        await connection.execute("update events set first_seen = %s", [seen])
        for goal, minutes in ((first, 10), (second, 40)):
            await connection.execute(PUBLISHED, {"goal": goal, "at": seen + timedelta(minutes=minutes)})
    facts = await OperationsStore(store.database).facts(seen + timedelta(minutes=minutes_later))
    assert {(each.hours, each.in_time, each.missed) for each in facts.coverage_windows} == set(windows)


async def test_coverage_counts_goals_of_the_last_week_whose_search_has_ended(small_world: SampleDataCopy) -> None:
    operations = OperationsStore(small_world.store.database)
    facts = await operations.facts(KICKOFF + timedelta(days=1))
    counts = {each.league: (each.verified, each.unverified, each.none) for each in facts.coverage}
    assert counts == {"Bundesliga": (0, 0, 1), "Premier League": (1, 0, 0)}
    assert [len(each.seconds) for each in facts.coverage] == [0, 1]
    assert (await operations.facts(KICKOFF + timedelta(days=9))).coverage == ()


async def test_metrics_need_a_token_if_reading_does(small_world: SampleDataCopy) -> None:
    reader = await make_token(small_world.store, Role.READER)
    settings = small_world.settings.model_copy(update={"read_access": "token"})
    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        assert (await web.get("/metrics")).status_code == 401
        assert (await web.get("/metrics", headers=bearer(reader))).status_code == 200


def test_unavailable_engines_have_no_metrics() -> None:
    nothing = measured(recorded=None, temporal=None, health=None, cached=None, declared=None, browser=None)
    names = {metric.name for metric in families(assess(nothing, HealthLimits()))}
    volumes = {"footy_volume_free_bytes", "footy_volume_size_bytes"}
    assert names == {"footy_engine_up", "footy_findings", "footy_stream_clients", "footy_disk_free_bytes"} | volumes


def test_queues_and_workers_are_measured() -> None:
    system = measured(temporal=temporal(queues=(a_queue(backlog=7, age=12), a_queue("activity"))))
    found = {metric.name: metric for metric in families(assess(system, HealthLimits()))}
    assert [sample.value for sample in found["footy_queue_backlog"].samples] == [7, 0]
    assert [sample.value for sample in found["footy_queue_backlog_age_seconds"].samples] == [12, 0]
    assert [sample.value for sample in found["footy_workers"].samples] == [1, 1]


def test_two_applications_have_separate_counters() -> None:
    one, other = WebMetrics(), WebMetrics()
    one.observe("/", "GET", 200, 0.01)
    counts = [
        sum(
            len(metric.samples)
            for metric in CombinedRegistry(each.registry, ()).collect()
            if metric.name == "footy_http_requests"
        )
        for each in (one, other)
    ]
    assert counts == [1, 0]


async def test_feed_metrics_follow_the_measurement(small_world: SampleDataCopy) -> None:
    async with showing(measured(cached=cached(records=(a_record(), paused()))), small_world.settings) as web:
        text = (await web.get("/metrics")).text
    assert values(text, "scraper_queue_depth") == {("live",): 3, ("imminent",): 2, ("completed",): 0}
    assert values(text, "scraper_freshness_seconds_bucket") == {
        ("10",): 1, ("30",): 3, ("60",): 3, ("120",): 3, ("+Inf",): 3,
    }  # fmt: skip
    assert values(text, "scraper_freshness_seconds_sum") == {(): 46}
    assert values(text, "scraper_scrape_duration_seconds_bucket") == {
        ("espn", "0.5"): 60,
        ("espn", "1"): 90,
        ("espn", "+Inf"): 100,
    }
    assert values(text, "scraper_scrapes_total") == {("espn", "success"): 95, ("espn", "failure"): 5}
    assert values(text, "scraper_navigation_failures_total") == {("espn",): 0}
    assert values(text, "scraper_data_staleness_seconds") == {("0.5",): 12, ("0.95",): 300, ("0.99",): 300}
    assert values(text, "scraper_data_staleness_seconds_sum") == {(): 312}
    assert values(text, "scraper_data_staleness_seconds_count") == {(): 2}
    assert values(text, "scraper_pids_current") == {(): 14}
    assert values(text, "scraper_contexts_active") == {(): 2}
    assert values(text, "scraper_pages_open") == {(): 3}
    assert values(text, "scraper_browser_uptime_seconds") == {(): 5000}
    assert values(text, "scraper_recycles_total") == {("age",): 1}
    assert values(text, "footy_feeds_grade")[("healthy",)] == 1
    assert sum(values(text, "footy_feeds_grade").values()) == 1
    assert values(text, "footy_feed_on") == {("api_football",): 1, ("espn",): 1, ("crex",): 0}
    assert values(text, "footy_feed_up") == {("api_football",): 1, ("espn",): 1}
    assert values(text, "footy_paused_matches") == {(): 1}


def test_the_memory_of_the_cache_is_a_gauge() -> None:
    found = measured(cached=CacheFacts(memory=MemoryUse(230, 256)))
    gauges = {each.name: each.samples[0].value for each in families(assess(found, HealthLimits())) if each.samples}
    assert (gauges["footy_cache_memory_bytes"], gauges["footy_cache_memory_limit_bytes"]) == (230, 256)


def test_an_empty_cache_has_empty_metrics() -> None:
    empty = measured(cached=CacheFacts(), recorded=recorded(matches=()))
    found = {metric.name: metric for metric in families(assess(empty, HealthLimits()))}
    assert [sample.value for sample in found["scraper_freshness_seconds"].samples] == [0] * 7
    assert {sample.name for sample in found["scraper_data_staleness_seconds"].samples} == {
        "scraper_data_staleness_seconds_count",
        "scraper_data_staleness_seconds_sum",
    }
    assert found["scraper_scrapes"].samples == []
