"""Operations page: texts, plots as numbers, operator actions, and routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from found_footy.access.models import Role
from found_footy.errors import BadRequest
from found_footy.operations.findings import WORKER_TIMEOUT, poll_limit
from found_footy.operations.models import (
    Finding,
    HealthLimits,
    HealthReport,
    Hour,
    LiveMatch,
    Measurement,
    OpenGoal,
    TemporalState,
)
from found_footy.text import format_duration
from found_footy.version import current_build
from found_footy.web.api import operations as acting
from found_footy.web.api.health import status_of
from found_footy.web.api.operations import Part, State
from found_footy.web.pages.feeds import (
    Hides,
    conflict_rows,
    feed_chips,
    feed_rows,
    health_plot,
    paused_rows,
    recovery_row,
)
from found_footy.web.rendering import NO_STORE, preferences, render
from found_footy.web.requests import read_form
from found_footy.web.services import ServicesDep, WebRules, WebServices
from found_footy.web.users import User, can_see_internals, current_user, require_role

MAX_MATCHES = 40
MAX_GOALS = 50
BANDS = 5
"""Rejection reasons with a separate colour; the others share one."""
OTHER_REASONS = "other reasons"
LIMIT_AT = 50.0
"""Position of the limit in a plot that is 100 wide: twice the limit fills it."""


@dataclass(frozen=True, slots=True)
class PollBar:
    match: str
    fixture_id: int
    age: str
    width: float
    late: bool
    problem: str


@dataclass(frozen=True, slots=True)
class GoalRow:
    event_id: str
    title: str
    match: str
    state: str
    progress: str
    posts: str
    started: str
    last_activity: str
    late: bool
    workflow_url: str | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    identity: str
    seen: str
    late: bool


@dataclass(frozen=True, slots=True)
class Segment:
    y: float
    height: float
    band: int


@dataclass(frozen=True, slots=True)
class Column:
    at: datetime
    x: float
    segments: tuple[Segment, ...]
    text: str


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Stacked bars, in an image of 24 columns of width 10 and height 60."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    columns: tuple[Column, ...]
    highest: int
    """Value of a full column."""

    @property
    def total(self) -> int:
        return sum(self.totals)


def poll_bars(measured: Measurement, limits: HealthLimits) -> tuple[PollBar, ...]:
    """Oldest first."""
    matches = measured.recorded.matches if measured.recorded else ()
    limit = poll_limit(measured, limits)
    ordered = sorted(matches, key=lambda match: (match.since, match.fixture_id))
    return tuple(_poll_bar(match, measured.at, limit) for match in ordered[:MAX_MATCHES])


def _poll_bar(match: LiveMatch, now: datetime, limit: timedelta) -> PollBar:
    age = max(timedelta(0), now - match.since)
    problem = f"{match.error_kind}: {match.error_message}" if match.error_kind else ""
    text = format_duration(age) if match.polled_at else "not yet"
    width = min(100.0, round(LIMIT_AT * (age / limit), 1))
    return PollBar(f"{match.home} – {match.away}", match.fixture_id, text, width, age > limit, problem)


def goal_rows(measured: Measurement, rules: WebRules, limits: HealthLimits, hides: Hides) -> tuple[GoalRow, ...]:
    goals = measured.recorded.goals if measured.recorded else ()
    shown = [goal for goal in goals if not hides(goal.fixture_id)]
    return tuple(_goal_row(goal, measured.at, rules, limits) for goal in shown[:MAX_GOALS])


def _goal_row(goal: OpenGoal, now: datetime, rules: WebRules, limits: HealthLimits) -> GoalRow:
    idle = now - goal.last_activity
    return GoalRow(
        goal.event_id,
        f"{goal.player or 'Unknown'} {goal.moment}",
        f"{goal.home} – {goal.away}",
        goal.status,
        search_progress(goal, rules),
        posts_text(goal.states),
        format_duration(now - goal.first_seen),
        format_duration(idle),
        goal.stable_at is not None and idle > limits.search_silence,
        workflow_url(rules, f"search-{goal.event_id}") if goal.search_started else None,
    )


def search_progress(goal: OpenGoal, rules: WebRules) -> str:
    if goal.status == "validating":
        return f"seen {goal.seen}/{rules.debounce_polls}"
    if not goal.search_started:
        return "search starting"
    return f"search {goal.attempts}/{rules.search_attempts}"


_POST_STATES = ("waiting", "downloading", "checking", "kept", "duplicate", "lost")


def posts_text(states: Mapping[str, int]) -> str:
    return " · ".join(f"{states[name]} {name}" for name in _POST_STATES if states.get(name)) or "no posts yet"


def workflow_url(rules: WebRules, workflow_id: str) -> str | None:
    """URL of Temporal's web UI; None if its address is not configured."""
    if rules.temporal_ui_url is None:
        return None
    base = rules.temporal_ui_url.rstrip("/")
    return f"{base}/namespaces/{quote(rules.temporal_namespace, safe='')}/workflows/{quote(workflow_id, safe='')}"


