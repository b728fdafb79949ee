from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from found_footy.feeds.api_football import ApiFootball
from found_footy.runtime.retry import RetryRules
from tests.support.clocks import DatetimeClock

AT_ONCE = RetryRules(base_seconds=0)
KEY = "the-key"


@pytest.fixture
def clock() -> DatetimeClock:
    return DatetimeClock(datetime(2026, 8, 22, 14, 0, tzinfo=UTC))


Open = Callable[..., ApiFootball]


@pytest.fixture
async def api_football(clock: DatetimeClock) -> AsyncIterator[Open]:
    """Opens clients of API-Football at a URL, which retry without waiting."""
    async with AsyncExitStack() as stack:

        def open_(url: str, *, timeout: float = 5) -> ApiFootball:
            feed = ApiFootball(url, KEY, timeout=timeout, now=clock, retry=AT_ONCE)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_
