"""Subscriptions page: parsing of the form, and routes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.access.models import Role
from found_footy.errors import BadRequest, DeliveryUnavailable
from found_footy.notifications.models import (
    DEFAULT_TOPICS,
    MAX_BIGINT,
    MAX_NAME_LENGTH,
    MAX_TARGET_LENGTH,
    SUBSCRIBABLE_TOPICS,
    DeliveryRecord,
    SubscriptionChange,
    SubscriptionRecord,
    TeamAndLeagueNames,
    validate_filter,
)
from found_footy.notifications.subscriptions import CreatedSubscription
from found_footy.text import clean_text
from found_footy.web.rendering import NO_STORE, render
from found_footy.web.requests import read_form
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.users import require_role

TOPIC_NAMES: Mapping[str, str] = {
    "goal.stable": "Goal or wicket confirmed",
    "clip.published": "Clip published",
    "goal.withdrawn": "Goal withdrawn",
    "goal.seen": "Goal first reported",
    "goal.changed": "Goal corrected",
    "goal.complete": "Search for a goal finished",
    "clip.replaced": "Better copy published",
    "clip.taken_down": "Clip taken down",
    "clips.ranked": "Clip ranking changed",
    "fixture.score": "Score changed",
    "fixture.status": "Kick-off, half-time, full time",
    "fixture.active": "Match about to start",
    "fixture.completed": "Match completed",
    "fixture.staging": "Match new or postponed",
    "feeds.health": "Feed health changed",
    "feeds.recovery": "Feed recovery started or finished",
    "service.changed": "A feed, source or service failed or recovered",
    "finding.failed": "The system has failed in something",
    "finding.degraded": "A problem that the system works around",
    "finding.ended": "A problem is over",
}
DELAYS: Mapping[int, str] = {
    0: "none",
    10: "10 seconds",
    30: "30 seconds",
    60: "1 minute",
    120: "2 minutes",
    300: "5 minutes",
    900: "15 minutes",
    3600: "1 hour",
    7200: "2 hours",
    14400: "4 hours",
}
MAX_TYPED_LENGTH = 5000


def topic_name(topic: str) -> str:
    return TOPIC_NAMES.get(topic, topic)


def delay_text(seconds: float) -> str:
    return DELAYS.get(int(seconds), f"{seconds:g} seconds")


def parse_filters(form: Mapping[str, str], names: TeamAndLeagueNames) -> dict[str, Any]:
    """Parse the filters. Checkboxes are named `topic-…`. Raises BadRequest."""
    delay = form.get("delay", "0")
    if not delay.isascii() or not delay.isdecimal() or len(delay) > 6:
        raise BadRequest("invalid delay: expected seconds")
    return {
        "topics": [topic for topic in SUBSCRIBABLE_TOPICS if f"topic-{topic}" in form],
        "teams": parse_ids("team", form.get("teams", ""), names.teams),
        "leagues": parse_ids("competition", form.get("leagues", ""), names.leagues),
        "verified_only": "verified_only" in form,
        "delay_seconds": int(delay),
        "no_score": "no_score" in form,
    }


def parse_ids(what: str, entered: str, names: Mapping[int, str]) -> list[int]:
    """Parse comma-separated names or ids. A name matches in full, or without the country in brackets."""
    by_name: dict[str, set[int]] = {}
    for id_, name in names.items():
        for spelling in (name, name.partition(" (")[0]):
            by_name.setdefault(clean_text(spelling).casefold(), set()).add(id_)
    ids = []
    for each in (part.strip() for part in entered[:MAX_TYPED_LENGTH].split(",")):
        if each.isascii() and each.isdecimal():
            ids.append(int(each[:19]))
        elif each:
            ids.append(_one(what, each, by_name, names))
    return ids


def _one(what: str, entered: str, by_name: Mapping[str, set[int]], names: Mapping[int, str]) -> int:
    cleaned = clean_text(entered, 100)
    ids = by_name.get(cleaned.casefold(), set())
    if len(ids) > 1:
        which = "; ".join(sorted(f"{clean_text(names[id_], 80)}: {id_}" for id_ in ids)[:5])
        raise BadRequest(f"{what} {cleaned!r} is ambiguous; use its id ({which})")
    if not ids:
        similar = difflib.get_close_matches(cleaned.casefold(), list(by_name), n=1)
        hint = f"did you mean {clean_text(names[min(by_name[similar[0]])], 80)}?" if similar else "use its id"
        raise BadRequest(f"unknown {what} {cleaned!r}; {hint}")
    return min(ids)


def blank_form() -> dict[str, str]:
    """Initial form values."""
    return {"kind": "webhook", "delay": "0", **{f"topic-{topic}": "on" for topic in DEFAULT_TOPICS}}


# --- Subscriptions page, for operators: subscriptions, failures, and the form for a new one.


router = APIRouter(include_in_schema=False, dependencies=[Depends(require_role(Role.OPERATOR))])

MAX_DEAD_SHOWN = 20
"""Dead deliveries shown per subscription."""

DONE = {
    "added": "Subscription added. It receives messages from now on.",
    "test": "Test message queued.",
    "pause": "Paused. Nothing is sent until it is resumed.",
    "resume": "Resumed. It receives messages from now on.",
    "delete": "Subscription deleted.",
    "retry": "Retry queued.",
}

Id = Annotated[int, Path(ge=1, le=MAX_BIGINT)]


@router.get("/subscriptions")
async def page(request: Request, services: ServicesDep, done: str = "") -> Response:
    return await _page(request, services, blank_form(), message=DONE.get(done, ""))


@router.post("/subscriptions")
async def add(request: Request, services: ServicesDep) -> Response:
    form = await read_form(request)
    try:
        filters = parse_filters(form, await services.notifications.names())
        created = await services.subscriptions.create(
            form.get("name", ""), form.get("kind", ""), form.get("target", ""), filters
        )
    except (BadRequest, DeliveryUnavailable) as error:
        return await _page(request, services, form, problem=str(error), status=400)
    if created.secret is None:
        return _back("added")
    # Not a redirect: the secret is shown in this response only.
    return await _page(request, services, blank_form(), created=created, status=201)


@router.post("/subscriptions/{subscription_id}")
async def act(request: Request, services: ServicesDep, subscription_id: Id) -> Response:
    action = (await read_form(request)).get("do", "")
    match action:
        case "test":
            await services.subscriptions.send_test(subscription_id)
        case "pause" | "resume":
            await services.notifications.update(subscription_id, SubscriptionChange(paused=action == "pause"))
        case "delete":
            await services.notifications.delete(subscription_id)
        case _:
            raise BadRequest("unknown action")
    return _back(action)


@router.post("/deliveries/{delivery_id}")
async def retry(services: ServicesDep, delivery_id: Id) -> Response:
    await services.notifications.retry(delivery_id)
    return _back("retry")


def _back(done: str) -> Response:
    return RedirectResponse(f"/subscriptions?done={done}", 303)


async def _page(
    request: Request,
    services: WebServices,
    form: Mapping[str, str],
    *,
    message: str = "",
    problem: str = "",
    created: CreatedSubscription | None = None,
    status: int = 200,
) -> Response:
    names = await services.notifications.names()
    records = await services.notifications.subscriptions()
    dead = {each.id: await _dead(services, each) for each in records if each.dead}
    values = {
        "subscriptions": [_subscription_view(each, names, dead.get(each.id, [])) for each in records],
        "form": {"kind": "webhook", "delay": "0", **form},
        "topics": [(topic, topic_name(topic)) for topic in sorted(SUBSCRIBABLE_TOPICS, key=list(TOPIC_NAMES).index)],
        "delays": DELAYS,
        "names": {"teams": sorted(names.teams.values()), "leagues": sorted(names.leagues.values())},
        "message": message,
        "problem": problem,
        "created": created,
        "max_lengths": {"name": MAX_NAME_LENGTH, "target": MAX_TARGET_LENGTH},
    }
    return render(request, "subscriptions.html", values, status, NO_STORE)


async def _dead(services: WebServices, record: SubscriptionRecord) -> list[DeliveryRecord]:
    return list(await services.notifications.deliveries(record.id, state="dead", before=None, limit=MAX_DEAD_SHOWN))


def _subscription_view(
    record: SubscriptionRecord, names: TeamAndLeagueNames, dead: list[DeliveryRecord]
) -> dict[str, Any]:
    filters = record.filters
    state, label = _state(record)
    all_goals = filters.topics == validate_filter().topics
    return {
        "record": record,
        "state": state,
        "label": label,
        "topics": "Confirmed goals, their clips and withdrawals" if all_goals else _topic_list(filters.topics),
        "teams": [names.teams.get(id_, f"team {id_}") for id_ in sorted(filters.teams)],
        "leagues": [names.leagues.get(id_, f"competition {id_}") for id_ in sorted(filters.leagues)],
        "delay": delay_text(filters.delay.total_seconds()) if filters.delay else "",
        "dead": dead,
    }


def _topic_list(topics: frozenset[str]) -> str:
    names = [topic_name(topic) for topic in TOPIC_NAMES if topic in topics]
    return ", ".join([*names[:1], *(name[:1].lower() + name[1:] for name in names[1:])])


def _state(record: SubscriptionRecord) -> tuple[str, str]:
    if record.paused_at is not None:
        return "paused", "paused"
    if record.failure is not None and record.waiting:
        return "failed", "unreachable"
    if record.dead:
        return "failed", f"{record.dead} undelivered"
    return ("ok", "delivering") if record.delivered_at else ("new", "nothing sent yet")
