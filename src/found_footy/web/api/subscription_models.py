"""The shape of subscriptions and their messages in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from found_footy.domain.announcing.subscription import (
    DEFAULT_TOPICS,
    LARGEST_ID,
    LONGEST_DELAY,
    LONGEST_NAME,
    LONGEST_TARGET,
    MOST_IDS,
    TOPICS_TO_ASK_FOR,
    Kind,
)
from found_footy.ports_announcing import DeliveryRecord, SubscriptionRecord
from found_footy.web.subscriptions.subscribing import filters_of

State = Literal["pending", "sending", "delivered", "dead", "cancelled"]
_Number = Annotated[int, Field(ge=1, le=LARGEST_ID)]
_Topic = Annotated[str, Field(min_length=1, max_length=60)]
_Topics = Annotated[
    list[_Topic], Field(min_length=1, max_length=40, description=f"{', '.join(TOPICS_TO_ASK_FOR)}; `goal.*` means all.")
]
_Teams = Annotated[list[_Number], Field(max_length=MOST_IDS, description="Matches of these teams; none means all.")]
_Leagues = Annotated[list[_Number], Field(max_length=MOST_IDS, description="Of these competitions; none means all.")]
_Delay = Annotated[
    float, Field(ge=0, le=LONGEST_DELAY.total_seconds(), description="Every message comes so much later.")
]
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
_Target = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_TARGET, description="A web address, or an Apprise URL. Never shown again."),
]


class NewSubscription(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: _Name
    kind: Kind
    target: _Target
    topics: _Topics = list(DEFAULT_TOPICS)
    teams: _Teams = []
    leagues: _Leagues = []
    verified_only: bool = Field(False, description="Of clips, only verified ones.")
    delay_seconds: _Delay = 0
    no_score: bool = Field(False, description="Nothing is said that tells the score.")


class SubscriptionChange(BaseModel):
    """What is left out stays as it is."""

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
    kind: Kind
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
    waiting: int = Field(description="Messages that are still to be delivered.")
    dead: int = Field(description="Messages that were given up.")
    delivered_at: datetime | None = Field(description="When the last one was delivered.")
    failure: str | None = Field(description="Of the latest message that failed and has not been delivered since.")


class SubscriptionCreated(SubscriptionShown):
    secret: str | None = Field(description="What a webhook's messages are signed with. Shown this once.")


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


def facts(record: SubscriptionRecord) -> dict[str, Any]:
    plain = {name: getattr(record, name) for name in SubscriptionShown.model_fields if hasattr(record, name)}
    return plain | filters_of(record.filters)


def shown(record: SubscriptionRecord) -> SubscriptionShown:
    return SubscriptionShown(**facts(record))


def delivery_shown(record: DeliveryRecord) -> DeliveryShown:
    error = None
    if record.error_kind is not None:
        error = DeliveryFailure(class_=record.error_kind, message=record.error_message or "")
    plain = {name: getattr(record, name) for name in DeliveryShown.model_fields if hasattr(record, name)}
    return DeliveryShown(**plain, error=error)
