"""Prometheus metrics of this process and of the whole system."""

from __future__ import annotations

import math
import time
from collections import Counter as Counting
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.operations.metrics import cumulative_buckets, feed_families
from found_footy.operations.models import (
    COVERAGE_WINDOWS,
    CoverageObjective,
    CoverageWindow,
    DatabaseFacts,
    HealthReport,
    LeagueCoverage,
    LibraryStageUse,
    SystemGrade,
    TemporalState,
)
from found_footy.web.services import ServicesDep

router = APIRouter(tags=["health"])

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_ROUTE = "other"
CLIP_BUCKETS = (60.0, 120.0, 180.0, 300.0, 600.0, 900.0, 1800.0, math.inf)
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WebMetrics:
    """Metrics of this process."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "footy_http_requests", "HTTP requests.", ("route", "method", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "footy_http_request_seconds",
            "Time from a request to the start of its response.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        key = route, method, status
        children = self._children.get(key)
        if children is None:
            children = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._children[key] = children
        children[0].inc()
        children[1].observe(seconds)


class RequestMetricsMiddleware:
    """Pure ASGI. Labels come from the routes, so clients cannot create new ones."""

    def __init__(self, app: ASGIApp, metrics: WebMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_at = time.perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - started_at
                self._metrics.observe(route_of(scope), method_of(scope), message["status"], seconds)
            await send(message)

        await self._app(scope, receive, send_counted)


def route_of(scope: Scope) -> str:
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return "/static" if scope["path"].startswith("/static/") else OTHER_ROUTE


def method_of(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else OTHER_ROUTE


@router.get("/metrics", response_class=Response, summary="Prometheus metrics")
async def metrics(request: Request, services: ServicesDep) -> Response:
    metric_families = list(families(await services.health.report(services.now())))
    web_metrics: WebMetrics = request.app.state.metrics
    text = await run_in_threadpool(generate_latest, CombinedRegistry(web_metrics.registry, metric_families))
    return Response(text, media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


class CombinedRegistry(CollectorRegistry):
    """Metrics of this process together with current measurements of the system."""

    def __init__(self, registry: CollectorRegistry, measured: Iterable[Metric]) -> None:
        super().__init__()
        self.register(registry)
        self.register(_MeasuredCollector(measured))


class _MeasuredCollector(Collector):
    def __init__(self, measured: Iterable[Metric]) -> None:
        self._measured = list(measured)

    def collect(self) -> Iterable[Metric]:
        return self._measured


def families(report: HealthReport) -> Iterator[Metric]:
    measured = report.measured
    up = {engine.name: float(engine.state == "ok") for engine in measured.engines if engine.state != "off"}
    yield _labelled_gauge("footy_engine_up", "Whether an engine responds: 1 or 0.", "engine", up)
    grades = Counting(finding.grade for finding in report.findings)
    by_grade = {str(grade): float(grades[grade]) for grade in (SystemGrade.DEGRADED, SystemGrade.FAILED)}
    yield _labelled_gauge("footy_findings", "Open problems by grade.", "grade", by_grade)
    yield _gauge("footy_stream_clients", "Clients connected to the event stream.", measured.listeners)
    yield _labelled_gauge(
        "footy_volume_free_bytes",
        "Free space by volume.",
        "volume",
        {each.name: each.free for each in measured.volumes},
    )
    yield _labelled_gauge(
        "footy_volume_size_bytes", "Size by volume.", "volume", {each.name: each.size for each in measured.volumes}
    )
    if measured.disk is not None:
        yield _gauge("footy_disk_free_bytes", "Free space on the disk of the data folder.", measured.disk.free)
    if measured.recorded is not None:
        yield from _database_metrics(measured.recorded, measured.at, measured.outbox_read)
        yield from _objective_metrics(measured.recorded.coverage_windows, report.limits.coverage)
    if measured.temporal is not None:
        yield from _temporal_metrics(measured.temporal)
    yield from feed_families(report)


def _database_metrics(recorded: DatabaseFacts, now: datetime, outbox_read: int | None) -> Iterator[Metric]:
    yield _gauge("footy_news_position", "Last position in the outbox.", recorded.outbox_position)
    if outbox_read is not None:
        lag = max(0, recorded.outbox_position - outbox_read)
        yield _gauge("footy_news_lag", "Outbox messages that the event stream has not read yet.", lag)
    yield _labelled_gauge("footy_goals", "Goals by status.", "status", recorded.goals_by_status)
    yield _labelled_gauge("footy_clips", "Published clips.", "proof", recorded.clips)
    yield _gauge(
        "footy_live_matches", "Matches polled in every cycle.", max(recorded.matches_total, len(recorded.matches))
    )
    ages = [(now - match.since).total_seconds() for match in recorded.matches]
    if ages:
        yield _gauge(
            "footy_poll_age_oldest_seconds", "Age of the last poll of the match polled longest ago.", max(ages)
        )
        yield _gauge(
            "footy_poll_age_latest_seconds", "Age of the last poll of the match polled most recently.", min(ages)
        )
    yield from _coverage_metrics(recorded.coverage)
    searches = GaugeMetricFamily(
        "footy_searches_last_day", "Searches by source and result in the last 24 hours.", labels=("source", "result")
    )
    for source in recorded.sources:
        searches.add_metric((source.source, "answered"), source.answers)
        searches.add_metric((source.source, "failed"), source.failures)
    yield searches
    rejections: Counting[str] = Counting()
    for hour in recorded.hours:
        rejections.update(hour.losses)
    yield _labelled_gauge("footy_losses_last_day", "Rejected posts of the last 24 hours by reason.", "loss", rejections)
    sent = recorded.deliveries
    states = {"waiting": sent.waiting, "delivered": sent.delivered, "dead": sent.dead, "cancelled": sent.cancelled}
    yield _labelled_gauge("footy_deliveries", "Deliveries by state.", "state", states)
    stored = {each.area: each.bytes for each in recorded.storage}
    yield _labelled_gauge("footy_storage_bytes", "Size by area at the last daily measurement.", "area", stored)
    objects = {each.area: each.objects for each in recorded.storage if each.objects}
    yield _labelled_gauge("footy_storage_objects", "Objects by area at the last daily measurement.", "area", objects)
    yield from _library_metrics(recorded.library)
    yield _gauge("footy_subscriptions_paused", "Paused subscriptions.", sent.paused)


def _coverage_metrics(leagues: Sequence[LeagueCoverage]) -> Iterator[Metric]:
    goals = GaugeMetricFamily(
        "footy_coverage_goals", "Searched goals of the last week by their best clip.", labels=("league", "best")
    )
    for each in leagues:
        for best in ("verified", "unverified", "none"):
            goals.add_metric((each.league, best), getattr(each, best))
    seconds = [second for each in leagues for second in each.seconds]
    waits = HistogramMetricFamily("footy_goal_clip_seconds", "From a goal to its first clip, in the last week.")
    counts = {bound: sum(second <= bound for second in seconds) for bound in CLIP_BUCKETS}
    waits.add_metric((), cumulative_buckets(counts), sum(seconds))
    yield from (goals, waits)


def _objective_metrics(windows: Sequence[CoverageWindow], objective: CoverageObjective) -> Iterator[Metric]:
    settled = GaugeMetricFamily(
        "footy_coverage_settled", "Goals with and without a clip in time.", labels=("league", "window", "result")
    )
    burning = GaugeMetricFamily(
        "footy_coverage_burn_rate", "Missed goals as a share of those allowed.", labels=("league", "window")
    )
    for each in windows:
        window = COVERAGE_WINDOWS[each.hours]
        settled.add_metric((each.league, window, "in_time"), each.in_time)
        settled.add_metric((each.league, window, "missed"), each.missed)
        burning.add_metric((each.league, window), objective.burn_rate(each))
    shares = {each.league: objective.share_of(each.league) for each in windows}
    yield from (settled, burning)
    yield _labelled_gauge("footy_coverage_objective", "Share of goals that should have a clip.", "league", shares)


def _library_metrics(stages: Sequence[LibraryStageUse]) -> Iterator[Metric]:
    backlog = GaugeMetricFamily("footy_library_backlog", "Items of library stages.", labels=("stage", "state"))
    failures = CounterMetricFamily("footy_library_stage_failures", "Failed runs of library stages.", labels=("stage",))
    seconds = SummaryMetricFamily("footy_library_stage_seconds", "Durations of library stages.", labels=("stage",))
    for each in stages:
        for state in ("waiting", "running", "retrying", "parked"):
            backlog.add_metric((each.stage, state), getattr(each, state))
        failures.add_metric((each.stage,), each.failed)
        seconds.add_metric((each.stage,), each.done, each.seconds)
    yield from (backlog, failures, seconds)


def _temporal_metrics(temporal: TemporalState) -> Iterator[Metric]:
    backlog = {queue.kind: queue.backlog for queue in temporal.queues}
    ages = {queue.kind: queue.backlog_age.total_seconds() for queue in temporal.queues}
    workers = {queue.kind: len(queue.workers) for queue in temporal.queues}
    yield _labelled_gauge("footy_queue_backlog", "Tasks waiting in the Temporal task queue.", "kind", backlog)
    yield _labelled_gauge("footy_queue_backlog_age_seconds", "Age of the oldest waiting task.", "kind", ages)
    yield _labelled_gauge("footy_workers", "Workers polling the task queue.", "kind", workers)
    yield _labelled_gauge("footy_workflows_running", "Running workflows.", "type", temporal.running)
    yield _gauge("footy_workflows_failed_last_hour", "Workflows that failed in the last hour.", temporal.failed)
    yield _gauge("footy_workflows_stuck", "Workflows running for too long, at most 5.", len(temporal.stuck))


def _gauge(name: str, description: str, value: float) -> Metric:
    return GaugeMetricFamily(name, description, value=value)


def _labelled_gauge(name: str, description: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, description, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
