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
from found_footy.web.access.visitors import Role, sees_details, visitor
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.operating.feed_view import dispute_rows, feed_chips, feed_rows, paused_rows
from found_footy.web.operating.health import limits_of
from found_footy.web.operating.health_plot import health_plot
from found_footy.web.operating.said import recovery_row
from found_footy.web.operating.status import status_of
from found_footy.web.operating.view import (
    goal_rows,
    loss_stack,
    poll_bars,
    search_stack,
    with_code,
    without_hidden,
    worker_rows,
)
from found_footy.web.pages.operations_forms import DONE
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

HEADERS = {"Cache-Control": "no-store"}
TODAY = timedelta(hours=20)


@router.get("/operations")
async def page(request: Request, services: Given, done: str = "") -> HTMLResponse:
    values = await _values(request, services)
    return render(request, "operations.html", {**values, "done": DONE.get(done, "")}, headers=HEADERS)


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
    polls, late = poll_bars(measured, limits), poll_limit(measured, limits)
    live = {match.fixture_id: match for match in recorded.matches} if recorded else {}
    spans = measured.health.spans if measured.health else ()
    return {
        "measured": measured,
        "verdict": without_hidden(judge(measured, limits), hides),
        "polls": polls,
        "chips": {bar.fixture_id: feed_chips(live[bar.fixture_id], measured, late) for bar in polls},
        "poll_limit": spoken(late),
        "goals": goal_rows(measured, rules, limits, hides),
        "goals_in_work": recorded.goals_in_work - hidden if recorded else 0,
        "searches": search_stack(hours),
        "losses": loss_stack(hours),
        "recorded": recorded,
        "temporal": temporal,
        "workers": worker_rows(temporal, measured.at) if temporal else (),
        "details": sees_details(request),
        "acts": visitor(request).may(Role.OPERATOR),
        "rules": rules,
        "status": status_of(measured, rules, details=True),
        "plot": health_plot(spans, measured.at, rules.fresh_seconds, rules.failing_seconds),
        "feeds": feed_rows(measured),
        "paused": paused_rows(measured),
        "disputes": dispute_rows(measured, limits, hides),
        "doubts": recorded.doubts if recorded else (),
        "recoveries": [recovery_row(each) for each in measured.health.recoveries] if measured.health else [],
        "can_recycle": services.scores.recovering is not None,
        "with_code": with_code,
        "age": lambda at: spoken(measured.at - at),
        "span": lambda seconds: spoken(timedelta(seconds=seconds)),
        "is_today": lambda at: measured.at - at < TODAY,
        "until": lambda at: spoken(at - measured.at),
    }
