"""Manages one Chromium instance: starts it, recycles it by age, task count, process count or crash, and stops it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from found_footy.browser.chromium import Chromium, Family, Process, start_chromium
from found_footy.browser.models import BrowserOptions
from found_footy.browser.proxy import EgressProxy
from found_footy.browser.recycling import (
    BrowserFacts,
    BrowserUsage,
    Recycle,
    RecycleDecision,
    RecycleLog,
    RecycleReason,
    reason_to_renew,
)
from found_footy.errors import SettingsError, SourceUnavailable
from found_footy.runtime.addresses import AddressPolicy

log = logging.getLogger(__name__)

FIRST = RecycleDecision(RecycleReason.CRASHED, "there is none")


class BrowserPool:
    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._door = asyncio.Lock()
        self._renewal: asyncio.Task[Chromium] | None = None
        self._families: list[Family] = []
        """Process families that still have processes; normally one."""
        self._starts = 0
        self._recycles = RecycleLog()
        self._strays = 0
        self._leaked = 0
        self._stopping = False
        self._outgoing = EgressProxy(AddressPolicy(options.private_hosts))
        self._upkeep: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the browser, so that a broken one is noticed before the first search."""
        await self._outgoing.start()
        async with self._door:
            await self._fit()
        self._upkeep = asyncio.create_task(self._look_after_it(), name="upkeep of Chromium")

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """Provide a logged-in page for one search. It is reused after a success and closed after a failure."""
        async with self._entered(guest=False) as chromium:
            page = await chromium.take_page()
            try:
                yield page
            except BaseException:
                await chromium.close_page(page)
                raise
            await chromium.give_back(page)

    @asynccontextmanager
    async def guest_page(self) -> AsyncIterator[Page]:
        """Provide a page without a login, in a separate context, that cannot reach private addresses."""
        async with self._entered(guest=True) as chromium:
            page = await chromium.new_guest(self._outgoing.url)
            try:
                yield page
            finally:
                await chromium.close_page(page)

    @asynccontextmanager
    async def _entered(self, *, guest: bool) -> AsyncIterator[Chromium]:
        async with self._door:
            chromium = await self._fit()
            chromium.enter(guest=guest)
        try:
            yield chromium
        finally:
            chromium.leave()

    async def reset_contexts(self) -> int:
        """Close the pages and isolated contexts of the running browser; return how many pages."""
        current = self._current()
        return 0 if current is None else await current.reset()

    async def recycle(self, why: str, reason: RecycleReason = RecycleReason.MANUAL) -> Recycle:
        """Recycle the browser once running tasks have finished or timed out.

        Concurrent requests share one recycle. Raises the errors of a start.
        """
        asked = datetime.now(UTC)
        async with self._door:
            self._refuse_if_stopping()
            last = self._recycles.last[-1] if self._recycles.last else None
            if last is not None and last.reason in (RecycleReason.MANUAL, RecycleReason.RECOVERY) and last.at >= asked:
                return last
            if self._renewal is not None:
                # A start whose task was cancelled continues on its own.
                await asyncio.wait({self._renewal})
            current = self._current()
            if current is not None and not (current.gone or current.stuck):
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._options.recycle_seconds):
                        await current.idle.wait()
                self._refuse_if_stopping()
            renewal = RecycleDecision(reason, why)
            self._renewal = asyncio.create_task(self._renew(current, renewal), name="start of Chromium")
            await asyncio.shield(self._renewal)
            return self._recycles.last[-1]

    async def _fit(self) -> Chromium:
        """Return a working browser, recycled if necessary. The caller must hold the lock.

        Cancelling the caller does not cancel the start: the next search uses its result.
        """
        self._refuse_if_stopping()
        current = self._current()
        if self._renewal is None or self._renewal.done():
            renewal = FIRST if current is None else reason_to_renew(_wear(current), self._options)
            if renewal is not None:
                if current is not None and not (current.gone or current.stuck):
                    # Tasks are bounded in time. Two browsers cannot share the profile.
                    await current.idle.wait()
                    self._refuse_if_stopping()
                self._renewal = asyncio.create_task(self._renew(current, renewal), name="start of Chromium")
        assert self._renewal is not None
        return await asyncio.shield(self._renewal)

    def _refuse_if_stopping(self) -> None:
        if self._stopping:
            raise SourceUnavailable("the browser service is stopping")

    async def _renew(self, old: Chromium | None, renewal: RecycleDecision) -> Chromium:
        began, before = time.monotonic(), len(self.processes())
        if old is not None:
            await old.close()
        started = await start_chromium(self._options, headless=self._options.headless, lean=True)
        self._starts += 1
        self._families.append(started.family)
        log.info("started Chromium: %s", renewal.why, extra={"action": "browser_started", "starts": self._starts})
        if renewal is not FIRST:
            self._recycles.note(self._recycle(old, renewal, before, began))
        return started

    def _recycle(self, old: Chromium | None, renewal: RecycleDecision, before: int, began: float) -> Recycle:
        now = datetime.now(UTC)
        return Recycle(
            at=now,
            reason=renewal.reason,
            why=renewal.why,
            pids_before=before,
            pids_after=len(self.processes()),
            uptime_seconds=round((now - old.started_at).total_seconds(), 1) if old else 0.0,
            tasks=old.tasks if old else 0,
            seconds=round(time.monotonic() - began, 2),
        )

    def _current(self) -> Chromium | None:
        task = self._renewal
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    async def _look_after_it(self) -> None:
        """Run maintenance in the background, so that a browser that died while idle is replaced."""
        while True:
            await asyncio.sleep(self._options.upkeep_seconds)
            for duty in (self._end_leaked, self._tidy, self._renew_if_worn):
                try:
                    await duty()
                except (SourceUnavailable, SettingsError, PlaywrightError) as error:
                    log.warning("no browser: %s", error, extra={"action": "browser_missing"})
                except Exception:
                    # The failure may be temporary, and only this loop kills leaked processes.
                    log.exception("upkeep of the browser failed", extra={"action": "browser_upkeep_failed"})

    async def _tidy(self) -> None:
        current = self._current()
        if current is not None:
            self._strays += await current.tidy()

    async def _renew_if_worn(self) -> None:
        if not self._door.locked():
            async with self._door:
                await self._fit()

    async def _end_leaked(self) -> None:
        """Kill processes that outlived their browser."""
        current = self._current()
        if current is None or (self._renewal is not None and not self._renewal.done()):
            return
        for family in [each for each in self._families if each is not current.family]:
            if left := [each.pid for each in family.members() if not each.ended]:
                log.warning("ended processes of an old browser: %s", left, extra={"action": "browser_leak_ended"})
                self._leaked += len(left) - len(await family.end())

    def processes(self) -> list[Process]:
        """Return the processes of all browsers of this service, including leftovers of old ones."""
        by_family = {family: family.members() for family in self._families}
        self._families = [family for family, members in by_family.items() if members]
        return [each for members in by_family.values() for each in members]

    def facts(self) -> BrowserFacts:
        current = self._current()
        up = current if current is not None and not current.gone else None
        members = self.processes()
        return BrowserFacts(
            up_since=up.started_at if up else None,
            uptime_seconds=round((datetime.now(UTC) - up.started_at).total_seconds(), 1) if up else 0.0,
            searches=up.searches if up else 0,
            readings=up.readings if up else 0,
            processes=sum(not each.ended for each in members),
            zombies=sum(each.ended for each in members),
            memory_mb=sum(each.memory for each in members) // 1_000_000,
            contexts=len(up.contexts) if up else 0,
            pages=len(up.pages) if up else 0,
            spare_pages=len(up.spares) if up else 0,
            starts=self._starts,
            recycles=tuple(self._recycles.last),
            recycles_total=self._recycles.by_reason,
            strays_closed=self._strays,
            leaked_ended=self._leaked,
            requests_refused=self._outgoing.refused,
        )

    async def stop(self) -> None:
        """Stop the browser and all its processes, even under running searches."""
        self._stopping = True
        if self._upkeep is not None:
            self._upkeep.cancel()
            await asyncio.wait({self._upkeep})
        if self._renewal is not None:
            await asyncio.wait({self._renewal})
        current = self._current()
        self._renewal = None
        if current is not None:
            await current.close()
        await self._outgoing.stop()


def _wear(chromium: Chromium) -> BrowserUsage:
    return BrowserUsage(
        age=datetime.now(UTC) - chromium.started_at,
        tasks=chromium.tasks,
        processes=sum(not each.ended for each in chromium.family.members()),
        gone=chromium.gone,
        stuck=chromium.stuck,
    )


# --- Concurrency limit: a few tasks at once, a bounded FIFO queue for the others.


class AdmissionQueue:
    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._at_once = at_once
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
        return self.inside >= self._most

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        self.inside += 1
        try:
            async with self._free:
                yield
        finally:
            self.inside -= 1
