"""24 hours of polls, checks and pages over the real stores and decisions; only the clock and the feeds are simulated.

One match is silent, one vanishes, a quota runs low, and a feed is switched off and on: no recovery, nothing is lost,
and the operations page names what is wrong.
"""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from found_footy.app import open_web
from found_footy.errors import FeedError, FeedMalformed, FeedUnavailable
from found_footy.feeds.activities import PollRules
from found_footy.feeds.models import FeedAnswer, FeedPollInput, Quota
from found_footy.feeds.poll_state import MonitoringRules
from found_footy.feeds.registry import FeedRegistry
from found_footy.feeds.scheduling import RESERVED_SHARE, SchedulingRules
from found_footy.fixtures.models import (
    FixtureStage,
    IngestDayInput,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    PollInput,
    Score,
    Side,
    Team,
)
from found_footy.fixtures.store import FixtureStore
from found_footy.operations.feed_health import HealthRules
from found_footy.operations.health import HealthService
from found_footy.operations.models import FeedDeclaration, HealthGrade, HealthLimits
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from found_footy.web.app import create_app
from tests.support.feeds import ScriptedFeed
from tests.support.polling import FeedSystem
from tests.support.time_travel import age_keys
from tests.support.watchdog import WatchdogSystem
from tests.support.web_access import PAGE
from tests.support.web_world import settings_for

pytestmark = pytest.mark.timeout(900)  # on a busy machine; it takes seconds of CPU time

MIDNIGHT = datetime(2026, 8, 22, tzinfo=UTC)
POLL = timedelta(minutes=5)
"""Ten times the default, so that a day takes seconds."""
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
OTHER_IDS = 700_000
"""Distance of the second feed's ids from the first one's."""


def at(clock: str) -> datetime:
    hours, minutes = clock.split(":")
    return MIDNIGHT + timedelta(hours=int(hours), minutes=int(minutes))


@dataclass(frozen=True)
class SimulatedMatch:
    id: int
    home: str
    away: str
    kickoff: datetime
    feeds: tuple[str, ...] = ("one", "two")
    broken_until: datetime | None = None
    """From kick-off to this time, no feed sends usable data."""
    vanishes_at: datetime | None = None

    def is_broken(self, now: datetime) -> bool:
        return self.broken_until is not None and self.kickoff <= now < self.broken_until

    def has_vanished(self, now: datetime) -> bool:
        return self.vanishes_at is not None and now >= self.vanishes_at

    def answer(self, now: datetime) -> LiveFixture:
        """45 minutes, 15 minutes of half-time, 45 minutes; goals at 20' and 60'."""
        passed = int((now - self.kickoff) / MINUTE)
        status, minute = "FT", 90
        for limit, name, elapsed in ((0, "NS", None), (45, "1H", passed), (60, "HT", 45), (105, "2H", passed - 15)):
            if passed < limit:
                status, minute = name, elapsed
                break
        goals = [(20, Side.HOME, 2 * self.id), (60, Side.AWAY, 2 * self.id + 1)]
        scored = [each for each in goals if status != "NS" and (minute or 0) >= each[0]]
        return LiveFixture(
            id=self.id,
            feed="",
            status=status,
            kickoff=self.kickoff,
            league=League(39, "Premier League", "England"),
            home=Team(2 * self.id, self.home),
            away=Team(2 * self.id + 1, self.away),
            score=None if status == "NS" else Score(int(len(scored) > 0), int(len(scored) > 1)),
            minute=None if status == "NS" else MatchMinute(minute or 0),
            goals=tuple(
                LiveGoal(side, MatchMinute(elapsed), Player(player, f"Player {player}"))
                for elapsed, side, player in scored
            ),
        )


SILENT, VANISHED, SWITCHED, METERED = 5003, 5004, 5002, 5006
MATCHES = (
    SimulatedMatch(5000, "Arsenal", "Everton", at("01:00")),
    SimulatedMatch(5001, "Chelsea", "Fulham", at("04:00")),
    SimulatedMatch(SWITCHED, "Lazio", "Torino", at("06:00"), feeds=("two",)),
    SimulatedMatch(5007, "Napoli", "Genoa", at("06:00")),
    SimulatedMatch(SILENT, "Valencia", "Getafe", at("10:00"), broken_until=at("16:30")),
    SimulatedMatch(5008, "Sevilla", "Girona", at("10:00")),
    SimulatedMatch(5009, "Villarreal", "Mallorca", at("10:30")),
    SimulatedMatch(VANISHED, "Lille", "Nantes", at("13:00"), vanishes_at=at("13:30")),
    SimulatedMatch(5005, "Monaco", "Lens", at("13:00")),
    SimulatedMatch(METERED, "Porto", "Braga", at("18:30"), feeds=("one",)),
    SimulatedMatch(5010, "Ajax", "Utrecht", at("20:45")),
)


