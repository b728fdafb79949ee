"""A running Chromium: its pages and contexts, and its end with all its processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Playwright
from playwright.async_api import Error as PlaywrightError

from found_footy.adapters.browser.heavy import refuse_films, refuse_heavy
from found_footy.adapters.browser.processes import Family
from found_footy.adapters.browser.spare_pages import SparePages

log = logging.getLogger(__name__)

SAME_EVERYWHERE: dict[str, Any] = {
    # Texts and times that do not hang on the machine.
    "locale": "en-US",
    "timezone_id": "UTC",
    # A service worker would fetch what its page is refused.
    "service_workers": "block",
    "accept_downloads": False,
}
CLOSE_SECONDS = 5


@dataclass(eq=False, slots=True)
class Chromium:
    """A running one. `users` are the tasks that have a page in it.

    X's pages share a context with the login, and are used again. Every other page gets a context of its own, without
    any cookies, that ends with it: nothing that one site leaves behind is seen by another, or by the next page of the
    same site.
    """

    driver: Playwright
    context: BrowserContext
    """X's, with the profile."""
    family: Family
    started_at: datetime
    searches: int = 0
    readings: int = 0
    users: int = 0
    gone: bool = False
    """It has closed by itself, crashed, or was killed."""
    stuck: bool = False
    """It did not do in time what it was asked for."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    opening: int = 0
    """Pages and contexts that are on their way, and so not yet among the known ones."""
    spares: SparePages = field(default_factory=SparePages)
    _known: set[Page | BrowserContext] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.idle.set()
        self._known.update({self.context, *self.context.pages})

    @property
    def tasks(self) -> int:
        return self.searches + self.readings

    @property
    def contexts(self) -> list[BrowserContext]:
        return self.browser.contexts

    @property
    def pages(self) -> list[Page]:
        return [page for context in self.contexts for page in context.pages]

    @property
    def browser(self) -> Browser:
        assert self.context.browser is not None
        return self.context.browser

    def enter(self, *, guest: bool) -> None:
        self.users += 1
        self.searches += not guest
        self.readings += guest
        self.idle.clear()

    def leave(self) -> None:
        self.users -= 1
        if not self.users:
            self.idle.set()

    async def take_page(self) -> Page:
        """In X's context, with the login: an empty one that was used before, or a new one."""
        page = self.spares.take()
        if page is None:
            async with self._opens():
                page = await self.context.new_page()
                self._known.add(page)
                await refuse_films(page)
            self.spares.add(page)
        return page

    async def give_back(self, page: Page) -> None:
        """After a search that went well. One that did not may have left anything behind: close its page."""
        kept = False
        try:
            kept = await self.spares.keep(page)
        finally:
            if not kept:
                await self.close_page(page)

    async def new_guest(self, proxy: str) -> Page:
        """In a context of its own, whose connections all go through the proxy."""
        async with self._opens():
            context = await self.browser.new_context(
                proxy={"server": proxy},
                **SAME_EVERYWHERE,
                viewport={"width": 1280, "height": 1600},
            )
            self._known.add(context)
            # A feed's page shows advertisements, which are frames of other sites.
            await context.route("**/*", refuse_heavy)
            page = await context.new_page()
            self._known.add(page)
        return page

    @asynccontextmanager
    async def _opens(self) -> AsyncIterator[None]:
        self.opening += 1
        try:
            yield
        except (asyncio.CancelledError, PlaywrightError):
            # It is dead, and perhaps its driver too, which then tells nothing more; or the page may yet open, and
            # nobody would close it.
            self.stuck = True
            raise
        finally:
            self.opening -= 1

    async def close_page(self, page: Page) -> None:
        """With its context, where that is its own."""
        own = page.context is not self.context
        await self._close(page.context if own else page)
        if not own and not page.is_closed():
            # Its driver has died, and tells nothing more.
            self.stuck = True
        self._known -= {page, page.context} - {self.context}

    async def tidy(self) -> int:
        """Closes windows that pages have opened, and whatever else nobody has closed; returns how many."""
        if self.opening or self.gone or self.stuck:
            return 0
        strays: list[Page | BrowserContext] = [each for each in self.contexts if each not in self._known]
        strays += [each for each in self.context.pages if each not in self._known or each in self.spares.crashed]
        for stray in strays:
            await self._close(stray)
        self._known -= set(strays)
        return len(strays)

    async def _close(self, what: Page | BrowserContext) -> None:
        """To its end also for a search whose time is up: that it does not close is how a browser shows to be stuck."""
        closing = asyncio.create_task(self._close_in_time(what))
        try:
            await asyncio.shield(closing)
        finally:
            await asyncio.wait({closing})

    async def _close_in_time(self, what: Page | BrowserContext) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await what.close()
        except (TimeoutError, PlaywrightError):
            self.stuck = True

    async def close(self) -> None:
        """In good order if it can be had; what is left after that is killed."""
        if self.stuck:
            await self.family.end(but_driver=True)
        with suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.context.close()
        await end_driver(self.driver, self.family)


async def end_driver(driver: Playwright, family: Family) -> None:
    # Whoever does not stop is killed: so it does not matter why.
    with suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await driver.stop()
    left = await family.end()
    if left:
        log.error("processes cannot be ended: %s", left, extra={"action": "browser_left"})


def first_line(error: PlaywrightError) -> str:
    """Without the protocol's log that follows, and without the escape sequences in it."""
    lines = error.message.strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
