"""Making and changing subscriptions, for the API and the page alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from found_footy.domain.announcing.messages import trial_message
from found_footy.domain.announcing.signing import new_secret
from found_footy.domain.announcing.subscription import Filters, checked_filters, checked_name, checked_target
from found_footy.ports_announcing import Change, SubscriptionRecord
from found_footy.web.services import Services


@dataclass(frozen=True, slots=True)
class Subscribed:
    record: SubscriptionRecord
    secret: str | None
    """What a webhook's messages are signed with. Nobody can ask for it again."""


async def subscribe(services: Services, name: str, kind: str, target: str, filters: Mapping[str, Any]) -> Subscribed:
    """Raises BadRequest, with what is wrong."""
    plain, wanted = checked_name(name), checked_filters(**filters)
    await _check(services, kind, target)
    secret = new_secret() if kind == "webhook" else None
    added = await services.subscriptions.add(plain, kind, target, secret, wanted)
    return Subscribed(await services.subscriptions.get(added), secret)


async def change(services: Services, subscription_id: int, given: Mapping[str, Any]) -> SubscriptionRecord:
    """What is not given stays as it is. Raises NotFound and BadRequest."""
    known = await services.subscriptions.get(subscription_id)
    if (target := given.get("target")) is not None:
        await _check(services, known.kind, target)
    name, filters = given.get("name"), {key: each for key, each in given.items() if key in FILTERS}
    await services.subscriptions.change(
        subscription_id,
        Change(
            name=None if name is None else checked_name(name),
            target=target,
            filters=checked_filters(**(filters_of(known.filters) | filters)) if filters else None,
            paused=given.get("paused"),
        ),
    )
    return await services.subscriptions.get(subscription_id)


async def send_test(services: Services, subscription_id: int) -> int:
    """Raises NotFound, and TooManyRequests while another is on its way."""
    known = await services.subscriptions.get(subscription_id)
    return await services.subscriptions.test(
        subscription_id, partial(trial_message, name=known.name, at=services.now())
    )


FILTERS = ("topics", "teams", "leagues", "verified_only", "delay_seconds", "no_score")


def filters_of(filters: Filters) -> dict[str, Any]:
    """As they are given and shown."""
    return {
        "topics": sorted(filters.topics),
        "teams": sorted(filters.teams),
        "leagues": sorted(filters.leagues),
        "verified_only": filters.verified_only,
        "delay_seconds": filters.delay.total_seconds(),
        "no_score": filters.no_score,
    }


async def _check(services: Services, kind: str, target: str) -> None:
    await services.messengers[kind].check(checked_target(kind, target))
