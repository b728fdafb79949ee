"""The browser is started anew when somebody asks, and looked after while nobody does."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from footy_simulator.crex import CrexMode
from found_footy.browser.chromium import ProcessTree
from found_footy.browser.recycling import MAX_RECYCLES, Recycle, RecycleLog, RecycleReason
from found_footy.runtime.process_table import children_of, process_table
from tests.browser.conftest import Opens
from tests.browser.simulated import Searched, SimulatedX, alive, chromium_of, kill, match_page

browser = pytest.mark.asyncio(loop_scope="package")
NOW = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)


async def recycle(search: Searched, reason: str = "feeds are stale") -> dict[str, Any]:
    answer = await search.client.post("/recycle", json={"reason": reason})
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


@browser
async def test_a_recycle_stops_the_old_browser_and_reports_before_and_after(search: Searched, x: SimulatedX) -> None:
    await search.page(match_page(x))
    old = search.service.processes()
    said = await recycle(search)
    assert alive(old) == []
    assert said["after"]["starts"] == said["before"]["starts"] + 1
    assert (said["recycle"]["reason"], said["recycle"]["why"]) == ("manual", "feeds are stale")
    assert (said["recycle"]["tasks"] > 0, said["after"]["tasks"]) == (True, 0)
    assert said["recycle"]["pids_before"] >= 3
    facts = search.facts()
    assert facts["recycles"][-1]["why"] == "feeds are stale"
    assert facts["recycles_total"]["manual"] >= 1
    assert (await search.page(match_page(x))).status_code == 200


@browser
async def test_a_recycle_waits_for_the_page_that_is_read(search: Searched, x: SimulatedX) -> None:
    reading = asyncio.create_task(search.page(match_page(x)))
    while not x.crex.matches:
        await asyncio.sleep(0.01)
    said = await recycle(search)
    assert reading.done()
    assert reading.result().status_code == 200
    assert said["after"]["contexts"] == 1


@browser
async def test_a_recycle_waits_only_for_a_bounded_time(open_service: Opens, x: SimulatedX) -> None:
    async with open_service(recycle_seconds=0.2) as search:
        x.crex.mode = CrexMode.HANGING
        reading = asyncio.create_task(search.page(match_page(x)))
        while not x.crex.matches:
            await asyncio.sleep(0.01)
        await recycle(search)
        answer = await reading
        assert (answer.status_code, answer.json()["error"]["class"]) == (503, "FeedUnavailable")
        x.crex.mode = CrexMode.NORMAL
        assert (await search.page(match_page(x))).status_code == 200


@browser
async def test_concurrent_recycle_requests_share_one_recycle(search: Searched) -> None:
    starts = search.starts()
    said = await asyncio.gather(*(recycle(search, f"reason {number}") for number in range(3)))
    assert len({each["recycle"]["at"] for each in said}) == 1
    assert search.starts() == starts + 1


@browser
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"reason": "x"}', "text/plain"),
        (b"reason=x", "application/x-www-form-urlencoded"),
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b'{"reason": 5}', "application/json"),
        (b'{"reason": "' + b"x" * 201 + b'"}', "application/json"),
        (b'{"reason": "a\\nb"}', "application/json"),
        (b'{"reason": "' + b"x" * 5000 + b'"}', "application/json"),
    ],
)
async def test_a_recycle_request_must_be_json(search: Searched, content: bytes, kind: str) -> None:
    """A page in somebody's browser can send the other kinds to loopback without asking."""
    starts = search.starts()
    answer = await search.client.post("/recycle", content=content, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")
    assert (await search.client.get("/recycle")).status_code == 405
    assert search.starts() == starts


@browser
@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"hours": 0.000_2}, "uptime"), ({"processes": 3}, "processes"), ({"searches": 1}, "task_count")],
)
async def test_a_worn_browser_is_recycled_while_idle(
    open_service: Opens, x: SimulatedX, changes: dict[str, float], reason: str
) -> None:
    async with open_service(upkeep_seconds=0.1, **changes) as search:
        # On a busy machine it may be renewed before the page is read as well, or this very moment.
        before, old = search.facts()["recycles_total"][reason], search.service.processes()
        assert (await search.page(match_page(x))).status_code == 200
        while search.facts()["recycles_total"][reason] == before or alive(old):
            await asyncio.sleep(0.02)
        assert search.facts()["recycles"][-1]["reason"] == reason


