"""Limits of an outside service that hold over all workers and browsers, in the cache."""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

from found_footy.adapters.storage.redis.cache import RedisCache
from found_footy.adapters.storage.redis.json_values import Fields, dump, moment, readable, string
from found_footy.adapters.storage.redis.turns import RedisTurns
from found_footy.domain.errors import CacheUnavailable, FeedBusy, SourceRateLimited, SourceUnavailable
from found_footy.domain.feeds.source import RateLimits
from found_footy.ports_limits import CallBudget, Cooldown, SourceLimits

log = logging.getLogger(__name__)

_MICRO = 1_000_000


class RedisSourceLimits:
    """Implements `SourceLimits`.

    With `fallback`, the limits of this process alone apply while the cache is away, so that an outage of the cache
    neither stops searches nor lifts the limits.
    """

    def __init__(
        self,
        cache: RedisCache,
        source: str,
        *,
        rate: RateLimits | None = None,
        budget: CallBudget | None = None,
        patience: float = 10.0,
        fallback: SourceLimits | None = None,
    ) -> None:
        self._cache = cache
        self._source = source
        self._rate = rate or RateLimits()
        self._budget = budget
        self._turns = RedisTurns(cache, patience=patience)
        self._fallback = fallback

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._turns.turn(f"source-{self._source}", self._rate))
            except FeedBusy as error:
                raise SourceRateLimited(f"{self._source}: our own request limit is used up: {error}") from None
            except CacheUnavailable as error:
                if self._fallback is None:
                    raise SourceUnavailable(f"{self._source}: {error}") from error
                self._note(error)
                await stack.enter_async_context(self._fallback.turn())
            yield

    async def take_call(self) -> datetime | None:
        if self._budget is None:
            return None
        window = round(self._budget.window.total_seconds() * _MICRO)
        try:
            granted, wait = await self._cache.run_script(
                "take_call", [self._key("calls")], [uuid.uuid4().hex, self._budget.calls, window]
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
        """A note that cannot be shared costs politeness, not the search."""
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
