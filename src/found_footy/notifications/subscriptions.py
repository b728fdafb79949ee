"""Create, change and test subscriptions, for the API and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from found_footy.notifications.messages import build_test_message
from found_footy.notifications.models import (
    Sender,
    SubscriptionChange,
    SubscriptionRecord,
    validate_filter,
    validate_name,
    validate_target,
)
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.webhook import new_secret

FILTER_FIELDS = ("topics", "teams", "leagues", "verified_only", "delay_seconds", "no_score")


@dataclass(frozen=True, slots=True)
class CreatedSubscription:
    record: SubscriptionRecord
    secret: str | None
    """Key that signs a webhook's messages. Shown once."""


class SubscriptionService:
    def __init__(self, store: NotificationStore, senders: Mapping[str, Sender], now: Callable[[], datetime]) -> None:
        self._store, self._senders, self._now = store, senders, now

    async def create(self, name: str, kind: str, target: str, filters: Mapping[str, Any]) -> CreatedSubscription:
        """Create a subscription. Raises BadRequest."""
        valid_name, valid_filter = validate_name(name), validate_filter(**filters)
        await self._check_target(kind, target)
        secret = new_secret() if kind == "webhook" else None
        added = await self._store.add(valid_name, kind, target, secret, valid_filter)
        return CreatedSubscription(await self._store.subscription(added), secret)

    async def update(self, subscription_id: int, changes: Mapping[str, Any]) -> SubscriptionRecord:
        """Change the given fields. Raises NotFound and BadRequest."""
        subscription = await self._store.subscription(subscription_id)
        if (target := changes.get("target")) is not None:
            await self._check_target(subscription.kind, target)
        name = changes.get("name")
        filters = {key: each for key, each in changes.items() if key in FILTER_FIELDS}
        await self._store.update(
            subscription_id,
            SubscriptionChange(
                name=None if name is None else validate_name(name),
                target=target,
                filters=validate_filter(**(subscription.filters.to_json() | filters)) if filters else None,
                paused=changes.get("paused"),
            ),
        )
        return await self._store.subscription(subscription_id)

    async def send_test(self, subscription_id: int) -> int:
        """Queue a test message; return the delivery's id. Raises NotFound, and TooManyRequests while another test is
        being sent.
        """
        subscription = await self._store.subscription(subscription_id)
        message = partial(build_test_message, name=subscription.name, at=self._now())
        return await self._store.add_test(subscription_id, message)

    async def _check_target(self, kind: str, target: str) -> None:
        await self._senders[kind].check(validate_target(kind, target))
