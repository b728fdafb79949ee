"""Keeps one fit browser at hand: starts it, starts it anew when it is old, worn, swollen or dead, and ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from playwright.async_api import Page

from found_footy.adapters.social.browser.chromium import Chromium, start_chromium
from found_footy.adapters.social.browser.options import BrowserOptions
from found_footy.adapters.social.browser.processes import Family, Process
from found_footy.domain.errors import SourceUnavailable

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wear:
    """What is known of a browser when it is judged."""

    age: timedelta
    searches: int
    processes: int
    gone: bool = False
    stuck: bool = False


def reason_to_renew(wear: Wear, options: BrowserOptions) -> str | None:
    if wear.gone:
        return "it has ended"
    if wear.stuck:
        return "it does not react"
    if wear.age >= timedelta(hours=options.hours):
        return f"it is {wear.age.total_seconds() / 3600:.1f} hours old"
    if wear.searches >= options.searches:
        return f"it has done {wear.searches} searches"
    if wear.processes > options.processes:
        return f"it has {wear.processes} processes"
    return None


@dataclass(frozen=True, slots=True)
class BrowserFacts:
    up_since: datetime | None
    searches: int
    """With the browser that runs now."""
    processes: int
    zombies: int
    """Ended, and waiting for a parent that takes no note; in a container without an init they pile up."""
    memory_mb: int
    """What processes share is counted for each of them."""
    pages: int
    """One is always open; each search that runs has one more."""
    starts: int


class Keeper:
    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._door = asyncio.Lock()
        self._renewal: asyncio.Task[Chromium] | None = None
        self._families: list[Family] = []
        """Of all browsers that have processes left, which should be one."""
        self._starts = 0
        self._stopping = False

    async def start(self) -> None:
        """So that a browser that cannot run is noticed before anybody searches."""
        async with self._door:
            await self._fit()

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """A page of its own for each search, closed whatever happens."""
        async with self._door:
            chromium = await self._fit()
            chromium.enter()
        try:
            page = await chromium.new_page()
            try:
                yield page
            finally:
                await chromium.close_page(page)
        finally:
            chromium.leave()

    async def _fit(self) -> Chromium:
        """The browser, after it was renewed if it has to be. Only whoever holds the door calls this.

        A search that gives up while the browser starts does not take the start down with it: the next search gets
        what came of it.
        """
        self._refuse_if_stopping()
        current = self._current()
        if self._renewal is None or self._renewal.done():
            reason = "there is none" if current is None else reason_to_renew(_wear(current), self._options)
            if reason is not None:
                if current is not None and not (current.gone or current.stuck):
                    # Each of them is bounded in time. Two browsers cannot share the profile.
                    await current.idle.wait()
                    self._refuse_if_stopping()
                self._renewal = asyncio.create_task(self._renew(current, reason), name="start of Chromium")
        assert self._renewal is not None
        return await asyncio.shield(self._renewal)

    def _refuse_if_stopping(self) -> None:
        if self._stopping:
            raise SourceUnavailable("the browser service is stopping")

    async def _renew(self, old: Chromium | None, reason: str) -> Chromium:
        if old is not None:
            await old.close()
        started = await start_chromium(self._options, headless=self._options.headless, lean=True)
        self._starts += 1
        self._families.append(started.family)
        log.info("started Chromium: %s", reason, extra={"action": "browser_started", "starts": self._starts})
        return started

    def _current(self) -> Chromium | None:
        task = self._renewal
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    def processes(self) -> list[Process]:
        """Of all browsers of this service, old ones too if anything is left of them."""
        by_family = {family: family.members() for family in self._families}
        self._families = [family for family, members in by_family.items() if members]
        return [each for members in by_family.values() for each in members]

    def facts(self) -> BrowserFacts:
        current = self._current()
        up = current if current is not None and not current.gone else None
        members = self.processes()
        return BrowserFacts(
            up_since=up.started_at if up else None,
            searches=up.searches if up else 0,
            processes=sum(not each.ended for each in members),
            zombies=sum(each.ended for each in members),
            memory_mb=sum(each.memory for each in members) // 1_000_000,
            pages=len(up.context.pages) if up else 0,
            starts=self._starts,
        )

    async def stop(self) -> None:
        """Ends the browser with all its processes, also under the searches that still run."""
        self._stopping = True
        if self._renewal is not None:
            await asyncio.wait({self._renewal})
        current = self._current()
        self._renewal = None
        if current is not None:
            await current.close()


def _wear(chromium: Chromium) -> Wear:
    return Wear(
        age=datetime.now(UTC) - chromium.started_at,
        searches=chromium.searches,
        processes=sum(not each.ended for each in chromium.family.members()),
        gone=chromium.gone,
        stuck=chromium.stuck,
    )
