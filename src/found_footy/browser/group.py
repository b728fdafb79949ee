"""Several browsers that share the login. Each has its own profile, because two Chromium instances cannot share one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

from playwright.async_api import Page

from found_footy.browser.models import BrowserOptions
from found_footy.browser.pool import BrowserPool
from found_footy.browser.recycling import BrowserFacts, Recycle, RecycleReason
from found_footy.errors import FootyError
from found_footy.runtime.process_table import Process

log = logging.getLogger(__name__)

MAX_BROWSERS = 8


class BrowserGroup:
    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._members = [self._member(number) for number in range(1, options.browsers + 1)]
        self._busy: dict[BrowserPool, int] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._scaling = asyncio.Lock()

    def _member(self, number: int) -> BrowserPool:
        """Build a browser. The first one owns the login; the others load its cookies at each start."""
        profile = self._options.profile
        if number > 1:
            profile = profile.with_name(f"{profile.name}-{number}")
        return BrowserPool(replace(self._options, profile=profile, owns_login=number == 1))

    def __len__(self) -> int:
        return len(self._members)

    async def start(self) -> None:
        """Start the first browser alone, to detect a broken installation, then the others."""
        first, *others = self._members
        await first.start()
        await asyncio.gather(*(member.start() for member in others))

    async def scale(self, count: int) -> None:
        """Start browsers, or retire the newest ones, which finish their tasks first."""
        async with self._scaling:
            count = max(1, min(MAX_BROWSERS, count))
            before = len(self._members)
            # Do not open a profile a second time while its browser is retiring.
            if count > before and self._retiring:
                await asyncio.wait(self._retiring)
            while len(self._members) < count:
                member = self._member(len(self._members) + 1)
                try:
                    await member.start()
                except FootyError:
                    await member.stop()
                    raise
                self._members.append(member)
            while len(self._members) > count:
                task = asyncio.create_task(self._retire(self._members.pop()), name="retire a browser")
                self._retiring.add(task)
                task.add_done_callback(self._retiring.discard)
            if count != before:
                log.info(f"{count} browsers", extra={"action": "browsers_scaled", "before": before, "after": count})

    async def _retire(self, member: BrowserPool) -> None:
        await member.until_idle()
        await member.stop()

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """Provide a logged-in page of the least busy browser; see BrowserPool."""
        with self._least_busy() as member:
            async with member.page() as page:
                yield page

    @asynccontextmanager
    async def isolated_page(self) -> AsyncIterator[Page]:
        with self._least_busy() as member:
            async with member.isolated_page() as page:
                yield page

    def _least_busy(self) -> _TaskCount:
        return _TaskCount(self._busy, min(self._members, key=lambda member: self._busy.get(member, 0)))

    def confirm_login(self) -> None:
        """Note that a search has succeeded, so that the cookies are those of a login."""
        self._members[0].confirm_login()

    async def reset_contexts(self) -> int:
        return sum(await asyncio.gather(*(member.reset_contexts() for member in self._members)))

    async def recycle(self, why: str, reason: RecycleReason = RecycleReason.MANUAL) -> Recycle:
        """Recycle all browsers; return the recycle of the first."""
        recycles = await asyncio.gather(*(member.recycle(why, reason) for member in self._members))
        return recycles[0]

    def processes(self) -> list[Process]:
        return [process for member in self._members for process in member.processes()]

    def facts(self) -> BrowserFacts:
        """Sum over all browsers, with the age of the oldest and the latest recycles of all."""
        all_facts = [member.facts() for member in self._members]
        if len(all_facts) == 1:
            return all_facts[0]
        start_times = [facts.up_since for facts in all_facts if facts.up_since is not None]
        latest = sorted((recycle for facts in all_facts for recycle in facts.recycles), key=_at)
        totals = [facts.recycles_total for facts in all_facts]
        return BrowserFacts(
            up_since=min(start_times, default=None),
            uptime_seconds=max(facts.uptime_seconds for facts in all_facts),
            recycles=tuple(latest[-20:]),
            recycles_total={reason: sum(total.get(reason, 0) for total in totals) for reason in totals[0]},
            **{name: sum(getattr(facts, name) for facts in all_facts) for name in SUMMED_FIELDS},
        )

    async def stop(self) -> None:
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        await asyncio.gather(*(member.stop() for member in self._members))


SUMMED_FIELDS = (
    *("searches", "readings", "processes", "zombies", "memory_mb", "contexts", "pages", "spare_pages", "starts"),
    *("strays_closed", "leaked_ended", "requests_refused"),
)


def _at(recycle: Recycle) -> datetime:
    return recycle.at


class _TaskCount:
    """Context manager that counts a browser's running task."""

    def __init__(self, busy: dict[BrowserPool, int], member: BrowserPool) -> None:
        self._busy = busy
        self._member = member

    def __enter__(self) -> BrowserPool:
        self._busy[self._member] = self._busy.get(self._member, 0) + 1
        return self._member

    def __exit__(self, *_: object) -> None:
        self._busy[self._member] -= 1
        if not self._busy[self._member]:
            del self._busy[self._member]
