"""Fan-out: which deliveries a batch of outbox messages creates and cancels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from found_footy.notifications.messages import build_message, is_for_operators
from found_footy.notifications.models import (
    WITHDRAWN,
    NotificationContext,
    NotificationFixture,
    OutboxMessage,
    Subscription,
    SubscriptionFilter,
)

SPOILER_TOPICS = frozenset({"fixture.score", "goal.changed"})
"""Topics that only report the score or the scorer."""
SPOILER_STATUSES = frozenset({"ET", "BT", "P"})
"""Extra time reveals that the match is level."""


def matches(subscription: Subscription, message: OutboxMessage, context: NotificationContext) -> bool:
    filters = subscription.filters
    if is_for_operators(message.topic):
        # A subscription to a team's goals does not include operator messages.
        takes_all = not filters.teams and not filters.leagues
        return _accepts_topic(subscription, message) and takes_all
    return _accepts_topic(subscription, message) and _matches_fixture(filters, message, context)


def _accepts_topic(subscription: Subscription, message: OutboxMessage) -> bool:
    return (
        not subscription.paused
        and message.position > subscription.from_position
        and message.topic in subscription.filters.topics
    )


def _matches_fixture(filters: SubscriptionFilter, message: OutboxMessage, context: NotificationContext) -> bool:
    return (
        message.topic != WITHDRAWN
        and not context.withdrawn
        and context.match is not None
        and _matches_teams(filters, context.match)
        and not (filters.no_score and _reveals_score(message))
        and not (filters.verified_only and not _has_verified_clip(message, context))
    )


def _matches_teams(filters: SubscriptionFilter, match: NotificationFixture) -> bool:
    its_teams = {match.home_id, match.away_id}
    return (not filters.teams or not filters.teams.isdisjoint(its_teams)) and (
        not filters.leagues or match.league_id in filters.leagues
    )


def _reveals_score(message: OutboxMessage) -> bool:
    if message.topic == "fixture.status":
        return message.payload.get("to") in SPOILER_STATUSES
    return message.topic in SPOILER_TOPICS


def _has_verified_clip(message: OutboxMessage, context: NotificationContext) -> bool:
    """Whether the message is about a verified clip; true for topics without clips."""
    match message.topic:
        case "clip.published":
            return message.payload.get("verified") is True
        case "clip.replaced":
            # A clip and its duplicate are in the same pool: both verified or both not.
            return any(context.verified.get(str(message.payload.get(name)), False) for name in ("by", "md5"))
        case "clips.ranked":
            return any(context.verified.get(str(clip.get("md5")), False) for clip in message.payload.get("clips", ()))
    return True


# --- Withdrawals are sent only to subscriptions that were notified of the goal.


class DeliveryState(StrEnum):
    PENDING = "pending"
    """Not attempted yet."""
    SENDING = "sending"
    """Being sent or retried."""
    DELIVERED = "delivered"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EarlierDelivery:
    """An earlier message to one subscription about a goal."""

    position: int
    state: DeliveryState
    due_at: datetime
    possibly_delivered: bool = False
    """Whether a failed attempt may have reached the receiver."""


@dataclass(frozen=True, slots=True)
class WithdrawalDecision:
    notify: bool
    """Whether the withdrawal is sent, after all earlier messages."""
    cancel: tuple[int, ...] = ()
    """Positions of pending messages to cancel."""


def on_withdrawal(deliveries: Sequence[EarlierDelivery], at: datetime) -> WithdrawalDecision:
    """Decide for one subscription. `deliveries` are its earlier ones about the goal."""
    held_back = [
        each
        for each in deliveries
        if each.state is DeliveryState.PENDING and not each.possibly_delivered and each.due_at > at
    ]
    others = [each for each in deliveries if each not in held_back]
    return WithdrawalDecision(
        notify=any(
            was_notified([each]) or each.state in (DeliveryState.PENDING, DeliveryState.SENDING) for each in others
        ),
        cancel=tuple(each.position for each in held_back),
    )


def was_notified(deliveries: Sequence[EarlierDelivery]) -> bool:
    """Checked again before the withdrawal is sent: an earlier message may have been refused since."""
    return any(each.state is DeliveryState.DELIVERED or each.possibly_delivered for each in deliveries)


# --- Fan-out.


SubscriptionAndGoal = tuple[int, str]
"""A subscription and a goal."""


@dataclass(frozen=True, slots=True)
class OutboxBatch:
    """Outbox messages in order, with everything needed to fan them out."""

    messages: Sequence[OutboxMessage]
    contexts: Mapping[int, NotificationContext]
    """Keyed by position."""
    subscriptions: Sequence[Subscription]
    earlier_deliveries: Mapping[SubscriptionAndGoal, Sequence[EarlierDelivery]] = field(default_factory=dict)
    """Earlier deliveries about goals withdrawn in this batch."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    subscription_id: int
    message: OutboxMessage
    due_at: datetime
    body: Mapping[str, Any]
    state: DeliveryState = DeliveryState.PENDING


