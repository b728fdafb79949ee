"""A web server on loopback for routes that a test writes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


class _Server(uvicorn.Server):
    """Leaves the process's signals to the process, and says when it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(routes: Callable[[str], Sequence[Route]]) -> AsyncIterator[str]:
    """Serves what the routes answer, which are told the server's address; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = Starlette(routes=list(routes(url)))
    server = _Server(
        uvicorn.Config(app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none")
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await server.ready.wait()
    try:
        yield url
    finally:
        server.should_exit = True
        await task


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
