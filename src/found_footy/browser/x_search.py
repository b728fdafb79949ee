"""Searches X on one page: validates what the page script returns, and scrolls for more posts."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from found_footy.browser.models import BrowserOptions
from found_footy.browser.page_reader import save_unrecognized_page
from found_footy.errors import SourceChanged, SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.text import clean_text

MAX_ARTICLES = 500
READ_PAGE = files("found_footy.browser").joinpath("read_page.js").read_text("utf-8")
"""JavaScript function that takes the maximum number of posts to read."""

_STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/([0-9]{1,20})(?:/.*)?")
_HANDLE = re.compile(r"@([A-Za-z0-9_]{1,15})")
_DURATION = re.compile(r"(?:([0-9]{1,2}):)?([0-9]{1,2}):([0-9]{2})")
_LOGIN_PATHS = ("/i/jf/onboarding", "/i/flow/login", "/i/flow/signup", "/login", "/logout", "/account/access")
"""X redirects logged-out visitors to /i/jf/onboarding/web since the summer of 2026; the older paths redirect there."""
MIN_POSTS_FOR_VIDEOS = 5
"""Number of posts among which at least one must have a recognized video, because the query filters for videos."""


@dataclass(frozen=True, slots=True)
class FoundPost:
    id: str
    author: str
    text: str
    posted_at: datetime
    duration: float | None = None
    video: bool = True

    def to_json(self, x_url: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "url": f"{x_url.rstrip('/')}/{self.author}/status/{self.id}",
            "author": self.author,
            "text": self.text,
            "posted_at": self.posted_at.isoformat(),
            "duration": self.duration,
        }


@dataclass(frozen=True, slots=True)
class XPage:
    path: str
    posts: tuple[FoundPost, ...] = ()
    """Valid posts in page order, with and without a video; promoted posts are left out."""
    unreadable: int = 0
    loaded: bool = True
    empty: bool = False
    login: bool = False
    account: bool = False
    retry: bool = False


@dataclass(slots=True)
class Traffic:
    """Results of the page's own requests for posts."""

    pending: int = 0
    status: int | None = None
    """Status of the last response."""
    reset: datetime | None = None
    """End of X's rate limit, from the header of the last response."""
    scripts_failed: int = 0


class XSearchOutcome(StrEnum):
    POSTS = "posts"
    EMPTY = "empty"
    LOGGED_OUT = "logged out"
    RATE_LIMITED = "rate limited"
    FAILED = "failed"
    REFUSED = "refused"
    """X rejected the request for an unknown reason, so its format has probably changed."""
    NONE = "none"


def classify_page(page: XPage, traffic: Traffic) -> XSearchOutcome:
    """Classify the page. A rejected request never counts as "nothing found"."""
    if page.path.startswith(_LOGIN_PATHS):
        return XSearchOutcome.LOGGED_OUT
    if page.posts:
        return XSearchOutcome.POSTS
    if page.login and not page.account:
        return XSearchOutcome.LOGGED_OUT
    match traffic.status:
        case 429:
            return XSearchOutcome.RATE_LIMITED
        case 401 | 403:
            return XSearchOutcome.LOGGED_OUT
        case int(status) if status >= 500:
            return XSearchOutcome.FAILED
        case int(status) if status >= 400:
            return XSearchOutcome.REFUSED
    if page.retry:
        return XSearchOutcome.RATE_LIMITED
    return XSearchOutcome.EMPTY if page.empty else XSearchOutcome.NONE


def check_videos(posts: Mapping[str, FoundPost]) -> None:
    """Raise SourceChanged if there are enough posts for a video search and none has a recognized video."""
    if len(posts) >= MIN_POSTS_FOR_VIDEOS and not any(post.video for post in posts.values()):
        raise SourceChanged(f"none of {len(posts)} posts has a video, although the search asked for videos")


def is_complete(page: XPage, found: int, limit: int, since: datetime | None) -> bool:
    """Whether scrolling cannot add wanted posts: X lists the newest first."""
    if found >= limit or not page.posts:
        return True
    return since is not None and page.posts[-1].posted_at < since


def select_newest(posts: Mapping[str, FoundPost], limit: int, since: datetime | None) -> list[FoundPost]:
    selected = [post for post in posts.values() if post.video and (since is None or post.posted_at >= since)]
    return sorted(selected, key=lambda post: (post.posted_at, int(post.id)), reverse=True)[:limit]


def parse_x_page(raw: object) -> XPage:
    if not isinstance(raw, dict) or not isinstance(raw.get("posts"), list):
        raise SourceChanged("could not parse the page")
    entries = [post for post in raw["posts"][:MAX_ARTICLES] if not (isinstance(post, dict) and post.get("promoted"))]
    posts = [parse_x_post(post) for post in entries]
    return XPage(
        path=str(raw.get("path", "")),
        posts=tuple(post for post in posts if post is not None),
        unreadable=sum(post is None for post in posts),
        **{name: raw.get(name) is True for name in ("loaded", "empty", "login", "account", "retry")},
    )


