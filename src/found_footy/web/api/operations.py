"""`/api/v1/operations` and `/admin`: system state, and operator actions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from starlette.requests import Request
from starlette.responses import Response

from found_footy.access.models import Role
from found_footy.errors import NotFound
from found_footy.operations.findings import poll_limit
from found_footy.operations.models import FeedDeclaration, Recovery, RecoveryAction
from found_footy.web.api.health import AuditEntry, Status, audit_entry, status_of
from found_footy.web.api.models import ErrorResponse
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.errors import error_responses
from found_footy.web.rendering import no_store
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.users import User, can_see_internals, require_role

router = APIRouter(prefix="/api/v1", tags=["health"])

Seconds = Annotated[timedelta, PlainSerializer(lambda time: time.total_seconds(), return_type=float)]


class OperationsModel(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class OperationsFinding(OperationsModel):
    kind: str
    grade: Literal["degraded", "failed"]
    what: str
    since: datetime | None
    advice: str
    event_id: str | None
    fixture_id: int | None


class OperationsEngine(OperationsModel):
    name: str
    state: Literal["ok", "failed", "off"]
    said: str = Field(validation_alias="summary")
    detail: str = Field(description="For operators only; empty for others.")


class OperationsMatch(OperationsModel):
    fixture_id: int
    home: str
    away: str
    status: str
    polled_at: datetime | None
    error_kind: str | None
    error_message: str | None
    sport: str
    listings: list[OperationsMatchFeed] = Field(description="Feeds that report it.")


class OperationsGoal(OperationsModel):
    event_id: str
    fixture_id: int
    home: str
    away: str
    player: str | None
    elapsed: int
    extra: int | None
    innings: int | None = Field(description="Innings of a wicket; null in football.")
    status: Literal["validating", "watching", "extracting"]
    seen: int
    first_seen: datetime
    stable_at: datetime | None
    searched_at: datetime | None = Field(description="Last activity of the search.")
    attempts: int
    unanswered: int = Field(description="Latest searches in a row without any response.")
    states: dict[str, int] = Field(description="Its posts by state.")


class OperationsSource(OperationsModel):
    """Over the last 24 hours."""

    source: str
    answers: int
    failures: int
    found: int
    answered_at: datetime | None
    failures_in_a_row: int = Field(validation_alias="consecutive_failures")
    failing_since: datetime | None
    error_kind: str | None
    error_message: str | None


class OperationsHour(OperationsModel):
    at: datetime
    answered: int
    failed: int
    losses: dict[str, int]


class OperationsQuota(OperationsModel):
    read_at: datetime
    day_limit: int | None
    day_remaining: int | None
    minute_limit: int | None
    minute_remaining: int | None


class OperationsFeed(OperationsModel):
    feed: str
    asked_at: datetime
    answered_at: datetime | None
    error: str | None
    quota: OperationsQuota | None


class OperationsMatchFeed(OperationsModel):
    """A match at one of its feeds."""

    feed: str
    feed_id: int
    founding: bool = Field(description="Whether the match id comes from this feed.")
    swapped: bool = Field(description="Whether home and away are swapped.")


class OperationsDispute(OperationsModel):
    """Feeds that report different values of one field."""

    fixture_id: int
    home: str
    away: str
    field: str
    said: dict[str, Any] = Field(validation_alias="reported", description="Feed to its value.")
    chosen: str = Field(description="The feed whose value is used.")
    first_at: datetime
    last_at: datetime
    polls: int


class OperationsDoubt(OperationsModel):
    """Unconfirmed pairing of a feed's match; `POST /admin/pairings` decides."""

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


class OperationsDeclared(OperationsModel):
    feed: str
    adapter: str
    precedence: int
    enabled: bool
    on: bool
    switched: bool | None = Field(description="The operator's switch, if set.")
    lacks: str


class OperationsSpan(OperationsModel):
    """A few minutes of health checks: worst grade, highest ages in seconds."""

    at: datetime
    grade: Literal["healthy", "degraded", "failing", "recovering"]
    median: float
    p95: float
    maximum: float


class OperationsCheck(OperationsModel):
    """The last live check of a feed, source or other service."""

    name: str
    kind: Literal["feed", "source", "host", "service"]
    ok: bool
    since: datetime = Field(description="Start of the current state.")
    last_ok_at: datetime | None
    checked_at: datetime
    asked: str = Field(description="Requests sent, one per line.")
    answer: str
    error_class: str
    hint: str


