"""Liveness, readiness and system health."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from found_footy.feeds.poll_state import is_paused
from found_footy.operations.feed_health import ages, stats
from found_footy.operations.health import match_updates, queue_depth, stale_ages
from found_footy.operations.models import UNKNOWN, FreshnessStats, HealthReport, Measurement, Recovery
from found_footy.text import format_duration
from found_footy.version import current_build
from found_footy.web.services import ServicesDep, WebRules
from found_footy.web.users import can_see_internals

router = APIRouter(tags=["health"])

NO_STORE = "no-store"


@dataclass(frozen=True, slots=True)
class Live:
    live: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    ready: bool
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FindingSummary:
    kind: str
    grade: str
    what: str
    since: datetime | None
    advice: str


@dataclass(frozen=True, slots=True)
class HealthResponse:
    """`engines` and `reasons` are null for clients that may not see internals."""

    grade: str
    live: bool
    ready: bool
    feeds: str = UNKNOWN
    version: str = field(default_factory=lambda: current_build().version)
    commit: str = field(default_factory=lambda: current_build().commit)
    engines: dict[str, str] | None = None
    reasons: list[FindingSummary] | None = None


@router.get("/health/live", summary="Liveness")
async def live(response: Response) -> Live:
    response.headers["Cache-Control"] = NO_STORE
    return Live()


@router.get(
    "/health/ready",
    summary="Readiness",
    responses={503: {"model": Ready, "description": "Not ready; see `problems`."}},
)
async def ready(response: Response, services: ServicesDep) -> Ready:
    """The database responds within 2 s with this version's schema, and live updates are read."""
    problems = await services.health.readiness()
    response.status_code = 503 if problems else 200
    response.headers["Cache-Control"] = NO_STORE
    return Ready(not problems, problems)


@router.get(
    "/health",
    summary="System health",
    responses={503: {"model": HealthResponse, "description": "The grade is `failed`."}},
)
async def health(request: Request, response: Response, services: ServicesDep) -> HealthResponse:
    """The grade is `ok`, `degraded` (needs attention) or `failed`."""
    report, problems = await asyncio.gather(services.health.report(services.now()), services.health.readiness())
    response.status_code = 503 if report.grade == "failed" else 200
    response.headers["Cache-Control"] = NO_STORE
    if not can_see_internals(request):
        return HealthResponse(str(report.grade), True, not problems, report.feeds_grade)
    reasons = [
        FindingSummary(each.kind, str(each.grade), each.what, each.since, each.advice) for each in report.findings
    ]
    engines = {each.name: each.state for each in report.measured.engines}
    return HealthResponse(str(report.grade), True, not problems, report.feeds_grade, engines=engines, reasons=reasons)


# --- `/status`: health of the feeds in one response. Responds even if other services are unavailable, and reports them.


MAX_AUDIT_ENTRIES = 10
THRESHOLDS = (
    "poll_seconds",
    "stale_seconds",
    "health_seconds",
    "fresh_seconds",
    "failing_seconds",
    "stall_seconds",
    "pause_failures",
    "pause_seconds",
    "recovery_seconds",
    "recovery_pause_seconds",
)


