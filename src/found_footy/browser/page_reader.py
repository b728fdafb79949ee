"""Reads pages of feeds, and saves unrecognized pages for inspection."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from found_footy.browser.chromium import first_line
from found_footy.browser.models import BrowserOptions
from found_footy.errors import (
    FeedBlocked,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedRejected,
    FeedUnavailable,
    FootyError,
    NotFound,
    PageLoadFailed,
)
from found_footy.runtime.clock import utc_now

log = logging.getLogger(__name__)

MAX_SAVED_PAGES = 5
MAX_SAVED_BYTES = 2_000_000
SAVE_TIMEOUT_SECONDS = 2


async def save_unrecognized_page(page: Page, folder: Path) -> Path | None:
    """Save the page and return the file, or None if that fails."""
    try:
        async with asyncio.timeout(SAVE_TIMEOUT_SECONDS):
            html = await page.content()
        return write_page(html, folder, utc_now())
    except (TimeoutError, PlaywrightError, OSError) as error:
        log.warning("could not save the page: %s", error, extra={"action": "page_not_stored"})
        return None


def write_page(html: str, folder: Path, now: datetime) -> Path:
    """Write the file readable for the owner only, because a page of X shows the account."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{now:%Y%m%dT%H%M%S.%fZ}.html"
    path.touch(mode=0o600)
    path.write_bytes(html.encode("utf-8", "replace")[:MAX_SAVED_BYTES])
    for old in sorted(folder.glob("*.html"))[:-MAX_SAVED_PAGES]:
        old.unlink(missing_ok=True)
    return path


# --- Page readers: a script per kind of page, and validation of its result.


_HERE = files("found_footy.browser")
READERS = {
    "crex_list": _HERE.joinpath("read_crex_list.js").read_text("utf-8"),
    "crex_match": _HERE.joinpath("read_crex_match.js").read_text("utf-8"),
}
"""JavaScript functions by name. Each takes `{until}` and returns `{sign, data}`."""
PAGE_SIGNS = _HERE.joinpath("page_signs.js").read_text("utf-8")

_CHALLENGE_WORDS = re.compile(
    r"just a moment|attention required|verify (that )?you are (a )?human|are you (a )?(human|robot)|captcha"
    r"|unusual traffic|access denied|checking your browser|before you continue|enable javascript and cookies",
    re.IGNORECASE,
)
MIN_CONTENT_LENGTH = 1500
"""Minimum text length of a page with real content, which is never treated as a challenge."""


class PageState(StrEnum):
    READY = "ready"
    WAITING = "waiting"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class PageResult:
    state: PageState
    data: dict[str, Any] | None = None


def parse_result(raw: object) -> PageResult:
    """Validate the script's result. Anything invalid counts as waiting."""
    name = raw.get("sign") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(name, str) or name not in set(PageState):
        return PageResult(PageState.WAITING)
    state, data = PageState(name), raw.get("data")
    if state is PageState.READY and not isinstance(data, dict):
        return PageResult(PageState.WAITING)
    return PageResult(state, data if state is PageState.READY else None)


@dataclass(frozen=True, slots=True)
class PageSigns:
    loaded: bool = False
    challenge: bool = False
    title: str = ""
    text: str = ""

    @property
    def blocked(self) -> str | None:
        """Why the page is blocked, or None."""
        words = _CHALLENGE_WORDS.search(f"{self.title}\n{self.text}") if len(self.text) < MIN_CONTENT_LENGTH else None
        if words is not None:
            return f"the page shows {words[0]!r}"
        return "the page requires a captcha or consent" if self.challenge and self.loaded else None


def parse_signs(raw: object) -> PageSigns:
    if not isinstance(raw, dict):
        return PageSigns()
    title, text = raw.get("title"), raw.get("text")
    return PageSigns(
        loaded=raw.get("loaded") is True,
        challenge=raw.get("challenge") is True,
        title=title if isinstance(title, str) else "",
        text=text if isinstance(text, str) else "",
    )


# --- Reading one page of a feed.


