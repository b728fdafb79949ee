"""Subscriptions and their deliveries in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from found_footy.access.models import Role
from found_footy.notifications.models import (
    DEFAULT_TOPICS,
    MAX_BIGINT,
    MAX_DELAY,
    MAX_IDS,
    MAX_NAME_LENGTH,
    MAX_TARGET_LENGTH,
    SUBSCRIBABLE_TOPICS,
    DeliveryRecord,
    SubscriptionKind,
    SubscriptionRecord,
)
from found_footy.web.api.models import Page
from found_footy.web.api.parameters import Cursor, Limit
from found_footy.web.errors import error_responses
from found_footy.web.pagination import CursorOrder
from found_footy.web.rendering import no_store
from found_footy.web.services import ServicesDep
from found_footy.web.users import require_role

State = Literal["pending", "sending", "delivered", "dead", "cancelled"]
_Number = Annotated[int, Field(ge=1, le=MAX_BIGINT)]
_Topic = Annotated[str, Field(min_length=1, max_length=60)]
_Topics = Annotated[
    list[_Topic],
    Field(min_length=1, max_length=40, description=f"{', '.join(SUBSCRIBABLE_TOPICS)}; `goal.*` means all."),
]
_Teams = Annotated[
    list[_Number], Field(max_length=MAX_IDS, description="Only matches of these teams; empty means all.")
]
_Leagues = Annotated[list[_Number], Field(max_length=MAX_IDS, description="Only these competitions; empty means all.")]
_Delay = Annotated[
    float, Field(ge=0, le=MAX_DELAY.total_seconds(), description="Seconds by which every message is delayed.")
]
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
_Target = Annotated[
    str,
    Field(
        min_length=1, max_length=MAX_TARGET_LENGTH, description="A webhook URL or an Apprise URL. Masked in responses."
    ),
]


class CreateSubscription(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: _Name
    kind: SubscriptionKind
    target: _Target
    topics: _Topics = list(DEFAULT_TOPICS)
    teams: _Teams = []
    leagues: _Leagues = []
    verified_only: bool = Field(False, description="Only verified clips.")
    delay_seconds: _Delay = 0
    no_score: bool = Field(False, description="Spoiler-free messages.")


class UpdateSubscription(BaseModel):
    """Omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: _Name | None = None
    target: _Target | None = None
    topics: _Topics | None = None
    teams: _Teams | None = None
    leagues: _Leagues | None = None
    verified_only: bool | None = None
    delay_seconds: _Delay | None = None
    no_score: bool | None = None
    paused: bool | None = None


class SubscriptionShown(BaseModel):
    id: int
    name: str
    kind: SubscriptionKind
    target: str = Field(description="Masked.")
    topics: list[str]
    teams: list[int]
    leagues: list[int]
    verified_only: bool
    delay_seconds: float
    no_score: bool
    created_at: datetime
    paused_at: datetime | None
    paused_reason: str | None
    waiting: int = Field(description="Pending messages.")
    dead: int = Field(description="Undelivered messages.")
    delivered_at: datetime | None = Field(description="Time of the last delivery.")
    failure: str | None = Field(description="Error of the latest message that failed and was not delivered since.")


class SubscriptionCreated(SubscriptionShown):
    secret: str | None = Field(description="Signs the messages of a webhook. Shown once.")


class SubscriptionList(BaseModel):
    items: list[SubscriptionShown]


class Queued(BaseModel):
    delivery_id: int


class DeliveryFailure(BaseModel):
    class_: str = Field(alias="class")
    message: str

    model_config = ConfigDict(populate_by_name=True)


class DeliveryShown(BaseModel):
    id: int
    position: int | None
    topic: str
    fixture_id: int | None
    event_id: str | None
    title: str
    state: State
    due_at: datetime
    attempts: int
    error: DeliveryFailure | None
    created_at: datetime
    delivered_at: datetime | None


def subscription_fields(record: SubscriptionRecord) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in SubscriptionShown.model_fields if hasattr(record, name)}
    return fields | record.filters.to_json()


def subscription_shown(record: SubscriptionRecord) -> SubscriptionShown:
    return SubscriptionShown(**subscription_fields(record))