class OperationsDeliveries(OperationsModel):
    waiting: int
    delivered: int
    dead: int
    cancelled: int
    overdue_since: datetime | None
    dead_since: datetime | None
    paused: int


class OperationsRecorded(OperationsModel):
    matches: list[OperationsMatch]
    goals: list[OperationsGoal]
    goals_in_work: int
    sources: list[OperationsSource]
    hours: list[OperationsHour]
    feed: OperationsFeed | None = Field(description="The feed requested last.")
    feeds: list[OperationsFeed]
    disputes: list[OperationsDispute] = Field(description="Of the last hour.")
    doubts: list[OperationsDoubt] = Field(description="Unconfirmed pairings.")
    checks: list[OperationsCheck] = Field(description="Live checks, failing ones first.")
    deliveries: OperationsDeliveries
    goals_by_status: dict[str, int]
    clips: dict[str, int]
    news: int = Field(validation_alias="outbox_position", description="Last position in the outbox.")


class OperationsWorker(OperationsModel):
    identity: str = Field(description="For operators only; empty for others.")
    seen_at: datetime


class OperationsQueue(OperationsModel):
    kind: str
    workers: list[OperationsWorker]
    backlog: int
    backlog_age: Seconds = Field(description="Seconds that the oldest task has waited.")


class OperationsSchedule(OperationsModel):
    id: str
    paused: bool
    note: str | None
    last_run: datetime | None
    next_run: datetime | None


class OperationsTemporal(OperationsModel):
    name: str = Field(description="Name of the task queue.")
    queues: list[OperationsQueue]
    running: dict[str, int] = Field(description="Running workflows by type.")
    failed: int = Field(description="Workflows that failed in the last hour.")
    schedules: list[OperationsSchedule]


class Operations(OperationsModel):
    """`recorded` and `health` are null if the database is unavailable, `temporal` if Temporal is."""

    at: datetime
    grade: Literal["ok", "degraded", "failed"]
    verdict: str
    findings: list[OperationsFinding]
    engines: list[OperationsEngine]
    poll_limit_seconds: float = Field(description="Maximum age of the last poll of a live match.")
    listeners: int
    news_read: int | None
    recorded: OperationsRecorded | None
    temporal: OperationsTemporal | None
    feeds: Status = Field(description="As in `GET /status`.")
    declared: list[OperationsDeclared] | None = Field(description="Null if the feeds file is unreadable.")
    health: list[OperationsSpan] | None = Field(description="The last hours, oldest first.")


@router.get(
    "/operations",
    response_model=Operations,
    responses={401: {"model": ErrorResponse, "description": "Missing, invalid or expired token."}},
    summary="System state and open findings",
)
async def operations(request: Request, response: Response, services: ServicesDep) -> Operations:
    report = await services.health.report(services.now())
    measured = report.measured
    response.headers["Cache-Control"] = "no-store"
    answer = Operations(
        at=measured.at,
        grade=report.grade.value,
        verdict=report.headline,
        findings=[OperationsFinding.model_validate(each) for each in report.findings],
        engines=[OperationsEngine.model_validate(each) for each in measured.engines],
        poll_limit_seconds=poll_limit(measured, report.limits).total_seconds(),
        listeners=measured.listeners,
        news_read=measured.outbox_read,
        recorded=OperationsRecorded.model_validate(measured.recorded) if measured.recorded else None,
        temporal=OperationsTemporal.model_validate(measured.temporal) if measured.temporal else None,
        feeds=status_of(report, services.rules, details=can_see_internals(request)),
        declared=None
        if measured.declared is None
        else [OperationsDeclared.model_validate(each) for each in measured.declared],
        health=None
        if measured.health is None
        else [OperationsSpan.model_validate(each) for each in measured.health.spans],
    )
    return answer if can_see_internals(request) else _without_machines(answer)


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


# --- Operator actions on score feeds, for the pages and the API.


State = Literal["on", "off", "auto"]
Part = Literal["browser", "poller"]

STATES: dict[State, bool | None] = {"on": True, "off": False, "auto": None}
ACTIONS: dict[Part, RecoveryAction] = {
    "browser": RecoveryAction.BROWSER_RECYCLE,
    "poller": RecoveryAction.SOFT_RESTART,
}