@dataclass
class SimulatedFeed(ScriptedFeed):
    """One feed's view of the matches. With a quota, each poll costs `cost` requests."""

    id: str
    offset: int
    day: SimulatedDay
    cost: int = 0
    day_limit: int = 2400
    used: int = 0
    down: FeedError | None = None
    polls: list[datetime] = field(default_factory=list)

    @property
    def quota(self) -> Quota | None:  # type: ignore[override]
        return Quota(self.day.now, self.day_limit, self.day_limit - self.used) if self.cost else None

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return max(1, self.cost)

    def listed(self) -> list[SimulatedMatch]:
        return [each for each in MATCHES if self.id in each.feeds]

    def answer(self, match: SimulatedMatch) -> LiveFixture:
        return replace(match.answer(self.day.now), id=match.id + self.offset)

    async def fixtures_on(self, day: Any) -> FeedAnswer:
        if self.down:
            raise self.down
        now = self.day.now
        usable = [each for each in self.listed() if not each.is_broken(now) and not each.has_vanished(now)]
        return FeedAnswer(tuple(self.answer(each) for each in usable))

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        if self.down:
            raise self.down
        now = self.day.now
        self.used += self.cost
        self.polls.append(now)
        asked = [each for each in self.listed() if each.id + self.offset in ids]
        broken = [each for each in asked if each.is_broken(now)]
        gone = [each for each in asked if each.has_vanished(now)]
        return FeedAnswer(
            fixtures=tuple(self.answer(each) for each in asked if each not in broken and each not in gone),
            failures={each.id + self.offset: FeedMalformed("the score is missing") for each in broken},
            unknown=tuple(each.id + self.offset for each in gone),
        )


class Declarations:
    def __init__(self, registry: FeedRegistry) -> None:
        self._registry = registry

    async def declared(self) -> list[FeedDeclaration]:
        return [
            FeedDeclaration(
                each.source.id,
                each.source.adapter,
                each.source.precedence,
                each.source.enabled,
                each.is_on,
                each.switched,
                each.missing,
            )
            for each in await self._registry.declared()
        ]


class SimulatedDay:
    """The system with a poll interval of five minutes, and the waits that follow from it in proportion."""

    def __init__(self, store: FixtureStore, url: str, cache: RedisCache, objects: ObjectStore) -> None:
        self.now = MIDNIGHT
        seconds = POLL.total_seconds()
        self.feeds = {
            "one": SimulatedFeed("one", 0, self, cost=10),
            "two": SimulatedFeed("two", OTHER_IDS, self),
        }
        rules = PollRules(POLL, timedelta(seconds=8), SchedulingRules(), MonitoringRules(cool_down=4 * POLL))
        self.system = FeedSystem(store, cache, objects, self.feeds, rules=rules)
        self.watchdog = WatchdogSystem(
            store.database,
            url,
            cache,
            rules=HealthRules(
                fresh=2 * seconds,
                failing=4 * seconds,
                stall=3 * seconds,
                recovery=4 * seconds,
                gap=4 * seconds,
                poll=seconds,
            ),
            declared=Declarations(self.system.registry),
            now=self.now,
            save_lag=2 * POLL + timedelta(seconds=20),
        )
        self.limits = HealthLimits.from_seconds(poll=seconds, health=seconds, stale=1.5 * seconds)
        self.health = HealthService(self.watchdog.make_probe(), self.limits)
        self.grades: set[HealthGrade] = set()
        self.recoveries = 0
        self.numbers: dict[str, int] = {}

    async def ingest(self) -> None:
        await self.system.call(self.system.ingest.ingest_day, IngestDayInput(self.now.date().isoformat(), self.now))
        for fixture in await self.system.store.fixtures():
            self.numbers[fixture["teams"]["home"]["name"]] = fixture["_id"]

    async def fixture(self, match: int) -> dict[str, Any]:
        home = next(each.home for each in MATCHES if each.id == match)
        return await self.system.store.fixture(self.numbers[home])

    async def pass_time(self, until: datetime) -> None:
        """Poll and check at every interval, as the schedule and the watchdog do."""
        while self.now < until:
            self.now += POLL
            await age_keys(self.system.cache, POLL)
            await self.check()  # before the poll, when all data is oldest
            await self.poll()

    async def check(self) -> None:
        self.watchdog.now = self.now
        judged = await self.watchdog.watchdog.round()
        assert judged is not None
        self.grades.add(judged.state.grade)
        self.recoveries += judged.act

    async def poll(self) -> None:
        """What the MonitorWorkflow calls; searches end at once."""
        system, order = self.system, PollInput(f"monitor-{self.now:%H%M%S}", self.now)
        await system.call(system.monitor.pre_activate_upcoming_fixtures, order)
        for feed in (await system.call(system.feed_activities.list_enabled, order)).feeds:
            await system.call(system.feed_activities.poll_feed, FeedPollInput(feed, self.now))
        await system.call(system.monitor.poll_staging_fixtures, order)
        polled = await system.call(system.monitor.poll_active_fixtures, order)
        for event_id in polled.to_search:
            await system.store.set_monitor_complete(event_id, f"search-{event_id}")
            await system.store.set_download_complete(event_id)

    async def switch(self, feed: str, on: bool | None) -> None:
        await self.system.switches.switch(feed, on)

    async def kinds(self) -> dict[str, str]:
        """Findings of the report, with their texts."""
        return {each.kind: each.what for each in (await self.health.report(self.now)).findings}