POLL_INTERVAL_SECONDS = 0.1
QUIET_POLLS = 10
EVALUATION_GRACE = 5.0
"""Extra time for a started evaluation, because paging through a scorecard takes a while."""
MAX_PAGE_BYTES = 24 * 1024 * 1024
"""Maximum decompressed bytes of a page and its requests."""
MAX_DATA_BYTES = 1024 * 1024
WATCHED_RESOURCE_TYPES = frozenset({"document", "script", "xhr", "fetch"})
"""Resource types that a page needs to show its data."""


@dataclass(frozen=True, slots=True)
class PageReadRequest:
    url: str
    reader: str
    until: str | None = None
    """Last day of a list, as 2026-08-22."""


class PageTraffic:
    """Requests of a page and their results. Listeners must not raise."""

    def __init__(self, page: Page) -> None:
        self.pending = 0
        self.failed = 0
        self.last_activity = time.monotonic()
        self.bytes = 0
        self.navigated_to = ""
        """Last navigation URL of the page, after redirects."""
        self.ended = asyncio.Event()
        """Set when the page crashes or is too large."""
        self._page = page
        page.on("request", self._on_request)
        page.on("requestfinished", lambda request: self._note(request))
        page.on("requestfailed", lambda request: self._note(request, failed=True))
        page.on("response", self._on_response)
        page.on("crash", lambda _: self.ended.set())

    def _on_request(self, request: Request) -> None:
        self._note(request, began=True)
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.navigated_to = request.url

    def _note(self, request: Request, *, began: bool = False, failed: bool = False) -> None:
        if request.resource_type in WATCHED_RESOURCE_TYPES:
            self.pending += 1 if began else -1
            self.failed += failed
            self.last_activity = time.monotonic()

    def _on_response(self, response: Response) -> None:
        if response.request.resource_type in WATCHED_RESOURCE_TYPES:
            self.failed += response.status >= 400
            self.last_activity = time.monotonic()

    def on_data(self, event: dict[str, Any]) -> None:
        self.bytes += event.get("dataLength", 0)
        if self.bytes > MAX_PAGE_BYTES:
            self.ended.set()