def delivery_shown(record: DeliveryRecord) -> DeliveryShown:
    error = None
    if record.error_kind is not None:
        error = DeliveryFailure(class_=record.error_kind, message=record.error_message or "")
    fields = {name: getattr(record, name) for name in DeliveryShown.model_fields if hasattr(record, name)}
    return DeliveryShown(**fields, error=error)


# --- `/api/v1/subscriptions`: subscriptions and the state of their deliveries. For operators.


router = APIRouter(
    prefix="/api/v1",
    tags=["subscriptions"],
    dependencies=[Depends(require_role(Role.OPERATOR)), Depends(no_store)],
)

Id = Annotated[int, Path(ge=1, le=MAX_BIGINT)]

BY_AGE = CursorOrder("deliveries", (int,))


@router.get("/subscriptions", responses=error_responses(role=Role.OPERATOR), summary="List subscriptions")
async def subscriptions(services: ServicesDep) -> SubscriptionList:
    return SubscriptionList(items=[subscription_shown(each) for each in await services.notifications.subscriptions()])


@router.post(
    "/subscriptions",
    status_code=201,
    responses=error_responses(400, role=Role.OPERATOR),
    summary="Create a subscription",
)
async def add(services: ServicesDep, request: CreateSubscription) -> SubscriptionCreated:
    """Applies to messages from now on. The target is validated; nothing is sent yet."""
    filters = request.model_dump(exclude={"name", "kind", "target"})
    created = await services.subscriptions.create(request.name, request.kind, request.target, filters)
    return SubscriptionCreated(**subscription_fields(created.record), secret=created.secret)


@router.get(
    "/subscriptions/{subscription_id}", responses=error_responses(404, role=Role.OPERATOR), summary="Get a subscription"
)
async def subscription(services: ServicesDep, subscription_id: Id) -> SubscriptionShown:
    return subscription_shown(await services.notifications.subscription(subscription_id))


@router.patch(
    "/subscriptions/{subscription_id}",
    responses=error_responses(400, 404, role=Role.OPERATOR),
    summary="Update or pause a subscription",
)
async def update(services: ServicesDep, subscription_id: Id, changes: UpdateSubscription) -> SubscriptionShown:
    """A subscriber that received a goal also receives its withdrawal, whatever the topics are now. Nothing is queued
    while a subscription is paused."""
    filters = {name: each for name, each in changes.model_dump(exclude_unset=True).items() if each is not None}
    return subscription_shown(await services.subscriptions.update(subscription_id, filters))


@router.delete(
    "/subscriptions/{subscription_id}",
    status_code=204,
    responses=error_responses(404, role=Role.OPERATOR),
    summary="Delete a subscription and its pending messages",
)
async def delete(services: ServicesDep, subscription_id: Id) -> None:
    await services.notifications.delete(subscription_id)


@router.post(
    "/subscriptions/{subscription_id}/test",
    status_code=202,
    responses=error_responses(404, role=Role.OPERATOR),
    summary="Send a test message",
)
async def send(services: ServicesDep, subscription_id: Id) -> Queued:
    return Queued(delivery_id=await services.subscriptions.send_test(subscription_id))


@router.get(
    "/subscriptions/{subscription_id}/deliveries",
    responses=error_responses(400, 404, role=Role.OPERATOR),
    summary="List deliveries, latest first",
)
async def deliveries(
    services: ServicesDep,
    subscription_id: Id,
    state: Annotated[State | None, Query(description="Only this state; `dead` lists undelivered messages.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeliveryShown]:
    filters = {"subscription": subscription_id, "state": state}
    before = BY_AGE.decode(cursor, filters)[0] if cursor is not None else None
    rows = await services.notifications.deliveries(subscription_id, state=state, before=before, limit=limit + 1)
    next_cursor = BY_AGE.encode((rows[limit - 1].id,), filters) if len(rows) > limit else None
    return Page[DeliveryShown](items=[delivery_shown(each) for each in rows[:limit]], next=next_cursor)


@router.post(
    "/deliveries/{delivery_id}/retry",
    status_code=202,
    responses=error_responses(400, 404, role=Role.OPERATOR),
    summary="Retry an undelivered message",
)
async def retry(services: ServicesDep, delivery_id: Id) -> Queued:
    """Refused if its goal was withdrawn since."""
    await services.notifications.retry(delivery_id)
    return Queued(delivery_id=delivery_id)
