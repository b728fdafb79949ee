"""`/api/v1/operations`: the running system as the operations page shows it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.operations.effects import poll_limit
from found_footy.domain.operations.judging import judge
from found_footy.web.access.visitors import reads, sees_details
from found_footy.web.api.models import Failure
from found_footy.web.operating.health import limits_of
from found_footy.web.operating.status import Status, status_of
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["health"], dependencies=[Depends(reads)])

Seconds = Annotated[timedelta, PlainSerializer(lambda time: time.total_seconds(), return_type=float)]


class Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class OperationsFinding(Shape):
    kind: str
    grade: Literal["degraded", "failed"]
    what: str
    since: datetime | None
    advice: str
    event_id: str | None
    fixture_id: int | None


class OperationsEngine(Shape):
    name: str
    state: Literal["ok", "failed", "off"]
    said: str
    detail: str = Field(description="For operators only; empty for others.")


class OperationsMatch(Shape):
    fixture_id: int
    home: str
    away: str
    status: str
    polled_at: datetime | None
    error_kind: str | None
    error_message: str | None
    sport: str
    listings: list[OperationsMatchFeed] = Field(description="The feeds that list it.")


class OperationsGoal(Shape):
    event_id: str
    fixture_id: int
    home: str
    away: str
    player: str | None
    elapsed: int
    extra: int | None
    innings: int | None = Field(description="Of a wicket; null in football.")
    status: Literal["validating", "watching", "extracting"]
    seen: int
    first_seen: datetime
    stable_at: datetime | None
    searched_at: datetime | None = Field(description="The search's last sign of life.")
    attempts: int
    unanswered: int = Field(description="The latest searches in a row that no source answered.")
    states: dict[str, int] = Field(description="Its posts by state.")


class OperationsSource(Shape):
    """Over the last 24 hours."""

    source: str
    answers: int
    failures: int
    found: int
    answered_at: datetime | None
    failures_in_a_row: int
    failing_since: datetime | None
    error_kind: str | None
    error_message: str | None


class OperationsHour(Shape):
    at: datetime
    answered: int
    failed: int
    losses: dict[str, int]


class OperationsQuota(Shape):
    read_at: datetime
    day_limit: int | None
    day_remaining: int | None
    minute_limit: int | None
    minute_remaining: int | None


class OperationsFeed(Shape):
    feed: str
    asked_at: datetime
    answered_at: datetime | None
    error: str | None
    quota: OperationsQuota | None


class OperationsMatchFeed(Shape):
    """A match at one of its feeds."""

    feed: str
    feed_id: int
    founding: bool = Field(description="Whether the match has this feed's numbers.")
    swapped: bool = Field(description="Whether its home side is our away side.")


class OperationsDispute(Shape):
    """Feeds that said different things of one field of a match."""

    fixture_id: int
    home: str
    away: str
    field: str
    said: dict[str, Any] = Field(description="Feed to what it said.")
    chosen: str = Field(description="The feed that is believed.")
    first_at: datetime
    last_at: datetime
    polls: int


class OperationsDoubt(Shape):
    """A match of a feed that may be one of ours; `POST /admin/pairings` decides."""

    feed: str
    feed_id: int
    fixture_id: int
    home: str
    away: str
    kickoff: datetime
    competition: str
    confidence: float
    reasons: list[str]
    first_seen: datetime
    our_home: str
    our_away: str
    our_kickoff: datetime
    our_competition: str


class OperationsDeclared(Shape):
    feed: str
    adapter: str
    precedence: int
    enabled: bool
    on: bool
    switched: bool | None = Field(description="What an operator said, if anything.")
    lacks: str


class OperationsSpan(Shape):
    """A few minutes of judgements: the worst grade, the highest ages in seconds."""

    at: datetime
    grade: Literal["healthy", "degraded", "failing", "recovering"]
    median: float
    p95: float
    maximum: float


class OperationsCheck(Shape):
    """The last live check of a feed, source or other service."""

    name: str
    kind: Literal["feed", "source", "host", "service"]
    ok: bool
    since: datetime = Field(description="When the present state began.")
    last_ok_at: datetime | None
    checked_at: datetime
    asked: str = Field(description="The requests that were sent, one per line.")
    answer: str
    error_class: str
    hint: str


class OperationsDeliveries(Shape):
    waiting: int
    delivered: int
    dead: int
    cancelled: int
    overdue_since: datetime | None
    dead_since: datetime | None
    paused: int


class OperationsRecorded(Shape):
    matches: list[OperationsMatch]
    goals: list[OperationsGoal]
    goals_in_work: int
    sources: list[OperationsSource]
    hours: list[OperationsHour]
    feed: OperationsFeed | None = Field(description="The one that was asked last.")
    feeds: list[OperationsFeed]
    disputes: list[OperationsDispute] = Field(description="Of the last hour.")
    doubts: list[OperationsDoubt] = Field(description="Pairings that wait for a person.")
    checks: list[OperationsCheck] = Field(description="Live checks, failing ones first.")
    deliveries: OperationsDeliveries
    goals_by_status: dict[str, int]
    clips: dict[str, int]
    news: int


class OperationsWorker(Shape):
    identity: str = Field(description="For operators only; empty for others.")
    seen_at: datetime


class OperationsQueue(Shape):
    kind: str
    workers: list[OperationsWorker]
    backlog: int
    backlog_age: Seconds = Field(description="Seconds that the first of them has waited.")


class OperationsSchedule(Shape):
    id: str
    paused: bool
    note: str | None
    last_run: datetime | None
    next_run: datetime | None


class OperationsTemporal(Shape):
    name: str = Field(description="Of the task queue.")
    queues: list[OperationsQueue]
    running: dict[str, int] = Field(description="Workflows under way, by type.")
    failed: int = Field(description="Workflows of the last hour that ended badly.")
    schedules: list[OperationsSchedule]


class Operations(Shape):
    """`recorded` and `health` are null where the database does not answer, `temporal` where Temporal does not."""

    at: datetime
    grade: Literal["ok", "degraded", "failed"]
    verdict: str
    findings: list[OperationsFinding]
    engines: list[OperationsEngine]
    poll_limit_seconds: float = Field(description="The age at which the last poll of a live match is too old.")
    listeners: int
    news_read: int | None
    recorded: OperationsRecorded | None
    temporal: OperationsTemporal | None
    feeds: Status = Field(description="As `GET /status` tells it.")
    declared: list[OperationsDeclared] | None = Field(description="Null where their file cannot be read.")
    health: list[OperationsSpan] | None = Field(description="The last hours, the oldest first.")


@router.get(
    "/operations",
    response_model=Operations,
    responses={401: {"model": Failure, "description": "Reading needs a token here."}},
    summary="The running system, and what needs a person",
)
async def operations(request: Request, response: Response, services: Given) -> Operations:
    measured = await services.watch.measured(services.now())
    limits = limits_of(services.rules)
    verdict = judge(measured, limits)
    response.headers["Cache-Control"] = "no-store"
    answer = Operations(
        at=measured.at,
        grade=verdict.grade.value,
        verdict=verdict.line,
        findings=[OperationsFinding.model_validate(each) for each in verdict.findings],
        engines=[OperationsEngine.model_validate(each) for each in measured.engines],
        poll_limit_seconds=poll_limit(measured, limits).total_seconds(),
        listeners=measured.listeners,
        news_read=measured.news_read,
        recorded=OperationsRecorded.model_validate(measured.recorded) if measured.recorded else None,
        temporal=OperationsTemporal.model_validate(measured.temporal) if measured.temporal else None,
        feeds=status_of(measured, services.rules, details=sees_details(request)),
        declared=None
        if measured.declared is None
        else [OperationsDeclared.model_validate(each) for each in measured.declared],
        health=None
        if measured.health is None
        else [OperationsSpan.model_validate(each) for each in measured.health.spans],
    )
    return answer if sees_details(request) else _without_machines(answer)


def _without_machines(answer: Operations) -> Operations:
    engines = [each.model_copy(update={"detail": ""}) for each in answer.engines]
    temporal = answer.temporal
    if temporal is not None:
        queues = [
            queue.model_copy(update={"workers": [each.model_copy(update={"identity": ""}) for each in queue.workers]})
            for queue in temporal.queues
        ]
        temporal = temporal.model_copy(update={"queues": queues})
    return answer.model_copy(update={"engines": engines, "temporal": temporal})
