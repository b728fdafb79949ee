"""Whose turn it is to ask a feed: limits that hold over all workers, whichever of them is killed.

The server decides (`take_turn.lua`), in one step and by its own clock: who came first goes first, no more than so many
at once, no more often than the bucket allows. A turn is a lease. Its holder renews it while it asks, and a holder that
was killed loses it after a while. A holder that cannot renew it in time is stopped before somebody else gets the place.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.domain.errors import CacheUnavailable, FeedBusy
from found_footy.domain.feeds.source import RateLimits

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 20.0
LEASE_SECONDS = 30.0

_SAFE = 0.8
"""A holder counts on this share of its lease only: stopping takes a moment, and clocks run at different speeds."""
_RENEWALS = 4
"""Tries to renew a lease before it runs out."""
_BELIEF_SECONDS = 3.0
"""A waiter that has not asked for so long is gone; it asks several times a second."""
_SHORTEST, _LONGEST = 0.01, 0.1
"""Between two questions, where nobody can say how long it will take."""
_FAR_AHEAD = 0.5
"""Where the server has said that it will take long, the question is repeated after this at the latest."""
_MICRO = 1_000_000
_OF = "/"
"""Between the feed and the rest of a token; no feed has it in its name."""


class RedisTurns:
    def __init__(self, cache: RedisCache, *, patience: float = PATIENCE_SECONDS, lease: float = LEASE_SECONDS) -> None:
        self._cache = cache
        self._patience = patience
        self._lease = lease
        # One of us asks the server at a time, the others stand behind it: in order, and without asking all the time.
        self._doors: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._given_back: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @asynccontextmanager
    async def turn(self, feed: str, limits: RateLimits, origin: str = "") -> AsyncIterator[None]:
        """Feeds of one origin stand in one queue: to whoever answers there, they are one."""
        token = f"{feed}{_OF}{uuid.uuid4().hex}"
        queue = origin or feed
        try:
            safe_until = await self._wait_for(queue, limits, token)
            async with self._held(queue, limits, token, safe_until):
                yield
        finally:
            await self._give_back(queue, token)

    async def _wait_for(self, feed: str, limits: RateLimits, token: str) -> float:
        try:
            async with asyncio.timeout(self._patience):
                async with self._doors[feed]:
                    return await self._ask_until_it_is_ours(feed, limits, token)
        except TimeoutError:
            raise FeedBusy(
                f"{feed}: no turn within {self._patience:g} s; at most {limits.concurrent} at once,"
                f" one in {limits.interval_seconds:g} s and {limits.burst} in a burst"
            ) from None

    async def _ask_until_it_is_ours(self, feed: str, limits: RateLimits, token: str) -> float:
        came, pause = "0", _SHORTEST
        clock = asyncio.get_running_loop().time
        while True:
            given_back = self._given_back[feed]
            given_back.clear()
            asked = clock()
            answer = await self._cache.run_script(
                "take_turn",
                [self._key(feed, part) for part in ("leases", "bucket", "queue", "seen")],
                [
                    token,
                    came,
                    max(1, limits.concurrent),
                    round(max(0.0, limits.interval_seconds) * _MICRO),
                    max(1, limits.burst),
                    round(self._lease * _MICRO),
                    round(_BELIEF_SECONDS * _MICRO),
                ],
            )
            if answer[0] == 1:
                return asked + _SAFE * self._lease
            came, wait = answer[1].decode(), int(answer[2]) / _MICRO
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait, _FAR_AHEAD) if wait > 0 else pause):
                    await given_back.wait()
            pause = min(pause * 1.5, _LONGEST)

    @asynccontextmanager
    async def _held(self, feed: str, limits: RateLimits, token: str, safe_until: float) -> AsyncIterator[None]:
        """Ends what is done in it, before the lease runs out that could not be renewed."""
        bound = asyncio.timeout_at(safe_until)
        try:
            async with bound:
                renewing = asyncio.create_task(self._renew(feed, limits, token, bound), name=f"hold a turn at {feed}")
                try:
                    yield
                finally:
                    renewing.cancel()
                    await asyncio.wait([renewing])
                    if not renewing.cancelled():
                        renewing.result()  # a fault of its own is not hidden
        except TimeoutError:
            if not bound.expired():
                raise
            raise CacheUnavailable(f"the turn at {feed} was lost: the cache did not renew it in time") from None

    async def _renew(self, feed: str, limits: RateLimits, token: str, bound: asyncio.Timeout) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_SAFE * self._lease / _RENEWALS)
            asked = clock()
            try:
                held = await self._cache.run_script(
                    "hold_turn",
                    [self._key(feed, "leases")],
                    [token, round(self._lease * _MICRO), max(1, limits.concurrent)],
                )
            except CacheUnavailable as error:
                log.warning("%s", error, extra={"action": "turn_not_renewed", "feed": feed})
                continue
            if bound.expired():
                return
            bound.reschedule(asked + _SAFE * self._lease if held else clock())

    async def _give_back(self, feed: str, token: str) -> None:
        """Also the place in the queue, and a turn that was granted while its answer was on the way."""
        commands = [("ZREM", self._key(feed, part), token) for part in ("leases", "queue", "seen")]
        try:
            await self._cache.run_all(commands)
        except CacheUnavailable as error:  # the lease runs out by itself
            log.warning("%s", error, extra={"action": "turn_not_given_back", "feed": feed})
        self._given_back[feed].set()

    def _key(self, feed: str, part: str) -> str:
        return _key(self._cache, feed, part)


async def under_way(cache: RedisCache, feed: str, origin: str = "") -> int:
    """Turns that this feed has at this moment, in whichever worker."""
    now = await cache.seconds_since_epoch()
    tokens = await cache.run("ZRANGEBYSCORE", _key(cache, origin or feed, "leases"), round(now * _MICRO), "+inf")
    return sum(token.startswith(f"{feed}{_OF}".encode()) for token in tokens)


def _key(cache: RedisCache, feed: str, part: str) -> str:
    # The braces keep the four keys of a feed on one node, where the server is a cluster.
    return cache.key(f"turns:{{{feed}}}", part)
