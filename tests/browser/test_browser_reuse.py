"""A page of X that has done its search well does the next one, and nothing of the first is seen in it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio
from playwright.async_api import Page

from footy_simulator.x import XMode
from found_footy.browser.chromium import Chromium
from found_footy.browser.x_search import TIMELINE, track_traffic
from tests.browser.conftest import Opens
from tests.browser.simulated import Searched, SimulatedX, post

browser = pytest.mark.asyncio(loop_scope="package")
EVENTS = ("request", "response", "requestfinished", "requestfailed", "crash", "close")


def chromium(search: Searched) -> Chromium:
    current = search.browser._current()
    assert current is not None
    return current


def spares(search: Searched) -> list[Page]:
    return list(chromium(search).spares._spare)


@pytest_asyncio.fixture(loop_scope="package")
async def empty(search: Searched) -> Searched:
    """The shared service, without any page that waits."""
    await search()
    for page in spares(search):
        await chromium(search).close_page(page)
    return search


async def crash(page: Page) -> None:
    session = await page.context.new_cdp_session(page)
    gone = asyncio.Event()
    page.on("crash", lambda _: gone.set())
    sent = asyncio.create_task(session.send("Page.crash"))
    await gone.wait()
    # The page that should answer is no more.
    sent.cancel()
    await asyncio.wait({sent})


@browser
async def test_the_next_search_has_the_same_page_and_sees_its_own_posts_only(empty: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post("Wirtz for LFC"), post("Foden for MCFC", ago=40)]
    first, second = [each.id for each in x.posts]
    pages = []
    for query, wanted in (("Wirtz", [first]), ("Foden", [second]), ("Nobody", []), ("Wirtz", [first])):
        assert [each["id"] for each in (await empty(query)).json()["posts"]] == wanted
        pages += spares(empty)
    assert (len(pages), len(set(pages))) == (4, 1)
    assert (empty.facts()["pages"], empty.facts()["spare_pages"]) == (2, 1)


@browser
async def test_an_idle_page_is_blank_without_state(empty: Searched, x: SimulatedX) -> None:
    async with empty.service._pool.page() as first:
        await first.goto(f"{x.url}/search?q=Wirtz")
        await first.evaluate("() => { sessionStorage.setItem('left', '1'); window.name = 'left'; }")
    assert first.url == "about:blank"
    async with empty.service._pool.page() as second:
        await second.goto(f"{x.url}/search?q=Wirtz")
        assert await second.evaluate("() => [sessionStorage.length, window.name]") == [0, ""]
    assert first is second


@browser
async def test_concurrent_searches_use_separate_pages(empty: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(f"Player{number} scores", ago=number + 1) for number in range(6)]
    for _ in range(2):
        answers = await asyncio.gather(*(empty(f"Player{number}") for number in range(6)))
        assert [[each["text"] for each in answer.json()["posts"]] for answer in answers] == [
            [f"Player{number} scores"] for number in range(6)
        ]
    assert (empty.facts()["pages"], empty.facts()["spare_pages"]) == (3, 2)


@browser
async def test_what_is_kept_is_bounded(open_service: Opens) -> None:
    async with open_service(at_once=3, spare_pages=1) as search:
        await asyncio.gather(search("Wirtz"), search("Salah"), search("LFC"))
        assert (search.facts()["pages"], search.facts()["spare_pages"]) == (2, 1)


@browser
async def test_after_so_many_searches_a_page_is_replaced(open_service: Opens) -> None:
    async with open_service(page_uses=2) as search:
        await search()
        (first,) = spares(search)
        await search()
        assert (spares(search), first.is_closed()) == ([], True)
        assert (await search()).status_code == 200
        assert (search.facts()["pages"], search.starts()) == (2, 1)


@browser
@pytest.mark.parametrize("mode", [XMode.RATE_LIMITED, XMode.DOWN, XMode.HANGING, XMode.FROZEN])
async def test_the_page_of_a_search_that_failed_is_closed(empty: Searched, x: SimulatedX, mode: XMode) -> None:
    await empty()
    (page,) = spares(empty)
    x.state.mode = mode
    empty.hurry(2)
    assert (await empty()).status_code != 200
    assert (page.is_closed(), empty.facts()["pages"], empty.facts()["spare_pages"]) == (True, 1, 0)


@browser
async def test_a_page_that_crashes_in_its_search_is_not_used_again(empty: Searched, x: SimulatedX) -> None:
    await empty()
    (page,) = spares(empty)
    x.state.mode, x.state.queries = XMode.HANGING, []
    under_way = asyncio.create_task(empty())
    while not x.state.queries:
        await asyncio.sleep(0.01)
    await crash(page)
    assert (await under_way).status_code == 503
    x.state.mode = XMode.NORMAL
    assert (await empty()).status_code == 200
    assert (page.is_closed(), page in spares(empty), empty.facts()["pages"]) == (True, False, 2)


@browser
async def test_a_page_that_crashes_while_it_waits_is_not_used_again_and_closed(open_service: Opens) -> None:
    async with open_service(upkeep_seconds=0.1) as search:
        await search()
        (page,) = spares(search)
        await crash(page)
        assert search.facts()["spare_pages"] == 0
        assert (await search()).status_code == 200
        while not page.is_closed():
            await asyncio.sleep(0.02)
        assert (search.facts()["strays_closed"], search.starts()) == (1, 1)


@browser
async def test_a_page_that_cannot_be_cleared_is_closed(empty: Searched, x: SimulatedX) -> None:
    async with empty.service._pool.page() as page:
        await page.goto(f"{x.url}/search?q=Wirtz")
        await page.evaluate("() => { setTimeout(() => { for (;;); }, 0); }")
    assert (page.is_closed(), empty.facts()["spare_pages"]) == (True, 0)
    assert (await empty()).status_code == 200


@browser
async def test_idle_pages_are_not_treated_as_leaks(empty: Searched) -> None:
    await empty()
    assert await chromium(empty).fit_metadata() == 0
    assert empty.facts()["spare_pages"] == 1


@browser
async def test_listeners_do_not_pile_up(empty: Searched) -> None:
    counted = []
    for _ in range(3):
        await empty()
        (page,) = spares(empty)
        emitter: Any = page._impl_obj
        counted.append([emitter.listener_count(event) for event in EVENTS])
    assert counted[0] == counted[1] == counted[2]
    assert counted[0][:4] == [0, 0, 0, 0]


class Listened:
    """As much of a page as is listened to."""

    def __init__(self) -> None:
        self.heard: dict[str, Any] = {}

    def on(self, event: str, listener: Any) -> None:
        self.heard[event] = listener

    def remove_listener(self, event: str, listener: Any) -> None:
        assert self.heard.pop(event) == listener


class Asked:
    """A request, which is itself and no other, however alike."""

    def __init__(self, url: str = f"/{TIMELINE}", kind: str = "fetch") -> None:
        self.url, self.resource_type = url, kind


def test_requests_of_an_earlier_search_are_ignored() -> None:
    page, old, own = Listened(), Asked(), Asked()
    with track_traffic(cast(Page, page)) as traffic:
        page.heard["response"](SimpleNamespace(url=old.url, status=429, request=old, headers={}))
        page.heard["requestfailed"](old)
        page.heard["requestfailed"](Asked("/main.js", "script"))
        assert (traffic.pending, traffic.status, traffic.scripts_failed) == (0, None, 0)
        page.heard["request"](own)
        assert traffic.pending == 1
        page.heard["response"](SimpleNamespace(url=own.url, status=200, request=own, headers={}))
        page.heard["requestfinished"](own)
        assert (traffic.pending, traffic.status) == (0, 200)
        page.heard["request"](script := Asked("/main.js", "script"))
        page.heard["requestfailed"](script)
        assert traffic.scripts_failed == 1
    assert page.heard == {}
