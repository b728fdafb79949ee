"""From a page of news to the messages that it makes and those that it takes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from found_footy.domain.announcing.context import Context
from found_footy.domain.announcing.matching import concerns
from found_footy.domain.announcing.messages import message_of
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import WITHDRAWN, Subscription
from found_footy.domain.announcing.withdrawal import Delivery, State, on_withdrawal

About = tuple[int, str]
"""A subscription and a goal."""


@dataclass(frozen=True, slots=True)
class Page:
    """News in their order, and all that has to be known to deal them out."""

    news: Sequence[NewsItem]
    contexts: Mapping[int, Context]
    """By position."""
    subscriptions: Sequence[Subscription]
    standing: Mapping[About, Sequence[Delivery]] = field(default_factory=dict)
    """Earlier messages about the goals that are withdrawn on this page."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    subscription_id: int
    news: NewsItem
    due_at: datetime
    body: Mapping[str, Any]
    state: State = State.PENDING


@dataclass(frozen=True, slots=True)
class Dealt:
    new: tuple[NewDelivery, ...] = ()
    cancelled: tuple[tuple[int, int], ...] = ()
    """Earlier ones, by subscription and position."""


Decide = Callable[[Page], Dealt]


def deal(page: Page, public_url: str | None = None) -> Dealt:
    hand = _Hand(page)
    for news in page.news:
        context = page.contexts.get(news.position, Context())
        # The same for all who want it told in the same way, but for its key.
        bodies: dict[tuple[bool, bool], dict[str, Any]] = {}
        for subscription in page.subscriptions:
            if news.topic == WITHDRAWN:
                wanted = hand.withdraw(subscription, news) and context.match is not None
            else:
                wanted = concerns(subscription, news, context)
            if wanted:
                filters = subscription.filters
                manner = (filters.no_score, filters.verified_only)
                if manner not in bodies:
                    bodies[manner] = message_of(news, context, filters, "", public_url)
                body = {**bodies[manner], "id": key_of(subscription.id, news.position)}
                hand.add(NewDelivery(subscription.id, news, news.at + filters.delay, body))
    return Dealt(tuple(hand.made.values()), tuple(hand.cancelled))


class _Hand:
    """What has been dealt out so far; a goal may be told of and withdrawn on the same page."""

    def __init__(self, page: Page) -> None:
        self._standing = page.standing
        self.made: dict[tuple[int, int], NewDelivery] = {}
        self.cancelled: list[tuple[int, int]] = []

    def add(self, delivery: NewDelivery) -> None:
        self.made[delivery.subscription_id, delivery.news.position] = delivery

    def withdraw(self, subscription: Subscription, news: NewsItem) -> bool:
        """Takes back what need not be sent any more; whether the subscription has to hear of the withdrawal."""
        before = self._standing.get((subscription.id, news.event_id or ""), ())
        consequence = on_withdrawal([*before, *self._made(subscription, news)], news.at)
        for key in ((subscription.id, position) for position in consequence.cancel):
            if key in self.made:
                self.made[key] = replace(self.made[key], state=State.CANCELLED)
            else:
                self.cancelled.append(key)
        return consequence.tell

    def _made(self, subscription: Subscription, news: NewsItem) -> list[Delivery]:
        return [
            Delivery(each.news.position, each.state, each.due_at)
            for each in self.made.values()
            if each.subscription_id == subscription.id and each.news.event_id == news.event_id
        ]


def key_of(subscription_id: int, position: int) -> str:
    """By which a receiver knows a message that comes twice."""
    return f"{subscription_id}-{position}"
