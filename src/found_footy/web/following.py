"""Showing and changing the follow list, for the page and the API alike."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.domain.errors import EngineError, SettingsError
from found_footy.domain.fixtures.following import FollowEntry
from found_footy.follow_book import FollowState, feed_costs
from found_footy.web.services import Services

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowChanged:
    entries: tuple[FollowEntry, ...]
    ingest: bool = False
    """Whether the matches of what was added are being fetched now."""


async def follow_state(services: Services) -> FollowState:
    try:
        declared = await services.scores.book.declared()
    except SettingsError as error:
        # The page still shows what is followed; the operations page reports the file.
        log.warning(str(error), extra={"action": "feeds_file_wrong"})
        declared = ()
    asked = {each.feed: each.adapter for each in declared if each.usable}
    return await services.follow.book.state(feed_costs(asked), services.follow.plan, services.now())


async def follow_names(services: Services, names: Sequence[str], by: str) -> FollowChanged:
    """Raises FollowUnknown."""
    entries = await services.follow.book.add(names, by, services.now())
    return FollowChanged(entries, await _ingest(services))


async def unfollow_names(services: Services, names: Sequence[str], by: str) -> FollowChanged:
    """Raises FollowUnknown."""
    return FollowChanged(await services.follow.book.remove(names, by, services.now()))


async def reset_follow(services: Services) -> bool:
    """Returns whether an ingest was started."""
    await services.follow.book.reset()
    return await _ingest(services)


async def _ingest(services: Services) -> bool:
    """The change holds either way: without an ingest now, the next daily one fetches the matches."""
    if services.follow.ingest is None:
        return False
    try:
        await services.follow.ingest()
    except EngineError as error:
        log.warning(str(error), extra={"action": "ingest_not_started"})
        return False
    return True