@dataclass(frozen=True, slots=True)
class FanOut:
    new: tuple[NewDelivery, ...] = ()
    cancelled: tuple[tuple[int, int], ...] = ()
    """Subscription and position of each cancelled delivery."""


Decide = Callable[[OutboxBatch], FanOut]


def fan_out(batch: OutboxBatch, public_url: str | None = None) -> FanOut:
    deliveries = _BatchDeliveries(batch)
    for message in batch.messages:
        context = batch.contexts.get(message.position, NotificationContext())
        # Shared by all subscriptions with the same options, except for the key.
        bodies: dict[tuple[bool, bool], dict[str, Any]] = {}
        for subscription in batch.subscriptions:
            if message.topic == WITHDRAWN:
                is_reported = deliveries.withdraw(subscription, message) and context.match is not None
            else:
                is_reported = matches(subscription, message, context)
            if is_reported:
                filters = subscription.filters
                options = (filters.no_score, filters.verified_only)
                if options not in bodies:
                    bodies[options] = build_message(message, context, filters, "", public_url)
                body = {**bodies[options], "id": message_key(subscription.id, message.position)}
                deliveries.add(NewDelivery(subscription.id, message, message.at + filters.delay, body))
    return FanOut(tuple(deliveries.new.values()), tuple(deliveries.cancelled))


class _BatchDeliveries:
    """Deliveries of the batch so far; a goal may be announced and withdrawn in the same batch."""

    def __init__(self, batch: OutboxBatch) -> None:
        self._earlier_deliveries = batch.earlier_deliveries
        self.new: dict[tuple[int, int], NewDelivery] = {}
        self.cancelled: list[tuple[int, int]] = []

    def add(self, delivery: NewDelivery) -> None:
        self.new[delivery.subscription_id, delivery.message.position] = delivery

    def withdraw(self, subscription: Subscription, message: OutboxMessage) -> bool:
        """Cancel pending messages about the goal; return whether the subscription gets the withdrawal."""
        before = self._earlier_deliveries.get((subscription.id, message.event_id or ""), ())
        decision = on_withdrawal([*before, *self._new_about_goal(subscription, message)], message.at)
        for key in ((subscription.id, position) for position in decision.cancel):
            if key in self.new:
                self.new[key] = replace(self.new[key], state=DeliveryState.CANCELLED)
            else:
                self.cancelled.append(key)
        return decision.notify

    def _new_about_goal(self, subscription: Subscription, message: OutboxMessage) -> list[EarlierDelivery]:
        return [
            EarlierDelivery(each.message.position, each.state, each.due_at)
            for each in self.new.values()
            if each.subscription_id == subscription.id and each.message.event_id == message.event_id
        ]


def message_key(subscription_id: int, position: int) -> str:
    """Idempotency key: the receiver may get a message twice."""
    return f"{subscription_id}-{position}"
