"""Limits shared by all processes of an installation: permits, request rates, call budgets and cool-downs.

The Lua scripts beside this module evaluate each limit atomically in Redis, by its clock.

`LeaseSemaphore` grants permits first come, first served, to at most `limit` holders, at most at the rate of a token
bucket. A permit is a lease, which its holder renews while it works; the lease of a killed holder expires. A holder that
cannot renew its lease is cancelled before Redis can grant the permit to another.

`SourceLimits` holds the limits of one external service. Without Redis, they apply per process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from found_footy.errors import CacheUnavailable, PermitTimeout, SourceRateLimited, SourceUnavailable
from found_footy.runtime.clock import utc_now
from found_footy.storage.redis import Fields, RedisCache, dump, load_script, readable, string, timestamp

ACQUIRE_LEASE = load_script(__package__, "acquire_lease")
RENEW_LEASE = load_script(__package__, "renew_lease")
TAKE_CALL = load_script(__package__, "take_call")
HOLD_KEY = load_script(__package__, "hold_key")

log = logging.getLogger(__name__)
T = TypeVar("T")

# --- Permits and rates.


LEASE_SECONDS = 30.0
_SAFE_SHARE = 0.8
"""Share of a lease after which its holder stops: cancellation takes time, and clocks drift."""
_RENEWALS = 4
"""Attempts to renew a lease before it expires."""
_WAITER_TIMEOUT = 3.0
"""A waiter that has not polled for this long is dropped; waiters poll several times a second."""
_MIN_POLL, _MAX_POLL = 0.01, 0.1
"""Seconds between two polls while all permits are held."""
_MAX_RATE_POLL = 0.5
"""Upper limit of the poll interval if the rate limit determines the wait."""
_MICRO = 1_000_000
_SEPARATOR = "/"
"""Separates the holder's name from the rest of a token."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A token bucket: up to `burst` permits at once, then one per interval. No interval means no limit."""

    interval_seconds: float
    burst: int = 1

    def __str__(self) -> str:
        return f"1 per {self.interval_seconds:g} s, burst {self.burst}"


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """State of the bucket and wait for a token, in microseconds."""

    full_at: int
    wait: int
    """0 if the token was granted."""


def take_token(full_at: int, now: int, interval: int, burst: int) -> TokenBucket:
    """Take one token, or compute the wait for it. `acquire_lease.lua` follows the same rule."""
    if interval <= 0:
        return TokenBucket(now, 0)
    capacity = max(1, burst) * interval
    # A clock that was set back, or a changed rate, must not block callers for long.
    full_at = min(max(full_at, now), now + capacity)
    wait = full_at + interval - (now + capacity)
    return TokenBucket(full_at, wait) if wait > 0 else TokenBucket(full_at + interval, 0)


