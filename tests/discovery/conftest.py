from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from found_footy.discovery.wikidata import Wikidata

Open = Callable[..., Wikidata]


@pytest.fixture
async def wikidata() -> AsyncIterator[Open]:
    """Opens clients at a URL that serves both endpoints."""
    async with AsyncExitStack() as stack:

        def open_(url: str, *, timeout: float = 5) -> Wikidata:
            knowledge = Wikidata(url, url, timeout=timeout)
            stack.push_async_callback(knowledge.aclose)
            return knowledge

        yield open_
