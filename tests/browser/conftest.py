from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from footy_simulator.crex import CrexSiteState, crex_routes
from footy_simulator.x import XSiteState, x_routes
from found_footy.browser.service import BrowserService
from found_footy.runtime.browser_secret import HEADER
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.limits import SourceLimits
from tests.browser.simulated import SECRET, Searched, SimulatedX, cricket_match, options

Opens = Callable[..., AbstractAsyncContextManager[Searched]]


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def site() -> AsyncIterator[SimulatedX]:
    x = SimulatedX("", XSiteState(), CrexSiteState(embedded=False))
    routes = [*x_routes(x.posts_of, x.state), *crex_routes(lambda: [cricket_match()], x.crex)]
    async with HttpServer(Starlette(routes=routes), name="the simulated sites") as server:
        x.url = server.url
        yield x


@asynccontextmanager
async def opened(
    x: SimulatedX, folder: Path, limits: SourceLimits | None = None, **changes: Any
) -> AsyncIterator[Searched]:
    async with (
        BrowserService(replace(options(x.url, folder), **changes), limits=limits) as service,
        httpx.AsyncClient(base_url=service.url, timeout=60, headers={HEADER: SECRET}) as client,
    ):
        yield Searched(service, client)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def shared(site: SimulatedX, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Searched]:
    async with opened(site, tmp_path_factory.mktemp("browser")) as searched:
        yield searched


@pytest.fixture
def x(site: SimulatedX) -> SimulatedX:
    """As new: a few posts, and nothing wrong."""
    site.reset()
    return site


@pytest.fixture
def search(x: SimulatedX, shared: Searched) -> Searched:
    """The one service that all tests share, since a browser takes its time to start."""
    shared.hurry(40)
    shared.patience(navigation_seconds=40, scrape_seconds=90, quiet_seconds=4)
    return shared


@pytest.fixture
def open_service(x: SimulatedX, tmp_path: Path) -> Opens:
    """Opens services of the test's own."""
    return lambda **changes: opened(x, tmp_path, **changes)
