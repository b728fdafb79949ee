"""Manages one Chromium instance: starts it, recycles it by age, task count, process count or crash, and stops it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from found_footy.browser.chromium import Chromium, ProcessTree, start_chromium
from found_footy.browser.cookies import back_up_cookies
from found_footy.browser.models import BrowserOptions
from found_footy.browser.proxy import EgressProxy
from found_footy.browser.recycling import (
    BrowserFacts,
    BrowserUsage,
    Recycle,
    RecycleDecision,
    RecycleLog,
    RecycleReason,
    reason_to_recycle,
)
from found_footy.errors import SettingsError, SourceUnavailable
from found_footy.runtime.addresses import AddressPolicy
from found_footy.runtime.clock import utc_now
from found_footy.runtime.process_table import Process

log = logging.getLogger(__name__)

FIRST_START = RecycleDecision(RecycleReason.CRASHED, "no browser is running")


class BrowserPool:
    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._lock = asyncio.Lock()
        self._starting: asyncio.Task[Chromium] | None = None
        self._process_trees: list[ProcessTree] = []
        """Process trees that still have processes; normally one."""
        self._starts = 0
        self._recycles = RecycleLog()
        self._strays = 0
        self._leaked = 0
        self._stopping = False
        self._proxy = EgressProxy(AddressPolicy(options.private_hosts))
        self._maintenance: asyncio.Task[None] | None = None
        self._login_confirmed = False

    async def start(self) -> None:
        """Start the browser, so that a broken one is noticed before the first search."""
        await self._proxy.start()
        async with self._lock:
            await self._ensure_chromium()
        self._maintenance = asyncio.create_task(self._maintain(), name="maintenance of Chromium")

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """Provide a logged-in page for one search. It is reused after a success and closed after a failure."""
        async with self._use_browser(is_isolated=False) as chromium:
            page = await chromium.acquire_page()
            try:
                yield page
            except BaseException:
                await chromium.close_page(page)
                raise
            await chromium.release_page(page)

    @asynccontextmanager
    async def isolated_page(self) -> AsyncIterator[Page]:
        """Provide a page without a login, in a separate context, that cannot reach private addresses."""
        async with self._use_browser(is_isolated=True) as chromium:
            page = await chromium.new_isolated_page(self._proxy.url)
            try:
                yield page
            finally:
                await chromium.close_page(page)

    @asynccontextmanager
    async def _use_browser(self, *, is_isolated: bool) -> AsyncIterator[Chromium]:
        async with self._lock:
            chromium = await self._ensure_chromium()
            chromium.enter(is_isolated=is_isolated)
        try:
            yield chromium
        finally:
            chromium.leave()

    def confirm_login(self) -> None:
        """Note that the cookies are those of a login; the next maintenance backs them up."""
        self._login_confirmed = True

    async def until_idle(self) -> None:
        """Wait for the running tasks, which are bounded in time."""
        current = self._current()
        if current is not None:
            await current.idle.wait()

    async def reset_contexts(self) -> int:
        """Close the pages and isolated contexts of the running browser; return the number of pages."""
        current = self._current()
        return 0 if current is None else await current.reset()

    async def recycle(self, why: str, reason: RecycleReason = RecycleReason.MANUAL) -> Recycle:
        """Recycle the browser once running tasks have finished or timed out.

        Concurrent requests share one recycle. Raises the errors of a start.
        """
        requested_at = utc_now()
        async with self._lock:
            self._raise_if_stopping()
            last = self._recycles.last[-1] if self._recycles.last else None
            if (
                last is not None
                and last.reason in (RecycleReason.MANUAL, RecycleReason.RECOVERY)
                and last.at >= requested_at
            ):
                return last
            if self._starting is not None:
                # A start whose task was cancelled continues on its own.
                await asyncio.wait({self._starting})
            current = self._current()
            if current is not None and not (current.gone or current.is_unresponsive):
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._options.recycle_seconds):
                        await current.idle.wait()
                self._raise_if_stopping()
            decision = RecycleDecision(reason, why)
            self._starting = asyncio.create_task(self._replace(current, decision), name="start of Chromium")
            await asyncio.shield(self._starting)
            return self._recycles.last[-1]

    async def _ensure_chromium(self) -> Chromium:
        """Return a working browser, recycled if necessary. The caller must hold the lock.

        Cancelling the caller does not cancel the start: the next search uses its result.
        """
        self._raise_if_stopping()
        current = self._current()
        if self._starting is None or self._starting.done():
            decision = FIRST_START if current is None else reason_to_recycle(measure_usage(current), self._options)
            if decision is not None:
                if current is not None and not (current.gone or current.is_unresponsive):
                    # Tasks are bounded in time. Two browsers cannot share the profile.
                    await current.idle.wait()
                    self._raise_if_stopping()
                self._starting = asyncio.create_task(self._replace(current, decision), name="start of Chromium")
        assert self._starting is not None
        return await asyncio.shield(self._starting)

    def _raise_if_stopping(self) -> None:
        if self._stopping:
            raise SourceUnavailable("the browser service is stopping")

    async def _replace(self, old: Chromium | None, decision: RecycleDecision) -> Chromium:
        started_monotonic, before = time.monotonic(), len(self.processes())
        if old is not None:
            await old.close()
        chromium = await start_chromium(self._options, headless=self._options.headless, lean=True)
        self._starts += 1
        self._process_trees.append(chromium.tree)
        log.info("started Chromium: %s", decision.why, extra={"action": "browser_started", "starts": self._starts})
        if decision is not FIRST_START:
            self._recycles.note(self._recycle(old, decision, before, started_monotonic))
        return chromium

    def _recycle(
        self, old: Chromium | None, decision: RecycleDecision, before: int, started_monotonic: float
    ) -> Recycle:
        now = utc_now()
        return Recycle(
            at=now,
            reason=decision.reason,
            why=decision.why,
            pids_before=before,
            pids_after=len(self.processes()),
            uptime_seconds=round((now - old.started_at).total_seconds(), 1) if old else 0.0,
            tasks=old.tasks if old else 0,
            seconds=round(time.monotonic() - started_monotonic, 2),
        )

    def _current(self) -> Chromium | None:
        task = self._starting
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    async def _maintain(self) -> None:
        """Run maintenance in the background, so that a browser that died while idle is replaced."""
        while True:
            await asyncio.sleep(self._options.upkeep_seconds)
            for task in (self._stop_leaked, self._close_spare_pages, self.back_up_login, self._recycle_if_needed):
                try:
                    await task()
                except (SourceUnavailable, SettingsError, PlaywrightError) as error:
                    log.warning("no browser: %s", error, extra={"action": "browser_missing"})
                except Exception:
                    # The failure may be temporary, and only this loop kills leaked processes.
                    log.exception("browser maintenance failed", extra={"action": "browser_maintenance_failed"})

    async def back_up_login(self) -> None:
        current = self._current()
        if self._login_confirmed and current is not None and not current.gone:
            self._login_confirmed = False
            await back_up_cookies(current.context, self._options.x_url, self._options.folder)

    async def _close_spare_pages(self) -> None:
        current = self._current()
        if current is not None:
            self._strays += await current.fit_metadata()

    async def _recycle_if_needed(self) -> None:
        if not self._lock.locked():
            async with self._lock:
                await self._ensure_chromium()

    async def _stop_leaked(self) -> None:
        """Kill processes that outlived their browser."""
        current = self._current()
        if current is None or (self._starting is not None and not self._starting.done()):
            return
        for tree in [each for each in self._process_trees if each is not current.tree]:
            if leaked := [each.pid for each in tree.members() if not each.ended]:
                log.warning("killed processes of an old browser: %s", leaked, extra={"action": "browser_leak_ended"})
                self._leaked += len(leaked) - len(await tree.end())

    def processes(self) -> list[Process]:
        """Return the processes of all browsers of this service, including leftovers of old ones."""
        by_family = {tree: tree.members() for tree in self._process_trees}
        self._process_trees = [tree for tree, members in by_family.items() if members]
        return [each for members in by_family.values() for each in members]

    def facts(self) -> BrowserFacts:
        current = self._current()
        running = current if current is not None and not current.gone else None
        members = self.processes()
        return BrowserFacts(
            up_since=running.started_at if running else None,
            uptime_seconds=round((utc_now() - running.started_at).total_seconds(), 1) if running else 0.0,
            searches=running.searches if running else 0,
            readings=running.readings if running else 0,
            processes=sum(not each.ended for each in members),
            zombies=sum(each.ended for each in members),
            memory_mb=sum(each.memory for each in members) // 1_000_000,
            contexts=len(running.contexts) if running else 0,
            pages=len(running.pages) if running else 0,
            spare_pages=len(running.spares) if running else 0,
            starts=self._starts,
            recycles=tuple(self._recycles.last),
            recycles_total=self._recycles.by_reason,
            strays_closed=self._strays,
            leaked_ended=self._leaked,
            requests_refused=self._proxy.refused,
        )

    async def stop(self) -> None:
        """Stop the browser and all its processes, even under running searches."""
        self._stopping = True
        if self._maintenance is not None:
            self._maintenance.cancel()
            await asyncio.wait({self._maintenance})
        if self._starting is not None:
            await asyncio.wait({self._starting})
        current = self._current()
        self._starting = None
        if current is not None:
            await current.close()
        await self._proxy.stop()


def measure_usage(chromium: Chromium) -> BrowserUsage:
    return BrowserUsage(
        age=utc_now() - chromium.started_at,
        tasks=chromium.tasks,
        processes=sum(not each.ended for each in chromium.tree.members()),
        gone=chromium.gone,
        is_unresponsive=chromium.is_unresponsive,
    )


# --- Concurrency limit: a few concurrent tasks, and a bounded FIFO queue for the others.


class AdmissionQueue:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._max_waiting = waiting
        self._at_once = at_once
        self._removals: set[asyncio.Task[bool]] = set()
        self.inside = 0
        """Running and waiting tasks."""

    @property
    def running(self) -> int:
        return min(self.inside, self._at_once)

    @property
    def waiting(self) -> int:
        return self.inside - self.running

    @property
    def full(self) -> bool:
        return self.inside >= self._at_once + self._max_waiting

    def resize(self, at_once: int) -> None:
        """Change the limit. Running tasks finish, even if there are more than `at_once` now."""
        for _ in range(at_once - self._at_once):
            self._free.release()
        for _ in range(self._at_once - at_once):
            removal = asyncio.create_task(self._free.acquire(), name="remove a permit")
            self._removals.add(removal)
            removal.add_done_callback(self._removals.discard)
        self._at_once = at_once

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        self.inside += 1
        try:
            async with self._free:
                yield
        finally:
            self.inside -= 1
