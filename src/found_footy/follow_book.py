"""The follow list as it is now: the setting and the changes made at run time, read again when they may have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from found_footy.domain.errors import StoreUnavailable
from found_footy.domain.fixtures.following import FollowChange, FollowEntry, Following, following_of, parse_entries
from found_footy.ports_feeds import FollowStore

log = logging.getLogger(__name__)

REFRESH_SECONDS = 30.0
"""A change takes effect in every process after at most this long."""


class FollowBook:
    """While the database is away, the list stays as it was when last read; before that, as the setting says."""

    def __init__(
        self, entries: Sequence[str], store: FollowStore, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises FollowUnknown for entries that are not understood."""
        self._entries = tuple(entries)
        self._store = store
        self._monotonic = monotonic
        self._current = following_of(self._entries)
        self._read_at: float | None = None

    @property
    def entries(self) -> tuple[str, ...]:
        """As the setting gives them."""
        return self._entries

    @property
    def current(self) -> Following:
        """As last read; for callers that cannot wait."""
        return self._current

    async def refresh(self, max_age: float = 0.0) -> Following:
        """Read again if the last reading is older than `max_age` seconds."""
        if self._read_at is not None and self._monotonic() - self._read_at < max_age:
            return self._current
        try:
            changes = await self._store.changes()
        except StoreUnavailable as error:
            log.warning(str(error), extra={"action": "follow_list_not_read"})
            return self._current
        self._read_at = self._monotonic()
        self._current = following_of(self._entries, changes)
        return self._current

    async def changes(self) -> Sequence[FollowChange]:
        """Oldest first. Raises StoreUnavailable."""
        return await self._store.changes()

    async def add(self, names: Sequence[str], by: str, now: datetime) -> tuple[FollowEntry, ...]:
        """Raises FollowUnknown before anything is changed."""
        return await self._change(names, True, by, now)

    async def remove(self, names: Sequence[str], by: str, now: datetime) -> tuple[FollowEntry, ...]:
        """Matches that are listed already stay until they are over. Raises FollowUnknown."""
        return await self._change(names, False, by, now)

    async def reset(self) -> int:
        """Drop all changes: the setting decides alone again. Returns how many there were."""
        dropped = await self._store.reset()
        await self.refresh()
        return dropped

    async def _change(self, names: Sequence[str], followed: bool, by: str, now: datetime) -> tuple[FollowEntry, ...]:
        entries = parse_entries(names)
        await self._store.change([entry.text for entry in entries], followed, by, now)
        await self.refresh()
        return entries


class NoFollowStore:
    """For commands that run without a database: the setting alone."""

    async def changes(self) -> Sequence[FollowChange]:
        return ()

    async def change(self, entries: Sequence[str], followed: bool, by: str, now: datetime) -> None:
        raise StoreUnavailable("the follow list is changed in the database, and none is connected")

    async def reset(self) -> int:
        return 0
