"""The browsers that the browser service has started anew by itself, brought into the audit log."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.errors import SourceError
from found_footy.domain.feeds.health_values import Recovery, RecoveryAction, RecoveryOutcome
from found_footy.ports_health import BrowserControl, HealthStore
from found_footy.recovering import Recovering

log = logging.getLogger(__name__)

OURS = "manual"
"""The reason of those that were asked for from outside; whoever asked has written an entry."""
MOST = 20


class BrowserRecycles:
    def __init__(self, browser: BrowserControl, store: HealthStore, recovering: Recovering) -> None:
        self._browser = browser
        self._store = store
        self._recovering = recovering
        self._noted: set[str] = set()

    async def note(self) -> None:
        """Each once, however often it is told, and whichever watchdog hears of it."""
        try:
            facts = await self._browser.facts()
        except SourceError as error:
            # It says nothing of the feeds: those that need the browser fail by themselves.
            log.debug(str(error), extra={"action": "browser_unheard"})
            return
        told = {entry.id: entry for entry in entries(facts)}
        for entry_id in told.keys() - self._noted:
            if await self._store.recovery(entry_id) is None:
                await self._recovering.note(told[entry_id])
        self._noted = set(told)


def entries(facts: Mapping[str, Any]) -> Iterator[Recovery]:
    listed = facts.get("recycles")
    for each in listed[-MOST:] if isinstance(listed, list) else ():
        entry = entry_of(each) if isinstance(each, Mapping) else None
        if entry is not None:
            yield entry


def entry_of(recycle: Mapping[str, Any]) -> Recovery | None:
    """None for one that we asked for, or that cannot be read."""
    reason = str(recycle.get("reason", ""))[:100]
    why = str(recycle.get("why", ""))[:200]
    at = _moment(recycle.get("at"))
    if at is None or not reason or reason == OURS:
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
