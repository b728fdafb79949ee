"""One search on one page: open it, wait for a known sign, read, scroll, and return the posts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from found_footy.adapters.browser.changed_pages import keep_page
from found_footy.adapters.browser.options import BrowserOptions
from found_footy.adapters.browser.reading import (
    MOST_ARTICLES,
    READ_PAGE,
    FoundPost,
    PageReading,
    Sign,
    Traffic,
    check_videos,
    enough,
    page_reading,
    sign_of,
    wanted,
)
from found_footy.domain.errors import (
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)

LOOK_SECONDS = 0.1
GROWTH_SECONDS = 0.6
"""After scrolling, how long a page that asks for nothing has to show more."""
SCROLL = """() => new Promise((done) => {
  window.scrollTo(0, document.documentElement.scrollHeight);
  // The page hears of it with its next picture; one in the background paints none.
  setTimeout(done, 300);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
TIMELINE = "SearchTimeline"
"""The name in the address of the request by which X's page gets its posts."""


MayScroll = Callable[[], Awaitable[bool]]
"""Asked before each scroll, which costs a search call of the account."""


async def always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SearchOrder:
    query: str
    since: datetime | None = None
    limit: int = 50


def search_url(x_url: str, query: str) -> str:
    terms = {"q": f"{query} filter:videos", "src": "typed_query", "f": "live"}
    return f"{x_url.rstrip('/')}/search?{urlencode(terms)}"


@contextmanager
def listening(page: Page, listeners: Mapping[str, Callable[[Any], None]]) -> Iterator[None]:
    """The page outlives the search: what listens for this one must not hear of the next."""
    add: Callable[..., None] = page.on
    for event, listener in listeners.items():
        add(event, listener)
    try:
        yield
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)


@contextmanager
def watched_traffic(page: Page) -> Iterator[Traffic]:
    """Counts the page's requests for posts. Listeners do nothing that can fail.

    The end of a request counts only where its beginning was seen: the page may still tell of those of the search that
    it was used for before.
    """
    traffic = Traffic()
    asked: set[Request] = set()

    def began(request: Request) -> None:
        asked.add(request)
        if TIMELINE in request.url:
            traffic.pending += 1

    def answered(response: Response) -> None:
        if TIMELINE in response.url and response.request in asked:
            traffic.status = response.status
            traffic.reset = reset_time(response.headers.get("x-rate-limit-reset", ""))

    def ended(request: Request) -> None:
        if request in asked:
            asked.remove(request)
            traffic.pending -= TIMELINE in request.url

    def failed(request: Request) -> None:
        traffic.scripts_failed += request in asked and request.resource_type == "script"
        ended(request)

    heard: dict[str, Callable[[Any], None]] = {
        "request": began,
        "response": answered,
        "requestfinished": ended,
        "requestfailed": failed,
    }
    with listening(page, heard):
        yield traffic


def reset_time(header: str) -> datetime | None:
    """X gives seconds since 1970."""
    if not (header.isascii() and header.isdecimal() and len(header) <= 11):
        return None
    return datetime.fromtimestamp(int(header), UTC)


async def search_page(
    page: Page, order: SearchOrder, options: BrowserOptions, may_scroll: MayScroll = always
) -> list[FoundPost]:
    """Raises a SourceError; errors of the browser itself pass through."""
    crashed = asyncio.Event()
    with watched_traffic(page) as traffic, listening(page, {"crash": lambda _: crashed.set()}):
        return await _unless(crashed, _search(page, traffic, order, options, may_scroll, time.monotonic()))


async def _unless(crashed: asyncio.Event, search: Coroutine[Any, Any, list[FoundPost]]) -> list[FoundPost]:
    work = asyncio.create_task(search)
    crash = asyncio.create_task(crashed.wait())
    try:
        # Calls to a page that has crashed are not sure to ever return.
        await asyncio.wait({work, crash}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise SourceUnavailable("the page crashed")
        return work.result()
    finally:
        for task in (work, crash):
            task.cancel()
        await asyncio.wait({work, crash})


async def _search(
    page: Page,
    traffic: Traffic,
    order: SearchOrder,
    options: BrowserOptions,
    may_scroll: MayScroll,
    began: float,
) -> list[FoundPost]:
    url = search_url(options.x_url, order.query)
    try:
        response = await page.goto(url, wait_until="commit", timeout=options.sign_seconds * 1000)
    except PlaywrightTimeout:
        raise SourceUnavailable(f"X did not answer within {options.sign_seconds:g} s") from None
    if response is not None and response.status >= 400:
        # A page that is closed while it takes the place of another one may never say that it is closed.
        with suppress(PlaywrightTimeout):
            await page.wait_for_load_state(timeout=2000)
        raise _refusal(response.status)
    reading, sign = await _first_sign(page, traffic, began + options.sign_seconds)
    match sign:
        case Sign.EMPTY:
            return []
        case Sign.LOGGED_OUT:
            raise SourceLoggedOut(f"X asks for a login at {reading.path}")
        case Sign.RATE_LIMITED:
            raise SourceRateLimited.ending(traffic.reset, "X refuses further searches for now")
        case Sign.FAILED:
            raise SourceUnavailable(f"X answered the search with HTTP {traffic.status}")
        case Sign.REFUSED:
            raise await _kept(page, f"X answered the search with HTTP {traffic.status}", options)
        case Sign.NONE:
            raise await _nothing_known(page, reading, traffic, options)
    try:
        return await _collect(page, reading, traffic, order, options, may_scroll, began + options.scroll_seconds)
    except SourceChanged as error:
        raise await _kept(page, str(error), options) from None


def _refusal(status: int) -> SourceError:
    message = f"X answered the page with HTTP {status}"
    match status:
        case 429:
            return SourceRateLimited(message)
        case 401:
            return SourceLoggedOut(message)
    return SourceUnavailable(message)


async def _look(page: Page) -> PageReading:
    return page_reading(await page.evaluate(READ_PAGE, MOST_ARTICLES))


async def _first_sign(page: Page, traffic: Traffic, latest: float) -> tuple[PageReading, Sign]:
    reading = PageReading(path="")
    while True:
        try:
            reading = await _look(page)
        except PlaywrightError as error:
            # The page went elsewhere while it was read, to the login for one.
            if "context was destroyed" not in error.message and "navigation" not in error.message:
                raise
        sign = sign_of(reading, traffic)
        if sign is not Sign.NONE or time.monotonic() > latest:
            return reading, sign
        await asyncio.sleep(LOOK_SECONDS)


async def _collect(
    page: Page,
    reading: PageReading,
    traffic: Traffic,
    order: SearchOrder,
    options: BrowserOptions,
    may_scroll: MayScroll,
    latest: float,
) -> list[FoundPost]:
    """Posts are collected while scrolling, because X removes those far above from the page."""
    found: dict[str, FoundPost] = {}
    for scrolled in range(options.scrolls + 1):
        known = len(found)
        found.update((post.id, post) for post in reading.posts)
        kept = len(wanted(found, order.limit, order.since))
        if len(found) == known or enough(reading, kept, order.limit, order.since) or time.monotonic() > latest:
            break
        if scrolled == options.scrolls or not await may_scroll():
            break
        reading = await _scrolled(page, found, traffic, latest)
    check_videos(found)
    return wanted(found, order.limit, order.since)


async def _scrolled(page: Page, found: dict[str, FoundPost], traffic: Traffic, latest: float) -> PageReading:
    """The page after it has grown, or as it is when it does not."""
    await page.evaluate(SCROLL)
    busy_at = time.monotonic()
    while True:
        reading = await _look(page)
        now = time.monotonic()
        if traffic.pending:
            busy_at = now
        if any(post.id not in found for post in reading.posts) or now > min(latest, busy_at + GROWTH_SECONDS):
            return reading
        await asyncio.sleep(LOOK_SECONDS)


async def _nothing_known(
    page: Page, reading: PageReading, traffic: Traffic, options: BrowserOptions
) -> SourceUnavailable | SourceChanged:
    """A page that is still under way has not changed; one that is complete and says nothing known has."""
    waited = f"within {options.sign_seconds:g} s"
    if traffic.pending or not reading.loaded or not reading.path:
        return SourceUnavailable(f"X's page did not come {waited}")
    if traffic.scripts_failed:
        return SourceUnavailable(f"X's page did not come {waited}: {traffic.scripts_failed} scripts failed")
    if reading.unreadable:
        return await _kept(page, f"none of the {reading.unreadable} posts on X's page can be read", options)
    return await _kept(page, f"X's page shows nothing that we know {waited}", options)


async def _kept(page: Page, message: str, options: BrowserOptions) -> SourceChanged:
    kept = await keep_page(page, options.changed_pages)
    return SourceChanged(f"{message}; the page is kept as {kept}" if kept else message)