@browser
async def test_a_dead_browser_is_restarted_before_the_next_request(open_service: Opens) -> None:
    async with open_service(upkeep_seconds=0.1) as search:
        kill(chromium_of(search.service))
        while search.starts() < 2 or not search.facts()["up_since"]:
            await asyncio.sleep(0.02)
        assert search.facts()["recycles_total"]["crashed"] == 1


@browser
async def test_leaked_windows_and_contexts_are_closed(open_service: Opens, x: SimulatedX) -> None:
    async with open_service(upkeep_seconds=0.1) as search:
        chromium = search.browser._current()
        assert chromium is not None
        chromium.opening += 1  # nobody closes them before both are there
        await chromium.context.new_page()
        await (await chromium.browser.new_context()).new_page()
        chromium.opening -= 1
        while search.facts()["strays_closed"] < 2:
            await asyncio.sleep(0.02)
        assert (search.facts()["contexts"], search.facts()["pages"]) == (1, 1)
        assert (await search.page(match_page(x))).status_code == 200


@browser
async def test_a_reset_closes_pages_and_contexts_and_keeps_the_browser(open_service: Opens, x: SimulatedX) -> None:
    async with open_service() as search:
        assert (await search.page(match_page(x))).status_code == 200
        chromium = search.browser._current()
        assert chromium is not None
        await chromium.context.new_page()
        await (await chromium.browser.new_context()).new_page()
        before = search.facts()["pages"]
        answer = await search.client.post("/reset", json={"reason": "a test"})
        assert answer.json() == {"closed": before - 1}
        assert (search.facts()["contexts"], search.facts()["pages"]) == (1, 1)
        assert (await search.page(match_page(x))).status_code == 200
        assert (search.starts(), sum(search.facts()["recycles_total"].values())) == (1, 0)


@browser
async def test_an_orphaned_browser_process_is_killed_by_pid(open_service: Opens) -> None:
    async with open_service(upkeep_seconds=0.1) as search:
        mark = "FOUND_FOOTY_TEST=leaked"
        name, _, value = mark.partition("=")
        leaked = await asyncio.create_subprocess_exec(
            "sleep", "600", env={**os.environ, name: value}, start_new_session=True
        )
        search.browser._process_trees.append(ProcessTree(leaked.pid, mark))
        assert await leaked.wait() == -signal.SIGKILL
        while not search.facts()["leaked_ended"]:
            await asyncio.sleep(0.02)
        assert search.facts()["starts"] == 1


@browser
async def test_stopping_during_maintenance_leaves_no_processes(open_service: Opens) -> None:
    before = children_of(os.getpid(), process_table())
    async with open_service(upkeep_seconds=0.01, hours=0.000_05):
        pass
    assert children_of(os.getpid(), process_table()) <= before


def test_the_last_recycles_are_remembered_and_all_are_counted() -> None:
    log = RecycleLog()
    for number in range(MAX_RECYCLES + 5):
        at = NOW + timedelta(hours=number)
        log.note(Recycle(at, RecycleReason.UPTIME, "old", 12, 11, 21600.0, number, 1.5))
    assert len(log.last) == MAX_RECYCLES
    assert (log.last[-1].tasks, log.last[0].tasks) == (MAX_RECYCLES + 4, 5)
    assert log.by_reason["uptime"] == MAX_RECYCLES + 5
    assert set(log.by_reason) == {"uptime", "task_count", "processes", "manual", "recovery", "crashed", "stuck"}
