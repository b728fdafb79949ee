"""Limits of an outside service within one process, optionally kept in a file so that they survive a restart."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from found_footy.domain.feeds.source import RateLimits
from found_footy.domain.feeds.token_bucket import admit
from found_footy.ports_limits import CallBudget, Cooldown

log = logging.getLogger(__name__)

MAX_CALLS_KEPT = 10_000
_MICRO = 1_000_000


def utc_now() -> datetime:
    return datetime.now(UTC)


class LocalSourceLimits:
    """Implements `SourceLimits` without a cache."""

    def __init__(
        self,
        *,
        rate: RateLimits | None = None,
        budget: CallBudget | None = None,
        file: Path | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._rate = rate or RateLimits()
        self._budget = budget
        self._file = file
        self._now = now
        self._free = asyncio.Semaphore(self._rate.concurrent)
        self._full_at = 0
        self._calls: list[datetime] = []
        self._cooldown: Cooldown | None = None
        self._remembered: dict[str, tuple[str, datetime]] = {}
        self._load()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._free:
            interval = round(self._rate.interval_seconds * _MICRO)
            while True:
                admission = admit(self._full_at, round(time.monotonic() * _MICRO), interval, self._rate.burst)
                self._full_at = admission.full_at
                if not admission.wait:
                    break
                await asyncio.sleep(admission.wait / _MICRO)
            yield

    async def take_call(self) -> datetime | None:
        if self._budget is None:
            return None
        now = self._now()
        # A clock that was set back must not block calls for longer than a window.
        self._calls = [at for at in self._calls if now - self._budget.window < at <= now]
        if len(self._calls) >= self._budget.calls:
            return self._calls[0] + self._budget.window
        self._calls.append(now)
        self._save()
        return None

    async def cooldown(self) -> Cooldown | None:
        if self._cooldown is not None and self._cooldown.until <= self._now():
            self._cooldown = None
        return self._cooldown

    async def cool_down(self, cooldown: Cooldown) -> None:
        self._cooldown = cooldown
        self._save()

    async def clear_cooldown(self) -> None:
        self._cooldown = None
        self._save()

    async def remember(self, name: str, value: str, seconds: float) -> None:
        self._remembered[name] = (value, self._now() + timedelta(seconds=seconds))

    async def recall(self, name: str) -> str | None:
        value, until = self._remembered.get(name, ("", self._now()))
        return value if self._now() < until else None

    def _load(self) -> None:
        if self._file is None:
            return
        try:
            kept = json.loads(self._file.read_text("utf-8"))
            self._calls = [datetime.fromtimestamp(at, UTC) for at in kept["calls"]][-MAX_CALLS_KEPT:]
            if kept["cooldown"] is not None:
                until, kind, reason = kept["cooldown"]
                self._cooldown = Cooldown(datetime.fromtimestamp(until, UTC), str(kind), str(reason))
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
            log.warning("ignored %s: %s", self._file, type(error).__name__, extra={"action": "limits_not_read"})

    def _save(self) -> None:
        if self._file is None:
            return
        cooldown = self._cooldown and [self._cooldown.until.timestamp(), self._cooldown.kind, self._cooldown.reason]
        kept = {"calls": [at.timestamp() for at in self._calls], "cooldown": cooldown}
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            new.write_text(json.dumps(kept), "utf-8")
            new.replace(self._file)
        except OSError as error:
            log.warning("could not save %s: %s", self._file, error.strerror, extra={"action": "limits_not_saved"})
