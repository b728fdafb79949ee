"""When findings are announced: the rule, the store, and the way to a subscriber."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from found_footy.errors import StoreUnavailable
from found_footy.fixtures.store import FixtureStore
from found_footy.notifications.activities import DeliveryRef, DueDeliveries, FanOutRound, NotificationActivities
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.webhook import WebhookSender
from found_footy.operations.finding_changes import FindingRules, TrackedFinding, track_findings
from found_footy.operations.finding_store import FindingStore
from found_footy.operations.finding_watch import FindingWatch, Heartbeat
from found_footy.operations.findings import assess
from found_footy.operations.models import (
    Disk,
    EngineStatus,
    Finding,
    HealthGrade,
    HealthLimits,
    HealthReport,
    Measurement,
    StuckWorkflow,
    SystemGrade,
    Volume,
)
from found_footy.storage.postgres import Database
from tests.support.notifications import Receiver, subscribe
from tests.support.operations import NOW, a_summary, cached, health, measured, recorded, temporal

FULL = Finding("volume", SystemGrade.FAILED, "The data volume has 0.1 GB free", None, "Make room.", "engines")
LOW = replace(FULL, grade=SystemGrade.DEGRADED, what="The data volume has 9 GB free")
OTHER = replace(FULL, subject="objects")
NO_DATABASE = Finding("engine_database", SystemGrade.FAILED, "PostgreSQL is unreachable", None, "", "engines")

RULES = FindingRules(begins_after=timedelta(seconds=60), ends_after=timedelta(seconds=120))


def announced(*rounds: tuple[int, list[Finding]]) -> list[tuple[int, str]]:
    """Second and topic of each announcement, after rounds at these seconds with these findings."""
    known: tuple[TrackedFinding, ...] = ()
    told = []
    for second, seen in rounds:
        update = track_findings(known, seen, NOW + timedelta(seconds=second), RULES)
        known = update.tracked
        told += [(second, f"finding.{each.state}") for each in update.changes]
    return told


@pytest.mark.parametrize(
    ("rounds", "told"),
    [
        # A blip is not announced, neither a short absence.
        ([(0, [FULL]), (30, [FULL]), (50, [])], []),
        ([(0, [FULL]), (50, []), (60, [FULL]), (110, [FULL])], []),
        ([(0, [FULL]), (60, [FULL]), (90, []), (150, [FULL]), (300, [FULL])], [(60, "finding.failed")]),
        # Once at its begin, once at its end.
        ([(0, [FULL]), (60, [FULL]), (90, [FULL]), (120, [])], [(60, "finding.failed")]),
        ([(0, [FULL]), (60, [FULL]), (120, []), (180, [])], [(60, "finding.failed"), (180, "finding.ended")]),
        # Worse is announced at once, better is not.
        ([(0, [LOW]), (60, [LOW]), (70, [FULL])], [(60, "finding.degraded"), (70, "finding.failed")]),
        ([(0, [FULL]), (60, [FULL]), (70, [LOW]), (80, [FULL])], [(60, "finding.failed")]),
        # Of two with one key the worse counts; another subject is another finding.
        ([(0, [FULL, LOW]), (60, [LOW, FULL])], [(60, "finding.failed")]),
        ([(0, [FULL, OTHER]), (60, [FULL, OTHER])], [(60, "finding.failed"), (60, "finding.failed")]),
        # What cannot be seen has not ended.
        (
            [(0, [FULL]), (60, [FULL]), (90, [NO_DATABASE]), (900, [NO_DATABASE]), (930, [FULL])],
            [(60, "finding.failed"), (900, "finding.failed")],
        ),
        (
            [(0, [NO_DATABASE]), (60, [NO_DATABASE]), (200, [])],
            [(60, "finding.failed"), (200, "finding.ended")],
        ),
        # A watchdog that was away for an hour continues.
        ([(0, [FULL]), (60, [FULL]), (3660, [FULL])], [(60, "finding.failed")]),
    ],
)
def test_each_finding_is_announced_once_at_its_start_and_end(
    rounds: list[tuple[int, list[Finding]]], told: list[tuple[int, str]]
) -> None:
    assert announced(*rounds) == told


def test_a_finding_keeps_its_key_while_its_text_changes() -> None:
    def keys(free: int) -> list[str]:
        volumes = (Volume("data", free, 100, 50), Volume("objects", free, 100, 50))
        return [each.key for each in assess(measured(volumes=volumes), HealthLimits()).findings]

    assert keys(10) == keys(20) == ["volume/data", "volume/objects"]


@pytest.fixture
async def database(store: FixtureStore) -> Database:
    return store.database


async def topics(database: Database) -> list[tuple[str, str]]:
    async with database.connection() as connection:
        found = await connection.execute("select topic, payload->>'key' as key from outbox order by id")
        return [(row["topic"], row["key"]) for row in await found.fetchall()]


async def test_announcements_are_sent_once_across_restarts(database: Database) -> None:
    now = NOW
    for _ in range(2):  # two watchdogs, or one that is restarted
        for _ in range(3):
            await FindingStore(database).track([FULL], now, RULES)
            now += timedelta(seconds=45)
    assert await topics(database) == [("finding.failed", "volume")]
    (known,) = await FindingStore(database).findings()
    assert (known.first_seen, known.announced) == (NOW, SystemGrade.FAILED)
    await asyncio.gather(*(FindingStore(database).track([], now + timedelta(minutes=5), RULES) for _ in range(3)))
    assert await topics(database) == [("finding.failed", "volume"), ("finding.ended", "volume")]
    assert await FindingStore(database).findings() == []


# --- the watchdog's part: findings reach a subscriber, and the heartbeat stops


class FindingSystem:
    def __init__(self, database: Database, url: str | None = None) -> None:
        self.measured = sound()
        self.now = NOW
        self.leads = True
        self.heartbeat = Heartbeat(url) if url else None
        self.watch = FindingWatch(
            self.report,
            FindingStore(database),
            leads=lambda: self.leads,
            now=lambda: self.now,
            heartbeat=self.heartbeat,
            rules=RULES,
        )

    async def report(self, now: datetime) -> HealthReport:
        return assess(self.measured, HealthLimits())

    async def rounds(self, number: int, seconds: float = 60) -> None:
        for _ in range(number):
            await self.watch.round()
            self.now += timedelta(seconds=seconds)


def sound() -> Measurement:
    return measured(
        health=health(summary=a_summary(HealthGrade.HEALTHY)), recorded=recorded(matches=(), goals=(), sources=())
    )


BROKEN = replace(
    sound(),
    disk=Disk(1, 100),
    temporal=replace(temporal(), stuck=(StuckWorkflow("search-1", "SearchWorkflow", NOW - timedelta(days=1)),)),
    engines=(EngineStatus("database", "ok"), EngineStatus("object store", "failed", "ObjectStoreUnavailable")),
)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


async def test_findings_are_delivered_to_a_webhook(database: Database, receiver: Receiver) -> None:
    await subscribe(database, receiver.url, topics=["finding.*"])
    world = FindingSystem(database)
    await world.rounds(2)
    world.measured = BROKEN
    await world.rounds(3)
    world.measured = sound()
    await world.rounds(4)

    webhooks = WebhookSender(seconds=5, private_hosts=[receiver.host], now=lambda: datetime.now(UTC))
    activities = NotificationActivities(NotificationStore(database), {"webhook": webhooks}, timedelta(hours=24), None)
    run = ActivityEnvironment().run
    try:
        for number in range(6):  # they come one after another
            due: DueDeliveries = await asyncio.wait_for(run(activities.fan_out, FanOutRound(f"round {number}")), 60)
            for id_ in due.ids:
                await asyncio.wait_for(run(activities.deliver, DeliveryRef(id_)), 60)
            if len(receiver.keys) == 6:
                break
    finally:
        await webhooks.aclose()
    told = sorted((each.body["topic"], each.body["finding"]["key"]) for each in receiver.received)
    kinds = ["disk", "engine_object_store", "workflow_stuck/search-1"]
    assert [key for topic, key in told if topic == "finding.ended"] == kinds
    assert [(topic, key) for topic, key in told if topic != "finding.ended"] == [
        ("finding.degraded", "workflow_stuck/search-1"),
        ("finding.failed", "disk"),
        ("finding.failed", "engine_object_store"),
    ]
    begun = next(each.body for each in receiver.received if each.body["finding"]["kind"] == "disk")
    assert begun["title"].startswith("Failed: The disk is nearly full")
    assert begun["text"] == begun["finding"]["advice"]


async def test_only_the_leading_watchdog_announces(database: Database) -> None:
    world = FindingSystem(database)
    world.measured, world.leads = BROKEN, False
    await world.rounds(3)
    assert await topics(database) == []


@pytest.mark.parametrize(
    ("state", "pings"),
    [
        (sound(), 2),
        (replace(sound(), disk=Disk(5, 100)), 2),  # degraded
        (BROKEN, 0),
        (replace(sound(), health=health(summary=None), cached=cached(summary=None)), 0),  # nobody checks the feeds
    ],
    ids=["sound", "degraded", "failed", "not checked"],
)
async def test_the_heartbeat_stops_when_something_has_failed(
    database: Database, receiver: Receiver, state: Measurement, pings: int
) -> None:
    async with Beats() as beats:
        world = FindingSystem(database, beats.url)
        world.measured = state
        await world.rounds(2)
        assert world.heartbeat is not None
        await world.heartbeat.aclose()
    assert beats.count == pings


async def test_a_heartbeat_service_that_is_away_is_logged_once_without_its_url(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with Beats() as beats:
        url = beats.url
    world = FindingSystem(database, url)
    await world.rounds(3)
    assert world.heartbeat is not None
    await world.heartbeat.aclose()
    (line,) = [each for each in caplog.records if getattr(each, "action", "") == "heartbeat_failed"]
    assert "secret-id" not in line.getMessage()


async def test_a_round_that_fails_does_not_end_the_watch(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    calls = 0

    async def report(now: datetime) -> HealthReport:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise StoreUnavailable("away")
        if calls == 3:
            raise ValueError("a bug")
        done.set()
        return assess(sound(), HealthLimits())

    done = asyncio.Event()
    watch = FindingWatch(report, FindingStore(database), leads=lambda: True, now=lambda: NOW, interval=0.01)
    running = asyncio.create_task(watch.run())
    await asyncio.wait_for(done.wait(), 60)
    running.cancel()
    await asyncio.wait({running})
    actions = [getattr(each, "action", "") for each in caplog.records]
    assert actions.count("findings_not_checked") == 1
    assert actions.count("program_fault") == 1


class Beats:
    """A heartbeat service on loopback."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/ping/secret-id"

    async def __aenter__(self) -> Beats:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.count += head.startswith(b"GET /ping/secret-id ")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK")
        await writer.drain()
        writer.close()

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()