def parse_x_post(raw: object) -> FoundPost | None:
    """Parse a post, or return None if id, author or time is missing or invalid."""
    if not isinstance(raw, dict):
        return None
    link = _STATUS.fullmatch(_text(raw.get("link")))
    posted_at = parse_time(raw.get("at"))
    if link is None or posted_at is None:
        return None
    author, post_id = link.groups()
    if author == "i":
        # Links with /i/ do not contain the author; the post's header does.
        handle = _HANDLE.fullmatch(_text(raw.get("handle")))
        if handle is None:
            return None
        author = handle[1]
    return FoundPost(
        id=post_id,
        author=author,
        text=clean_text(_text(raw.get("text"))),
        posted_at=posted_at,
        duration=parse_duration(raw.get("duration")),
        video=raw.get("video") is True,
    )


def parse_time(value: object) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(_text(value))
        return parsed.astimezone(UTC) if parsed.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def parse_duration(label: object) -> float | None:
    """Parse a duration shown on a video: `0:34` or `1:02:03`."""
    match = _DURATION.fullmatch(_text(label))
    if match is None:
        return None
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return float(hours * 3600 + minutes * 60 + rest)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# --- One search: open the page, wait for a known state, read, scroll, and return the posts.


POLL_INTERVAL_SECONDS = 0.1
GROWTH_SECONDS = 0.6
"""Time that a page without pending requests has to show more posts after a scroll."""
SCROLL = """() => new Promise((done) => {
  window.scrollTo(0, document.documentElement.scrollHeight);
  // Scroll events fire with the next frame; a page in the background renders none.
  setTimeout(done, 300);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
TIMELINE = "SearchTimeline"
"""Part of the URL of the request that loads posts."""


CanScroll = Callable[[], Awaitable[bool]]
"""Called before each scroll, which costs a search call of the account."""


async def always_allow() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class XSearchRequest:
    query: str
    since: datetime | None = None
    limit: int = 50


def search_url(x_url: str, query: str) -> str:
    terms = {"q": f"{query} filter:videos", "src": "typed_query", "f": "live"}
    return f"{x_url.rstrip('/')}/search?{urlencode(terms)}"


@contextmanager
def attached_listeners(page: Page, listeners: Mapping[str, Callable[[Any], None]]) -> Iterator[None]:
    """Attach listeners for one search only, because the page is reused."""
    add: Callable[..., None] = page.on
    for event, listener in listeners.items():
        add(event, listener)
    try:
        yield
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)


@contextmanager
def track_traffic(page: Page) -> Iterator[Traffic]:
    """Track the page's requests for posts. Listeners must not raise.

    A request's end counts only if its start was seen, because the page may still report requests of its previous
    search.
    """
    traffic = Traffic()
    started: set[Request] = set()

    def on_request(request: Request) -> None:
        started.add(request)
        if TIMELINE in request.url:
            traffic.pending += 1

    def on_response(response: Response) -> None:
        if TIMELINE in response.url and response.request in started:
            traffic.status = response.status
            traffic.reset = reset_time(response.headers.get("x-rate-limit-reset", ""))

    def on_finished(request: Request) -> None:
        if request in started:
            started.remove(request)
            traffic.pending -= TIMELINE in request.url

    def on_failed(request: Request) -> None:
        traffic.scripts_failed += request in started and request.resource_type == "script"
        on_finished(request)

    listeners: dict[str, Callable[[Any], None]] = {
        "request": on_request,
        "response": on_response,
        "requestfinished": on_finished,
        "requestfailed": on_failed,
    }
    with attached_listeners(page, listeners):
        yield traffic


def reset_time(header: str) -> datetime | None:
    """Parse the header, which holds seconds since the epoch."""
    if not (header.isascii() and header.isdecimal() and len(header) <= 11):
        return None
    return datetime.fromtimestamp(int(header), UTC)


async def search_page(
    page: Page, request: XSearchRequest, options: BrowserOptions, can_scroll: CanScroll = always_allow
) -> list[FoundPost]:
    """Search on one page. Raises a SourceError; browser errors pass through."""
    crashed = asyncio.Event()
    with track_traffic(page) as traffic, attached_listeners(page, {"crash": lambda _: crashed.set()}):
        return await _run_unless_crashed(
            crashed, _search(page, traffic, request, options, can_scroll, time.monotonic())
        )


async def _run_unless_crashed(crashed: asyncio.Event, search: Coroutine[Any, Any, list[FoundPost]]) -> list[FoundPost]:
    work = asyncio.create_task(search)
    crash = asyncio.create_task(crashed.wait())
    try:
        # Calls to a crashed page may never return.
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
    request: XSearchRequest,
    options: BrowserOptions,
    can_scroll: CanScroll,
    started: float,
) -> list[FoundPost]:
    url = search_url(options.x_url, request.query)
    try:
        response = await page.goto(url, wait_until="commit", timeout=options.sign_seconds * 1000)
    except PlaywrightTimeout:
        raise SourceUnavailable(f"X did not respond within {options.sign_seconds:g} s") from None
    if response is not None and response.status >= 400:
        # A page closed during a navigation may never report its close event.
        with suppress(PlaywrightTimeout):
            await page.wait_for_load_state(timeout=2000)
        raise _error_for_status(response.status)
    reading, outcome = await _wait_for_outcome(page, traffic, started + options.sign_seconds)
    match outcome:
        case XSearchOutcome.EMPTY:
            return []
        case XSearchOutcome.LOGGED_OUT:
            raise SourceLoggedOut(f"X requires a login ({reading.path})")
        case XSearchOutcome.RATE_LIMITED:
            raise SourceRateLimited.ending(traffic.reset, "X rejects further searches for now")
        case XSearchOutcome.FAILED:
            raise SourceUnavailable(f"X returned HTTP {traffic.status}")
        case XSearchOutcome.REFUSED:
            raise await _changed_error(page, f"X returned HTTP {traffic.status}", options)
        case XSearchOutcome.NONE:
            raise await _unrecognized_page_error(page, reading, traffic, options)
    try:
        return await _collect(page, reading, traffic, request, options, can_scroll, started + options.scroll_seconds)
    except SourceChanged as error:
        raise await _changed_error(page, str(error), options) from None


def _error_for_status(status: int) -> SourceError:
    message = f"X returned HTTP {status}"
    match status:
        case 429:
            return SourceRateLimited(message)
        case 401:
            return SourceLoggedOut(message)
    return SourceUnavailable(message)


async def _evaluate(page: Page) -> XPage:
    return parse_x_page(await page.evaluate(READ_PAGE, MAX_ARTICLES))


async def _wait_for_outcome(page: Page, traffic: Traffic, deadline: float) -> tuple[XPage, XSearchOutcome]:
    reading = XPage(path="")
    while True:
        try:
            reading = await _evaluate(page)
        except PlaywrightError as error:
            # The page navigated while it was read, for example to the login.
            if "context was destroyed" not in error.message and "navigation" not in error.message:
                raise
        outcome = classify_page(reading, traffic)
        if outcome is not XSearchOutcome.NONE or time.monotonic() > deadline:
            return reading, outcome
        await asyncio.sleep(POLL_INTERVAL_SECONDS)


async def _collect(
    page: Page,
    reading: XPage,
    traffic: Traffic,
    request: XSearchRequest,
    options: BrowserOptions,
    can_scroll: CanScroll,
    deadline: float,
) -> list[FoundPost]:
    """Collect posts while scrolling, because X removes those far above from the page."""
    found: dict[str, FoundPost] = {}
    for scrolled in range(options.scrolls + 1):
        count_before = len(found)
        found.update((post.id, post) for post in reading.posts)
        wanted_count = len(select_newest(found, request.limit, request.since))
        if (
            len(found) == count_before
            or is_complete(reading, wanted_count, request.limit, request.since)
            or time.monotonic() > deadline
        ):
            break
        if scrolled == options.scrolls or not await can_scroll():
            break
        reading = await _scroll(page, found, traffic, deadline)
    check_videos(found)
    return select_newest(found, request.limit, request.since)


async def _scroll(page: Page, found: dict[str, FoundPost], traffic: Traffic, deadline: float) -> XPage:
    """Scroll and return the page once it shows more posts, or unchanged after a timeout."""
    await page.evaluate(SCROLL)
    busy_at = time.monotonic()
    while True:
        reading = await _evaluate(page)
        now = time.monotonic()
        if traffic.pending:
            busy_at = now
        if any(post.id not in found for post in reading.posts) or now > min(deadline, busy_at + GROWTH_SECONDS):
            return reading
        await asyncio.sleep(POLL_INTERVAL_SECONDS)


async def _unrecognized_page_error(
    page: Page, reading: XPage, traffic: Traffic, options: BrowserOptions
) -> SourceUnavailable | SourceChanged:
    """Return the error for a page without a known state: unavailable if still loading, changed if complete."""
    waited = f"within {options.sign_seconds:g} s"
    if traffic.pending or not reading.loaded or not reading.path:
        return SourceUnavailable(f"X's page did not load {waited}")
    if traffic.scripts_failed:
        return SourceUnavailable(f"X's page did not load {waited}: {traffic.scripts_failed} scripts failed")
    if reading.unreadable:
        return await _changed_error(page, f"none of the {reading.unreadable} posts on X's page can be read", options)
    return await _changed_error(page, f"X's page has an unknown layout {waited}", options)


async def _changed_error(page: Page, message: str, options: BrowserOptions) -> SourceChanged:
    path = await save_unrecognized_page(page, options.changed_pages)
    return SourceChanged(f"{message}; the page is saved as {path}" if path else message)
