"""Six days of matches over the real stores: with retention, no table, cache or folder keeps growing.

The short form of `make soak`, which runs the processes as well.
"""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from bench.growth import Resource, growths

from found_footy.app import build_housekeeper
from found_footy.clips.models import STAGING, clip_key, staging_key
from found_footy.config import Settings
from found_footy.feeds.models import FeedPollInput
from found_footy.fixtures.models import CleanupInput, IngestDayInput, LiveFixture, PollInput, Team
from found_footy.fixtures.retention import RetentionActivities
from found_footy.fixtures.store import FixtureStore
from found_footy.recordings.models import RECORDINGS
from found_footy.runtime.clock import utc_now
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed
from tests.support.football import match
from tests.support.polling import FeedSystem
from tests.support.time_travel import age_files, age_keys, age_rows

pytestmark = pytest.mark.timeout(600)  # on a busy machine; it takes seconds of CPU time

DAY = timedelta(days=1)
RETENTION = timedelta(days=1.5)
POLL = timedelta(minutes=10)
MATCHES = 4
OTHER_IDS = 700_000
NAMES = ("Arsenal", "Everton", "Chelsea", "Fulham", "Lazio", "Torino", "Napoli", "Genoa")


class SixDays:
    def __init__(self, store: FixtureStore, cache: RedisCache, objects: ObjectStore, folder: Path) -> None:
        self.store, self.cache, self.objects, self.folder = store, cache, objects, folder
        self.start = utc_now()
        self.feeds = {"one": ScriptedFeed(), "two": ScriptedFeed()}
        self.system = FeedSystem(store, cache, objects, self.feeds)
        settings = Settings(_env_file=None).model_copy(
            update={"data_dir": folder, **dict.fromkeys(("audit_days", "link_days", "library_days"), RETENTION / DAY)}
        )
        housekeeper = build_housekeeper(settings, store.database, objects)
        self.retention = RetentionActivities(store, objects, RETENTION, lambda: self.start, [housekeeper.run])
        self.polls = 0

    async def live_through(self, day: int) -> dict[tuple[Resource, str], float]:
        if day:
            await age_rows(self.store.database, DAY)
            await age_keys(self.cache, DAY)
            await age_files(self.folder, DAY)
        system, start = self.system, self.start
        await system.call(self.retention.cleanup_old_fixtures, CleanupInput(start - RETENTION))
        kickoff = start + timedelta(hours=1)
        for offset, feed in zip((0, OTHER_IDS), self.feeds.values(), strict=True):
            feed.days = {kickoff.date(): [_match(day, number, offset, kickoff, start) for number in range(MATCHES)]}
        await system.call(system.ingest.ingest_day, IngestDayInput(kickoff.date().isoformat(), start))
        for step in range(21):
            now = start + step * POLL
            for offset, feed in zip((0, OTHER_IDS), self.feeds.values(), strict=True):
                feed.fixtures = {}
                feed.serve(*(_match(day, number, offset, kickoff, now) for number in range(MATCHES)))
            await self._poll(now)
        documents = await self.store.fixtures()
        assert sum(document["stage"] == "completed" for document in documents) == MATCHES * min(day + 1, 2)
        return await self._measure()

    async def _poll(self, now: datetime) -> None:
        system = self.system
        self.polls += 1
        order = PollInput(f"monitor-{self.polls}", now)
        await system.call(system.monitor.pre_activate_upcoming_fixtures, order)
        for feed in self.feeds:
            await system.call(system.feed_activities.poll_feed, FeedPollInput(feed, now))
        await system.call(system.monitor.poll_staging_fixtures, order)
        for event_id in (await system.call(system.monitor.poll_active_fixtures, order)).to_search:
            await self.store.set_monitor_complete(event_id, f"search-{event_id}")
            await self._add_files(event_id)
            await self.store.set_download_complete(event_id)

    async def _add_files(self, event_id: str) -> None:
        (event,) = await self.store.database.fetch(b"select fixture_id from events where id = %(id)s", id=event_id)
        path = self.folder.parent / "clip.mp4"
        path.write_bytes(bytes(100))
        for key in (
            clip_key(event["fixture_id"], event_id, uuid.uuid4().hex),
            staging_key(event_id, uuid.uuid4().hex),
        ):
            await self.objects.put(key, path, content_type="video/mp4", metadata={})

    async def _measure(self) -> dict[tuple[Resource, str], float]:
        found: dict[tuple[Resource, str], float] = {}
        tables = await self.store.database.fetch(
            b"select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        )
        for table in (row["name"] for row in tables):
            (row,) = await self.store.database.fetch(f"select count(*) as rows from {table}".encode())
            found[Resource.ROWS, table] = row["rows"]
        found[Resource.KEYS, "all"] = len(await self.cache.run("KEYS", self.cache.key("*")))
        areas: Counter[str] = Counter()
        async for stored in self.objects.list():
            areas[stored.key.split("/")[0] if stored.key.startswith((STAGING, RECORDINGS)) else "clips"] += 1
        found |= {(Resource.ROWS, area): float(count) for area, count in areas.items()}
        return found


def _match(day: int, number: int, offset: int, kickoff: datetime, now: datetime) -> LiveFixture:
    """45 minutes, 15 of half-time, 45 minutes; goals at 20' and 60'."""
    passed = int((now - kickoff) / timedelta(minutes=1))
    minute = passed if passed < 45 else max(45, passed - 15)
    status = "NS" if passed < 0 else "1H" if passed < 45 else "HT" if passed < 60 else "2H" if passed < 105 else "FT"
    place = 10 * day + number
    goals = [
        f"{at} {side} {2 * place + n}" for n, (at, side) in enumerate(((20, "home"), (60, "away"))) if minute >= at
    ]
    home, away = (Team(100 * day + 2 * number + n + 1, NAMES[2 * number + n]) for n in (0, 1))
    shown = match(*goals if passed >= 0 else (), status=status, fixture_id=5000 + place + offset)
    return replace(shown, kickoff=kickoff, home=home, away=away, score=None if passed < 0 else shown.score)


async def test_six_days_with_retention_leave_no_more_than_two(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore, tmp_path: Path
) -> None:
    days = SixDays(store, cache, objects, tmp_path / "objects")
    samples = [await days.live_through(day) for day in range(6)]
    assert [str(growth) for growth in growths(samples, steady_from=2)] == []
    last = samples[-1]
    assert last[Resource.ROWS, "fixtures"] == 2 * MATCHES
    events = 2 * last[Resource.ROWS, "fixtures"]
    files = {area: last[Resource.ROWS, area] for area in ("clips", "staging", "recordings")}
    assert (last[Resource.ROWS, "events"], files) == (events, {"clips": events, "staging": events, "recordings": 8})
