"""A server in front of the small world."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from found_footy.web.services import Services
from tests.conftest import WorldCopy
from tests.support.web_world import served


@pytest.fixture
async def server(small_world: WorldCopy) -> AsyncIterator[tuple[str, Services]]:
    async with served(small_world.settings) as (running, services):
        yield running.url, services


@pytest.fixture
async def web(server: tuple[str, Services]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a running server with the whole world in it."""
    async with httpx.AsyncClient(base_url=server[0]) as client:
        yield client
