"""The operations page: what needs a person, and where everything stands."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.operations.effects import poll_limit
from found_footy.domain.operations.findings import spoken
from found_footy.domain.operations.judging import judge
from found_footy.web.access.visitors import sees_details
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.operating.health import limits_of
from found_footy.web.operating.view import (
    goal_rows,
    loss_stack,
    poll_bars,
    search_stack,
    with_code,
    without_hidden,
    worker_rows,
)
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

HEADERS = {"Cache-Control": "no-store"}
TODAY = timedelta(hours=20)


@router.get("/operations")
async def page(request: Request, services: Given) -> HTMLResponse:
    return render(request, "operations.html", await _values(request, services), headers=HEADERS)


@router.get("/operations/fragment")
async def fragment(request: Request, services: Given) -> HTMLResponse:
    """What the page replaces itself with every few seconds."""
    return render(request, "parts/operations.html", await _values(request, services), headers=HEADERS)


async def _values(request: Request, services: Services) -> dict[str, Any]:
    measured = await services.watch.measured(services.now())
    rules, limits, hides = services.rules, limits_of(services.rules), preferences(request).hides
    recorded, temporal = measured.recorded, measured.temporal
    hours = recorded.hours if recorded else ()
    hidden = sum(hides(goal.fixture_id) for goal in recorded.goals) if recorded else 0
    return {
        "measured": measured,
        "verdict": without_hidden(judge(measured, limits), hides),
        "polls": poll_bars(measured, limits),
        "poll_limit": spoken(poll_limit(measured, limits)),
        "goals": goal_rows(measured, rules, limits, hides),
        "goals_in_work": recorded.goals_in_work - hidden if recorded else 0,
        "searches": search_stack(hours),
        "losses": loss_stack(hours),
        "recorded": recorded,
        "temporal": temporal,
        "workers": worker_rows(temporal, measured.at) if temporal else (),
        "details": sees_details(request),
        "rules": rules,
        "with_code": with_code,
        "age": lambda at: spoken(measured.at - at),
        "is_today": lambda at: measured.at - at < TODAY,
        "until": lambda at: spoken(at - measured.at),
    }
