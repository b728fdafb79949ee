"""Whether this process lives, whether it can answer, and whether the whole system is well."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from found_footy.domain.operations.feed_answers import UNKNOWN, shown_grade
from found_footy.domain.operations.feed_causes import no_data
from found_footy.domain.operations.findings import Limits
from found_footy.domain.operations.judging import judge
from found_footy.web.access.visitors import sees_details
from found_footy.web.services import Given, WebRules

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
class Reason:
    kind: str
    grade: str
    what: str
    since: datetime | None
    advice: str


@dataclass(frozen=True, slots=True)
class Health:
    """`engines` and `reasons` are for operators; others hear the grades: of the whole, and of the score feeds."""

    grade: str
    live: bool
    ready: bool
    feeds: str = UNKNOWN
    engines: dict[str, str] | None = None
    reasons: list[Reason] | None = None


@router.get("/health/live", summary="This process answers")
async def live(response: Response) -> Live:
    response.headers["Cache-Control"] = NO_STORE
    return Live()


@router.get(
    "/health/ready",
    summary="This process can do its work",
    responses={503: {"model": Ready, "description": "It cannot; `problems` say why."}},
)
async def ready(response: Response, services: Given) -> Ready:
    """The database answers within 2 s and has this version's schema, and live updates are read."""
    problems = await services.watch.ready()
    response.status_code = 503 if problems else 200
    response.headers["Cache-Control"] = NO_STORE
    return Ready(not problems, problems)


@router.get(
    "/health",
    summary="The whole system",
    responses={503: {"model": Health, "description": "The grade is `failed`."}},
)
async def health(request: Request, response: Response, services: Given) -> Health:
    """The grade is `ok`, `degraded` (something needs a person) or `failed` (something does not work)."""
    measured, problems = await asyncio.gather(services.watch.measured(services.now()), services.watch.ready())
    limits = limits_of(services.rules)
    verdict, summary = judge(measured, limits), measured.judged(limits.judgement)
    response.status_code = 503 if verdict.grade == "failed" else 200
    response.headers["Cache-Control"] = NO_STORE
    feeds = shown_grade(summary, no_data(measured))
    if not sees_details(request):
        return Health(str(verdict.grade), True, not problems, feeds)
    reasons = [Reason(each.kind, str(each.grade), each.what, each.since, each.advice) for each in verdict.findings]
    engines = {each.name: each.state for each in measured.engines}
    return Health(str(verdict.grade), True, not problems, feeds, engines, reasons)


def limits_of(rules: WebRules) -> Limits:
    return Limits.of(rules.poll_seconds, rules.search_silence_seconds, rules.health_seconds)