class LeaseSemaphore:
    def __init__(self, redis: RedisCache, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._redis = redis
        self._lease = lease_seconds
        # One waiter per process polls Redis; the others queue behind it in order.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @asynccontextmanager
    async def permit(
        self,
        name: str,
        limit: int,
        *,
        wait_seconds: float,
        holder: str = "",
        rate: RateLimit | None = None,
        strict: bool = False,
    ) -> AsyncIterator[None]:
        """Hold one of `limit` permits of `name` across all processes.

        `holder` names the owner for `holders`. `strict` enforces the limit even if Redis has lost its data: no permits
        are granted for the length of a lease, in which existing holders renew theirs.

        Raises PermitTimeout after `wait_seconds`, and CacheUnavailable if Redis is unreachable or the lease is lost.
        """
        token = f"{holder or name}{_SEPARATOR}{uuid.uuid4().hex}"
        try:
            safe_until = await self._wait_for_permit(name, limit, rate, strict, token, wait_seconds)
            async with self._keep_lease(name, limit, token, safe_until):
                yield
        finally:
            await self._release(name, token)

    async def holders(self, name: str, holder: str = "") -> int:
        """Return the number of permits of `name` that are held, optionally by `holder` only."""
        now = await self._redis.seconds_since_epoch()
        tokens = await self._redis.run("ZRANGEBYSCORE", self._key(name, "leases"), round(now * _MICRO), "+inf")
        return sum(token.startswith(f"{holder}{_SEPARATOR}".encode()) for token in tokens) if holder else len(tokens)

    async def prepare(self, name: str) -> None:
        """Start the initial wait of a strict semaphore now, so that the first permit does not have to."""
        seconds, microseconds = await self._redis.run("TIME")
        await self._redis.run("SET", self._key(name, "since"), int(seconds) * _MICRO + int(microseconds), "NX")

    async def _wait_for_permit(
        self, name: str, limit: int, rate: RateLimit | None, strict: bool, token: str, wait_seconds: float
    ) -> float:
        try:
            async with asyncio.timeout(wait_seconds), self._locks[name]:
                return await self._poll_for_permit(name, limit, rate, strict, token)
        except TimeoutError:
            limits = f"{limit} concurrent" if rate is None else f"{limit} concurrent, {rate}"
            raise PermitTimeout(f"{name}: no permit within {wait_seconds:g} s (limit: {limits})") from None

    async def _poll_for_permit(self, name: str, limit: int, rate: RateLimit | None, strict: bool, token: str) -> float:
        """Return the loop time until which the lease is safe."""
        enqueued_at, pause = "0", _MIN_POLL
        clock = asyncio.get_running_loop().time
        interval, burst = (rate.interval_seconds, rate.burst) if rate else (0.0, 1)
        while True:
            released = self._released[name]
            released.clear()
            asked = clock()
            answer = await self._redis.run_script(
                ACQUIRE_LEASE,
                [self._key(name, part) for part in ("leases", "bucket", "queue", "seen", "since")],
                [
                    token,
                    enqueued_at,
                    max(1, limit),
                    round(max(0.0, interval) * _MICRO),
                    max(1, burst),
                    round(self._lease * _MICRO),
                    round(_WAITER_TIMEOUT * _MICRO),
                    int(strict),
                ],
            )
            if answer[0] == 1:
                return asked + _SAFE_SHARE * self._lease
            enqueued_at, wait = answer[1].decode(), int(answer[2]) / _MICRO
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait, _MAX_RATE_POLL) if wait > 0 else pause):
                    await released.wait()
            pause = min(pause * 1.5, _MAX_POLL)

    @asynccontextmanager
    async def _keep_lease(self, name: str, limit: int, token: str, safe_until: float) -> AsyncIterator[None]:
        """Renew the lease while the block runs; cancel the block before an unrenewed lease expires."""
        bound = asyncio.timeout_at(safe_until)
        try:
            async with bound:
                renewing = asyncio.create_task(self._renew(name, limit, token, bound), name=f"renew permit of {name}")
                try:
                    yield
                finally:
                    renewing.cancel()
                    await asyncio.wait([renewing])
                    if not renewing.cancelled():
                        renewing.result()
        except TimeoutError:
            if not bound.expired():
                raise
            raise CacheUnavailable(f"lost the permit of {name}: its lease was not renewed in time") from None

    async def _renew(self, name: str, limit: int, token: str, bound: asyncio.Timeout) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_SAFE_SHARE * self._lease / _RENEWALS)
            asked = clock()
            try:
                renewed = await self._redis.run_script(
                    RENEW_LEASE, [self._key(name, "leases")], [token, round(self._lease * _MICRO), max(1, limit)]
                )
            except CacheUnavailable as error:
                log.warning("%s", error, extra={"action": "permit_renewal_failed", "semaphore": name})
                continue
            if bound.expired():
                return
            bound.reschedule(asked + _SAFE_SHARE * self._lease if renewed else clock())

    async def _release(self, name: str, token: str) -> None:
        """Leave the queue and release the permit, even if the reply that grants it has not arrived yet."""
        commands = [("ZREM", self._key(name, part), token) for part in ("leases", "queue", "seen")]
        try:
            await self._redis.run_all(commands)
        except CacheUnavailable as error:  # the lease expires by itself
            log.warning("%s", error, extra={"action": "permit_release_failed", "semaphore": name})
        self._released[name].set()

    def _key(self, name: str, part: str) -> str:
        # In a Redis cluster, the braces keep all keys of a semaphore on one node.
        return self._redis.key(f"semaphore:{{{name}}}", part)


