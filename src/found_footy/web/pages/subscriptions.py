"""The page of subscriptions, for operators: who is told of what, what failed, and a form for a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.domain.announcing.subscription import (
    LARGEST_ID,
    LONGEST_NAME,
    LONGEST_TARGET,
    TOPICS_TO_ASK_FOR,
    checked_filters,
)
from found_footy.domain.errors import BadRequest, DeliveryUnavailable
from found_footy.ports_announcing import Change, DeliveryRecord, Names, SubscriptionRecord
from found_footy.web.access.visitors import Role, allow
from found_footy.web.answers.forms import form_of
from found_footy.web.answers.rendering import render
from found_footy.web.services import Given, Services
from found_footy.web.subscriptions.form import DELAYS, TOPIC_WORDS, asked_filters, blank, delay_words, topic_words
from found_footy.web.subscriptions.subscribing import Subscribed, send_test, subscribe

router = APIRouter(include_in_schema=False, dependencies=[Depends(allow(Role.OPERATOR))])

HEADERS = {"Cache-Control": "no-store"}
MOST_DEAD = 20
"""Dead letters that are shown of each."""

DONE = {
    "added": "The subscription is there. News that come from now on are told.",
    "test": "A test message is on its way.",
    "pause": "Nothing is sent until it is resumed.",
    "resume": "News that come from now on are told again.",
    "delete": "The subscription is gone.",
    "retry": "The message is on its way again.",
}

Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/subscriptions")
async def page(request: Request, services: Given, done: str = "") -> Response:
    return await _page(request, services, blank(), said=DONE.get(done, ""))


@router.post("/subscriptions")
async def add(request: Request, services: Given) -> Response:
    form = await form_of(request)
    try:
        filters = asked_filters(form, await services.subscriptions.names())
        made = await subscribe(services, form.get("name", ""), form.get("kind", ""), form.get("target", ""), filters)
    except (BadRequest, DeliveryUnavailable) as error:
        return await _page(request, services, form, problem=str(error), status=400)
    if made.secret is None:
        return _back("added")
    # Not by a redirect: the secret is shown in this answer and in no other.
    return await _page(request, services, blank(), made=made, status=201)


@router.post("/subscriptions/{subscription_id}")
async def act(request: Request, services: Given, subscription_id: Id) -> Response:
    wish = (await form_of(request)).get("do", "")
    match wish:
        case "test":
            await send_test(services, subscription_id)
        case "pause" | "resume":
            await services.subscriptions.change(subscription_id, Change(paused=wish == "pause"))
        case "delete":
            await services.subscriptions.delete(subscription_id)
        case _:
            raise BadRequest("the form says nothing that could be done")
    return _back(wish)


@router.post("/deliveries/{delivery_id}")
async def retry(services: Given, delivery_id: Id) -> Response:
    await services.subscriptions.retry(delivery_id)
    return _back("retry")


def _back(done: str) -> Response:
    return RedirectResponse(f"/subscriptions?done={done}", 303)


async def _page(
    request: Request,
    services: Services,
    form: Mapping[str, str],
    *,
    said: str = "",
    problem: str = "",
    made: Subscribed | None = None,
    status: int = 200,
) -> Response:
    names = await services.subscriptions.names()
    found = await services.subscriptions.list()
    dead = {each.id: await _dead(services, each) for each in found if each.dead}
    values = {
        "subscriptions": [_shown(each, names, dead.get(each.id, [])) for each in found],
        "form": {"kind": "webhook", "delay": "0", **form},
        "topics": [(topic, topic_words(topic)) for topic in sorted(TOPICS_TO_ASK_FOR, key=list(TOPIC_WORDS).index)],
        "delays": DELAYS,
        "names": {"teams": sorted(names.teams.values()), "leagues": sorted(names.leagues.values())},
        "said": said,
        "problem": problem,
        "made": made,
        "longest": {"name": LONGEST_NAME, "target": LONGEST_TARGET},
    }
    return render(request, "subscriptions.html", values, status, HEADERS)


async def _dead(services: Services, record: SubscriptionRecord) -> list[DeliveryRecord]:
    return list(await services.subscriptions.deliveries(record.id, state="dead", before=None, limit=MOST_DEAD))


def _shown(record: SubscriptionRecord, names: Names, dead: list[DeliveryRecord]) -> dict[str, Any]:
    filters = record.filters
    state, word = _state(record)
    all_goals = filters.topics == checked_filters().topics
    return {
        "record": record,
        "state": state,
        "word": word,
        "topics": "Certain goals, their clips and their withdrawals" if all_goals else _listed(filters.topics),
        "teams": [names.teams.get(id_, f"team {id_}") for id_ in sorted(filters.teams)],
        "leagues": [names.leagues.get(id_, f"competition {id_}") for id_ in sorted(filters.leagues)],
        "delay": delay_words(filters.delay.total_seconds()) if filters.delay else "",
        "dead": dead,
    }


def _listed(topics: frozenset[str]) -> str:
    words = [topic_words(topic) for topic in TOPIC_WORDS if topic in topics]
    return ", ".join([*words[:1], *(word[:1].lower() + word[1:] for word in words[1:])])


def _state(record: SubscriptionRecord) -> tuple[str, str]:
    if record.paused_at is not None:
        return "paused", "paused"
    if record.failure is not None and record.waiting:
        return "failed", "not reached"
    if record.dead:
        return "failed", f"{record.dead} dead letter{'' if record.dead == 1 else 's'}"
    return ("ok", "delivers") if record.delivered_at else ("new", "nothing sent yet")
