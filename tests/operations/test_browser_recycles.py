"""Browsers that were started anew by their service become entries of the audit log, each once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from found_footy.errors import SourceUnavailable
from found_footy.operations.models import HealthGrade, RecoveryAction, RecoveryOutcome
from found_footy.operations.recovery import entries
from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache
from tests.support.watchdog import WatchdogSystem

OLD = {
    "at": "2026-08-22T14:30:00+00:00",
    "reason": "uptime",
    "why": "it is 6.0 hours old",
    "pids_before": 142,
    "pids_after": 9,
    "uptime_seconds": 21600.5,
    "tasks": 481,
    "seconds": 2.5,
}


class Browser:
    def __init__(self) -> None:
        self.recycles: list[Any] = []
        self.away = False

    async def facts(self) -> Mapping[str, Any]:
        if self.away:
            raise SourceUnavailable("away")
        return {"processes": 9, "recycles": self.recycles}

    async def recycle(self, reason: str) -> Mapping[str, Any]:
        self.recycles.append({**OLD, "reason": "manual", "why": reason})
        return {"before": {}, "after": {}, "recycle": self.recycles[-1]}


@pytest.fixture
async def watched(database_url: str, cache: RedisCache) -> AsyncIterator[WatchdogSystem]:
    database = Database(database_url)
    await database.open()
    made = WatchdogSystem(database, database_url, cache, browser=Browser())
    yield made
    await made.leading.release()
    await database.close()


async def test_a_recycle_is_recorded_once(watched: WatchdogSystem) -> None:
    assert isinstance(watched.browser, Browser)
    watched.browser.recycles = [OLD]
    for _ in range(3):
        await watched.after(15)
    watched.watchdog = watched.make_watchdog()
    await watched.after(15)
    (entry,) = await watched.entries()
    assert (entry.action, entry.outcome) == (RecoveryAction.BROWSER_RECYCLE, RecoveryOutcome.SUCCESS)
    assert (entry.at, entry.seconds) == (datetime(2026, 8, 22, 14, 30, tzinfo=UTC), 2.5)
    assert entry.trigger == "uptime: it is 6.0 hours old"
    assert entry.before == {"processes": 142, "uptime_seconds": 21600.5, "tasks": 481}
    assert entry.after == {"processes": 9}
    assert await watched.outbox_messages() == ["ended"]


async def test_a_requested_recycle_already_has_an_entry(watched: WatchdogSystem) -> None:
    entry = await watched.recovering.recover(RecoveryAction.BROWSER_RECYCLE, "asked for by a test")
    await watched.after(15)
    assert await watched.entries() == [entry]
    step, pauses = entry.after["attempts"][0]["steps"]
    assert (step["name"], pauses["name"]) == ("browser", "pauses")
    assert (step["facts"]["pids_before"], step["facts"]["pids_after"]) == (142, 9)


async def test_a_browser_service_that_is_away_does_not_keep_the_feeds_from_being_judged(
    watched: WatchdogSystem,
) -> None:
    assert isinstance(watched.browser, Browser)
    watched.browser.away = True
    assert (await watched.after(15)).state.grade is HealthGrade.HEALTHY


@pytest.mark.parametrize(
    "told",
    [
        None,
        "many",
        {"at": "now"},
        ["uptime", 7, None],
        [{**OLD, "at": "yesterday"}],
        [{**OLD, "at": 1700000000}],
        [{**OLD, "reason": ""}],
        [{**OLD, "reason": "manual"}],
        [{**OLD, "reason": "recovery"}],
    ],
)
def test_unreadable_entries_are_skipped(told: Any) -> None:
    assert list(entries({"recycles": told})) == []


def test_invalid_numbers_are_dropped_and_long_texts_cut() -> None:
    (entry,) = entries({"recycles": [{**OLD, "pids_before": "many", "seconds": True, "why": "x" * 5000}]})
    assert (entry.before["processes"], entry.seconds, len(entry.trigger) < 300) == (None, None, True)
    assert len(list(entries({"recycles": [{**OLD, "tasks": n} for n in range(500)]}))) == 20
