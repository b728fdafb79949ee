"""Judges the feeds' health again and again, and does something about feeds that fail.

It is a process of its own and asks only the database and the cache what has arrived, so that it depends on nothing
that it watches. Of several, on whatever machines, one judges; the others wait for its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from uuid import uuid4

from found_footy.domain.errors import CacheUnavailable, FootyError
from found_footy.domain.feeds.health import HealthRules, Judgement, Measured, judge
from found_footy.domain.feeds.health_values import (
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryOutcome,
)
from found_footy.domain.feeds.recovery import LONGEST, Step, acted, begun, concluded
from found_footy.ops.browser_recycles import BrowserRecycles
from found_footy.ports_health import HealthCache, HealthStore
from found_footy.recovering import Recovering

log = logging.getLogger(__name__)

ROUND_SECONDS = 30.0
LATEST = 20
"""Entries of the audit log that are looked through for one that nobody finished."""
LEVELS = {HealthGrade.HEALTHY: logging.INFO, HealthGrade.DEGRADED: logging.WARNING}


class Leading(Protocol):
    async def held(self) -> bool: ...

    async def release(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Acted:
    recovery_id: str
    steps: Sequence[Step]
    seconds: float


class Watchdog:
    def __init__(
        self,
        store: HealthStore,
        cache: HealthCache,
        measure: Callable[[datetime], Awaitable[Measured]],
        recovering: Recovering,
        leading: Leading,
        rules: HealthRules,
        *,
        interval: float,
        now: Callable[[], datetime],
        recycles: BrowserRecycles | None = None,
    ) -> None:
        self._store = store
        self._cache = cache
        self._measure = measure
        self._recovering = recovering
        self._leading = leading
        self._rules = rules
        self._interval = interval
        self._now = now
        self._recycles = recycles
        self._acting: asyncio.Task[Acted] | None = None
        self._trouble: str | None = None

    async def run(self, stop: asyncio.Event) -> None:
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await self._guarded()
                # A recovery that is done is noted at once; its effect shows in the rounds after it.
                acting = {self._acting} if self._acting is not None and not self._acting.done() else set()
                await asyncio.wait({stopping, *acting}, timeout=self._interval, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (stopping, self._acting):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            await self._leading.release()

    async def _guarded(self) -> None:
        """Whatever is away may come back, and then the judging goes on."""
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await self.round()
        except TimeoutError:
            self._say(f"a judgement took longer than {ROUND_SECONDS:g} s")
        except FootyError as error:
            self._say(f"no judgement: {error.kind}: {error}")
        else:
            self._trouble = None

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:  # once, not every quarter of a minute
            log.error(trouble, extra={"action": "not_judged"})
        self._trouble = trouble

    async def round(self) -> Judgement | None:
        """One judgement; None where another watchdog judges."""
        if not await self._leading.held():
            return None
        measured = await self._measure(self._now())
        now = self._now()
        state = await self._store.state()
        entry = await self._store.recovery(state.recovery_id) if state and state.recovery_id else None
        written = entry
        done = self._done()
        if done is not None and state is not None and entry is not None and entry.id == done.recovery_id:
            entry = acted(entry, done.steps, done.seconds)
            state = replace(state, acting_until=None)
        elif self._acting is None and state is not None and state.acting_until is not None:
            # Who leads is the only one who acts: whoever was at it is no more, and need not be waited for.
            state = replace(state, acting_until=min(now, state.acting_until))
        judgement = judge(state, measured, now, self._rules)
        entry = concluded(entry, judgement, now) if entry else None
        if not await self._save(judgement.state, judgement.summary, entry if entry != written else None):
            return None
        if done is not None:
            self._acting = None
        self._log(judgement)
        if judgement.act and self._acting is None:
            await self._begin(judgement, entry if judgement.state.recovery_id else None)
        if self._recycles is not None:
            await self._recycles.note()
        await self._close_orphans(judgement.state.recovery_id, now)
        return judgement

    def _done(self) -> Acted | None:
        return self._acting.result() if self._acting is not None and self._acting.done() else None

    async def _save(self, state: HealthState, summary: HealthSummary, entry: Recovery | None) -> bool:
        if not await self._store.save(state, summary, entry):
            log.warning("another watchdog has judged meanwhile", extra={"action": "judged_by_another"})
            return False
        try:
            await self._cache.publish(summary)
            if entry is not None:
                await self._cache.publish_recovery(entry)
        except CacheUnavailable as error:
            log.debug(str(error), extra={"action": "health_not_published"})
        return True

    async def _begin(self, judgement: Judgement, entry: Recovery | None) -> None:
        """Saved before anything is done: whoever comes after a sudden end finds it, and goes on with it."""
        state, summary, entry = begun(judgement, entry, uuid4().hex, self._now())
        if not await self._save(state, summary, entry):
            return
        trigger = "; ".join(summary.reasons)
        log.critical(f"the feeds are failing: {trigger}", extra={"action": "recovery_begun", "recovery_id": entry.id})
        self._acting = asyncio.create_task(self._act(entry.id, trigger), name="recover the feeds")

    async def _act(self, recovery_id: str, trigger: str) -> Acted:
        steps, seconds = await self._recovering.act(self._recovering.parts, f"watchdog: {trigger}")
        return Acted(recovery_id, steps, seconds)

    async def _close_orphans(self, current: str | None, now: datetime) -> None:
        """Of a recovery that a person asked for, and whose process ended in the middle of it."""
        for entry in await self._store.recoveries(LATEST):
            if entry.outcome is None and entry.id != current and now - entry.at > LONGEST:
                after = {**entry.after, "note": "whoever began it has not lived to say what came of it"}
                await self._recovering.note(replace(entry, outcome=RecoveryOutcome.FAILED, after=after))

    def _log(self, judgement: Judgement) -> None:
        if len(judgement.path) > 1:
            reasons = "; ".join(judgement.summary.reasons) or "everything is fresh"
            log.log(
                LEVELS.get(judgement.state.grade, logging.ERROR),
                f"the feeds are {judgement.state.grade}: {reasons}",
                extra={"action": "health_changed", "path": [str(grade) for grade in judgement.path]},
            )
        if judgement.outcome is not None:
            said = f"the recovery is judged: {judgement.outcome}"
            log.info(said, extra={"action": "recovery_judged", "outcome": str(judgement.outcome)})
