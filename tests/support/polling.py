"""The activities of the feeds around one store, one cache and scripted feeds, called as Temporal calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from temporalio.testing import ActivityEnvironment

from found_footy.clips.store import ClipStore
from found_footy.discovery.activities import SearchActivities, SearchRules
from found_footy.feeds.activities import FeedActivities, PollContext, PollRules
from found_footy.feeds.cache import FeedCache, FeedSwitches
from found_footy.feeds.models import FeedPollInput, FeedPollResult, FeedSource
from found_footy.feeds.poll_state import MonitoringRules
from found_footy.feeds.registration import MatchRegistrar, TrackedIds
from found_footy.feeds.registry import FeedRegistry
from found_footy.feeds.scheduling import SchedulingRules
from found_footy.feeds.store import ListingStore
from found_footy.fixtures.activities import IngestActivities, MonitorActivities
from found_footy.fixtures.follow_list import FollowBook
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import FixtureStage, LiveFixture, PollInput, PollResult
from found_footy.fixtures.store import FixtureStore
from found_footy.recordings.recorder import MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed
from tests.support.football import RULES, START

LIFECYCLE = LifecycleRules()
ASKING = PollRules(timedelta(seconds=30), timedelta(seconds=8), SchedulingRules(), MonitoringRules())
POLL = timedelta(seconds=30)


def sources_of(feeds: Mapping[str, ScriptedFeed]) -> tuple[FeedSource, ...]:
    """The first is trusted most, and its ids are ours."""
    adapters = ["api_football", *["espn"] * len(feeds)]
    return tuple(FeedSource(id_, adapters[n], precedence=100 - 10 * n) for n, id_ in enumerate(feeds))


class FeedSystem:
    def __init__(
        self,
        store: FixtureStore,
        cache: RedisCache,
        objects: ObjectStore,
        feeds: Mapping[str, ScriptedFeed],
        tracked: TrackedIds | None = None,
        follows: FollowBook | None = None,
        rules: PollRules = ASKING,
    ) -> None:
        self.store, self.cache, self.objects = store, cache, objects
        self.feeds = dict(feeds)
        self.sources = sources_of(feeds)
        self.memory = FeedCache(cache)
        self.listings = ListingStore(store.database)
        self.switches = FeedSwitches(cache)
        self.registry = FeedRegistry(lambda: self.sources, lambda source: self.feeds[source.id], self.switches)
        recorder = MatchRecorder(RecordingStore(store.database), objects, {})
        self.registrar = MatchRegistrar(store, self.listings, self.memory, LIFECYCLE, tracked or TrackedIds(), follows)
        self.feed_activities = FeedActivities(
            self.registry, self.listings, PollContext(store, self.memory, recorder, rules), self.registrar
        )
        self.monitor = MonitorActivities(
            store,
            self.listings,
            self.memory,
            self.registry,
            RULES,
            LIFECYCLE,
            recorder,
            fresh_for=rules.snapshot_ttl(FixtureStage.ACTIVE),
            search_silence=timedelta(days=-9999),
        )
        self.ingest = IngestActivities(self.registry, self.registrar)
        self.search = SearchActivities(
            store,
            ClipStore(store.database),
            objects,
            [],
            SearchRules(),
            lambda: START + timedelta(hours=1),
            recorder,
        )
        self.number = 0

    @property
    def feed(self) -> ScriptedFeed:
        """The first."""
        return next(iter(self.feeds.values()))

    async def call(self, activity: Any, order: Any) -> Any:
        return await ActivityEnvironment().run(activity, order)

    @property
    def order(self) -> PollInput:
        return PollInput(f"monitor-{self.number}", START + self.number * POLL)

    async def poll_feeds(self, feeds: Sequence[str] | None = None) -> dict[str, FeedPollResult]:
        """The feeds that are on, or these, at the time of the current poll."""
        on = (await self.call(self.feed_activities.list_enabled, self.order)).feeds if feeds is None else feeds
        return {
            feed: await self.call(self.feed_activities.poll_feed, FeedPollInput(feed, self.order.at)) for feed in on
        }

    async def poll(self, *answers: LiveFixture) -> PollResult:
        """The next poll of everything. The first feed says these answers from now on."""
        self.feed.serve(*answers)
        self.number += 1
        await self.poll_feeds()
        result: PollResult = await self.call(self.monitor.poll_active_fixtures, self.order)
        return result

    async def states(self, fixture_id: int = 5000) -> list[int]:
        return [event["_stable_count"] for event in (await self.store.fixture(fixture_id))["events"]]
