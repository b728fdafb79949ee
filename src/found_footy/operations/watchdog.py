"""The watchdog: checks the health of the feeds periodically and recovers failing feeds.

It runs as a separate process and reads only the database and the cache, so that it does not depend on what it watches.
Of several instances, on any machines, one leads and the others stand by.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from found_footy.config import Settings
from found_footy.errors import CacheUnavailable, FootyError
from found_footy.operations.feed_health import (
    MAX_RECOVERY,
    FeedMeasurement,
    HealthRules,
    HealthTransition,
    RecoveryStep,
    acted,
    begun,
    concluded,
    next_state,
)
from found_footy.operations.models import (
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.operations.recovery import BrowserRecycles, RecoveryService

if TYPE_CHECKING:
    from found_footy.operations.store import HealthCache, OperationsStore
    from found_footy.storage.postgres import AdvisoryLock

log = logging.getLogger(__name__)

ROUND_SECONDS = 30.0
MAX_ENTRIES = 20
"""Number of audit entries searched for unfinished ones."""
LEVELS = {HealthGrade.HEALTHY: logging.INFO, HealthGrade.DEGRADED: logging.WARNING}


@dataclass(frozen=True, slots=True)
class Acted:
    recovery_id: str
    steps: Sequence[RecoveryStep]
    seconds: float


class Watchdog:
    def __init__(
        self,
        store: OperationsStore,
        cache: HealthCache,
        measure: Callable[[datetime], Awaitable[FeedMeasurement]],
        recovering: RecoveryService,
        leading: AdvisoryLock,
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
        self.leads = False
        """Whether this watchdog led in its last round."""

    async def run(self, stop: asyncio.Event) -> None:
        log.info(f"checking the feeds every {self._interval:g} s", extra={"action": "watchdog_ready"})
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await self._run_round()
                # A completed recovery is recorded at once; its effect shows in later rounds.
                acting = {self._acting} if self._acting is not None and not self._acting.done() else set()
                await asyncio.wait({stopping, *acting}, timeout=self._interval, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (stopping, self._acting):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            await self._leading.release()
        log.info("the watchdog has stopped", extra={"action": "watchdog_stopped"})

    async def _run_round(self) -> None:
        """Run one round. Failures are logged, and the next round tries again."""
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await self.round()
        except TimeoutError:
            self._log_trouble(f"a check took longer than {ROUND_SECONDS:g} s")
        except FootyError as error:
            self._log_trouble(f"the check failed: {error.kind}: {error}")
        else:
            self._trouble = None

    def _log_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:  # log once, not every round
            log.error(trouble, extra={"action": "not_judged"})
        self._trouble = trouble

    async def round(self) -> HealthTransition | None:
        """Run one check; return None if another watchdog leads."""
        self.leads = False  # also if the lock cannot be asked for
        self.leads = await self._leading.try_acquire()
        if not self.leads:
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
            if entry is None or entry.action is not RecoveryAction.MANUAL_TRIGGER:
                # Only the leader starts automatic recoveries, so the process of this one has died.
                state = replace(state, acting_until=min(now, state.acting_until))
            elif state.acting_until is not None and now >= state.acting_until:
                state = replace(state, acting_until=None)  # the requester has died; assess the result
        judgement = next_state(state, measured, now, self._rules)
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
            log.warning("another watchdog checked meanwhile", extra={"action": "checked_by_another"})
            return False
        try:
            await self._cache.publish(summary)
            if entry is not None:
                await self._cache.publish_recovery(entry)
        except CacheUnavailable as error:
            log.debug(str(error), extra={"action": "health_not_published"})
        return True

    async def _begin(self, judgement: HealthTransition, entry: Recovery | None) -> None:
        """Save the start of the recovery before acting, so that a successor can continue it after a crash."""
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
        """Close manual recoveries whose process died while running."""
        for entry in await self._store.recoveries(MAX_ENTRIES):
            if entry.outcome is None and entry.id != current and now - entry.at > MAX_RECOVERY:
                after = {**entry.after, "note": "interrupted: the process that started it has exited"}
                await self._recovering.note(replace(entry, outcome=RecoveryOutcome.FAILED, after=after))

    def _log(self, judgement: HealthTransition) -> None:
        if len(judgement.path) > 1:
            reasons = "; ".join(judgement.summary.reasons) or "everything is fresh"
            log.log(
                LEVELS.get(judgement.state.grade, logging.ERROR),
                f"the feeds are {judgement.state.grade}: {reasons}",
                extra={"action": "health_changed", "path": [str(grade) for grade in judgement.path]},
            )
        if judgement.outcome is not None:
            message = f"outcome of the recovery: {judgement.outcome}"
            log.info(message, extra={"action": "recovery_checked", "outcome": str(judgement.outcome)})


def health_rules(settings: Settings) -> HealthRules:
    return HealthRules(
        poll=settings.poll_seconds,
        fresh=settings.fresh_seconds,
        failing=settings.failing_seconds,
        stall=settings.stall_seconds,
        recovery=settings.recovery_seconds,
        recovery_pause=settings.recovery_pause_seconds,
        gap=max(HealthRules().gap, 4 * settings.health_seconds),
    )
