"""Prometheus metrics of the score feeds and the browser service."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)

from found_footy.feeds.models import MatchPriority, MonitoringState
from found_footy.feeds.poll_state import is_paused
from found_footy.operations.feed_health import ages, percentile
from found_footy.operations.findings import frozen_clocks
from found_footy.operations.health import match_updates, queue_depth
from found_footy.operations.models import (
    UNKNOWN,
    AnswersCounted,
    BrowserSeen,
    CacheFacts,
    DatabaseFacts,
    FeedDeclaration,
    HealthGrade,
    HealthKnown,
    HealthReport,
    Measurement,
)

FRESHNESS_BUCKETS = (10.0, 30.0, 60.0, 120.0, math.inf)
QUANTILES = (0.5, 0.95, 0.99)


def feed_families(report: HealthReport) -> Iterator[Metric]:
    measured = report.measured
    if measured.judged_seconds is not None:
        grades = {grade: float(grade == report.feeds_grade) for grade in (*map(str, HealthGrade), UNKNOWN)}
        yield _labelled("footy_feeds_grade", "1 for the current grade of the feeds.", "grade", grades)
        description = "Seconds since the watchdog's last check."
        yield GaugeMetricFamily("footy_feeds_judged_seconds", description, value=measured.judged_seconds)
    if measured.declared is not None:
        yield from _declared(measured.declared)
    if measured.recorded is not None:
        yield from _recorded(measured.recorded)
        still = len(frozen_clocks(measured.recorded, measured.at))
        yield GaugeMetricFamily("footy_clocks_standing", "Matches in play with a frozen clock.", value=still)
    if measured.health is not None:
        yield from _health(measured.health)
    if measured.cached is not None:
        yield from _cached(measured.cached, report)
    if measured.browser is not None:
        yield from _browser(measured.browser)


def _declared(declared: tuple[FeedDeclaration, ...]) -> Iterator[Metric]:
    on = {each.feed: float(each.usable) for each in declared}
    yield _labelled("footy_feed_on", "Whether a declared feed is in use.", "feed", on)


def _recorded(recorded: DatabaseFacts) -> Iterator[Metric]:
    up = {feed.feed: float(not feed.error) for feed in recorded.feeds}
    yield _labelled("footy_feed_up", "Whether the last request to the feed succeeded.", "feed", up)
    remaining = {
        feed.feed: float(feed.quota.day_remaining)
        for feed in recorded.feeds
        if feed.quota is not None and feed.quota.day_remaining is not None
    }
    if remaining:
        yield _labelled("footy_feed_requests_remaining", "Remaining requests to the feed today.", "feed", remaining)
    disputes, doubts = len(recorded.disputes), len(recorded.doubts)
    yield GaugeMetricFamily("footy_feed_disputes", "Fields that feeds disagreed on in the last hour.", value=disputes)
    yield GaugeMetricFamily("footy_pairings_in_doubt", "Match pairings that await a decision.", value=doubts)


def _health(health: HealthKnown) -> Iterator[Metric]:
    outcomes = {"running": 0.0, "success": 0.0, "partial": 0.0, "failed": 0.0}
    for each in health.recoveries:
        outcomes[str(each.outcome) if each.outcome else "running"] += 1
    yield _labelled("footy_recoveries_recent", "Outcomes of the last 20 recoveries.", "outcome", outcomes)


def _cached(cached: CacheFacts, report: HealthReport) -> Iterator[Metric]:
    measured = report.measured
    paused = sum(is_paused(each, measured.at) for each in cached.records)
    yield GaugeMetricFamily("footy_paused_matches", "Matches that a feed has paused.", value=paused)
    depth = {name: float(number) for name, number in queue_depth(cached.queues).items()}
    yield _labelled("scraper_queue_depth", "Waiting requests to the feeds.", "priority", depth)
    fresh = sorted(ages(match_updates(report), measured.at).values())
    family = HistogramMetricFamily("scraper_freshness_seconds", "Current age of each match's data.")
    family.add_metric(
        (), cumulative_buckets({bound: sum(age <= bound for age in fresh) for bound in FRESHNESS_BUCKETS}), sum(fresh)
    )
    yield family
    if cached.memory is not None:
        used, limit = cached.memory.used, cached.memory.limit
        yield GaugeMetricFamily("footy_cache_memory_bytes", "Memory used by the cache.", value=used)
        yield GaugeMetricFamily("footy_cache_memory_limit_bytes", "Memory limit of the cache; 0 if none.", value=limit)
    yield from _answers(cached.answers)
    yield _staleness(cached, measured)


def _staleness(cached: CacheFacts, measured: Measurement) -> Metric:
    """Age of each live match per feed, which shows a single slow feed."""
    live = [
        each
        for each in cached.records
        if each.priority is MatchPriority.LIVE and each.state is not MonitoringState.ARCHIVED
    ]
    old = sorted(
        max(0.0, (measured.at - each.updated_at).total_seconds()) for each in live if each.updated_at is not None
    )
    family = SummaryMetricFamily(
        "scraper_data_staleness_seconds", "Age of each feed's data for each live match.", labels=()
    )
    for share in QUANTILES if old else ():
        family.add_sample(family.name, {"quantile": f"{share:g}"}, percentile(old, share))
    family.add_metric((), len(old), sum(old))
    return family


def _answers(answers: Mapping[str, AnswersCounted]) -> Iterator[Metric]:
    seconds = HistogramMetricFamily("scraper_scrape_duration_seconds", "Duration of feed requests.", labels=("domain",))
    scrapes = CounterMetricFamily("scraper_scrapes", "Responses of the feeds.", labels=("domain", "status"))
    lost = CounterMetricFamily("scraper_navigation_failures", "Pages that could not be loaded.", labels=("domain",))
    for feed, each in answers.items():
        if each.buckets:
            seconds.add_metric((feed,), cumulative_buckets(each.buckets), each.seconds)
        scrapes.add_metric((feed, "success"), each.ok)
        scrapes.add_metric((feed, "failure"), each.failed)
        lost.add_metric((feed,), each.navigation_failures)
    yield from (seconds, scrapes, lost)


def _browser(browser: BrowserSeen) -> Iterator[Metric]:
    yield GaugeMetricFamily("scraper_pids_current", "Processes of the browser.", value=browser.processes)
    yield GaugeMetricFamily("scraper_contexts_active", "Open browser contexts.", value=browser.contexts)
    yield GaugeMetricFamily("scraper_pages_open", "Open pages.", value=browser.pages)
    yield GaugeMetricFamily("scraper_browser_uptime_seconds", "Uptime of the browser.", value=browser.uptime_seconds)
    recycles = CounterMetricFamily("scraper_recycles", "Restarts of the browser.", labels=("reason",))
    for reason, number in browser.recycles.items():
        recycles.add_metric((reason,), number)
    yield recycles


def cumulative_buckets(counts: Mapping[float, int]) -> list[tuple[str, float]]:
    """Return cumulative buckets that always end with +Inf."""
    listed = [(_bound(bound), float(number)) for bound, number in sorted(counts.items())]
    if not listed or listed[-1][0] != "+Inf":
        listed.append(("+Inf", listed[-1][1] if listed else 0.0))
    return listed


def _bound(bound: float) -> str:
    return "+Inf" if bound == math.inf else f"{bound:g}"


def _labelled(name: str, description: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, description, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