def is_allowed(url: str, hosts: tuple[str, ...]) -> bool:
    """Whether a page may be read: its host is in the list, with its port or a default one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or host is None or parts.username is not None:
        return False
    return f"{host}:{port}" in hosts or (port in (None, 80, 443) and host in hosts)


async def read_page(page: Page, request: PageReadRequest, options: BrowserOptions) -> dict[str, Any]:
    """Read a page. Raises a FeedError, or NotFound if the site has no such page; browser errors pass through."""
    traffic = PageTraffic(page)
    session = await page.context.new_cdp_session(page)
    # Playwright reports sizes only when a request finishes, which may never happen.
    session.on("Network.dataReceived", traffic.on_data)
    await session.send("Network.enable")
    reading = asyncio.create_task(_read(page, traffic, request, options))
    page_ended = asyncio.create_task(traffic.ended.wait())
    try:
        # Calls to a crashed page may never return.
        await asyncio.wait({reading, page_ended}, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            if traffic.bytes > MAX_PAGE_BYTES:
                raise FeedMalformed(f"the page is larger than {MAX_PAGE_BYTES // 1024**2} MiB")
            raise FeedUnavailable("the page crashed")
        return reading.result()
    finally:
        for task in (reading, page_ended):
            task.cancel()
        await asyncio.wait({reading, page_ended})


async def _read(page: Page, traffic: PageTraffic, request: PageReadRequest, options: BrowserOptions) -> dict[str, Any]:
    try:
        response = await _open_page(page, request.url, options)
    except PageLoadFailed:
        _reject_redirect(traffic.navigated_to, options)
        raise
    _reject_redirect(page.url, options)
    if response is not None and response.status >= 400:
        raise await _error_for_response(page, response)
    deadline = time.monotonic() + options.navigation_seconds
    quiet_polls, last_activity = 0, traffic.last_activity
    while True:
        reading, signs = await _evaluate(page, request, max(0.1, deadline - time.monotonic()) + EVALUATION_GRACE)
        if reading.state is PageState.MISSING:
            raise NotFound("the site has no such page")
        if reading.data is not None:
            return _sanitize_data(reading.data)
        if (blocked := signs.blocked) is not None:
            raise FeedBlocked(blocked)
        now = time.monotonic()
        quiet_polls, last_activity = (
            quiet_polls + 1 if last_activity == traffic.last_activity else 0,
            traffic.last_activity,
        )
        # Count evaluations as well as time: on a busy machine both a page's requests and our evaluations are slow.
        is_quiet = (
            signs.loaded
            and not traffic.pending
            and quiet_polls >= QUIET_POLLS
            and now - last_activity > options.quiet_seconds
        )
        if is_quiet or now > deadline:
            raise await _unrecognized_page_error(page, signs, traffic, options)
        await asyncio.sleep(POLL_INTERVAL_SECONDS)


def _reject_redirect(url: str, options: BrowserOptions) -> None:
    if url and not is_allowed(url, options.page_hosts):
        raise FeedBlocked(f"the page redirects to {(urlsplit(url).hostname or 'nowhere')[:100]}")


async def _open_page(page: Page, url: str, options: BrowserOptions) -> Response | None:
    try:
        return await page.goto(url, wait_until="commit", timeout=options.navigation_seconds * 1000)
    except PlaywrightTimeout:
        raise PageLoadFailed(f"the page did not load within {options.navigation_seconds:g} s") from None
    except PlaywrightError as error:
        if "ERR_TOO_MANY_REDIRECTS" in error.message:
            raise PageLoadFailed("the page has a redirect loop") from error
        if "net::" in error.message or "Download is starting" in error.message:
            raise PageLoadFailed(f"the page did not load: {first_line(error).partition(' at ')[0][:150]}") from error
        raise


async def _error_for_response(page: Page, response: Response) -> FootyError:
    # A page closed during a navigation may never report its close event.
    with suppress(PlaywrightTimeout):
        await page.wait_for_load_state(timeout=2000)
    signs = await _read_signs(page)
    headers = await response.all_headers()
    message = f"the page answered with HTTP {response.status}"
    if signs.blocked is not None or "cf-mitigated" in headers or response.status in (401, 403):
        return FeedBlocked(f"{message}, and {signs.blocked}" if signs.blocked else message)
    if response.status in (404, 410):
        return NotFound(message)
    if response.status == 429:
        return FeedRateLimited(message)
    return FeedUnavailable(message) if response.status >= 500 else FeedRejected(message)


async def _evaluate(page: Page, request: PageReadRequest, seconds: float) -> tuple[PageResult, PageSigns]:
    try:
        async with asyncio.timeout(seconds):
            raw = await page.evaluate(READERS[request.reader], {"until": request.until})
    except TimeoutError:
        raise FeedUnavailable(f"the page did not respond within {seconds:.2g} s") from None
    except PlaywrightError as error:
        if page.is_closed() or "closed" in error.message:
            raise
        # The page is navigating or its script is not loaded yet; the next poll decides.
        return PageResult(PageState.WAITING), PageSigns()
    reading = parse_result(raw)
    return reading, PageSigns() if reading.data is not None else await _read_signs(page)


async def _read_signs(page: Page) -> PageSigns:
    try:
        return parse_signs(await page.evaluate(PAGE_SIGNS))
    except PlaywrightError:
        return PageSigns()


def _sanitize_data(data: dict[str, Any]) -> dict[str, Any]:
    """Round-trip the data through JSON, because a page may contain lone surrogates and values outside JSON."""
    try:
        text = json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "replace")
    except (ValueError, RecursionError) as error:
        raise FeedMalformed("the page data is not valid JSON") from error
    if len(text) > MAX_DATA_BYTES:
        raise FeedMalformed("the page data is too large")
    read: dict[str, Any] = json.loads(text)
    return read


async def _unrecognized_page_error(
    page: Page, signs: PageSigns, traffic: PageTraffic, options: BrowserOptions
) -> FeedError:
    """Return the error for a page without known content: unavailable if still loading, malformed if complete."""
    if traffic.failed:
        return FeedUnavailable(f"the page has no data: {traffic.failed} of its requests failed")
    if traffic.pending or not signs.loaded:
        return FeedUnavailable(f"the page had no data within {options.navigation_seconds:g} s")
    path = await save_unrecognized_page(page, options.changed_pages)
    message = "the page has an unknown layout"
    return FeedMalformed(f"{message}; it is saved as {path}" if path else message)
