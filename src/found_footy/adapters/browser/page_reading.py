"""One page of a feed: open it, wait until its script has shown what we know, read it, and tell what came of it."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from found_footy.adapters.browser.changed_pages import keep_page
from found_footy.adapters.browser.options import BrowserOptions
from found_footy.adapters.browser.readers import PAGE_SIGNS, READERS, PageSigns, Reading, Sign, reading_of, signs_of
from found_footy.adapters.browser.running_chromium import first_line
from found_footy.domain.errors import (
    FeedBlocked,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedUnavailable,
    FootyError,
    NotFound,
    PageNotOpened,
)

LOOK_SECONDS = 0.1
QUIET_LOOKS = 10
LOOK_GRACE = 5.0
"""For a look that has begun: to turn over the pages of a scorecard takes its time."""
MOST_BYTES = 24 * 1024 * 1024
"""Of a page with all that it asks for, unpacked."""
MOST_READ = 1024 * 1024
WATCHED = frozenset({"document", "script", "xhr", "fetch"})
"""What a page needs to show its data."""


@dataclass(frozen=True, slots=True)
class PageOrder:
    url: str
    reader: str
    until: str | None = None
    """The last day of a list that is wanted, as 2026-08-22."""


class PageTraffic:
    """What a page asks for, and what came of it. Listeners do nothing that can fail."""

    def __init__(self, page: Page) -> None:
        self.pending = 0
        self.failed = 0
        self.moved_at = time.monotonic()
        self.bytes = 0
        self.sent_to = ""
        """Where the page itself was last looked for: redirects lead on."""
        self.ended = asyncio.Event()
        """The page has crashed, or is too large."""
        self._page = page
        page.on("request", self._began)
        page.on("requestfinished", lambda request: self._note(request))
        page.on("requestfailed", lambda request: self._note(request, failed=True))
        page.on("response", self._answered)
        page.on("crash", lambda _: self.ended.set())

    def _began(self, request: Request) -> None:
        self._note(request, began=True)
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.sent_to = request.url

    def _note(self, request: Request, *, began: bool = False, failed: bool = False) -> None:
        if request.resource_type in WATCHED:
            self.pending += 1 if began else -1
            self.failed += failed
            self.moved_at = time.monotonic()

    def _answered(self, response: Response) -> None:
        if response.request.resource_type in WATCHED:
            self.failed += response.status >= 400
            self.moved_at = time.monotonic()

    def received(self, event: dict[str, Any]) -> None:
        self.bytes += event.get("dataLength", 0)
        if self.bytes > MOST_BYTES:
            self.ended.set()


def allowed(url: str, hosts: tuple[str, ...]) -> bool:
    """Whether a page may be read: a host of the list, on its own port or the web's."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or host is None or parts.username is not None:
        return False
    return f"{host}:{port}" in hosts or (port in (None, 80, 443) and host in hosts)


