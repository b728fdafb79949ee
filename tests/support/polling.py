"""The activities of the feeds around one store, one cache and scripted feeds, called as Temporal calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from temporalio.testing import ActivityEnvironment

from found_footy.activities.feed_asking import AskingRules, Desk
from found_footy.activities.feed_poll import FeedActivities
from found_footy.activities.ingest import IngestActivities
from found_footy.activities.monitor import MonitorActivities
from found_footy.activities.search import SearchActivities, SearchRules
from found_footy.adapters.recordings.recorder import StoreRecorder
from found_footy.adapters.storage.postgres.clips import PostgresClips
from found_footy.adapters.storage.postgres.listings import PostgresListings
from found_footy.adapters.storage.postgres.recordings import PostgresRecordings
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.switches import RedisSwitches
from found_footy.bootstrap_feeds import feed_memory
from found_footy.domain.feeds.lives import LifeRules
from found_footy.domain.feeds.scheduling import SchedulingRules
from found_footy.domain.feeds.source import FeedSource
from found_footy.domain.fixtures.lifecycle import LifecycleRules
from found_footy.domain.fixtures.model import LiveFixture, Stage
from found_footy.domain.fixtures.tracking import Tracked
from found_footy.feed_registry import FeedRegistry
from found_footy.follow_book import FollowBook
from found_footy.ports import ObjectStore
from found_footy.workflows.contracts import Polled, PollInput
from found_footy.workflows.feed_contracts import FeedPoll, FeedPolled
from tests.support.feeds import ScriptedFeed
from tests.support.football import RULES, START

LIFECYCLE = LifecycleRules()
ASKING = AskingRules(timedelta(seconds=30), timedelta(seconds=8), SchedulingRules(), LifeRules())
POLL = timedelta(seconds=30)


def sources_of(feeds: Mapping[str, ScriptedFeed]) -> tuple[FeedSource, ...]:
    """The first is trusted most, and its ids are ours."""
    adapters = ["api_football", *["espn"] * len(feeds)]
    return tuple(FeedSource(id_, adapters[n], precedence=100 - 10 * n) for n, id_ in enumerate(feeds))


class System:
    def __init__(
        self,
        store: PostgresStore,
        cache: RedisCache,
        objects: ObjectStore,
        feeds: Mapping[str, ScriptedFeed],
        tracked: Tracked | None = None,
        follows: FollowBook | None = None,
    ) -> None:
        self.store, self.cache, self.objects = store, cache, objects
        self.feeds = dict(feeds)
        self.sources = sources_of(feeds)
        self.memory = feed_memory(cache)
        self.listings = PostgresListings(store.database)
        self.switches = RedisSwitches(cache)
        self.registry = FeedRegistry(lambda: self.sources, lambda source: self.feeds[source.id], self.switches)
        recorder = StoreRecorder(PostgresRecordings(store.database), objects, {})
        self.feed_activities = FeedActivities(self.registry, self.listings, Desk(store, self.memory, recorder, ASKING))
        self.monitor = MonitorActivities(
            store,
            self.listings,
            self.memory,
            self.registry,
            RULES,
            LIFECYCLE,
            recorder,
            fresh_for=ASKING.lasts(Stage.ACTIVE),
            search_silence=timedelta(days=-9999),
        )
        self.ingest = IngestActivities(
            store, self.listings, objects, self.registry, LIFECYCLE, tracked or Tracked(), follows
        )
        self.search = SearchActivities(
            store,
            PostgresClips(store.database),
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

    async def ask(self, feeds: Sequence[str] | None = None) -> dict[str, FeedPolled]:
        """The feeds that are on, or these, at the time of the current poll."""
        on = (await self.call(self.feed_activities.feeds_on, self.order)).feeds if feeds is None else feeds
        return {feed: await self.call(self.feed_activities.poll_feed, FeedPoll(feed, self.order.at)) for feed in on}

    async def poll(self, *answers: LiveFixture) -> Polled:
        """The next poll of everything. The first feed says these answers from now on."""
        self.feed.says(*answers)
        self.number += 1
        await self.ask()
        result: Polled = await self.call(self.monitor.poll_active_fixtures, self.order)
        return result

    async def states(self, fixture_id: int = 5000) -> list[int]:
        return [event["_stable_count"] for event in (await self.store.fixture(fixture_id))["events"]]
