"""Servers over the small world: `web` with a copy of its own, `site` for read-only tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from found_footy.web.services import WebServices
from tests.conftest import Databases, SampleDataCopy, world_copy
from tests.support.web_world import served


@pytest.fixture
async def server(small_world: SampleDataCopy) -> AsyncIterator[tuple[str, WebServices]]:
    async with served(small_world.settings) as (running, services):
        yield running.url, services


@pytest.fixture
async def web(server: tuple[str, WebServices]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a running server with the whole world in it."""
    async with httpx.AsyncClient(base_url=server[0]) as client:
        yield client


@pytest.fixture(scope="session")
def site_url(worlds: tuple[Databases, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests that change nothing, in a thread with an event loop of its own."""
    folder = tmp_path_factory.mktemp("site")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_site(worlds, folder)) as url:
        yield url


@asynccontextmanager
async def _site(worlds: tuple[Databases, Path], folder: Path) -> AsyncIterator[str]:
    async with world_copy(worlds, folder) as copy, served(copy.settings) as (running, _):
        yield running.url


@pytest.fixture
async def site(site_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the shared server."""
    async with httpx.AsyncClient(base_url=site_url) as client:
        yield client
