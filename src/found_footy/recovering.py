"""What can be done for feeds that fail: a new browser, new workers, a new poll. Each step is bounded and accounted for.

It stands beside the composition roots, since the watchdog and the pages both need it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from found_footy.domain.errors import CacheUnavailable, FootyError, NotFound
from found_footy.domain.feeds.health_values import Recovery, RecoveryAction
from found_footy.domain.feeds.recovery import Step, acted, outcome_of, seen
from found_footy.ports_feeds import MonitorRecords
from found_footy.ports_health import BrowserControl, HealthCache, HealthStore, Restarting

log = logging.getLogger(__name__)

BROWSER_SECONDS = 60.0
WORKERS_SECONDS = 30.0
PAUSES_SECONDS = 5.0
POLLER_SECONDS = 12.0
"""Browser and workers go side by side, the others follow: all of it ends before `recovery.LONGEST`."""
LONGEST_WORDS = 300

PARTS: Mapping[RecoveryAction, tuple[str, ...]] = {
    RecoveryAction.BROWSER_RECYCLE: ("browser",),
    RecoveryAction.SOFT_RESTART: ("workers", "poller"),
    RecoveryAction.MANUAL_TRIGGER: ("browser", "workers", "poller"),
}


Done = tuple[str, Mapping[str, Any]]
"""What was done in words, and facts about it."""


class Recovering:
    """What is None does not exist here: a system without a browser has none to recycle."""

    def __init__(
        self,
        store: HealthStore,
        cache: HealthCache,
        now: Callable[[], datetime],
        *,
        browser: BrowserControl | None,
        workers: Restarting | None,
        poller: Restarting | None,
        records: MonitorRecords | None = None,
    ) -> None:
        self._store = store
        self._cache = cache
        self._now = now
        self._browser = browser
        self._workers = workers
        self._poller = poller
        self._records = records

    @property
    def parts(self) -> tuple[str, ...]:
        """What there is to be started anew."""
        units = {"browser": self._browser, "workers": self._workers, "poller": self._poller}
        return tuple(name for name, unit in units.items() if unit is not None)

    async def recover(self, action: RecoveryAction, trigger: str) -> Recovery:
        """Because a person wants it: the entry says so, and its outcome is whether all of it could be done.

        Raises NotFound where there is nothing of the kind.
        """
        what = [part for part in PARTS[action] if part in self.parts]
        if not what:
            raise NotFound(f"nothing here can be started anew: there is no {' and no '.join(PARTS[action])}")
        last = await self._store.summary()
        entry = Recovery(
            id=uuid4().hex,
            at=self._now(),
            action=RecoveryAction.MANUAL_TRIGGER,
            trigger=trigger[:LONGEST_WORDS],
            before={"what": what, **(seen(last) if last else {})},
        )
        await self.note(entry)
        steps, seconds = await self.act(what, trigger)
        done = replace(acted(entry, steps, seconds), outcome=outcome_of(steps))
        last = await self._store.summary()
        done = replace(done, after={**done.after, **(seen(last) if last else {})})
        await self.note(done)
        return done

    async def note(self, entry: Recovery) -> None:
        await self._store.add_recovery(entry)
        await self.publish(entry)

    async def publish(self, entry: Recovery) -> None:
        try:
            await self._cache.publish_recovery(entry)
        except CacheUnavailable as error:
            log.warning(str(error), extra={"action": "recovery_not_published"})

    async def act(self, parts: Sequence[str], reason: str) -> tuple[list[Step], float]:
        """Never raises but where it is cancelled: what fails is said in the step."""
        began = time.monotonic()
        first = []
        if "browser" in parts and self._browser is not None:
            first.append(self._step("browser", BROWSER_SECONDS, _browser_step(self._browser, reason)))
        if "workers" in parts and self._workers is not None:
            first.append(self._step("workers", WORKERS_SECONDS, _restart_step(self._workers)))
        steps = list(await asyncio.gather(*first))
        if self._records is not None:
            # A pause would outlast the time in which the recovery is judged.
            steps.append(await self._step("pauses", PAUSES_SECONDS, _pauses_step(self._records, self._now())))
        if "poller" in parts and self._poller is not None:
            # Last: the poll that it begins should find the new browser and the new workers.
            steps.append(await self._step("poller", POLLER_SECONDS, _restart_step(self._poller)))
        return steps, time.monotonic() - began

    async def _step(self, name: str, most_seconds: float, doing: Awaitable[Done]) -> Step:
        began = time.monotonic()
        ok = False
        facts: Mapping[str, Any] = {}
        try:
            async with asyncio.timeout(most_seconds):
                said, facts = await doing
            ok = True
        except TimeoutError:
            said = f"not done within {most_seconds:g} s"
        except FootyError as error:
            said = f"{error.kind}: {error}"
        except OSError as error:
            said = f"{type(error).__name__}: {error.strerror}"
        seconds = round(time.monotonic() - began, 1)
        extra = {"action": "recovery_step", "step": name, "ok": ok, "seconds": seconds}
        log.log(logging.INFO if ok else logging.ERROR, f"{name}: {said}", extra=extra)
        return Step(name, ok, seconds, said[:LONGEST_WORDS], facts)


async def _browser_step(browser: BrowserControl, reason: str) -> Done:
    answer = await browser.recycle(reason)
    recycle = answer.get("recycle")
    return "the browser was started anew", recycle if isinstance(recycle, Mapping) else {}


async def _restart_step(unit: Restarting) -> Done:
    return await unit.restart(), {}


async def _pauses_step(records: MonitorRecords, now: datetime) -> Done:
    ended = await records.end_pauses(now)
    return said_of_pauses(ended), {}


def said_of_pauses(ended: int) -> str:
    if ended == 1:
        return "1 match that was paused is asked for again"
    return f"{ended} matches that were paused are asked for again" if ended else "no match was paused"
