from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.feeds.api_football import ApiFootball
from found_footy.runtime.retry import RetryRules

AT_ONCE = RetryRules(base_seconds=0)
KEY = "the-key"


class Clock:
    """Moved by the test."""

    def __init__(self) -> None:
        self.now = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


Open = Callable[..., ApiFootball]


@pytest.fixture
async def api_football(clock: Clock) -> AsyncIterator[Open]:
    """Opens clients of API-Football at a URL, which retry without waiting."""
    async with AsyncExitStack() as stack:

        def open_(url: str, *, timeout: float = 5) -> ApiFootball:
            feed = ApiFootball(url, KEY, timeout=timeout, now=clock, retry=AT_ONCE)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_