# --- Limits of one external service.


MAX_CALLS_KEPT = 10_000
MAX_VALUES = 1000
DEFAULT_CONCURRENT = 4
RETRY_SECONDS = 10.0
"""Pause before Redis is tried again after a failure, because each attempt may take seconds."""
WARN_EVERY_SECONDS = 60.0


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
    """Limits and expiring values of one service, shared by all processes if Redis is available."""

    def permit(self) -> AbstractAsyncContextManager[None]:
        """Hold a permit for one request. Raises SourceRateLimited or SourceUnavailable."""

    async def take_call(self) -> datetime | None:
        """Count one call against the budget. Return None if granted, otherwise the time of the next free call."""

    async def cooldown(self) -> Cooldown | None:
        """Return the current cool-down."""

    async def cool_down(self, cooldown: Cooldown) -> None: ...

    async def clear_cooldown(self) -> None: ...

    async def hold(self, name: str, seconds: float) -> float:
        """Acquire a key for `seconds`. Return 0 if it was free, otherwise the seconds until it expires."""

    async def extend(self, name: str, seconds: float) -> None:
        """Keep a key for at least `seconds` from now, whoever acquired it."""

    async def release(self, name: str) -> None:
        """Release a key, or remove a value."""

    async def get(self, name: str) -> bytes | None:
        """Return a value that has not expired."""

    async def put(self, name: str, value: bytes, seconds: float) -> None: ...