@pytest.fixture
async def day(
    store: FixtureStore, database_url: str, cache: RedisCache, objects: ObjectStore
) -> AsyncIterator[SimulatedDay]:
    made = SimulatedDay(store, database_url, cache, objects)
    yield made
    await made.watchdog.leading.release()


@asynccontextmanager
async def pages_of(day: SimulatedDay, url: str, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_web(settings_for(url, folder)))
        shown = replace(services, health=day.health, now=lambda: day.now)
        server = await stack.enter_async_context(HttpServer(create_app(shown), grace_seconds=1))
        stack.callback(shown.live.close)
        yield await stack.enter_async_context(httpx.AsyncClient(base_url=server.url))


async def page_text(client: httpx.AsyncClient) -> str:
    """The operations page as a person reads it."""
    page = await client.get("/operations", headers=PAGE)
    assert page.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


async def test_a_day_of_silent_matches_low_quota_and_switched_feeds_needs_no_recovery_and_loses_nothing(
    day: SimulatedDay, database_url: str, tmp_path: Path
) -> None:
    one = day.feeds["one"]
    async with pages_of(day, database_url, tmp_path) as client:
        await day.ingest()
        assert len(day.numbers) == len(MATCHES), "each match once, though two feeds list most"

        await day.pass_time(at("01:30"))
        assert await day.kinds() == {}
        assert "No problems" in await page_text(client)

        # A feed is switched off for an hour and on again.
        await day.pass_time(at("06:25"))
        await day.switch("two", False)
        await day.pass_time(at("07:20"))
        kinds = await day.kinds()
        assert kinds.keys() == {"feed_off", "match_unanswered"}
        page = await page_text(client)
        assert "two is disabled" in page
        assert "No feed answers for Lazio – Torino" in page
        await day.switch("two", None)
        await day.pass_time(at("07:35"))
        assert await day.kinds() == {}

        # One match is silent.
        await day.pass_time(at("11:30"))
        kinds = await day.kinds()
        assert "Valencia – Getafe is not polled" in kinds["polls"]
        page = await page_text(client)
        assert kinds["polls"] in page
        assert "FeedMalformed" in page
        await day.pass_time(at("12:45"))
        assert (await day.fixture(SILENT))["stage"] == "staging", "parked"
        assert "polls" not in await day.kinds()

        # One match vanishes from both feeds.
        await day.pass_time(at("14:30"))
        assert "No feed answers for Lille – Nantes" in (await day.kinds())["match_unanswered"]
        assert "No feed answers for Lille – Nantes" in await page_text(client)
        await day.pass_time(at("16:00"))
        assert (await day.fixture(VANISHED))["stage"] == "staging", "parked"
        assert "match_unanswered" not in await day.kinds()

        # A quota runs low: what is left allows one poll in about 23 minutes.
        await day.pass_time(at("18:00"))
        one.used = one.day_limit - round(RESERVED_SHARE * one.day_limit) - one.cost * 16
        await day.pass_time(at("19:00"))
        seen: set[str] = set()
        while day.now < at("20:15"):
            await day.pass_time(day.now + 5 * MINUTE)
            kinds = await day.kinds()
            seen |= kinds.keys()
        assert seen == {"quota_low", "feed_paused"}, (
            "no match is late, no clock stands; what vanished is still asked for"
        )
        assert "MissingFromResponse" in kinds["feed_paused"]
        assert "one is polled only every 2" in kinds["quota_low"]
        assert kinds["quota_low"] in await page_text(client)
        await day.pass_time(at("23:59"))

    assert (day.recoveries, day.grades) == (0, {HealthGrade.HEALTHY, HealthGrade.DEGRADED})
    assert await day.watchdog.entries() == []
    assert (day.watchdog.workers.restarts, day.watchdog.poller.restarts) == (0, 0)
    for match in MATCHES:
        document = await day.fixture(match.id)
        kept = [
            (each["time"]["elapsed"], each["_debounce_complete"]) for each in document["events"] if not each["_removed"]
        ]
        if match.id == VANISHED:
            assert (document["stage"], kept) == (FixtureStage.STAGING, [(20, True)])
        else:
            assert (document["stage"], kept) == (FixtureStage.COMPLETED, [(20, True), (60, True)]), match
    slow = [later - earlier for earlier, later in zip(one.polls, one.polls[1:], strict=False) if earlier > at("18:30")]
    assert min(slow[1:-1]) > 15 * MINUTE, "the quota was saved"


async def test_a_day_on_which_no_feed_answers_any_more_is_an_outage(day: SimulatedDay) -> None:
    """The same simulation recovers when it has to, so the day above proves something."""
    await day.ingest()
    await day.pass_time(at("01:30"))
    for feed in day.feeds.values():
        feed.down = FeedUnavailable("gone")
    await day.pass_time(at("01:50"))
    await day.watchdog.until_recovered()
    assert (day.recoveries, day.watchdog.poller.restarts) == (1, 1)
    assert HealthGrade.FAILING in day.grades