async def read_page(page: Page, order: PageOrder, options: BrowserOptions) -> dict[str, Any]:
    """Raises a FeedError, NotFound where the site has no such page, and lets the browser's own errors through."""
    traffic = PageTraffic(page)
    session = await page.context.new_cdp_session(page)
    # Playwright's own events tell of sizes only at the end, which may be never.
    session.on("Network.dataReceived", traffic.received)
    await session.send("Network.enable")
    work = asyncio.create_task(_read(page, traffic, order, options))
    end = asyncio.create_task(traffic.ended.wait())
    try:
        # Calls to a page that has crashed are not sure to ever return.
        await asyncio.wait({work, end}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            if traffic.bytes > MOST_BYTES:
                raise FeedMalformed(f"the page is larger than {MOST_BYTES // 1024**2} MiB")
            raise FeedUnavailable("the page crashed")
        return work.result()
    finally:
        for task in (work, end):
            task.cancel()
        await asyncio.wait({work, end})


async def _read(page: Page, traffic: PageTraffic, order: PageOrder, options: BrowserOptions) -> dict[str, Any]:
    try:
        response = await _opened(page, order.url, options)
    except PageNotOpened:
        _refuse_elsewhere(traffic.sent_to, options)
        raise
    _refuse_elsewhere(page.url, options)
    if response is not None and response.status >= 400:
        raise await _refusal(page, response)
    latest = time.monotonic() + options.navigation_seconds
    looks, moved_at = 0, traffic.moved_at
    while True:
        reading, signs = await _look(page, order, max(0.1, latest - time.monotonic()) + LOOK_GRACE)
        if reading.sign is Sign.MISSING:
            raise NotFound("the site has no such page")
        if reading.data is not None:
            return _bounded(reading.data)
        if (blocked := signs.blocked) is not None:
            raise FeedBlocked(blocked)
        now = time.monotonic()
        looks, moved_at = looks + 1 if moved_at == traffic.moved_at else 0, traffic.moved_at
        # On a busy machine a page may take its time between two requests; but then it takes it for our looks, too.
        quiet = signs.loaded and not traffic.pending and looks >= QUIET_LOOKS and now - moved_at > options.quiet_seconds
        if quiet or now > latest:
            raise await _nothing_known(page, signs, traffic, options)
        await asyncio.sleep(LOOK_SECONDS)


def _refuse_elsewhere(url: str, options: BrowserOptions) -> None:
    if url and not allowed(url, options.page_hosts):
        raise FeedBlocked(f"the page is sent on to {(urlsplit(url).hostname or 'nowhere')[:100]}")


async def _opened(page: Page, url: str, options: BrowserOptions) -> Response | None:
    try:
        return await page.goto(url, wait_until="commit", timeout=options.navigation_seconds * 1000)
    except PlaywrightTimeout:
        raise PageNotOpened(f"the page did not come within {options.navigation_seconds:g} s") from None
    except PlaywrightError as error:
        if "ERR_TOO_MANY_REDIRECTS" in error.message:
            raise PageNotOpened("the page's redirects go in a circle") from error
        if "net::" in error.message or "Download is starting" in error.message:
            raise PageNotOpened(f"the page did not come: {first_line(error).partition(' at ')[0][:150]}") from error
        raise


async def _refusal(page: Page, response: Response) -> FootyError:
    # A page that is closed while it takes the place of another one may never say that it is closed.
    with suppress(PlaywrightTimeout):
        await page.wait_for_load_state(timeout=2000)
    signs = await _signs(page)
    headers = await response.all_headers()
    said = f"the page came with HTTP {response.status}"
    if signs.blocked is not None or "cf-mitigated" in headers or response.status in (401, 403):
        return FeedBlocked(f"{said}, and {signs.blocked}" if signs.blocked else said)
    if response.status in (404, 410):
        return NotFound(said)
    if response.status == 429:
        return FeedRateLimited(said)
    return FeedUnavailable(said) if response.status >= 500 else FeedRejected(said)


async def _look(page: Page, order: PageOrder, seconds: float) -> tuple[Reading, PageSigns]:
    try:
        async with asyncio.timeout(seconds):
            raw = await page.evaluate(READERS[order.reader], {"until": order.until})
    except TimeoutError:
        raise FeedUnavailable(f"the page did not react within {seconds:.2g} s") from None
    except PlaywrightError as error:
        if page.is_closed() or "closed" in error.message:
            raise
        # It is on its way elsewhere, or its script is not there yet; the next look tells.
        return Reading(Sign.WAITING), PageSigns()
    reading = reading_of(raw)
    return reading, PageSigns() if reading.data is not None else await _signs(page)


async def _signs(page: Page) -> PageSigns:
    try:
        return signs_of(await page.evaluate(PAGE_SIGNS))
    except PlaywrightError:
        return PageSigns()


def _bounded(data: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it, since a page may hold halves of letters, and values that are none of JSON's."""
    try:
        text = json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "replace")
    except (ValueError, RecursionError) as error:
        raise FeedMalformed("what the page shows cannot be written down") from error
    if len(text) > MOST_READ:
        raise FeedMalformed("what the page shows is too much to be true")
    read: dict[str, Any] = json.loads(text)
    return read


async def _nothing_known(page: Page, signs: PageSigns, traffic: PageTraffic, options: BrowserOptions) -> FeedError:
    """A page that is still under way has not changed; one that is complete and says nothing known has."""
    if traffic.failed:
        return FeedUnavailable(f"the page shows nothing: {traffic.failed} of its requests failed")
    if traffic.pending or not signs.loaded:
        return FeedUnavailable(f"the page did not show anything within {options.navigation_seconds:g} s")
    kept = await keep_page(page, options.changed_pages)
    message = "the page shows nothing that we know"
    return FeedMalformed(f"{message}; it is kept as {kept}" if kept else message)
