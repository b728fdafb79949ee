"""A semaphore for all processes of an installation, with an optional rate limit.

Redis decides in one step (`acquire_lease.lua`) and by its own clock: first come, first served, at most `limit` holders,
at most the rate of a token bucket. A permit is a lease. Its holder renews it while it works; the lease of a killed
holder expires. A holder that cannot renew its lease is cancelled before Redis can grant the permit to another.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from found_footy.errors import CacheUnavailable, PermitTimeout
from found_footy.storage.redis import RedisCache, load_script

ACQUIRE_LEASE = load_script(__package__, "acquire_lease")
RENEW_LEASE = load_script(__package__, "renew_lease")

log = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
_SAFE_SHARE = 0.8
"""Share of a lease that its holder relies on: cancellation takes time, and clocks run at different speeds."""
_RENEWALS = 4
"""Attempts to renew a lease before it expires."""
_WAITER_TIMEOUT = 3.0
"""A waiter that has not polled for this long counts as gone; waiters poll several times a second."""
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
    # A clock that went back or a changed rate must not block callers for long.
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
        """Start the waiting time of a strict semaphore now, so that the first permit does not have to wait for it."""
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
                log.warning("%s", error, extra={"action": "permit_not_renewed", "semaphore": name})
                continue
            if bound.expired():
                return
            bound.reschedule(asked + _SAFE_SHARE * self._lease if renewed else clock())

    async def _release(self, name: str, token: str) -> None:
        """Release the permit, even one granted by a reply that is still on its way, and leave the queue."""
        commands = [("ZREM", self._key(name, part), token) for part in ("leases", "queue", "seen")]
        try:
            await self._redis.run_all(commands)
        except CacheUnavailable as error:  # the lease expires by itself
            log.warning("%s", error, extra={"action": "permit_not_released", "semaphore": name})
        self._released[name].set()

    def _key(self, name: str, part: str) -> str:
        # In a Redis cluster, the braces keep all keys of a semaphore on one node.
        return self._redis.key(f"semaphore:{{{name}}}", part)