def worker_rows(temporal: TemporalState, now: datetime) -> tuple[WorkerRow, ...]:
    """Each worker once, although it polls both queues."""
    seen: dict[str, datetime] = {}
    for queue in temporal.queues:
        for worker in queue.workers:
            seen[worker.identity] = max(worker.seen_at, seen.get(worker.identity, worker.seen_at))
    return tuple(
        WorkerRow(name, format_duration(now - at), now - at > WORKER_TIMEOUT) for name, at in sorted(seen.items())
    )


def search_stack(hours: Sequence[Hour]) -> StackedBars:
    return _stack(hours, ("answered", "failed"), lambda hour: (hour.answered, hour.failed))


def rejection_stack(hours: Sequence[Hour]) -> StackedBars:
    """Most frequent reasons, each as a separate band."""
    totals: Counter[str] = Counter()
    for hour in hours:
        totals.update(hour.losses)
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    main, others = ordered[:BANDS], ordered[BANDS:]
    if len(others) == 1:
        main, others = ordered, []
    names = (*main, OTHER_REASONS) if others else tuple(main)

    def parts(hour: Hour) -> tuple[int, ...]:
        counts = tuple(hour.losses.get(name, 0) for name in main)
        return (*counts, sum(hour.losses.get(name, 0) for name in others)) if others else counts

    return _stack(hours, names, parts)


def _stack(hours: Sequence[Hour], names: Sequence[str], parts: Callable[[Hour], tuple[int, ...]]) -> StackedBars:
    values = [parts(hour) for hour in hours]
    highest = round_up(max((sum(each) for each in values), default=0))
    columns = []
    for number, (hour, counts) in enumerate(zip(hours, values, strict=True)):
        top, segments = 60.0, []
        for band, count in enumerate(counts):
            height = round(60.0 * count / highest, 2)
            if height:
                top = round(top - height, 2)
                segments.append(Segment(top, height, band))
        text = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True) if count) or "none"
        columns.append(Column(hour.at, number * 10.0, tuple(segments), text))
    totals = tuple(sum(each[band] for each in values) for band in range(len(names)))
    return StackedBars(tuple(names), totals, tuple(columns), highest)


def round_up(number: int) -> int:
    """Round up to 1, 2 or 5 times a power of ten, so that the plot's scale stays stable."""
    size = 1
    while True:
        for step in (1, 2, 5):
            if number <= step * size and step * size >= 5:
                return step * size
        size *= 10


def hide_results(report: HealthReport, hides: Hides) -> HealthReport:
    """Hide all details of goals whose match is hidden; only the problem itself is shown."""
    return replace(report, findings=tuple(_hide_finding(finding, hides) for finding in report.findings))


def _hide_finding(finding: Finding, hides: Hides) -> Finding:
    if finding.event_id is None or finding.fixture_id is None or not hides(finding.fixture_id):
        return finding
    return replace(finding, what="A problem in a match with hidden scores", event_id=None)


# --- Operator actions: switch feeds, decide pairings, restart parts, retry library items.


router = APIRouter(include_in_schema=False, dependencies=[Depends(require_role(Role.OPERATOR))])

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]

DONE = {
    "switched": "Switched. Takes effect at the next poll.",
    "same": "Paired: both feeds now report this match.",
    "different": "Kept as two matches.",
    "retried": "Failed library items are retried with the next library run.",
    "recycled": "Restarted. See the recoveries below for the outcome.",
}
MAX_ID = 2**63 - 1


