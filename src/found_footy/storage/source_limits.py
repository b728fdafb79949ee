"""Limits of an external service: request rate, call budget and cool-down, shared by all processes through Redis.

Without Redis, the limits apply to this process only and can be saved in a file to survive a restart.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from found_footy.errors import CacheUnavailable, PermitTimeout, SourceRateLimited, SourceUnavailable
from found_footy.storage.redis import Fields, RedisCache, dump, load_script, moment, readable, string
from found_footy.storage.semaphore import LeaseSemaphore, RateLimit, take_token

TAKE_CALL = load_script(__package__, "take_call")

log = logging.getLogger(__name__)

MAX_CALLS_KEPT = 10_000
DEFAULT_CONCURRENT = 4
_MICRO = 1_000_000


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class CallBudget:
    """At most `calls` in any period of length `window`."""

    calls: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Period without requests to a service."""

    until: datetime
    kind: str
    """Class of the error that started it, such as SourceRateLimited."""
    reason: str


class SourceLimits(Protocol):
    """Permits, call budget and cool-down of one service, counted across all processes if Redis is available."""

    def permit(self) -> AbstractAsyncContextManager[None]:
        """Hold a permit for one request. Raises SourceRateLimited or SourceUnavailable."""

    async def take_call(self) -> datetime | None:
        """Count one call against the budget. Return None if granted, otherwise the time of the next free call."""

    async def cooldown(self) -> Cooldown | None:
        """Return the current cool-down."""

    async def cool_down(self, cooldown: Cooldown) -> None: ...

    async def clear_cooldown(self) -> None: ...

    async def remember(self, name: str, value: str, seconds: float) -> None: ...

    async def recall(self, name: str) -> str | None:
        """Return a remembered value that has not expired."""


class LocalSourceLimits:
    """`SourceLimits` of one process."""

    def __init__(
        self,
        *,
        concurrent: int = DEFAULT_CONCURRENT,
        rate: RateLimit | None = None,
        budget: CallBudget | None = None,
        file: Path | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._rate = rate or RateLimit(0)
        self._budget = budget
        self._file = file
        self._now = now
        self._free = asyncio.Semaphore(concurrent)
        self._full_at = 0
        self._calls: list[datetime] = []
        self._cooldown: Cooldown | None = None
        self._remembered: dict[str, tuple[str, datetime]] = {}
        self._load()

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        async with self._free:
            interval = round(self._rate.interval_seconds * _MICRO)
            while True:
                bucket = take_token(self._full_at, round(time.monotonic() * _MICRO), interval, self._rate.burst)
                self._full_at = bucket.full_at
                if not bucket.wait:
                    break
                await asyncio.sleep(bucket.wait / _MICRO)
            yield

    async def take_call(self) -> datetime | None:
        if self._budget is None:
            return None
        now = self._now()
        # A clock that was set back must not block calls for longer than the window.
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


class RedisSourceLimits:
    """`SourceLimits` of all processes. While Redis is unreachable, those of `fallback` apply."""

    def __init__(
        self,
        cache: RedisCache,
        source: str,
        *,
        concurrent: int = DEFAULT_CONCURRENT,
        rate: RateLimit | None = None,
        budget: CallBudget | None = None,
        wait_seconds: float = 10.0,
        fallback: SourceLimits | None = None,
    ) -> None:
        self._cache = cache
        self._source = source
        self._concurrent = concurrent
        self._rate = rate
        self._budget = budget
        self._wait_seconds = wait_seconds
        self._semaphore = LeaseSemaphore(cache)
        self._fallback = fallback

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        permit = self._semaphore.permit(
            f"source-{self._source}", self._concurrent, wait_seconds=self._wait_seconds, rate=self._rate
        )
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(permit)
            except PermitTimeout as error:
                raise SourceRateLimited(f"{self._source}: our own request limit is used up: {error}") from None
            except CacheUnavailable as error:
                if self._fallback is None:
                    raise SourceUnavailable(f"{self._source}: {error}") from error
                self._note(error)
                await stack.enter_async_context(self._fallback.permit())
            yield

    async def take_call(self) -> datetime | None:
        if self._budget is None:
            return None
        window = round(self._budget.window.total_seconds() * _MICRO)
        try:
            granted, wait = await self._cache.run_script(
                TAKE_CALL, [self._key("calls")], [uuid.uuid4().hex, self._budget.calls, window]
            )
        except CacheUnavailable as error:
            if self._fallback is None:
                raise SourceUnavailable(f"{self._source}: {error}") from error
            self._note(error)
            return await self._fallback.take_call()
        return None if granted == 1 else datetime.now(UTC) + timedelta(microseconds=int(wait))

    async def cooldown(self) -> Cooldown | None:
        key = self._key("cooldown")
        try:
            found = readable(key, await self._cache.run("GET", key), _cooldown)
        except CacheUnavailable as error:
            self._note(error)
            return None if self._fallback is None else await self._fallback.cooldown()
        return found if found is not None and found.until > datetime.now(UTC) else None

    async def cool_down(self, cooldown: Cooldown) -> None:
        milliseconds = round((cooldown.until - datetime.now(UTC)).total_seconds() * 1000)
        if milliseconds <= 0:
            return
        if self._fallback is not None:
            await self._fallback.cool_down(cooldown)
        fields = {"until": cooldown.until.timestamp(), "kind": cooldown.kind, "reason": cooldown.reason}
        await self._try("SET", self._key("cooldown"), dump(fields), "PX", milliseconds)

    async def clear_cooldown(self) -> None:
        if self._fallback is not None:
            await self._fallback.clear_cooldown()
        await self._try("DEL", self._key("cooldown"))

    async def remember(self, name: str, value: str, seconds: float) -> None:
        if self._fallback is not None:
            await self._fallback.remember(name, value, seconds)
        await self._try("SET", self._key(name), value, "PX", max(1, round(seconds * 1000)))

    async def recall(self, name: str) -> str | None:
        try:
            value: bytes | None = await self._cache.run("GET", self._key(name))
        except CacheUnavailable as error:
            self._note(error)
            return None if self._fallback is None else await self._fallback.recall(name)
        return None if value is None else value.decode(errors="replace")

    async def _try(self, *command: str | int) -> None:
        """Best effort: a search must not fail because its limits could not be shared."""
        try:
            await self._cache.run(*command)
        except CacheUnavailable as error:
            self._note(error)

    def _note(self, error: CacheUnavailable) -> None:
        log.warning(
            "limits of %s apply to this process only: %s",
            self._source,
            error,
            extra={"action": "limits_not_shared", "source": self._source},
        )

    def _key(self, part: str) -> str:
        return self._cache.key(f"source:{self._source}", part)


def _cooldown(fields: Fields) -> Cooldown:
    return Cooldown(moment(fields, "until"), string(fields, "kind"), string(fields, "reason"))
