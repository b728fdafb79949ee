"""The poll of one feed: ask for what is due, and remember what it said and how the asking went."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from found_footy.activities.boundary import delay, implements
from found_footy.activities.feed_asking import Desk, Due, Polling, Wanted
from found_footy.domain.feeds.lives import as_time_goes, is_paused
from found_footy.domain.feeds.monitoring import MonitorRecord
from found_footy.domain.feeds.quota import Pace, is_small, next_reset, pace, spread
from found_footy.domain.feeds.scheduling import due, within_means
from found_footy.domain.fixtures.model import Stage
from found_footy.feed_registry import FeedRegistry, OpenFeed
from found_footy.ports_feeds import ListingStore
from found_footy.workflows.contracts import PollInput
from found_footy.workflows.feed_contracts import FEEDS_ON, POLL_FEED, FeedPoll, FeedPolled, FeedsOn

log = logging.getLogger(__name__)

ALL_STAGES = (Stage.ACTIVE, Stage.STAGING, Stage.COMPLETED)


class FeedActivities:
    def __init__(self, registry: FeedRegistry, listings: ListingStore, desk: Desk) -> None:
        self._registry = registry
        self._listings = listings
        self._desk = desk
        self._store, self._memory, self._rules = desk.store, desk.memory, desk.rules

    @implements(FEEDS_ON)
    async def feeds_on(self, order: PollInput) -> FeedsOn:
        feeds = await self._registry.feeds()
        return FeedsOn([each.id for each in feeds], self._rules.patience.total_seconds())

    @implements(POLL_FEED)
    async def poll_feed(self, order: FeedPoll) -> FeedPolled:
        opened = await self._registry.feed(order.feed)
        if opened is None:
            return FeedPolled()  # switched off since the poll began
        # Somewhat longer than they are asked for, so that their records hear of it.
        since = order.at - self._rules.scheduling.archive - timedelta(hours=1)
        matches = await self._listings.followed(ALL_STAGES, completed_since=since, feed=opened.id)
        wanted = [
            Wanted(each.feed, each.feed_id, match, each.locator)
            for match in matches
            for each in match.listings
            if each.feed == opened.id
        ]
        names = [each.name for each in wanted]
        records = await self._aged(wanted, await self._memory.records.load(names), order.at)
        missing = await self._memory.missing.among(names)
        requests = due(wanted, records, missing, order.at, self._rules.scheduling)
        paused = sum(is_paused(record, order.at) for record in records.values())
        if not requests:
            return FeedPolled(paused=paused)
        allowed, affordable = await self._affordable(opened, requests, wanted, records, order.at)
        if not affordable:
            return FeedPolled(paused=paused, slowed=allowed.reason)
        polling = Polling(
            self._desk, opened, order.at, records, allowed.interval, delay(), relocate=self._listings.save_locators
        )
        asked = await polling.ask_all(affordable)
        return FeedPolled(
            asked=len(affordable),
            answered=sum(len(each.good) for each in asked),
            failed=sum(len(each.failures) for each in asked),
            missing=sum(len(each.unknown) for each in asked),
            paused=paused,
        )

    async def _aged(
        self, wanted: Sequence[Wanted], records: Mapping[str, MonitorRecord], now: datetime
    ) -> Mapping[str, MonitorRecord]:
        """A match ends and is archived also while this feed is paused or says nothing of it."""
        aged = {
            each.name: as_time_goes(records[each.name], now, self._rules.lives, each.completed_at)
            for each in wanted
            if each.name in records
        }
        changed = [record for name, record in aged.items() if record != records[name]]
        if changed:
            await self._memory.records.save(changed)
        return aged

    async def _affordable(
        self,
        opened: OpenFeed,
        requests: Sequence[Due],
        wanted: Sequence[Wanted],
        records: Mapping[str, MonitorRecord],
        now: datetime,
    ) -> tuple[Pace, Sequence[Due]]:
        """What the day's requests allow us to ask for now, and how often."""
        state = await self._store.feed_state(opened.id)
        quota = state.quota if state else None
        if quota is not None and is_small(quota):
            kickoffs = [each.kickoff for each in wanted if _may_be_played_today(each, now)]
            allowed = spread(quota, now, self._rules.poll, kickoffs)
            if allowed.interval is None:
                return allowed, []
            return allowed, within_means(requests, records, now, allowed.interval, others=not kickoffs)
        locators = [request.listing.locator for request in requests if request.listing.locator]
        allowed = pace(quota, now, self._rules.poll, opened.feed.requests_for(len(requests), locators))
        if allowed.slowed:
            log.warning(
                f"polling slows down: {allowed.reason}",
                extra={"action": "quota_low", "feed": opened.id, "interval": str(allowed.interval)},
            )
        return allowed, requests if allowed.permits(state.asked_at if state else None, now) else []


def _may_be_played_today(listing: Wanted, now: datetime) -> bool:
    """In play, or kicks off before the quota is renewed."""
    if listing.stage is Stage.ACTIVE:
        return True
    return listing.stage is Stage.STAGING and now < listing.kickoff < next_reset(now)