@router.post("/operations/feeds/{feed_id}")
async def switch(request: Request, services: ServicesDep, feed_id: str) -> Response:
    choice = (await read_form(request)).get("state", "")
    state: State | None = next((each for each in get_args(State) if each == choice), None)
    if state is None:
        raise BadRequest("invalid state: expected on, off or auto")
    await acting.switch(services, feed_id, state)
    return _back("switched", "feeds")


@router.post("/operations/pairings")
async def pairing(request: Request, services: ServicesDep) -> Response:
    form = await read_form(request)
    same = {"yes": True, "no": False}.get(form.get("same", ""))
    if same is None:
        raise BadRequest("invalid answer: expected yes or no")
    await acting.decide(services, form.get("feed", ""), _number(form, "feed_id"), _number(form, "fixture_id"), same)
    return _back("same" if same else "different", "pairings")


@router.post("/operations/recycle")
async def recycle(request: Request, services: ServicesDep, operator: Operator) -> Response:
    choice = (await read_form(request)).get("what", "")
    what: Part | None = next((each for each in get_args(Part) if each == choice), None)
    if what is None:
        raise BadRequest("unknown part: expected browser or poller")
    await acting.recycle(services, what, operator.name)
    return _back("recycled", "recoveries")


@router.post("/operations/library")
async def retry_library(request: Request, services: ServicesDep) -> Response:
    await read_form(request)
    await services.library.store.retry_failed(services.now(), None)
    return _back("retried", "library")


def _number(form: dict[str, str], name: str) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > MAX_ID:
        raise BadRequest(f"invalid {name}: expected a number")
    return int(text)


def _back(done: str, anchor: str) -> Response:
    return RedirectResponse(f"/operations?done={done}#{anchor}", 303)


# --- Routes of the operations page.


router_operations = APIRouter(include_in_schema=False)

TODAY = timedelta(hours=20)


@router_operations.get("/operations")
async def page(request: Request, services: ServicesDep, done: str = "") -> HTMLResponse:
    values = await _values(request, services)
    return render(request, "operations.html", {**values, "done": DONE.get(done, "")}, headers=NO_STORE)


@router_operations.get("/operations/fragment")
async def fragment(request: Request, services: ServicesDep) -> HTMLResponse:
    """Content that replaces the page every few seconds."""
    return render(request, "parts/operations.html", await _values(request, services), headers=NO_STORE)


async def _values(request: Request, services: WebServices) -> dict[str, Any]:
    report = await services.health.report(services.now())
    measured, limits = report.measured, report.limits
    rules, hides = services.rules, preferences(request).hides
    recorded, temporal = measured.recorded, measured.temporal
    hours = recorded.hours if recorded else ()
    hidden = sum(hides(goal.fixture_id) for goal in recorded.goals) if recorded else 0
    polls, late = poll_bars(measured, limits), poll_limit(measured, limits)
    live = {match.fixture_id: match for match in recorded.matches} if recorded else {}
    spans = measured.health.spans if measured.health else ()
    return {
        "measured": measured,
        "build": current_build(),
        "report": hide_results(report, hides),
        "polls": polls,
        "chips": {bar.fixture_id: feed_chips(live[bar.fixture_id], measured, late) for bar in polls},
        "poll_limit": format_duration(late),
        "goals": goal_rows(measured, rules, limits, hides),
        "goals_in_work": recorded.goals_in_work - hidden if recorded else 0,
        "searches": search_stack(hours),
        "rejections": rejection_stack(hours),
        "recorded": recorded,
        "temporal": temporal,
        "parked": sum(stage.parked for stage in recorded.library) if recorded else 0,
        "workers": worker_rows(temporal, measured.at) if temporal else (),
        "details": can_see_internals(request),
        "can_act": current_user(request).may(Role.OPERATOR),
        "rules": rules,
        "status": status_of(report, rules, details=True),
        "plot": health_plot(spans, measured.at, rules.fresh_seconds, rules.failing_seconds),
        "feeds": feed_rows(measured),
        "paused": paused_rows(measured),
        "conflicts": conflict_rows(measured, limits, hides),
        "pairings": recorded.doubts if recorded else (),
        "recoveries": [recovery_row(each) for each in measured.health.recoveries] if measured.health else [],
        "can_recycle": services.scores.recovery is not None,
        "age": lambda at: format_duration(measured.at - at),
        "span": lambda seconds: format_duration(timedelta(seconds=seconds)),
        "is_today": lambda at: measured.at - at < TODAY,
        "until": lambda at: format_duration(at - measured.at),
    }
