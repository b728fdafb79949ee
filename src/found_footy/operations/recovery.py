"""Recovery: restarts poller, workers and browser, and records recycles of the browser."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from temporalio.client import Client, ScheduleOverlapPolicy
from temporalio.service import RPCError, RPCStatusCode

from found_footy.errors import CacheUnavailable, EngineError, FootyError, NotFound, SourceError
from found_footy.operations.feed_health import RecoveryStep, acted, enter_recovering, outcome_of, seen
from found_footy.operations.models import HealthState, HealthSummary, Recovery, RecoveryAction, RecoveryOutcome
from found_footy.runtime.temporal import has_workers
from found_footy.text import shorten

SECONDS = 10.0
WORKER_SILENCE = timedelta(seconds=90)
"""An idle worker polls at least once a minute."""
MAX_TERMINATED = 100
"""Far above the usual number: one poll at a time, and one per feed."""


class TemporalPoller:
    """Terminates running polls and triggers the schedule. `client` may be lazy.

    Only workflows of the given types on the task queue are terminated.
    """

    def __init__(
        self, client: Client, task_queue: str, workflows: Sequence[str], schedule: str, seconds: float = SECONDS
    ) -> None:
        self._client = client
        self._queue = task_queue
        self._workflows = tuple(workflows)
        self._schedule = schedule
        self._seconds = seconds

    async def has_workers(self) -> bool:
        """Whether a worker polls the task queue; True if Temporal does not respond."""
        try:
            async with asyncio.timeout(self._seconds):
                return await has_workers(self._client, self._queue, WORKER_SILENCE)
        except (TimeoutError, RPCError, RuntimeError, OSError):
            return True

    async def restart(self) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                ended = await self._end_running()
                return f"terminated {ended} polls; {await self._begin()}"
        except TimeoutError:
            raise EngineError(f"no response from Temporal within {self._seconds:g} s") from None
        except (RPCError, RuntimeError, OSError) as error:
            raise EngineError(f"Temporal rejected the request: {shorten(str(error))}") from error

    async def _end_running(self) -> int:
        types = ", ".join(f"'{name}'" for name in self._workflows)
        query = f"ExecutionStatus = 'Running' AND TaskQueue = '{self._queue}' AND WorkflowType IN ({types})"
        ended = 0
        async for execution in self._client.list_workflows(query, limit=MAX_TERMINATED):
            handle = self._client.get_workflow_handle(execution.id, run_id=execution.run_id)
            try:
                await handle.terminate(reason="the feeds are failing; restarting the poll")
                ended += 1
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:  # already ended
                    raise
        return ended

    async def _begin(self) -> str:
        handle = self._client.get_schedule_handle(self._schedule)
        state = (await handle.describe()).schedule.state
        if state.paused:
            return f"none started: the schedule {self._schedule} is paused ({state.note or 'no note'})"
        # The terminated poll may briefly still count as running.
        await handle.trigger(overlap=ScheduleOverlapPolicy.BUFFER_ONE)
        return "started a new one"


# --- Recovery steps. Each is bounded and audited.


if TYPE_CHECKING:
    from found_footy.browser.client import BrowserClient
    from found_footy.feeds.cache import MonitoringRecords
    from found_footy.operations.store import HealthCache, OperationsStore
    from found_footy.runtime.supervisor import LocalWorkers

log = logging.getLogger(__name__)

SAVE_ATTEMPTS = 5
"""A save fails if the watchdog has saved since the state was loaded."""
MAX_CHECK_AGE = timedelta(seconds=60)
BROWSER_SECONDS = 60.0
WORKERS_SECONDS = 30.0
PAUSES_SECONDS = 5.0
POLLER_SECONDS = 12.0
"""Browser and workers run concurrently, then the others, so all steps end within `feed_health.MAX_RECOVERY`."""
PARTS: Mapping[RecoveryAction, tuple[str, ...]] = {
    RecoveryAction.BROWSER_RECYCLE: ("browser",),
    RecoveryAction.SOFT_RESTART: ("workers", "poller"),
    RecoveryAction.MANUAL_TRIGGER: ("browser", "workers", "poller"),
}


def _is_checked(state: HealthState, now: datetime) -> bool:
    """Whether a watchdog is running."""
    return state.judged_at is not None and now - state.judged_at <= MAX_CHECK_AGE


Done = tuple[str, Mapping[str, Any]]
"""Description of the step's result, and facts about it."""


