"""Prometheus metrics of this process and of the whole system."""

from __future__ import annotations

import time
from collections import Counter as Counting
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from found_footy.operations.metrics import feed_families
from found_footy.operations.models import DatabaseFacts, HealthReport, LibraryStageUse, SystemGrade, TemporalState
from found_footy.web.services import ServicesDep

router = APIRouter(tags=["health"])

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_ROUTE = "other"
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WebMetrics:
    """Metrics of this process."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "footy_http_requests", "Requests that were answered.", ("route", "method", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "footy_http_request_seconds",
            "From a request to the beginning of its answer.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def note(self, route: str, method: str, status: int, seconds: float) -> None:
        key = route, method, status
        known = self._known.get(key)
        if known is None:
            known = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._known[key] = known
        known[0].inc()
        known[1].observe(seconds)


class RequestMetricsMiddleware:
    """Pure ASGI. Labels come from the routes, so clients cannot create new ones."""

    def __init__(self, app: ASGIApp, metrics: WebMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                passed = time.perf_counter() - began
                self._metrics.note(route_of(scope), method_of(scope), message["status"], passed)
            await send(message)

        await self._app(scope, receive, sending)


def route_of(scope: Scope) -> str:
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return "/static" if scope["path"].startswith("/static/") else OTHER_ROUTE


def method_of(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else OTHER_ROUTE


@router.get("/metrics", response_class=Response, summary="Prometheus metrics")
async def metrics(request: Request, services: ServicesDep) -> Response:
    found = list(families(await services.health.report(services.now())))
    counted: WebMetrics = request.app.state.metrics
    text = await run_in_threadpool(generate_latest, CombinedRegistry(counted.registry, found))
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
    yield _gauge("footy_engine_up", "Whether what we depend on answers.", "engine", up)
    grades = Counting(finding.grade for finding in report.findings)
    found = {str(grade): float(grades[grade]) for grade in (SystemGrade.DEGRADED, SystemGrade.FAILED)}
    yield _gauge("footy_findings", "Open problems by grade.", "grade", found)
    yield _plain("footy_stream_clients", "Readers of live updates.", measured.listeners)
    if measured.disk is not None:
        yield _plain("footy_disk_free_bytes", "Free on the disk of the data folder.", measured.disk.free)
    if measured.recorded is not None:
        yield from _recorded(measured.recorded, measured.at, measured.news_read)
    if measured.temporal is not None:
        yield from _temporal(measured.temporal)
    yield from feed_families(report)


def _recorded(recorded: DatabaseFacts, now: datetime, news_read: int | None) -> Iterator[Metric]:
    yield _plain("footy_news_position", "The last position of the news.", recorded.news)
    if news_read is not None:
        behind = max(0, recorded.news - news_read)
        yield _plain("footy_news_lag", "Messages that live updates have not read yet.", behind)
    yield _gauge("footy_goals", "Goals by status.", "status", recorded.goals_by_status)
    yield _gauge("footy_clips", "Published clips.", "proof", recorded.clips)
    yield _plain("footy_live_matches", "Matches that are polled.", len(recorded.matches))
    ages = [(now - match.since).total_seconds() for match in recorded.matches]
    if ages:
        yield _plain("footy_poll_age_oldest_seconds", "Of the match that was polled the longest ago.", max(ages))
        yield _plain("footy_poll_age_latest_seconds", "Of the match that was polled last.", min(ages))
    searches = GaugeMetricFamily(
        "footy_searches_last_day", "Searches of each source in the last 24 hours.", labels=("source", "result")
    )
    for source in recorded.sources:
        searches.add_metric((source.source, "answered"), source.answers)
        searches.add_metric((source.source, "failed"), source.failures)
    yield searches
    losses: Counting[str] = Counting()
    for hour in recorded.hours:
        losses.update(hour.losses)
    yield _gauge("footy_losses_last_day", "Posts of the last 24 hours that became no clip.", "loss", losses)
    sent = recorded.deliveries
    states = {"waiting": sent.waiting, "delivered": sent.delivered, "dead": sent.dead, "cancelled": sent.cancelled}
    yield _gauge("footy_deliveries", "Messages to subscribers.", "state", states)
    yield from _library(recorded.library)
    yield _plain("footy_subscriptions_paused", "Subscriptions that get nothing for the time being.", sent.paused)


def _library(stages: Sequence[LibraryStageUse]) -> Iterator[Metric]:
    backlog = GaugeMetricFamily("footy_library_backlog", "Items of library stages.", labels=("stage", "state"))
    failures = CounterMetricFamily("footy_library_stage_failures", "Failed runs of library stages.", labels=("stage",))
    seconds = SummaryMetricFamily("footy_library_stage_seconds", "Durations of library stages.", labels=("stage",))
    for each in stages:
        for state in ("waiting", "running", "retrying", "parked"):
            backlog.add_metric((each.stage, state), getattr(each, state))
        failures.add_metric((each.stage,), each.failed)
        seconds.add_metric((each.stage,), each.done, each.seconds)
    yield from (backlog, failures, seconds)


def _temporal(temporal: TemporalState) -> Iterator[Metric]:
    backlog = {queue.kind: queue.backlog for queue in temporal.queues}
    ages = {queue.kind: queue.backlog_age.total_seconds() for queue in temporal.queues}
    workers = {queue.kind: len(queue.workers) for queue in temporal.queues}
    yield _gauge("footy_queue_backlog", "Tasks waiting in the Temporal task queue.", "kind", backlog)
    yield _gauge("footy_queue_backlog_age_seconds", "How long the first of them has waited.", "kind", ages)
    yield _gauge("footy_workers", "Workers that Temporal has seen of late.", "kind", workers)
    yield _gauge("footy_workflows_running", "Workflows under way.", "type", temporal.running)
    yield _plain("footy_workflows_failed_last_hour", "Workflows that ended badly.", temporal.failed)


def _plain(name: str, said: str, value: float) -> Metric:
    return GaugeMetricFamily(name, said, value=value)


def _gauge(name: str, said: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, said, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
