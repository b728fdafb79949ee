"""Health is judged by what came of searches, in a table and in the running service."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from footy_simulator.x import XMode
from found_footy.browser.models import BrowserOptions
from found_footy.browser.pool import AdmissionQueue
from found_footy.browser.recycling import BrowserFacts, BrowserUsage, RecycleReason, reason_to_recycle
from found_footy.browser.service import Canary, RequestStats, find_problems
from found_footy.browser.x_search import FoundPost, XSearchRequest
from found_footy.errors import SourceChanged, SourceLoggedOut
from tests.browser.simulated import Searched, SimulatedX

NOW = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
OPTIONS = BrowserOptions(
    "http://x", Path("profile"), failures=3, processes=40, stale_seconds=900, hours=6, searches=500
)
FACTS = BrowserFacts(NOW, searches=1, processes=12, zombies=0, memory_mb=900, pages=1, starts=1)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("stats", "facts", "why"),
    [
        (RequestStats(), FACTS, None),
        (RequestStats(failed_in_a_row=2, last_error_class="SourceChanged"), FACTS, None),
        (RequestStats(failed_in_a_row=3, last_error_class="SourceLoggedOut"), FACTS, "the last 3 searches failed"),
        (RequestStats(), replace(FACTS, processes=40), None),
        (RequestStats(), replace(FACTS, processes=41), "41 processes"),
        # Nobody takes note of their end: they fill the table of processes all the same.
        (RequestStats(), replace(FACTS, zombies=4601), "4613 processes, 4601 of them zombies"),
        (RequestStats(waiting_since=ago(900)), FACTS, None),
        (RequestStats(waiting_since=ago(901)), FACTS, "none of the searches has succeeded for 901 s"),
        # Nobody asked: that no search has succeeded for hours is no fault.
        (RequestStats(last_success=ago(9000)), FACTS, None),
        # Somebody asks now, after hours of silence.
        (RequestStats(last_success=ago(9000), waiting_since=ago(1)), FACTS, None),
    ],
)
def test_health_is_red_for_a_reason(stats: RequestStats, facts: BrowserFacts, why: str | None) -> None:
    found = find_problems([stats, RequestStats("readings of pages")], facts, OPTIONS, NOW)
    assert (found == []) if why is None else (len(found) == 1 and why in found[0])


def test_the_time_without_success_counts_from_the_first_search_that_got_none() -> None:
    stats = RequestStats()
    for seconds in (100, 90, 80):
        stats.record_request(ago(seconds))
        stats.record_failure("SourceUnavailable", ago(seconds))
    assert (stats.waiting_since, stats.failed_in_a_row) == (ago(100), 3)
    stats.record_request(ago(70))
    stats.record_success(ago(70))
    assert (stats.waiting_since, stats.failed_in_a_row) == (None, 0)


def test_readings_of_pages_count_as_searches_do() -> None:
    found = find_problems([RequestStats(), RequestStats("readings of pages", failed_in_a_row=3)], FACTS, OPTIONS, NOW)
    assert found == ["the last 3 readings of pages failed, most recently with None"]


@pytest.mark.parametrize(
    ("usage", "reason", "why"),
    [
        (BrowserUsage(timedelta(0), 0, 12), None, ""),
        (BrowserUsage(timedelta(hours=6), 0, 12), RecycleReason.UPTIME, "6.0 hours old"),
        (BrowserUsage(timedelta(hours=5.99), 499, 40), None, ""),
        (BrowserUsage(timedelta(0), 500, 12), RecycleReason.TASK_COUNT, "500 tasks"),
        (BrowserUsage(timedelta(0), 0, 41), RecycleReason.PROCESSES, "41 processes"),
        (BrowserUsage(timedelta(0), 0, 0, gone=True), RecycleReason.CRASHED, "exited"),
        (BrowserUsage(timedelta(0), 0, 12, is_unresponsive=True), RecycleReason.STUCK, "respond"),
        # The worst of several reasons is the one that is told.
        (BrowserUsage(timedelta(hours=9), 900, 90, gone=True, is_unresponsive=True), RecycleReason.CRASHED, "exited"),
    ],
)
def test_a_browser_is_renewed_for_a_reason(usage: BrowserUsage, reason: RecycleReason | None, why: str) -> None:
    renewal = reason_to_recycle(usage, OPTIONS)
    assert (renewal and renewal.reason) == reason
    assert renewal is None or why in renewal.why


async def test_searches_run_in_order_of_arrival() -> None:
    turns, begun, done = AdmissionQueue(at_once=1, waiting=3), [], asyncio.Event()

    async def search(number: int) -> None:
        async with turns.take():
            begun.append(number)
            await done.wait()

    tasks = [asyncio.create_task(search(number)) for number in range(4)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (begun, turns.running, turns.waiting, turns.full) == ([0], 1, 3, True)
    done.set()
    await asyncio.gather(*tasks)
    assert (begun, turns.inside) == ([0, 1, 2, 3], 0)


class TestCanary:
    def setup_method(self) -> None:
        self.now, self.asked = NOW, 0
        self.answer: list[FoundPost] | Exception = []
        self.canary = Canary(self.search, OPTIONS, lambda: self.now)

    async def search(self, order: XSearchRequest) -> list[FoundPost]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def test_an_empty_result_for_a_common_word_raises_source_changed(self) -> None:
        with pytest.raises(SourceChanged, match="goal"):
            await self.canary.check()

    async def test_a_success_is_remembered_for_minutes_and_a_failure_for_seconds(self) -> None:
        self.answer = SourceLoggedOut("logged out")
        for seconds, asked in ((0, 1), (29, 1), (2, 2)):
            self.now += timedelta(seconds=seconds)
            with pytest.raises(SourceLoggedOut):
                await self.canary.check()
            assert self.asked == asked
        self.answer = [FoundPost("1", "a", "goal", NOW)]
        for seconds, asked in ((31, 3), (299, 3), (2, 4)):
            self.now += timedelta(seconds=seconds)
            assert (await self.canary.check())["posts"] == 1
            assert self.asked == asked

    async def test_many_at_once_are_one_search(self) -> None:
        self.answer = [FoundPost("1", "a", "goal", NOW)]
        await asyncio.gather(*(self.canary.check() for _ in range(20)))
        assert self.asked == 1


@pytest.mark.asyncio(loop_scope="package")
async def test_health_fails_while_x_fails_and_recovers(search: Searched, x: SimulatedX) -> None:
    x.state.mode = XMode.LOGGED_OUT
    for _ in range(3):
        assert (await search()).status_code == 401
    red = await search.client.get("/health")
    assert (red.status_code, red.json()["healthy"]) == (503, False)
    assert red.json()["last_error"]["class"] == "SourceLoggedOut"
    x.state.mode = XMode.NORMAL
    await search()
    green = await search.client.get("/health")
    assert (green.status_code, green.json()["healthy"], green.json()["problems"]) == (200, True, [])
    assert green.json()["last_success"] > red.json()["last_error"]["at"]
    assert green.json()["browser"]["memory_mb"] > 50


@pytest.mark.asyncio(loop_scope="package")
async def test_a_full_queue_rejects_at_once_without_failing_health(search: Searched, x: SimulatedX) -> None:
    assert (await search()).status_code == 200
    x.state.mode = XMode.HANGING
    search.hurry(5)
    most = search.service.options.at_once + search.service.options.waiting
    before = search.service.health()["searches"]
    answers = [asyncio.create_task(search()) for _ in range(most + 3)]
    messages = [answer.json()["error"]["message"] for answer in await asyncio.gather(*answers)]
    assert sum("searches are already waiting" in message for message in messages) == 3
    after = search.service.health()["searches"]
    assert (after["refused"] - before["refused"], after["failed"] - before["failed"]) == (3, most)
    assert (after["running"], after["waiting"]) == (0, 0)