class StatusModel(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Ages(StatusModel):
    """Seconds since the last update of each match that is polled in every cycle."""

    median: float
    p95: float
    max: float
    count: int


class PausedMatch(StatusModel):
    match_id: str = Field(description="Feed and its id of the match.")
    feed: str
    title: str
    failures_in_a_row: int = Field(validation_alias="consecutive_failures")
    paused_until: datetime | None
    error: str | None


class AuditEntry(StatusModel):
    """A recovery action and its result."""

    id: str
    at: datetime
    action: str
    trigger: str
    before: dict[str, Any]
    after: dict[str, Any]
    outcome: str | None = Field(description="success, partial or failed; null while running.")
    seconds: float | None
    healthy_at: datetime | None


class StatusDetails(StatusModel):
    reasons: list[str] = Field(description="Why the feeds are not healthy.")
    paused_matches: list[PausedMatch] | None = Field(description="Null if Redis is unavailable.")
    config: dict[str, float] = Field(description="Thresholds of the grade.")
    audit: list[AuditEntry] | None = Field(description="Latest recoveries; null if the database is unavailable.")


class Status(StatusModel):
    """Fields that need an unavailable database or cache are null; see `engines`."""

    grade: str = Field(
        description="healthy, degraded, failing or recovering; unknown without a recent check or any response."
    )
    since: datetime | None
    freshness: Ages | None
    stale_matches: int | None = Field(description="Live matches with stale data.")
    stall_seconds: float | None = Field(description="Seconds since any feed responded, while matches are polled.")
    queue_depth: dict[str, int] | None = Field(description="Waiting requests: live, imminent, completed.")
    active: int | None = Field(description="Running requests.")
    failure_ratio: float | None
    paused: int | None = Field(description="Paused matches.")
    last_success: datetime | None
    judged_at: datetime | None = Field(description="Time of the last health check.")
    judged_seconds: float | None = Field(description="Its age. A grade is valid for four checks or one minute.")
    generated_at: datetime
    engines: dict[str, str] = Field(description="`ok`, `failed`, or `off`.")
    details: StatusDetails | None = Field(description="For operators; null for others.")


@router.get("/status", summary="Feed health summary")
async def status(request: Request, response: Response, services: ServicesDep) -> Status:
    report = await services.health.report(services.now())
    response.headers["Cache-Control"] = "no-store"
    return status_of(report, services.rules, details=can_see_internals(request))


def status_of(report: HealthReport, rules: WebRules, *, details: bool) -> Status:
    measured = report.measured
    last, cached, summary = measured.summary, measured.cached, report.state
    return Status(
        grade=report.feeds_grade,
        since=summary.since if summary else None,
        freshness=_ages(freshness_of(report)),
        stale_matches=len(stale_ages(report)) if cached else None,
        stall_seconds=summary.stall_seconds if summary else None,
        queue_depth=queue_depth(cached.queues) if cached else None,
        active=sum(each.get("active", 0) for each in cached.queues.values()) if cached else None,
        failure_ratio=_failure_ratio(cached.recent) if cached else summary.failure_ratio if summary else None,
        paused=len(paused_records(measured)) if cached else len(summary.paused) if summary else None,
        last_success=last.last_success if last else None,
        judged_at=last.generated_at if last else None,
        judged_seconds=measured.judged_seconds,
        generated_at=measured.at,
        engines={engine.name: engine.state for engine in measured.engines},
        details=_details(report, rules) if details else None,
    )


def freshness_of(report: HealthReport) -> FreshnessStats | None:
    """Current freshness; that of the last health check if the cache is unavailable."""
    if report.measured.cached is not None:
        return stats(ages(match_updates(report), report.at).values())
    return report.state.freshness if report.state else None


def paused_records(measured: Measurement) -> list[PausedMatch]:
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if is_paused(each, measured.at)]
    return [
        PausedMatch.model_validate(each)
        for each in sorted(paused, key=lambda record: (str(record.paused_until), record.match_id))
    ]


def _failure_ratio(recent: Mapping[str, tuple[int, int]]) -> float:
    succeeded, failed = (sum(each[place] for each in recent.values()) for place in (0, 1))
    return failed / (succeeded + failed) if succeeded + failed else 0.0


def _ages(freshness: FreshnessStats | None) -> Ages | None:
    if freshness is None:
        return None
    return Ages(median=freshness.median, p95=freshness.p95, max=freshness.maximum, count=freshness.count)


def _details(report: HealthReport, rules: WebRules) -> StatusDetails:
    measured, state = report.measured, report.state
    recoveries = measured.health.recoveries[:MAX_AUDIT_ENTRIES] if measured.health else None
    return StatusDetails(
        reasons=[*filter(None, [report.no_data]), *(state.reasons if state else _unchecked(measured))],
        paused_matches=paused_records(measured) if measured.cached else None,
        config={name: getattr(rules, name) for name in THRESHOLDS},
        audit=None if recoveries is None else [audit_entry(each) for each in recoveries],
    )


def _unchecked(measured: Measurement) -> list[str]:
    last = measured.summary
    return (
        [f"no health check for {format_duration(measured.at - last.generated_at)}; the last grade was {last.grade}"]
        if last
        else []
    )


def audit_entry(recovery: Recovery) -> AuditEntry:
    return AuditEntry(
        id=recovery.id,
        at=recovery.at,
        action=str(recovery.action),
        trigger=recovery.trigger,
        before=dict(recovery.before),
        after=dict(recovery.after),
        outcome=None if recovery.outcome is None else str(recovery.outcome),
        seconds=recovery.seconds,
        healthy_at=recovery.healthy_at,
    )
