"""A browser that dies, hangs, wears out or swells is replaced, and nothing of it is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from footy_simulator.x import XMode
from found_footy.browser.service import BrowserService
from found_footy.errors import AlreadyRunning, EngineError, SettingsError, SourceUnavailable
from found_footy.runtime.process_table import children_of, process_table
from tests.browser.conftest import Opens
from tests.browser.simulated import Searched, SimulatedX, alive, chromium_of, kill

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_browser_killed_between_searches_is_replaced(search: Searched) -> None:
    await search()
    starts = search.starts()
    kill(chromium_of(search.service))
    answers = [await search(), await search()]
    # Its death may be noticed only by the search that meets it.
    assert answers[-1].status_code == 200
    assert answers[0].status_code in (200, 503)
    assert search.starts() == starts + 1


async def test_a_browser_killed_during_a_search_fails_that_search_only(search: Searched, x: SimulatedX) -> None:
    x.state.mode = XMode.HANGING
    under_way = asyncio.create_task(search())
    while not x.state.queries:
        await asyncio.sleep(0.01)
    kill(chromium_of(search.service))
    answer = await under_way
    assert (answer.status_code, answer.json()["error"]["class"]) == (503, "SourceUnavailable")
    x.state.mode = XMode.NORMAL
    assert (await search()).status_code == 200


async def test_a_driver_that_is_killed_is_replaced_with_its_browser(search: Searched) -> None:
    await search()
    starts, old = search.starts(), search.service.processes()
    kill(next(each.pid for each in old if each.parent == os.getpid()))
    answers = [await search(), await search()]
    assert (answers[0].status_code in (200, 503), answers[-1].status_code) == (True, 200)
    assert search.starts() == starts + 1
    assert alive(old) == []


async def test_a_browser_that_does_not_react_is_killed_and_replaced(search: Searched) -> None:
    await search()
    starts, stopped = search.starts(), search.service.processes()
    kill(chromium_of(search.service), signal.SIGSTOP)
    search.hurry(2)
    assert (await search()).status_code == 503
    search.hurry(40)
    assert (await search()).status_code == 200
    assert search.starts() == starts + 1
    assert alive(stopped) == []


async def test_the_browser_is_recycled_by_search_count_and_leaves_no_processes(
    open_service: Opens,
) -> None:
    async with open_service(searches=2) as search:
        first = search.service.processes()
        assert len(first) > 3
        for _ in range(2):
            assert (await search()).status_code == 200
        assert search.starts() == 1
        assert (await search()).status_code == 200
        assert search.starts() == 2
        assert alive(first) == []
        second = search.service.processes()
    assert alive(second) == []


async def test_a_browser_with_too_many_processes_is_renewed_and_reported(open_service: Opens) -> None:
    async with open_service(processes=3) as search:
        assert (await search()).status_code == 200
        assert search.starts() == 2
        health = await search.client.get("/health")
        assert (health.status_code, health.json()["healthy"]) == (503, False)
        assert "limit: 3" in health.json()["error"]["message"]


async def test_a_search_under_way_does_not_hold_up_the_end(open_service: Opens, x: SimulatedX) -> None:
    async with open_service() as search:
        x.state.mode = XMode.HANGING
        under_way = asyncio.create_task(search())
        while not x.state.queries:
            await asyncio.sleep(0.01)
        processes = search.service.processes()
        await search.service.__aexit__(None, None, None)
        assert (await under_way).status_code == 503
        with pytest.raises(SourceUnavailable, match="stopping"):
            await search.browser.start()
    assert alive(processes) == []


async def test_fifty_searches_leak_no_process_and_no_page(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = x.posts[:1]
    x.state.noise = False
    await search(limit="1")
    before = search.service.health()["browser"]
    for _ in range(25):
        answers = await asyncio.gather(search(limit="1"), search(limit="1"))
        assert [each.status_code for each in answers] == [200, 200]
    after = search.service.health()["browser"]
    assert (after["pages"], after["spare_pages"]) == (3, 2)
    assert after["starts"] == before["starts"]
    # Chromium keeps a renderer or two at hand.
    assert after["processes"] <= before["processes"] + 3


async def test_a_second_service_on_the_same_profile_is_refused(search: Searched) -> None:
    with pytest.raises(AlreadyRunning):
        async with BrowserService(search.service.options):
            pass


async def test_a_port_that_is_taken_is_an_error_before_any_browser_starts(
    search: Searched, open_service: Opens
) -> None:
    before = children_of(os.getpid(), process_table())
    taken = int(search.service.url.rsplit(":", 1)[1])
    with pytest.raises(EngineError, match=str(taken)):
        async with open_service(port=taken):
            pass
    assert children_of(os.getpid(), process_table()) == before


async def test_a_program_other_than_a_browser_is_an_error(x: SimulatedX, open_service: Opens) -> None:
    with pytest.raises(SourceUnavailable, match="could not start"):
        async with open_service(executable=Path("/bin/false")):
            pass
    with pytest.raises(SettingsError, match="FOOTY_BROWSER_PATH"):
        async with open_service(executable=Path("/nowhere/chromium")):
            pass
