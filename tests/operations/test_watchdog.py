"""The watchdog on a real database and a real cache: outages from their begin to their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from found_footy.errors import NotFound, StoreUnavailable
from found_footy.feeds.models import MonitoringState
from found_footy.feeds.poll_state import is_paused
from found_footy.operations import recovery as recovering
from found_footy.operations.feed_health import TRANSITIONS
from found_footy.operations.models import HealthGrade, RecoveryAction, RecoveryOutcome
from found_footy.storage.postgres import AdvisoryLock, Database
from found_footy.storage.redis import RedisCache
from tests.support.watchdog import START, RestartedService, WatchdogSystem

HEALTHY, DEGRADED, FAILING, RECOVERING = HealthGrade
MATCHES = range(1, 4)


@pytest.fixture
async def watched(database_url: str, cache: RedisCache) -> AsyncIterator[WatchdogSystem]:
    database = Database(database_url)
    await database.open()
    made = WatchdogSystem(database, database_url, cache)
    yield made
    await made.leading.release()
    await database.close()


async def fail(watched: WatchdogSystem) -> None:
    """Matches that were fresh, and then no answer for a minute and a half."""
    await watched.after(15)
    await watched.follow(MATCHES)
    await watched.answer(MATCHES)
    assert (await watched.after(15)).state.grade is HEALTHY
    assert (await watched.after(45)).path == (HEALTHY, DEGRADED)
    assert (await watched.after(30)).path == (DEGRADED, FAILING)


async def test_an_outage_has_one_audit_entry(watched: WatchdogSystem) -> None:
    await fail(watched)
    (begun,) = await watched.entries()
    assert (begun.action, begun.outcome, begun.seconds) == (RecoveryAction.SOFT_RESTART, None, None)
    assert (begun.before["grade"], begun.before["stall_seconds"]) == ("failing", 90.0)
    assert "no feed has responded for 90 s" in begun.trigger
    await watched.until_recovered()
    assert (await watched.after(15)).state.grade is RECOVERING

    await watched.answer(MATCHES)
    assert (await watched.after(1)).path == (RECOVERING, HEALTHY)
    (entry,) = await watched.entries()
    assert (entry.outcome, entry.healthy_at) == (RecoveryOutcome.SUCCESS, watched.now)
    assert (entry.after["grade"], entry.after["freshness"]["maximum"]) == ("healthy", 1.0)
    (attempt,) = entry.after["attempts"]
    assert [(step["name"], step["ok"]) for step in attempt["steps"]] == [
        ("pauses", True),
        ("poller", True),
    ]
    assert entry.seconds is not None

    for _ in range(3):
        assert (await watched.after(15)).state.grade is HEALTHY
    assert await watched.entries() == [entry]
    assert await watched.outbox_messages() == [
        "healthy>degraded",
        "degraded>failing",
        "begun",
        "failing>recovering",
        "healthy",
        "recovering>healthy",
    ]


async def test_the_steps_are_noted_as_soon_as_they_are_done(watched: WatchdogSystem) -> None:
    await fail(watched)
    await watched.until_recovered()
    await watched.after(0)
    (entry,) = await watched.entries()
    assert (entry.outcome, entry.seconds is None) == (None, False)
    state = await watched.store.state()
    assert state is not None
    assert (state.grade, state.acting_until) == (RECOVERING, None)


async def test_a_long_outage_is_acted_on_again_after_the_pause_and_keeps_its_entry(watched: WatchdogSystem) -> None:
    await fail(watched)
    await watched.until_recovered()
    assert (await watched.after(105)).state.grade is RECOVERING
    assert (await watched.after(15)).path == (RECOVERING, FAILING)
    (entry,) = await watched.entries()
    assert (entry.outcome, entry.healthy_at) == (RecoveryOutcome.FAILED, None)

    assert (await watched.after(765)).act is False
    assert (await watched.after(15)).act is True
    await watched.until_recovered()
    await watched.after(1)
    (entry,) = await watched.entries()
    assert (entry.outcome, len(entry.after["attempts"])) == (None, 2)
    assert (watched.poller.restarts, watched.workers.restarts) == (2, 0)

    await watched.after(120)  # that did not help either
    await watched.answer(MATCHES)
    assert (await watched.after(15)).path == (FAILING, DEGRADED)
    await watched.answer(MATCHES)
    assert (await watched.after(15)).path == (DEGRADED, HEALTHY)
    (entry,) = await watched.entries()
    assert (entry.outcome, entry.healthy_at) == (RecoveryOutcome.FAILED, watched.now)


async def test_after_a_long_stop_a_new_start_has_a_grace_period(watched: WatchdogSystem) -> None:
    await watched.follow(MATCHES)
    await watched.after(15)
    watched.now += timedelta(hours=8)
    judgement = await watched.after(0)
    assert (judgement.state.grade, judgement.act) == (FAILING, False)
    assert (await watched.after(75)).act is False
    assert (await watched.after(15)).act is True
    await watched.until_recovered()


async def test_a_recovery_that_helps_some_matches_is_partial(watched: WatchdogSystem) -> None:
    await fail(watched)
    await watched.until_recovered()
    await watched.after(15)
    await watched.answer([1])
    assert (await watched.after(65)).state.grade is RECOVERING
    await watched.answer([2, 3])
    assert (await watched.after(40)).path == (RECOVERING, DEGRADED)
    (entry,) = await watched.entries()
    assert entry.outcome is RecoveryOutcome.PARTIAL


async def test_each_transition_is_reached(watched: WatchdogSystem) -> None:
    """Three outages: one that no recovery ends, one that is ended halfway, one that is over with the first answer."""
    watched.rules = replace(watched.rules, recovery_pause=200)
    watched.watchdog = watched.make_watchdog()
    await fail(watched)
    await watched.until_recovered()
    await watched.after(120)
    for _ in range(2):
        await watched.answer(MATCHES)
        await watched.after(15)

    assert (await watched.after(75)).act is True
    await watched.until_recovered()
    await watched.after(15)
    await watched.answer([1])
    await watched.after(65)
    await watched.answer([2, 3])
    await watched.after(40)
    for _ in range(2):
        await watched.answer(MATCHES)
        await watched.after(15)

    assert (await watched.after(75)).act is True
    await watched.until_recovered()
    await watched.after(1)
    await watched.answer(MATCHES)
    assert (await watched.after(1)).state.grade is HEALTHY
    taken = {told for told in await watched.outbox_messages() if ">" in told}
    assert taken == {
        f"{before}>{after}" for before, after in TRANSITIONS - {(HEALTHY, RECOVERING), (DEGRADED, RECOVERING)}
    }
    assert [entry.outcome for entry in await watched.entries()] == [
        RecoveryOutcome.SUCCESS,
        RecoveryOutcome.PARTIAL,
        RecoveryOutcome.FAILED,
    ]


async def test_with_nothing_under_way_all_is_well(watched: WatchdogSystem) -> None:
    assert (await watched.after(600)).state.grade is HEALTHY
    assert await watched.entries() == []


async def test_measurements_come_from_the_monitoring_records(watched: WatchdogSystem) -> None:
    await watched.follow(MATCHES)
    paused = watched.record(9, state=MonitoringState.PAUSED, paused_until=START + timedelta(minutes=2), updated_at=None)
    over = watched.record(10, state=MonitoringState.PAUSED, paused_until=START - timedelta(minutes=2), updated_at=None)
    await watched.answer(MATCHES)
    await watched.records.save([paused, over])
    summary = (await watched.after(10)).summary
    assert (summary.freshness.count, summary.freshness.maximum, summary.last_success) == (3, 10.0, START)
    assert summary.paused == ("espn_9",)
    assert await watched.copies.summary() == summary, "for quick readers"


async def test_a_cache_that_lost_everything_does_not_look_like_health(
    watched: WatchdogSystem, cache: RedisCache
) -> None:
    await fail(watched)
    await watched.until_recovered()
    await cache.run("DEL", cache.key("freshness_index"))
    assert (await watched.after(60)).state.grade is RECOVERING
    await watched.poll()  # which knows the matches, and fills the index again
    judgement = await watched.after(60)
    assert (judgement.state.grade, judgement.summary.freshness.maximum) == (FAILING, 210.0)
    (entry,) = await watched.entries()
    assert (entry.outcome, entry.healthy_at) == (RecoveryOutcome.FAILED, None)


async def test_unsaved_snapshots_make_health_fail(watched: WatchdogSystem) -> None:
    await watched.after(15)
    await watched.follow(MATCHES)
    await watched.answer(MATCHES)
    for _ in range(4):
        assert (await watched.after(15)).state.grade is HEALTHY
        await watched.answer_unsaved(MATCHES)
    await watched.after(15)
    await watched.answer_unsaved(MATCHES)
    assert (await watched.after(15)).path == (HEALTHY, DEGRADED)
    await watched.answer_unsaved(MATCHES)
    judgement = await watched.after(30)
    assert (judgement.state.grade, judgement.act) == (FAILING, True)
    assert judgement.summary.reasons[-1] == "updates of 3 matches have not been saved"
    await watched.until_recovered()
    await watched.after(1)
    await watched.answer(MATCHES)
    assert (await watched.after(15)).state.grade is HEALTHY


async def test_without_a_cache_it_is_judged_by_the_database(watched: WatchdogSystem) -> None:
    await watched.follow(MATCHES)
    away = RedisCache("redis://127.0.0.1:9/0", connect_seconds=0.2)
    blind = WatchdogSystem(watched.database, watched.url, away)
    blind.leading = blind.watchdog._leading = watched.leading
    judgement = await blind.after(15)
    assert judgement.state.grade is HEALTHY
    assert "the cache does not respond" in judgement.summary.reasons[0]
    async with watched.database.connection() as connection:
        await connection.execute("update fixtures set last_poll_at = %s", [START + timedelta(seconds=60)])
    assert (await blind.after(60)).summary.freshness.maximum == 15.0
    assert (await blind.after(75)).state.grade is FAILING
    await blind.until_recovered()
    await away.aclose()


async def test_of_two_watchdogs_one_judges(watched: WatchdogSystem) -> None:
    await fail(watched)
    other = watched.make_watchdog(AdvisoryLock(watched.url))
    for _ in range(3):
        assert await other.round() is None
    assert len(await watched.store.samples(START)) == 8, "seven judgements, and the begin of the recovery"
    await watched.until_recovered()
    await watched.after(1)
    await watched.leading.release()
    judgement = await other.round()
    assert judgement is not None
    assert (judgement.state.grade, judgement.act) == (RECOVERING, False), "the other one's recovery has its time"
    await other._leading.release()


async def test_a_recovery_whose_watchdog_died_is_done_over_by_the_next_and_stays_one_entry(
    watched: WatchdogSystem,
) -> None:
    watched.poller = RestartedService(hangs=True)
    watched.recovering = watched.make_recovering()
    watched.watchdog = watched.make_watchdog()
    await fail(watched)
    acting = watched.watchdog._acting
    assert acting is not None
    acting.cancel()  # with its process
    with pytest.raises(asyncio.CancelledError):
        await acting

    watched.poller = RestartedService()
    watched.recovering = watched.make_recovering()
    watched.watchdog = watched.make_watchdog()
    assert (await watched.after(5)).act is True
    await watched.until_recovered()
    await watched.after(1)
    await watched.answer(MATCHES)
    assert (await watched.after(5)).state.grade is HEALTHY
    (entry,) = await watched.entries()
    assert entry.outcome is RecoveryOutcome.SUCCESS
    assert [len(attempt.get("steps", ())) for attempt in entry.after["attempts"]] == [0, 2]


async def test_a_failing_or_hanging_step_is_reported_and_blocks_no_other(
    watched: WatchdogSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovering, "WORKERS_SECONDS", 0.05)
    poller = RestartedService(fails="Temporal refuses", polling=False)
    both = WatchdogSystem(
        watched.database, watched.url, watched.cache, workers=RestartedService(hangs=True), poller=poller
    )
    steps, _ = await both.recovering.act(both.recovering.parts, "a test")
    assert [(step.name, step.ok, step.said) for step in steps] == [
        ("workers", False, "no result within 0.05 s"),
        ("pauses", True, "resumed 0 paused matches"),
        ("poller", False, "EngineError: Temporal refuses"),
    ]


async def test_a_recovery_ends_pauses_so_that_feeds_are_polled_at_once(watched: WatchdogSystem) -> None:
    long = {"state": MonitoringState.PAUSED, "consecutive_failures": 7, "updated_at": None}
    await watched.records.save([watched.record(9, paused_until=START + timedelta(hours=1), **long)])
    await fail(watched)
    await watched.until_recovered()
    found = (await watched.records.load(["espn_9"]))["espn_9"]
    assert (found.state, found.paused_until, found.consecutive_failures) == (MonitoringState.PAUSED, watched.now, 7)
    assert not is_paused(found, watched.now), "so it is asked for with the next poll"
    await watched.after(1)
    (entry,) = await watched.entries()
    (step,) = [step for step in entry.after["attempts"][0]["steps"] if step["name"] == "pauses"]
    assert step["said"] == "resumed 1 paused match"


async def test_the_poller_can_be_restarted_manually(watched: WatchdogSystem) -> None:
    entry = await watched.recovering.recover(RecoveryAction.SOFT_RESTART, "asked for by a test")
    assert (entry.action, entry.outcome) == (RecoveryAction.MANUAL_TRIGGER, RecoveryOutcome.SUCCESS)
    assert (entry.trigger, entry.before["what"]) == ("asked for by a test", ["workers", "poller"])
    assert await watched.entries() == [entry]
    assert (await watched.copies.recoveries())[0].id == entry.id
    assert await watched.outbox_messages() == ["begun", "ended"]


async def test_a_requested_recovery_passes_through_recovering_and_is_judged_by_health(watched: WatchdogSystem) -> None:
    await watched.follow([1, 2])
    await watched.answer([1, 2])
    await watched.after(15)
    entry = await watched.recovering.recover(RecoveryAction.SOFT_RESTART, "asked for by a test")
    assert (entry.outcome, entry.before["grade"]) == (None, "healthy")
    state = await watched.store.state()
    assert state is not None
    assert (state.grade, state.recovery_id) == (RECOVERING, entry.id)
    assert (await watched.after(15)).state.grade is RECOVERING, "no feed has answered since"
    await watched.answer([1, 2])
    assert (await watched.after(5)).path == (RECOVERING, HEALTHY)
    (entry,) = await watched.entries()
    assert (entry.action, entry.outcome) == (RecoveryAction.MANUAL_TRIGGER, RecoveryOutcome.SUCCESS)
    assert (entry.after["grade"], entry.after["freshness"]["count"]) == ("healthy", 2)
    assert [step["name"] for step in entry.after["attempts"][0]["steps"]] == ["pauses", "poller"]


async def test_a_requested_recovery_without_effect_has_failed_after_120_s(watched: WatchdogSystem) -> None:
    await watched.follow(MATCHES)
    await watched.answer(MATCHES)
    await watched.after(15)
    await watched.recovering.recover(RecoveryAction.SOFT_RESTART, "asked for by a test")
    assert (await watched.after(105)).state.grade is RECOVERING
    judged = await watched.after(15)
    assert (judged.path, judged.outcome) == ((RECOVERING, FAILING), RecoveryOutcome.FAILED)
    (entry,) = await watched.entries()
    assert entry.outcome is RecoveryOutcome.FAILED


@pytest.mark.parametrize(("polling", "restarts"), [(True, 0), (False, 1)])
async def test_a_recovery_restarts_workers_only_if_none_polls(
    watched: WatchdogSystem, polling: bool, restarts: int
) -> None:
    watched.poller.polling = polling
    await fail(watched)
    await watched.until_recovered()
    assert (watched.workers.restarts, watched.poller.restarts) == (restarts, 1)


async def test_a_missing_part_cannot_be_restarted(watched: WatchdogSystem) -> None:
    with pytest.raises(NotFound, match="no browser"):
        await watched.recovering.recover(RecoveryAction.BROWSER_RECYCLE, "asked for by a test")
    assert await watched.entries() == []


async def test_an_unfinished_entry_is_closed(watched: WatchdogSystem) -> None:
    entry = await watched.recovering.recover(RecoveryAction.SOFT_RESTART, "asked for by a test")
    await watched.store.add_recovery(replace(entry, outcome=None))
    await watched.after(60)
    assert (await watched.entries())[0].outcome is None
    await watched.after(60)
    (closed,) = await watched.entries()
    assert closed.outcome is RecoveryOutcome.FAILED
    assert "interrupted" in closed.after["note"]


async def test_it_judges_again_when_the_database_is_back(watched: WatchdogSystem, database_url: str) -> None:
    """The loop itself: a database that is away for a moment ends nothing."""
    stop = asyncio.Event()
    running = asyncio.create_task(watched.watchdog.run(stop))
    await judged(watched, 2)
    before = len(await watched.store.samples(START))
    async with watched.database.connection() as connection:
        await connection.execute(
            "select pg_terminate_backend(pid, 30000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    await judged(watched, before + 3)
    stop.set()
    await asyncio.wait_for(running, 10)
    other = AdvisoryLock(database_url)
    assert await other.try_acquire(), "the lead is given back"
    await other.release()


async def judged(watched: WatchdogSystem, times: int) -> None:
    """A connection that was ended under our hands may be given out once more, to us as to the watchdog."""
    async with asyncio.timeout(20):
        found = 0
        while found < times:
            await asyncio.sleep(0.02)
            with suppress(StoreUnavailable):
                found = len(await watched.store.samples(START))


@dataclass
class RecordedBrowser:
    """A browser service that records what it was asked for."""

    healthy: bool
    orders: list[str] = field(default_factory=list)

    async def facts(self) -> dict[str, Any]:
        return {"healthy": self.healthy}

    async def reset_contexts(self, reason: str) -> dict[str, Any]:
        self.orders.append("reset")
        return {"closed": 3}

    async def recycle(self, reason: str, *, is_recovery: bool = False) -> dict[str, Any]:
        self.orders.append("recovery" if is_recovery else "manual")
        return {"recycle": {"reason": self.orders[-1]}}


@pytest.mark.parametrize(
    ("healthy", "is_requested", "order", "said"),
    [
        (True, False, "reset", "closed 3 pages of the browser"),
        (False, False, "recovery", "restarted the browser"),
        (True, True, "manual", "restarted the browser"),
        (False, True, "manual", "restarted the browser"),
    ],
)
async def test_a_recovery_closes_the_pages_of_a_healthy_browser_and_restarts_only_a_stuck_one(
    watched: WatchdogSystem, healthy: bool, is_requested: bool, order: str, said: str
) -> None:
    watched.browser = browser = RecordedBrowser(healthy)
    (step, _), _ = await watched.make_recovering().act(["browser"], "a test", is_requested=is_requested)
    assert (browser.orders, step.ok, step.said) == ([order], True, said)
    assert (step.facts.get("action") == RecoveryAction.CONTEXT_POOL_RESET) is (order == "reset")
