"""The service: searches in order, with their limits, and what became of them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from playwright.async_api import Error as PlaywrightError

from found_footy.adapters.social.browser.canary import Canary
from found_footy.adapters.social.browser.chromium import find_chromium, first_line
from found_footy.adapters.social.browser.health import Ledger, problems
from found_footy.adapters.social.browser.keeper import Keeper
from found_footy.adapters.social.browser.lock import owned
from found_footy.adapters.social.browser.options import BrowserOptions
from found_footy.adapters.social.browser.processes import Process
from found_footy.adapters.social.browser.reading import FoundPost
from found_footy.adapters.social.browser.routes import browser_app
from found_footy.adapters.social.browser.search import SearchOrder, search_page
from found_footy.adapters.social.browser.turns import Turns
from found_footy.domain.errors import SettingsError, SourceError, SourceUnavailable
from found_footy.http_server import HttpServer

log = logging.getLogger(__name__)

Now = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class BrowserService:
    """Answers on loopback while its `async with` block is open."""

    def __init__(self, options: BrowserOptions, *, now: Now = utc_now) -> None:
        self.options = options
        self._now = now
        self._keeper = Keeper(options)
        self._turns = Turns(options.at_once, options.waiting)
        self._ledger = Ledger()
        self.canary = Canary(self.search, options, now)
        self._server = HttpServer(browser_app(self), options.port, name="the browser service")
        self._lock = ExitStack()
        self._fresh: dict[SearchOrder, tuple[float, list[FoundPost]]] = {}

    @property
    def url(self) -> str:
        return self._server.url

    async def __aenter__(self) -> BrowserService:
        find_chromium(self.options.executable)
        self._lock.enter_context(owned(self.options.profile))
        try:
            # The port first, since it is the cheaper one to fail; who asks early waits for the browser.
            await self._server.start()
            await self._keeper.start()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        # Searches under way lose their browser, fail at once, and let the server end.
        try:
            await self._keeper.stop()
            await self._server.stop()
        finally:
            self._lock.close()

    async def wait(self) -> None:
        """Until the server stops by itself, which it only does when something is wrong."""
        await self._server.wait()

    async def search(self, order: SearchOrder) -> list[FoundPost]:
        """Posts with a video, newest first. Raises a SourceError."""
        began = time.monotonic()
        self._fresh = {each: kept for each, kept in self._fresh.items() if began - kept[0] < self.options.fresh_seconds}
        same = replace(order, since=None)
        if same in self._fresh:
            return self._fresh[same][1]
        self._ledger.note_asked(self._now())
        if self._turns.full:
            self._ledger.note_refusal()
            raise SourceUnavailable(f"{self._turns.waiting} searches wait already; try again in a moment")
        failure: str | None = "ProgramFault"
        try:
            posts = await self._search(order)
            failure = None
        except SourceError as error:
            failure = error.kind
            raise
        finally:
            spent = {"action": "x_searched", "seconds": round(time.monotonic() - began, 2)}
            if failure is None:
                self._ledger.note_success(self._now())
                self._fresh[same] = (time.monotonic(), posts)
                log.info("searched X", extra={**spent, "posts": len(posts)})
            else:
                self._ledger.note_failure(failure, self._now())
                log.warning("the search of X failed", extra={**spent, "error": failure})
        return posts

    async def _search(self, order: SearchOrder) -> list[FoundPost]:
        try:
            async with (
                asyncio.timeout(self.options.search_seconds),
                self._turns.take(),
                self._keeper.page() as page,
            ):
                return await search_page(page, order, self.options)
        except TimeoutError:
            raise SourceUnavailable(f"no answer from X within {self.options.search_seconds:g} s") from None
        except SettingsError as error:
            raise SourceUnavailable(str(error)) from error
        except PlaywrightError as error:
            raise SourceUnavailable(f"the browser failed: {first_line(error)}") from error

    def processes(self) -> list[Process]:
        """Those of the browser, with its driver, which is a child of this process."""
        return self._keeper.processes()

    def health(self) -> dict[str, Any]:
        """Facts that are at hand; no page is touched."""
        now, ledger, facts = self._now(), self._ledger, self._keeper.facts()
        found = problems(ledger, facts, self.options, now)
        return {
            "healthy": not found,
            "message": "; ".join(found) or f"{ledger.answered} of {ledger.asked} searches answered",
            "problems": found,
            "browser": asdict(facts),
            "searches": {
                "asked": ledger.asked,
                "answered": ledger.answered,
                "failed": ledger.failed,
                "refused": ledger.refused,
                "failed_in_a_row": ledger.failed_in_a_row,
                "running": self._turns.running,
                "waiting": self._turns.waiting,
            },
            "last_success": ledger.last_success,
            "last_error": {"at": ledger.last_error, "class": ledger.last_error_class} if ledger.last_error else None,
        }
