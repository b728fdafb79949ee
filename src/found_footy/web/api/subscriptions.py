"""`/api/v1/subscriptions`: who is told of what, and what became of their messages. For operators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from found_footy.domain.announcing.subscription import LARGEST_ID
from found_footy.web.access.visitors import Role, allow
from found_footy.web.answers.paging import Order
from found_footy.web.api.failing import Answers
from found_footy.web.api.models import Failure, Page
from found_footy.web.api.parameters import Cursor, Limit
from found_footy.web.api.subscription_models import (
    DeliveryShown,
    NewSubscription,
    Queued,
    State,
    SubscriptionChange,
    SubscriptionCreated,
    SubscriptionList,
    SubscriptionShown,
    delivery_shown,
    facts,
    shown,
)
from found_footy.web.services import Given
from found_footy.web.subscriptions.subscribing import change, send_test, subscribe


def _unkept(response: Response) -> None:
    """A secret is shown once; no cache may show it again."""
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(
    prefix="/api/v1",
    tags=["subscriptions"],
    dependencies=[Depends(allow(Role.OPERATOR)), Depends(_unkept)],
)

Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]

BY_AGE = Order("deliveries", (int,))

_SAID = {
    400: "Something in the request makes no sense; the message says what.",
    401: "The token is missing, or does not hold.",
    403: "The token is not an operator's.",
    404: "There is no such thing.",
    422: "A value cannot be understood.",
    429: "Too many wrong tokens, or a test that is on its way already.",
    503: "The database, or what checks a target, cannot be reached.",
}


def _failing(*statuses: int) -> Answers:
    named = sorted({*statuses, 401, 403, 422, 429, 503})
    return {status: {"model": Failure, "description": _SAID[status]} for status in named}


@router.get("/subscriptions", responses=_failing(), summary="Everybody who is told of something")
async def subscriptions(services: Given) -> SubscriptionList:
    return SubscriptionList(items=[shown(each) for each in await services.subscriptions.list()])


@router.post("/subscriptions", status_code=201, responses=_failing(400), summary="Tell somebody else")
async def add(services: Given, new: NewSubscription) -> SubscriptionCreated:
    """Of news that come from now on. The target is checked; nothing is sent yet."""
    filters = new.model_dump(exclude={"name", "kind", "target"})
    made = await subscribe(services, new.name, new.kind, new.target, filters)
    return SubscriptionCreated(**facts(made.record), secret=made.secret)


@router.get("/subscriptions/{subscription_id}", responses=_failing(404), summary="One of them")
async def subscription(services: Given, subscription_id: Id) -> SubscriptionShown:
    return shown(await services.subscriptions.get(subscription_id))


@router.patch("/subscriptions/{subscription_id}", responses=_failing(400, 404), summary="Change or pause it")
async def update(services: Given, subscription_id: Id, given: SubscriptionChange) -> SubscriptionShown:
    """What was told of stays so: a goal that is withdrawn is announced to whoever was told of it, whatever they
    listen to now. While it is paused nothing is sent; news that come meanwhile are not kept for later."""
    wanted = {name: each for name, each in given.model_dump(exclude_unset=True).items() if each is not None}
    return shown(await change(services, subscription_id, wanted))


@router.delete(
    "/subscriptions/{subscription_id}", status_code=204, responses=_failing(404), summary="Tell them nothing any more"
)
async def delete(services: Given, subscription_id: Id) -> None:
    """With all of its messages, also those on their way."""
    await services.subscriptions.delete(subscription_id)


@router.post(
    "/subscriptions/{subscription_id}/test", status_code=202, responses=_failing(404), summary="Send a test message"
)
async def send(services: Given, subscription_id: Id) -> Queued:
    return Queued(delivery_id=await send_test(services, subscription_id))


@router.get(
    "/subscriptions/{subscription_id}/deliveries",
    responses=_failing(400, 404),
    summary="Its messages, the latest first",
)
async def deliveries(
    services: Given,
    subscription_id: Id,
    state: Annotated[State | None, Query(description="Only those; `dead` are the dead letters.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeliveryShown]:
    wanted = {"subscription": subscription_id, "state": state}
    before = BY_AGE.place(cursor, wanted)[0] if cursor is not None else None
    found = await services.subscriptions.deliveries(subscription_id, state=state, before=before, limit=limit + 1)
    following = BY_AGE.cursor((found[limit - 1].id,), wanted) if len(found) > limit else None
    return Page[DeliveryShown](items=[delivery_shown(each) for each in found[:limit]], next=following)


@router.post("/deliveries/{delivery_id}/retry", status_code=202, responses=_failing(400, 404), summary="Send again")
async def retry(services: Given, delivery_id: Id) -> Queued:
    """A dead letter is due again. Not one about a goal that was withdrawn meanwhile."""
    await services.subscriptions.retry(delivery_id)
    return Queued(delivery_id=delivery_id)