async def switch(services: WebServices, feed: str, state: State) -> FeedDeclaration:
    """Switch a feed. Raises NotFound and CacheUnavailable."""
    return await services.scores.book.switch(feed, STATES[state])


async def recycle(services: WebServices, what: Part, operator: str) -> Recovery:
    """Restart a part. Raises NotFound if this system does not have it."""
    if services.scores.recovery is None:
        raise NotFound("this process cannot restart other processes")
    return await services.scores.recovery.recover(ACTIONS[what], f"requested by {operator}")


async def decide(services: WebServices, feed: str, feed_id: int, fixture_id: int, same: bool) -> None:
    """Decide a pairing. Raises NotFound if it is not in doubt."""
    await services.scores.pairings.decide(feed, feed_id, fixture_id, same, services.now())


# --- `/admin`: restart parts, switch feeds, decide doubtful pairings. For operators.


router_admin = APIRouter(
    prefix="/admin", tags=["administration"], dependencies=[Depends(require_role(Role.OPERATOR)), Depends(no_store)]
)

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]
FeedId = Annotated[str, Path(pattern=r"^[a-z0-9_-]{1,40}$", description="Feed id, such as `espn`.")]


class AdminRequest(BaseModel):
    """Base of the request models; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class RecycleRequest(AdminRequest):
    what: Part = Field(description="The browser or the feed poller.")


class FeedRequest(AdminRequest):
    state: State = Field(description="`auto`: as the feeds file says.")


class PairingRequest(AdminRequest):
    feed: str = Field(min_length=1, max_length=40)
    feed_id: int = Field(ge=0, le=MAX_BIGINT, description="The feed's id of the match.")
    fixture_id: int = Field(ge=0, le=MAX_BIGINT, description="The match it may belong to.")
    same: bool


class AdminFeed(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    feed: str
    adapter: str
    precedence: int = Field(description="Higher values win.")
    enabled: bool = Field(description="Setting in the feeds file.")
    on: bool = Field(description="Whether the feed is polled now.")
    state: Literal["on", "off", "auto"] = Field(description="The operator's switch.")
    lacks: str = Field(description="Missing configuration; empty if complete.")


class AdminFeeds(BaseModel):
    items: list[AdminFeed]


@router_admin.post(
    "/recycle",
    status_code=202,
    responses=error_responses(404, role=Role.OPERATOR),
    summary="Restart the browser or the poller",
)
async def recycle_admin(services: ServicesDep, operator: Operator, request: RecycleRequest) -> AuditEntry:
    """Returns when the restart is done; the audit entry later shows whether it helped."""
    return audit_entry(await recycle(services, request.what, operator.name))


@router_admin.get("/feeds", responses=error_responses(role=Role.OPERATOR), summary="List feeds")
async def feeds(services: ServicesDep) -> AdminFeeds:
    return AdminFeeds(items=[_shown(each) for each in await services.scores.book.declared()])


@router_admin.get("/feeds/{feed_id}", responses=error_responses(404, role=Role.OPERATOR), summary="Get a feed")
async def feed(services: ServicesDep, feed_id: FeedId) -> AdminFeed:
    found = next((each for each in await services.scores.book.declared() if each.feed == feed_id), None)
    if found is None:
        raise NotFound(f"feed {feed_id!r} not found")
    return _shown(found)


@router_admin.put(
    "/feeds/{feed_id}", responses=error_responses(404, role=Role.OPERATOR), summary="Switch a feed on or off"
)
async def switch_admin(services: ServicesDep, feed_id: FeedId, request: FeedRequest) -> AdminFeed:
    """Takes effect at the next poll on all workers, without a restart."""
    return _shown(await switch(services, feed_id, request.state))


@router_admin.post(
    "/pairings",
    status_code=204,
    responses=error_responses(404, role=Role.OPERATOR),
    summary="Confirm or reject a pairing",
)
async def pairing(services: ServicesDep, request: PairingRequest) -> None:
    """Confirmed: the feed joins the match at once. Rejected: it becomes a match of its own."""
    await decide(services, request.feed, request.feed_id, request.fixture_id, request.same)


def _shown(each: FeedDeclaration) -> AdminFeed:
    state: State = "auto" if each.switched is None else "on" if each.switched else "off"
    return AdminFeed(
        feed=each.feed,
        adapter=each.adapter,
        precedence=each.precedence,
        enabled=each.enabled,
        on=each.on,
        state=state,
        lacks=each.lacks,
    )
