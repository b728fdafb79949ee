"""The follow list as it is now: the setting and the changes made at run time, read again when they may have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from found_footy.domain.errors import StoreUnavailable
from found_footy.domain.feeds.quota_estimate import FeedCost, PollingPlan, QuotaEstimate, estimate_requests
from found_footy.domain.fixtures.competitions import COMPETITIONS, PRESET_LABELS
from found_footy.domain.fixtures.following import (
    FollowChange,
    FollowEntry,
    Following,
    describe_following,
    following_of,
    parse_entries,
)
from found_footy.ports_feeds import FollowStore, NextMatch

log = logging.getLogger(__name__)

REFRESH_SECONDS = 30.0
"""A change takes effect in every process after at most this long."""


@dataclass(frozen=True, slots=True)
class FollowState:
    """Everything that a person who changes the list wants to see."""

    entries: tuple[str, ...]
    """As the setting gives them."""
    changes: Sequence[FollowChange]
    following: Following
    estimates: Sequence[QuotaEstimate]
    next_match: NextMatch | None

    @property
    def summary(self) -> str:
        return describe_following(self.following)


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

    async def state(self, feeds: Sequence[FeedCost], plan: PollingPlan, now: datetime) -> FollowState:
        """`feeds` are those that are asked. Raises StoreUnavailable."""
        changes = await self._store.changes()
        following = following_of(self._entries, changes)
        limits = await self._store.day_limits()
        costs = [replace(each, day_limit=limits.get(each.feed, each.day_limit)) for each in feeds]
        estimates = estimate_requests(following, costs, plan)
        return FollowState(self._entries, changes, following, estimates, await self._store.next_kickoff(now))

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


def follow_document(state: FollowState) -> dict[str, Any]:
    """The state as JSON, for the command and the API alike."""
    following = state.following
    return {
        "summary": state.summary,
        "everything": following.everything,
        "setting": list(state.entries),
        "changes": [asdict(change) for change in state.changes],
        "presets": [
            {"name": name, "label": label, "followed": following.follows_preset(name)}
            for name, label in PRESET_LABELS.items()
        ],
        "competitions": [
            {
                "slug": each.slug,
                "name": each.name,
                "region": each.region,
                "country": each.country,
                "sport": str(each.sport),
                "followed": following.follows_competition(each.slug),
            }
            for each in COMPETITIONS
        ],
        "teams": [{"entry": team.entry, "name": team.name, "country": team.country} for team in following.teams],
        "requests": [{**asdict(each), "exceeds": each.exceeds} for each in state.estimates],
        "next_match": asdict(state.next_match) if state.next_match else None,
    }


def feed_costs(feeds: Mapping[str, str]) -> list[FeedCost]:
    """From feed ids and their adapters."""
    return [FeedCost(feed, adapter) for feed, adapter in feeds.items()]