class RecoveryService:
    """Runs recoveries. Parts that are None do not exist in this installation."""

    def __init__(
        self,
        store: OperationsStore,
        cache: HealthCache,
        now: Callable[[], datetime],
        *,
        browser: BrowserClient | None,
        workers: LocalWorkers | None,
        poller: TemporalPoller | None,
        records: MonitoringRecords | None = None,
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
        """Names of the parts that can be restarted."""
        units = {"browser": self._browser, "workers": self._workers, "poller": self._poller}
        return tuple(name for name, unit in units.items() if unit is not None)

    async def recover(self, action: RecoveryAction, trigger: str) -> Recovery:
        """Run a requested recovery: the feeds are RECOVERING until the watchdog has assessed its outcome.

        Without a running watchdog, or during an outage, the steps decide the outcome. Raises NotFound if none of the
        action's parts exists.
        """
        what = [part for part in PARTS[action] if part in self.parts]
        if not what:
            raise NotFound(f"this installation has no {' and no '.join(PARTS[action])}")
        last = await self._store.summary()
        entry = Recovery(
            id=uuid4().hex,
            at=self._now(),
            action=RecoveryAction.MANUAL_TRIGGER,
            trigger=shorten(trigger),
            before={"what": what, **(seen(last) if last else {})},
        )
        is_judged = await self._enter_recovering(entry, last)
        if not is_judged:
            await self.note(entry)
        steps, seconds = await self.act(what, trigger, is_requested=True)
        entry = acted(entry, steps, seconds)
        if is_judged and await self._end_acting(entry):
            await self.publish(entry)
            return entry
        entry = replace(entry, outcome=outcome_of(steps))
        last = await self._store.summary()
        entry = replace(entry, after={**entry.after, **(seen(last) if last else {})})
        await self.note(entry)
        return entry

    async def wait_for_outcome(self, entry: Recovery, seconds: float) -> Recovery:
        """Wait up to `seconds` until the watchdog has assessed the recovery."""
        deadline = time.monotonic() + seconds
        while entry.outcome is None and time.monotonic() < deadline:
            await asyncio.sleep(1)
            entry = await self._store.recovery(entry.id) or entry
        return entry

    async def _enter_recovering(self, entry: Recovery, last: HealthSummary | None) -> bool:
        """Set the grade RECOVERING, so that the watchdog assesses the outcome. Return False if it cannot."""
        for _ in range(SAVE_ATTEMPTS):
            state = await self._store.state()
            now = self._now()
            if state is None or last is None or state.recovery_id is not None or not _is_checked(state, now):
                return False
            state = enter_recovering(state, entry.id, now)
            summary = replace(last, grade=state.grade, since=state.since, generated_at=now)
            if await self._store.save(state, summary, entry):
                await self.publish(entry)
                return True
        return False

    async def _end_acting(self, entry: Recovery) -> bool:
        """Save the steps and hand over to the watchdog. Return False if the state no longer refers to the entry."""
        for _ in range(SAVE_ATTEMPTS):
            state, summary = await self._store.state(), await self._store.summary()
            if state is None or summary is None or state.recovery_id != entry.id:
                return False
            if await self._store.save(replace(state, acting_until=None, revision=state.revision + 1), summary, entry):
                return True
        return False

    async def note(self, entry: Recovery) -> None:
        await self._store.add_recovery(entry)
        await self.publish(entry)

    async def publish(self, entry: Recovery) -> None:
        try:
            await self._cache.publish_recovery(entry)
        except CacheUnavailable as error:
            log.warning(str(error), extra={"action": "recovery_not_published"})

    async def act(
        self, parts: Sequence[str], reason: str, *, is_requested: bool = False
    ) -> tuple[list[RecoveryStep], float]:
        """Restart what is stuck. Failures are reported in the steps; only a cancellation raises.

        A healthy browser only closes its pages, unless a restart was requested. Workers are restarted only if none
        polls for tasks, so that library work and downloads continue.
        """
        began = time.monotonic()
        first = []
        if "browser" in parts and self._browser is not None:
            step = _recycle_browser if is_requested else _reset_or_recycle_browser
            first.append(self._step("browser", BROWSER_SECONDS, step(self._browser, reason)))
        if "workers" in parts and self._workers is not None and await self._are_workers_stuck():
            first.append(self._step("workers", WORKERS_SECONDS, _restart_step(self._workers)))
        steps = list(await asyncio.gather(*first))
        if self._records is not None:
            # A pause would outlast the time limit of the recovery.
            steps.append(await self._step("pauses", PAUSES_SECONDS, _pauses_step(self._records, self._now())))
        if "poller" in parts and self._poller is not None:
            # Last, so that the new poll uses the new browser and workers.
            steps.append(await self._step("poller", POLLER_SECONDS, _restart_step(self._poller)))
        return steps, time.monotonic() - began

    async def _are_workers_stuck(self) -> bool:
        return self._poller is not None and not await self._poller.has_workers()

    async def _step(self, name: str, timeout_seconds: float, step: Awaitable[Done]) -> RecoveryStep:
        began = time.monotonic()
        ok = False
        facts: Mapping[str, Any] = {}
        try:
            async with asyncio.timeout(timeout_seconds):
                message, facts = await step
            ok = True
        except TimeoutError:
            message = f"no result within {timeout_seconds:g} s"
        except FootyError as error:
            message = f"{error.kind}: {error}"
        except OSError as error:
            message = f"{type(error).__name__}: {error.strerror}"
        seconds = round(time.monotonic() - began, 1)
        extra = {"action": "recovery_step", "step": name, "ok": ok, "seconds": seconds}
        log.log(logging.INFO if ok else logging.ERROR, f"{name}: {message}", extra=extra)
        return RecoveryStep(name, ok, seconds, shorten(message), facts)


async def _recycle_browser(browser: BrowserClient, reason: str) -> Done:
    answer = await browser.recycle(reason)
    recycle = answer.get("recycle")
    return "restarted the browser", recycle if isinstance(recycle, Mapping) else {}


async def _reset_or_recycle_browser(browser: BrowserClient, reason: str) -> Done:
    facts = await browser.facts()
    if not facts.get("healthy"):
        answer = await browser.recycle(reason, is_recovery=True)
        recycle = answer.get("recycle")
        return "restarted the browser", recycle if isinstance(recycle, Mapping) else {}
    answer = await browser.reset_contexts(reason)
    closed = answer.get("closed")
    return f"closed {closed} pages of the browser", {"action": str(RecoveryAction.CONTEXT_POOL_RESET), "closed": closed}


async def _restart_step(unit: LocalWorkers | TemporalPoller) -> Done:
    return await unit.restart(), {}


async def _pauses_step(records: MonitoringRecords, now: datetime) -> Done:
    ended = await records.end_pauses(now)
    return f"resumed {ended} paused {'match' if ended == 1 else 'matches'}", {}


# --- Audit entries for recycles by the browser service itself.


REQUESTED = frozenset({"manual", "recovery"})
"""Reasons of requested recycles, which the requester has already recorded."""
MAX_RECYCLES = 20


class BrowserRecycles:
    def __init__(self, browser: BrowserClient, store: OperationsStore, recovering: RecoveryService) -> None:
        self._browser = browser
        self._store = store
        self._recovering = recovering
        self._noted: set[str] = set()

    async def note(self) -> None:
        """Record each recycle once across all watchdogs."""
        try:
            facts = await self._browser.facts()
        except SourceError as error:
            # A browser outage is not recorded here: the feeds that need it fail and are reported.
            log.debug(str(error), extra={"action": "browser_unreachable"})
            return
        reported = {entry.id: entry for entry in entries(facts)}
        for entry_id in reported.keys() - self._noted:
            if await self._store.recovery(entry_id) is None:
                await self._recovering.note(reported[entry_id])
        self._noted = set(reported)


def entries(facts: Mapping[str, Any]) -> Iterator[Recovery]:
    listed = facts.get("recycles")
    for each in listed[-MAX_RECYCLES:] if isinstance(listed, list) else ():
        entry = entry_of(each) if isinstance(each, Mapping) else None
        if entry is not None:
            yield entry


def entry_of(recycle: Mapping[str, Any]) -> Recovery | None:
    """Return None for a requested or invalid recycle."""
    reason = str(recycle.get("reason", ""))[:100]
    why = str(recycle.get("why", ""))[:200]
    at = _moment(recycle.get("at"))
    if at is None or not reason or reason in REQUESTED:
        return None
    numbers = {name: _number(recycle.get(name)) for name in ("pids_before", "pids_after", "uptime_seconds", "tasks")}
    before = {
        "processes": numbers["pids_before"],
        "uptime_seconds": numbers["uptime_seconds"],
        "tasks": numbers["tasks"],
    }
    seconds = _number(recycle.get("seconds"))
    return Recovery(
        id="browser-" + hashlib.sha256(f"{at.isoformat()} {reason}".encode()).hexdigest()[:24],
        at=at,
        action=RecoveryAction.BROWSER_RECYCLE,
        trigger=f"{reason}: {why}" if why else reason,
        before=before,
        after={"processes": numbers["pids_after"]},
        outcome=RecoveryOutcome.SUCCESS,
        seconds=None if seconds is None else max(0.0, float(seconds)),
    )


def _moment(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _number(value: Any) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