class LocalSourceLimits:
    """`SourceLimits` of one process. With a `file`, calls and cool-down survive a restart."""

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
        self._values: dict[str, tuple[float, bytes]] = {}
        """Expiry in monotonic seconds, and the value."""
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

    async def hold(self, name: str, seconds: float) -> float:
        left = self._seconds_left(name)
        if left <= 0:
            await self.put(name, b"1", seconds)
        return left

    async def extend(self, name: str, seconds: float) -> None:
        if self._seconds_left(name) < seconds:
            await self.put(name, b"1", seconds)

    async def release(self, name: str) -> None:
        self._values.pop(name, None)

    async def get(self, name: str) -> bytes | None:
        return self._values[name][1] if self._seconds_left(name) > 0 else None

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        if len(self._values) >= MAX_VALUES:
            self._values = {key: kept for key, kept in self._values.items() if kept[0] > time.monotonic()}
        self._values[name] = (time.monotonic() + seconds, value)

    def _seconds_left(self, name: str) -> float:
        expires, _ = self._values.get(name, (0.0, b""))
        return max(0.0, expires - time.monotonic())

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
    """`SourceLimits` shared by all processes. While Redis is unreachable, `fallback` applies.

    Without a fallback, permits and calls then fail, and no values are found.
    """

    def __init__(
        self,
        cache: RedisCache,
        source: str,
        *,
        concurrent: int = DEFAULT_CONCURRENT,
        rate: RateLimit | None = None,
        budget: CallBudget | None = None,
        wait_seconds: float = 10.0,
        fallback: LocalSourceLimits | None = None,
    ) -> None:
        self._cache = cache
        self._source = source
        self._concurrent = concurrent
        self._rate = rate
        self._budget = budget
        self._wait_seconds = wait_seconds
        self._semaphore = LeaseSemaphore(cache)
        self._fallback = fallback
        self._local = fallback or LocalSourceLimits()
        self._unavailable_until = self._warned_at = -math.inf

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        permit = self._semaphore.permit(
            f"source-{self._source}", self._concurrent, wait_seconds=self._wait_seconds, rate=self._rate
        )
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(permit)
            except PermitTimeout as error:
                raise SourceRateLimited(f"{self._source}: our own request limit is exhausted: {error}") from None
            except CacheUnavailable as error:
                self._note_unavailable(error)
                await stack.enter_async_context(self._required_fallback(error).permit())
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
            self._note_unavailable(error)
            return await self._required_fallback(error).take_call()
        return None if granted == 1 else utc_now() + timedelta(microseconds=int(wait))

    async def cooldown(self) -> Cooldown | None:
        async def shared() -> Cooldown | None:
            key = self._key("cooldown")
            found = readable(key, await self._cache.run("GET", key), _cooldown)
            return found if found is not None and found.until > utc_now() else None

        return await self._shared_or_local(shared, self._local.cooldown)

    async def cool_down(self, cooldown: Cooldown) -> None:
        seconds = (cooldown.until - utc_now()).total_seconds()
        if seconds <= 0:
            return
        await self._local.cool_down(cooldown)
        fields = {"until": cooldown.until.timestamp(), "kind": cooldown.kind, "reason": cooldown.reason}
        await self._shared_or_local(
            lambda: self._cache.run("SET", self._key("cooldown"), dump(fields), "PX", _milliseconds(seconds)),
            _do_nothing,
        )

    async def clear_cooldown(self) -> None:
        await self._local.clear_cooldown()
        await self._shared_or_local(lambda: self._cache.run("DEL", self._key("cooldown")), _do_nothing)

    async def hold(self, name: str, seconds: float) -> float:
        async def shared() -> float:
            left = await self._cache.run_script(HOLD_KEY, [self._key(name)], [_milliseconds(seconds), 0])
            return int(left) / 1000

        return await self._shared_or_local(shared, lambda: self._local.hold(name, seconds))

    async def extend(self, name: str, seconds: float) -> None:
        async def shared() -> None:
            await self._cache.run_script(HOLD_KEY, [self._key(name)], [_milliseconds(seconds), 1])

        await self._shared_or_local(shared, lambda: self._local.extend(name, seconds))

    async def release(self, name: str) -> None:
        async def shared() -> None:
            await self._cache.run("DEL", self._key(name))

        await self._shared_or_local(shared, lambda: self._local.release(name))

    async def get(self, name: str) -> bytes | None:
        async def shared() -> bytes | None:
            value: bytes | None = await self._cache.run("GET", self._key(name))
            return value

        return await self._shared_or_local(shared, lambda: self._local.get(name))

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        async def shared() -> None:
            await self._cache.run("SET", self._key(name), value, "PX", _milliseconds(seconds))

        await self._shared_or_local(shared, lambda: self._local.put(name, value, seconds))

    async def _shared_or_local(self, shared: Callable[[], Awaitable[T]], local: Callable[[], Awaitable[T]]) -> T:
        """Use local limits if the shared ones are unavailable, so that a search does not fail."""
        if time.monotonic() < self._unavailable_until:
            return await local()
        try:
            return await shared()
        except CacheUnavailable as error:
            self._note_unavailable(error)
            return await local()

    def _required_fallback(self, error: CacheUnavailable) -> LocalSourceLimits:
        if self._fallback is None:
            raise SourceUnavailable(f"{self._source}: {error}") from error
        return self._fallback

    def _note_unavailable(self, error: CacheUnavailable) -> None:
        now = time.monotonic()
        self._unavailable_until = now + RETRY_SECONDS
        if now - self._warned_at >= WARN_EVERY_SECONDS:
            self._warned_at = now
            log.warning(
                "limits of %s apply to this process only: %s",
                self._source,
                error,
                extra={"action": "limits_not_shared", "source": self._source},
            )

    def _key(self, part: str) -> str:
        return self._cache.key(f"source:{self._source}", part)


def _cooldown(fields: Fields) -> Cooldown:
    return Cooldown(timestamp(fields, "until"), string(fields, "kind"), string(fields, "reason"))


def _milliseconds(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1000))


async def _do_nothing() -> None:
    """Nothing is left to do: the local limits are already changed."""
