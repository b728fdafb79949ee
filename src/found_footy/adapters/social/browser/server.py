"""An HTTP server on loopback that leaves the process's signals to the process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from found_footy.domain.errors import EngineError

HOST = "127.0.0.1"


class LoopbackServer:
    """`port` 0 takes a free one."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._port = port
        self._server: _QuietServer | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    async def start(self) -> None:
        # asyncio turns Nagle's delay off only where the protocol is named.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, self._port))
        except OSError as error:
            listener.close()
            raise EngineError(f"the browser service cannot take port {self._port}: {error.strerror}") from error
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none"
        )
        self._server = _QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name="browser service")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait({ready, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            ready.cancel()
            self._serving.result()

    async def stop(self) -> None:
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving

    async def wait(self) -> None:
        assert self._serving is not None
        await asyncio.shield(self._serving)


class _QuietServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
