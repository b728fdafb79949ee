"""What an operator can do about the score feeds, for the pages and for programs alike."""

from __future__ import annotations

from typing import Literal

from found_footy.domain.errors import NotFound
from found_footy.domain.feeds.health_values import Recovery, RecoveryAction
from found_footy.domain.operations.feeds_measured import Declared
from found_footy.web.services import Services

State = Literal["on", "off", "auto"]
Part = Literal["browser", "poller"]

STATES: dict[State, bool | None] = {"on": True, "off": False, "auto": None}
ACTIONS: dict[Part, RecoveryAction] = {
    "browser": RecoveryAction.BROWSER_RECYCLE,
    "poller": RecoveryAction.SOFT_RESTART,
}


async def switch(services: Services, feed: str, state: State) -> Declared:
    """Raises NotFound and CacheUnavailable."""
    return await services.scores.book.switch(feed, STATES[state])


async def recycle(services: Services, what: Part, who: str) -> Recovery:
    """Raises NotFound where this system has nothing of the kind."""
    if services.scores.recovering is None:
        raise NotFound("this process cannot start anything anew")
    return await services.scores.recovering.recover(ACTIONS[what], f"asked for by {who}")


async def decide(services: Services, feed: str, feed_id: int, fixture_id: int, same: bool) -> None:
    """Raises NotFound where there is no doubt of it."""
    await services.scores.pairings.decide(feed, feed_id, fixture_id, same, services.now())
