"""Announces findings of the operations page, and pings a dead-man's switch while none is graded failed.

Part of the watchdog's process, but apart from its checks of the feeds: it also asks Temporal and the object store, and
may wait for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from found_footy.errors import FootyError
from found_footy.operations.finding_changes import FindingRules, FindingState
from found_footy.operations.models import HealthReport, SystemGrade
from found_footy.runtime.http import HttpClient, HttpError, HttpLimits

if TYPE_CHECKING:
    from found_footy.operations.finding_store import FindingStore

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 30.0
ROUND_SECONDS = 60.0
PING_SECONDS = 10.0


class Heartbeat:
    """Calls a URL of a service outside of this machine, which alarms when the calls stop."""

    def __init__(self, url: str, seconds: float = PING_SECONDS) -> None:
        self._url = url
        self._client = HttpClient(HttpLimits(seconds, max_bytes=65_536))
        self._trouble: str | None = None

    async def ping(self) -> None:
        trouble = None
        try:
            answer = await self._client.get(self._url)
            if answer.status >= 400:
                trouble = f"HTTP {answer.status}"
        except HttpError as error:
            trouble = error.detail  # without the URL, which is a secret
        if trouble is not None and self._trouble is None:
            log.warning(f"the heartbeat was not accepted: {trouble}", extra={"action": "heartbeat_failed"})
        self._trouble = trouble

    async def aclose(self) -> None:
        await self._client.aclose()


def is_alive(report: HealthReport) -> bool:
    """Whether nothing has failed and the feeds' health is checked: what the heartbeat asserts."""
    return report.grade is not SystemGrade.FAILED and report.state is not None


class FindingWatch:
    """`leads` tells whether this watchdog leads; the others announce nothing."""

    def __init__(
        self,
        report: Callable[[datetime], Awaitable[HealthReport]],
        store: FindingStore,
        *,
        leads: Callable[[], bool],
        now: Callable[[], datetime],
        heartbeat: Heartbeat | None = None,
        rules: FindingRules | None = None,
        interval: float = INTERVAL_SECONDS,
    ) -> None:
        self._report, self._store = report, store
        self._leads, self._now = leads, now
        self._heartbeat = heartbeat
        self._rules = rules or FindingRules()
        self._interval = interval
        self._trouble: str | None = None

    async def run(self) -> None:
        """Run until cancelled. A round that fails is logged once, and the next one tries again."""
        while True:
            trouble = None
            try:
                async with asyncio.timeout(ROUND_SECONDS):
                    await self.round()
            except TimeoutError:
                trouble = f"findings were not checked within {ROUND_SECONDS:g} s"
            except FootyError as error:
                trouble = f"findings were not checked: {error.kind}: {error}"
            except Exception:
                log.exception("internal error in the check of findings", extra={"action": "program_fault"})
            if trouble is not None and trouble != self._trouble:
                log.error(trouble, extra={"action": "findings_not_checked"})
            self._trouble = trouble
            await asyncio.sleep(self._interval)

    async def round(self) -> None:
        if not self._leads():
            return
        now = self._now()
        report = await self._report(now)
        for change in await self._store.track(report.findings, now, self._rules):
            finding, ended = change.finding, change.state is FindingState.ENDED
            level = logging.INFO if ended else logging.WARNING
            action = "finding_ended" if ended else "finding_begun"
            extra = {"action": action, "kind": finding.kind, "grade": str(finding.grade)}
            log.log(level, f"over: {finding.what}" if ended else finding.what, extra=extra)
        if self._heartbeat is not None and is_alive(report):
            await self._heartbeat.ping()
