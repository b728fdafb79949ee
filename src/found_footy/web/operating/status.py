"""`/status`: the feeds' health in one look. It answers whatever else is away, and says what that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.feeds.freshness import ages, stale, stats
from found_footy.domain.feeds.health_values import FreshnessStats, HealthSummary, Recovery
from found_footy.domain.feeds.monitoring import MatchLife, Priority
from found_footy.domain.operations.feed_answers import shown_grade
from found_footy.domain.operations.feed_causes import no_data
from found_footy.domain.operations.findings import spoken
from found_footy.domain.operations.measured import Measured
from found_footy.web.access.visitors import sees_details
from found_footy.web.operating.health import limits_of
from found_footy.web.services import Given, WebRules

router = APIRouter(tags=["health"])

MOST_AUDIT = 10
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


class Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Ages(Shape):
    """Seconds since each match that is polled at every cycle was last heard of."""

    median: float
    p95: float
    max: float
    count: int


class PausedMatch(Shape):
    match_id: str = Field(description="The feed, and its own number of the match.")
    feed: str
    title: str
    failures_in_a_row: int
    paused_until: datetime | None
    error: str | None


class AuditEntry(Shape):
    """Something that was started anew, and what came of it."""

    id: str
    at: datetime
    action: str
    trigger: str
    before: dict[str, Any]
    after: dict[str, Any]
    outcome: str | None = Field(description="success, partial or failed; null while it is under way.")
    seconds: float | None
    healthy_at: datetime | None


class StatusDetails(Shape):
    reasons: list[str] = Field(description="Why the feeds are not healthy.")
    paused_matches: list[PausedMatch] | None = Field(description="Null where the cache does not answer.")
    config: dict[str, float] = Field(description="The thresholds that the grade goes by.")
    audit: list[AuditEntry] | None = Field(description="The last ones; null where the database does not answer.")


class Status(Shape):
    """What cannot be known while the database or the cache is away is null; `engines` says which it is."""

    grade: str = Field(
        description="healthy, degraded, failing or recovering; unknown if nobody judges, or if no feed has answered."
    )
    since: datetime | None
    freshness: Ages | None
    stale_matches: int | None = Field(description="Matches under way whose news are shown as stale.")
    stall_seconds: float | None = Field(description="Since any feed answered, while there is something to be asked.")
    queue_depth: dict[str, int] | None = Field(description="Requests that wait: live, imminent, completed.")
    active: int | None = Field(description="Requests under way.")
    failure_ratio: float | None
    paused: int | None = Field(description="Matches at feeds that are not asked for the time being.")
    last_success: datetime | None
    judged_at: datetime | None = Field(description="The last judgement, however old it is.")
    judged_seconds: float | None = Field(description="Its age. A grade holds for four judgements, or a minute.")
    generated_at: datetime
    engines: dict[str, str] = Field(description="`ok`, `failed`, or `off`.")
    details: StatusDetails | None = Field(description="For operators; null for others.")


@router.get("/status", summary="The score feeds, in one look")
async def status(request: Request, response: Response, services: Given) -> Status:
    measured = await services.watch.measured(services.now())
    response.headers["Cache-Control"] = "no-store"
    return status_of(measured, services.rules, details=sees_details(request))


def status_of(measured: Measured, rules: WebRules, *, details: bool) -> Status:
    last, cached = measured.summary, measured.cached
    summary = measured.judged(limits_of(rules).judgement)
    return Status(
        grade=shown_grade(summary, no_data(measured)),
        since=summary.since if summary else None,
        freshness=_ages(freshness_of(measured, summary)),
        stale_matches=len(stale(cached.heard, measured.at, rules.stale_seconds)) if cached else None,
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
        details=_details(measured, summary, rules) if details else None,
    )


def freshness_of(measured: Measured, judged: HealthSummary | None) -> FreshnessStats | None:
    """As it is now; or as it was judged last, where the cache is away."""
    if measured.cached is not None:
        return stats(ages(measured.cached.heard, measured.at).values())
    return judged.freshness if judged else None


def queue_depth(queues: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    depth = Counter({priority.name.lower(): 0 for priority in Priority})
    for each in queues.values():
        depth.update({name: number for name, number in each.items() if name in depth})
    return dict(depth)


def paused_records(measured: Measured) -> list[PausedMatch]:
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if each.life is MatchLife.PAUSED]
    return [
        PausedMatch.model_validate(each)
        for each in sorted(paused, key=lambda record: (str(record.paused_until), record.match_id))
    ]


def _failure_ratio(recent: Mapping[str, tuple[int, int]]) -> float:
    good, failed = (sum(each[place] for each in recent.values()) for place in (0, 1))
    return failed / (good + failed) if good + failed else 0.0


def _ages(freshness: FreshnessStats | None) -> Ages | None:
    if freshness is None:
        return None
    return Ages(median=freshness.median, p95=freshness.p95, max=freshness.maximum, count=freshness.count)


def _details(measured: Measured, judged: HealthSummary | None, rules: WebRules) -> StatusDetails:
    recoveries = measured.health.recoveries[:MOST_AUDIT] if measured.health else None
    return StatusDetails(
        reasons=[*filter(None, [no_data(measured)]), *(judged.reasons if judged else _unjudged(measured))],
        paused_matches=paused_records(measured) if measured.cached else None,
        config={name: getattr(rules, name) for name in THRESHOLDS},
        audit=None if recoveries is None else [audit_entry(each) for each in recoveries],
    )


def _unjudged(measured: Measured) -> list[str]:
    last = measured.summary
    return [f"nobody has judged for {spoken(measured.at - last.generated_at)}; it was {last.grade}"] if last else []


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
