"""The browser service: searches X and reads pages of feeds, with limits, a canary and health."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from playwright.async_api import Error as PlaywrightError

from found_footy.browser.chromium import find_chromium, first_line, lock_profile
from found_footy.browser.cookies import has_login
from found_footy.browser.group import BrowserGroup
from found_footy.browser.models import BrowserOptions
from found_footy.browser.page_reader import PageReadRequest, read_page
from found_footy.browser.pool import AdmissionQueue
from found_footy.browser.recycling import BrowserFacts, RecycleReason
from found_footy.browser.routes import browser_app
from found_footy.browser.x_search import FoundPost, XSearchRequest, search_page
from found_footy.errors import (
    BrowserUnavailable,
    FeedBusy,
    FeedError,
    FeedUnavailable,
    NotFound,
    SettingsError,
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.process_table import Process
from found_footy.storage.limits import Cooldown, SourceLimits

Search = Callable[[XSearchRequest], Awaitable[list[FoundPost]]]


class Canary:
    """Searches for a common word, which always has results while X and the login work. Results are cached."""

    def __init__(self, search: Search, options: BrowserOptions, now: Callable[[], datetime]) -> None:
        self._search = search
        self._options = options
        self._now = now
        self._checking = asyncio.Lock()
        self._result: dict[str, Any] | SourceError | None = None
        self._requested_at: datetime | None = None

    async def check(self) -> dict[str, Any]:
        """Run the search or return the cached result. Raises its SourceError, or SourceChanged if it finds nothing."""
        async with self._checking:
            cached = self._recent_results()
            if not cached:
                self._requested_at = self._now()
                self._result = await self._run()
            if isinstance(self._result, SourceError):
                raise self._result.with_traceback(None)
            assert self._result is not None
            return {**self._result, "cached": cached}

    def _recent_results(self) -> bool:
        if self._requested_at is None:
            return False
        failed = isinstance(self._result, SourceError)
        seconds = self._options.canary_failure_seconds if failed else self._options.canary_seconds
        return self._result is not None and self._now() - self._requested_at < timedelta(seconds=seconds)

    async def _run(self) -> dict[str, Any] | SourceError:
        word = self._options.canary_word
        try:
            posts = await self._search(XSearchRequest(word, limit=5))
        except SourceError as error:
            return error
        if not posts:
            return SourceChanged(f"a search for {word!r} found nothing")
        return {"word": word, "posts": len(posts), "newest": posts[0].posted_at, "asked_at": self._requested_at}


@dataclass(frozen=True, slots=True)
class CanaryState:
    """Last result of the automatic canary, and since when it has been the same."""

    at: datetime
    since: datetime
    error_class: str = ""
    message: str = ""

    def after(self, at: datetime, error: SourceError | None) -> CanaryState:
        kind = "" if error is None else error.kind
        since = self.since if kind == self.error_class else at
        return CanaryState(at, since, kind, "" if error is None else str(error))

    def to_json(self) -> dict[str, Any]:
        return {"at": self.at, "since": self.since, "class": self.error_class, "message": self.message}


# --- Health, derived from results and leftover processes.


@dataclass(slots=True)
class RequestStats:
    """Counters of searches, or of page reads."""

    what: str = "searches"
    asked: int = 0
    answered: int = 0
    failed: int = 0
    refused: int = 0
    """Refused because the queue was full."""
    failed_in_a_row: int = 0
    last_success: datetime | None = None
    last_error: datetime | None = None
    last_error_class: str | None = None
    waiting_since: datetime | None = None
    """First search after the last success."""

    def to_json(self, running: int, waiting: int) -> dict[str, int]:
        counted = ("asked", "answered", "failed", "refused", "failed_in_a_row")
        return {**{name: getattr(self, name) for name in counted}, "running": running, "waiting": waiting}

    def record_request(self, now: datetime) -> None:
        self.asked += 1
        if self.waiting_since is None:
            self.waiting_since = now

    def record_success(self, now: datetime) -> None:
        self.answered += 1
        self.failed_in_a_row = 0
        self.last_success = now
        self.waiting_since = None

    def record_failure(self, kind: str, now: datetime) -> None:
        self.failed += 1
        self.failed_in_a_row += 1
        self.last_error, self.last_error_class = now, kind

    def record_rejection(self) -> None:
        """Count a rejection, which is neither a failure nor a success, because it proves nothing about X."""
        self.refused += 1


def find_problems(
    counters: Sequence[RequestStats], browser: BrowserFacts, options: BrowserOptions, now: datetime, browsers: int = 1
) -> list[str]:
    """Return why the service is unhealthy; empty if it is healthy."""
    problems = []
    for stats in counters:
        if stats.failed_in_a_row >= options.failures:
            problems.append(
                f"the last {stats.failed_in_a_row} {stats.what} failed, most recently with {stats.last_error_class}"
            )
        if stats.waiting_since is not None:
            idle = now - stats.waiting_since
            if idle > timedelta(seconds=options.stale_seconds):
                problems.append(f"none of the {stats.what} has succeeded for {idle.total_seconds():.0f} s")
    count, limit = browser.processes + browser.zombies, options.processes * browsers
    if count > limit:
        problems.append(f"{count} processes, {browser.zombies} of them zombies (limit: {limit})")
    return problems


# --- Service.


log = logging.getLogger(__name__)

Now = Callable[[], datetime]


class BrowserService:
    """Serves while its `async with` block is open."""

    def __init__(self, options: BrowserOptions, *, limits: SourceLimits | None = None, now: Now = utc_now) -> None:
        """`limits` holds the account's budget of search calls; None means no limit."""
        self.options = options
        self._limits = limits
        self._now = now
        self._pool = BrowserGroup(options)
        self._queue = AdmissionQueue(options.at_once * options.browsers, options.waiting)
        self._page_queue = AdmissionQueue(options.pages_at_once * options.browsers, options.pages_waiting)
        self._stats = RequestStats()
        self._page_stats = RequestStats("readings of pages")
        self.canary = Canary(self.search, options, now)
        self._canary_state: CanaryState | None = None
        self._canary_task: asyncio.Task[None] | None = None
        self._server = HttpServer(browser_app(self), options.port, host=options.host, name="the browser service")
        self._lock = ExitStack()
        self._recent_results: dict[XSearchRequest, tuple[float, list[FoundPost]]] = {}
        self._running: dict[XSearchRequest, asyncio.Task[list[FoundPost]]] = {}

    @property
    def url(self) -> str:
        return self._server.url

    async def __aenter__(self) -> BrowserService:
        find_chromium(self.options.executable, window=not self.options.headless)
        self._lock.enter_context(lock_profile(self.options.profile))
        try:
            # Bind the port first, because it fails cheaply; early requests wait for the browser.
            await self._server.start()
            await self._pool.start()
            if self.options.canary_every_seconds is not None:
                self._canary_task = asyncio.create_task(self._run_canary(self.options.canary_every_seconds))
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        if self._canary_task is not None:
            self._canary_task.cancel()
            await asyncio.wait({self._canary_task})
        # Running searches lose their browser and fail at once, so the server can stop.
        try:
            await self._pool.stop()
            await self._server.stop()
        finally:
            self._lock.close()

    async def wait(self) -> None:
        """Wait until the server stops by itself, which happens only on an error."""
        await self._server.wait()

    async def _run_canary(self, every_seconds: float) -> None:
        await asyncio.sleep(min(self.options.canary_first_seconds, every_seconds))
        while True:
            # A browser that only reads pages of feeds needs no login.
            if has_login(self.options.folder):
                await self._record_canary()
            await asyncio.sleep(every_seconds)

    async def _record_canary(self) -> None:
        error: SourceError | None = None
        try:
            await self.canary.check()
        except SourceRateLimited:
            return  # proves nothing about the page
        except SourceError as failure:
            error = failure
            log.warning("the canary of X failed: %s", error, extra={"action": "canary_failed", "error": error.kind})
        now = self._now()
        before = self._canary_state or CanaryState(now, now)
        self._canary_state = before.after(now, error)

    async def search(self, request: XSearchRequest) -> list[FoundPost]:
        """Return posts with a video, newest first. Raises a SourceError. Equal searches share one result while it is
        fresh.
        """
        now = time.monotonic()
        self._recent_results = {
            each: cached
            for each, cached in self._recent_results.items()
            if now - cached[0] < self.options.fresh_seconds
        }
        cache_key = replace(request, since=None)
        if cache_key in self._recent_results:
            return self._recent_results[cache_key][1]
        if self.options.fresh_seconds <= 0:
            return await self._recorded_search(request)
        if cache_key not in self._running:
            task = asyncio.create_task(self._recorded_search(request), name="search of X")
            self._running[cache_key] = task
            task.add_done_callback(lambda done: self._cache_result(cache_key, done))
        return await asyncio.shield(self._running[cache_key])

    def _cache_result(self, request: XSearchRequest, task: asyncio.Task[list[FoundPost]]) -> None:
        self._running.pop(request, None)
        if not task.cancelled() and task.exception() is None:
            self._recent_results[request] = (time.monotonic(), task.result())

    async def _recorded_search(self, request: XSearchRequest) -> list[FoundPost]:
        started = time.monotonic()
        if not self._queue.full:
            await self._require_budget()
        self._stats.record_request(self._now())
        if self._queue.full:
            self._stats.record_rejection()
            raise SourceUnavailable(f"{self._queue.waiting} searches are already waiting; try again in a moment")
        failure: str | None = "InternalFault"
        posts: list[FoundPost] = []
        try:
            posts = await self._search(request)
            failure = None
        except SourceError as error:
            failure = error.kind
            await self._cool_down(error)
            raise
        finally:
            extra = {"action": "x_searched", "seconds": round(time.monotonic() - started, 2)}
            if failure is None:
                self._stats.record_success(self._now())
                self._pool.confirm_login()
                log.info("searched X", extra={**extra, "posts": len(posts)})
            else:
                self._stats.record_failure(failure, self._now())
                log.warning("could not search X", extra={**extra, "error": failure})
        return posts

    async def _require_budget(self) -> None:
        """Raise SourceRateLimited, or SourceLoggedOut after X's login page, with its end.

        An exhausted budget proves nothing about X, so it does not count as a failure.
        """
        if self._limits is None:
            return
        cooldown = await self._limits.cooldown()
        if cooldown is not None:
            message = f"{cooldown.reason}; no search of X before {cooldown.until:%H:%M:%S} UTC"
            if cooldown.kind == SourceLoggedOut.__name__:
                self._stats.record_failure(cooldown.kind, self._now())
                raise SourceLoggedOut(message)
            self._stats.record_rejection()
            raise SourceRateLimited.ending(cooldown.until, message)
        free_at = await self._limits.take_call()
        if free_at is not None:
            self._stats.record_rejection()
            raise SourceRateLimited.ending(
                free_at, f"this account's search calls (FOOTY_X_CALLS) are exhausted until {free_at:%H:%M:%S} UTC"
            )

    async def _can_scroll(self) -> bool:
        return self._limits is None or await self._limits.take_call() is None

    async def _cool_down(self, error: SourceError) -> None:
        if self._limits is None or not isinstance(error, (SourceRateLimited, SourceLoggedOut)):
            return
        now, max_pause = self._now(), timedelta(seconds=self.options.cooldown_seconds)
        until = now + max_pause
        if isinstance(error, SourceRateLimited):
            default_until = now + timedelta(seconds=self.options.unexplained_cooldown_seconds)
            until = min(max(error.until, now), until) if error.until is not None else min(default_until, until)
        await self._limits.cool_down(Cooldown(until, error.kind, str(error)))

    async def _search(self, request: XSearchRequest) -> list[FoundPost]:
        try:
            async with (
                asyncio.timeout(self.options.search_seconds),
                self._queue.take(),
                self._pool.page() as page,
            ):
                return await search_page(page, request, self.options, self._can_scroll)
        except TimeoutError:
            raise SourceUnavailable(f"no response from X within {self.options.search_seconds:g} s") from None
        except SettingsError as error:
            raise SourceUnavailable(str(error)) from error
        except PlaywrightError as error:
            raise SourceUnavailable(f"the browser failed: {first_line(error)}") from error

    async def read(self, request: PageReadRequest) -> dict[str, Any]:
        """Return the content of a feed's page. Raises a FeedError, or NotFound if the site has no such page."""
        started = time.monotonic()
        self._page_stats.record_request(self._now())
        if self._page_queue.full:
            self._page_stats.record_rejection()
            raise FeedBusy(f"{self._page_queue.waiting} pages are already waiting to be read; try again in a moment")
        failure: str | None = "InternalFault"
        try:
            data = await self._read(request)
            failure = None
        except NotFound:
            # A missing page is a valid result.
            failure = None
            raise
        except FeedError as error:
            failure = error.kind
            raise
        finally:
            extra = {"action": "page_read", "reader": request.reader, "seconds": round(time.monotonic() - started, 2)}
            if failure is None:
                self._page_stats.record_success(self._now())
                log.debug("read a page", extra=extra)
            else:
                self._page_stats.record_failure(failure, self._now())
                log.warning("reading a page failed", extra={**extra, "error": failure})
        return data

    async def _read(self, request: PageReadRequest) -> dict[str, Any]:
        try:
            async with (
                asyncio.timeout(self.options.scrape_seconds),
                self._page_queue.take(),
                self._pool.isolated_page() as page,
            ):
                return await read_page(page, request, self.options)
        except TimeoutError:
            raise FeedUnavailable(f"the page was not read within {self.options.scrape_seconds:g} s") from None
        except (SettingsError, SourceUnavailable) as error:
            raise BrowserUnavailable(str(error)) from error
        except PlaywrightError as error:
            raise FeedUnavailable(f"the browser failed: {first_line(error)}") from error

    async def reset_contexts(self, why: str) -> dict[str, Any]:
        """Close all pages and contexts of the running browser; tasks that use them fail."""
        closed = await self._pool.reset_contexts()
        log.warning("closed %d pages: %s", closed, why, extra={"action": "context_pool_reset", "closed": closed})
        return {"closed": closed}

    async def scale(self, browsers: int) -> dict[str, Any]:
        """Set the number of browsers. Raises SourceUnavailable if one does not start."""
        try:
            await self._pool.scale(browsers)
        except SettingsError as error:
            raise SourceUnavailable(str(error)) from error
        finally:
            self._queue.resize(self.options.at_once * len(self._pool))
            self._page_queue.resize(self.options.pages_at_once * len(self._pool))
        return {"browsers": len(self._pool)}

    async def recycle(self, why: str, *, is_recovery: bool = False) -> dict[str, Any]:
        """Recycle the browser. Raises SourceUnavailable if no new one starts."""
        before = self._pool.facts()
        try:
            recycle = await self._pool.recycle(why, RecycleReason.RECOVERY if is_recovery else RecycleReason.MANUAL)
        except SettingsError as error:
            raise SourceUnavailable(str(error)) from error
        after = self._pool.facts()
        return {"before": before.to_json(), "after": after.to_json(), "recycle": recycle.to_json()}

    def processes(self) -> list[Process]:
        """Processes of the browser, including its driver, which is a child of this process."""
        return self._pool.processes()

    def health(self) -> dict[str, Any]:
        """Return facts in memory, without touching a page."""
        now, searches, readings, facts = self._now(), self._stats, self._page_stats, self._pool.facts()
        found = find_problems((searches, readings), facts, self.options, now, len(self._pool))
        counted = [f"{each.answered} of {each.asked} {each.what} answered" for each in (searches, readings)]
        last = max((searches, readings), key=lambda each: each.last_error or datetime.min.replace(tzinfo=UTC))
        successes = [each.last_success for each in (searches, readings) if each.last_success is not None]
        return {
            "healthy": not found,
            "message": "; ".join(found or counted),
            "problems": found,
            "browser": {"browsers": len(self._pool), **facts.to_json()},
            "searches": searches.to_json(self._queue.running, self._queue.waiting),
            "readings": readings.to_json(self._page_queue.running, self._page_queue.waiting),
            "canary": self._canary_state.to_json() if self._canary_state else None,
            "last_success": max(successes, default=None),
            "last_error": {"at": last.last_error, "class": last.last_error_class} if last.last_error else None,
        }
