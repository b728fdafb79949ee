"""The marks that a search leaves on its event."""

from __future__ import annotations

import logging

from found_footy.activities.boundary import implements
from found_footy.ports import FixtureStore
from found_footy.workflows.contracts import (
    SET_DOWNLOAD_COMPLETE,
    SET_MONITOR_COMPLETE,
    Done,
    EventWorkflow,
    StillWanted,
)

log = logging.getLogger(__name__)


class SearchActivities:
    def __init__(self, store: FixtureStore) -> None:
        self._store = store

    @implements(SET_MONITOR_COMPLETE)
    async def set_monitor_complete(self, order: EventWorkflow) -> StillWanted:
        wanted = await self._store.set_monitor_complete(order.event_id, order.workflow_id)
        log.info("search takes over", extra={"action": "search_started", "event_id": order.event_id, "wanted": wanted})
        return StillWanted(wanted)

    @implements(SET_DOWNLOAD_COMPLETE)
    async def set_download_complete(self, order: EventWorkflow) -> Done:
        await self._store.set_download_complete(order.event_id)
        return Done()
