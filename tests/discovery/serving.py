"""A web server on loopback for routes that a test writes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from found_footy.runtime.http_server import HttpServer


@contextlib.asynccontextmanager
async def serving(routes: Sequence[BaseRoute] | Callable[[str], Sequence[BaseRoute]]) -> AsyncIterator[str]:
    """Serve the routes, or those made for the server's URL, and yield that URL."""
    app = Starlette()
    async with HttpServer(app, grace_seconds=1) as server:
        app.router.routes.extend(routes(server.url) if callable(routes) else routes)
        yield server.url
