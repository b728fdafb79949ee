"""HTTP server inside our process that installs no signal handlers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from found_footy.errors import EngineError

LOOPBACK = "127.0.0.1"
UNACKNOWLEDGED_MS = 60_000
# Longer than clients and proxies keep idle connections, because a request sent while the server closes one would fail.
KEEP_ALIVE_SECONDS = 75
HEAD_SECONDS = 30.0
MAX_INCOMPLETE_REQUESTS = 100
"""Maximum requests with incomplete headers per peer. Real clients send all headers within milliseconds."""


class HttpServer:
    """Serves inside its `async with` block. Port 0 selects a free port."""

    def __init__(
        self,
        app: ASGIApp,
        port: int = 0,
        *,
        host: str = LOOPBACK,
        name: str = "the server",
        grace_seconds: int = 5,
        date_header: bool = True,
        head_seconds: float = HEAD_SECONDS,
    ) -> None:
        """`head_seconds` limits the time until a request's headers are complete."""
        self._app = app
        self._host, self._port = host, port
        self._name = name
        self._grace_seconds = grace_seconds
        self._date_header = date_header
        self._incomplete = _IncompleteRequests(head_seconds)
        self._server: _QuietServer | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return self.address(self._host, self._port)

    @staticmethod
    def address(host: str, port: int) -> str:
        """Return the URL for clients on this machine."""
        host = LOOPBACK if host in ("", "0.0.0.0", "::") else host
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def start(self) -> None:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        # asyncio sets TCP_NODELAY only if the protocol is explicit.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # Close connections whose peer acknowledges nothing; accepted sockets inherit the option.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
        try:
            listener.bind((self._host, self._port))
        except OSError as error:
            listener.close()
            raise EngineError(f"{self._name} cannot bind port {self._port}: {error.strerror}") from error
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app,
            http=partial(_TimedProtocol, self._incomplete),  # type: ignore[arg-type]
            # The application decides which proxies to trust.
            proxy_headers=False,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=self._date_header,
            backlog=4096,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=self._grace_seconds,
        )
        self._server = _QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name=self._name)
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait({ready, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            ready.cancel()
            self._serving.result()

    async def stop(self) -> None:
        """Stop the server, if it was started."""
        if self._server is not None and self._serving is not None:
            self._server.stop()
            await self._serving

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def wait(self) -> None:
        """Wait until the server stops by itself, which only happens after an error."""
        assert self._serving is not None
        await asyncio.shield(self._serving)

    async def wait_until(self, stop: asyncio.Event) -> None:
        """Wait until `stop`, or until the server stops by itself."""
        waiting = {asyncio.create_task(self.wait()), asyncio.create_task(stop.wait())}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()


class _IncompleteRequests:
    """Counts requests with incomplete headers by peer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._by_peer: Counter[str] = Counter()

    def begin(self, peer: str) -> bool:
        """Return False if the peer already has too many."""
        if self._by_peer[peer] >= MAX_INCOMPLETE_REQUESTS:
            return False
        self._by_peer[peer] += 1
        return True

    def end(self, peer: str) -> None:
        self._by_peer[peer] -= 1
        if not self._by_peer[peer]:
            del self._by_peer[peer]


class _TimedProtocol(HttpToolsProtocol):
    """Closes connections whose request headers stay incomplete; uvicorn only limits idle connections."""

    def __init__(self, arrivals: _IncompleteRequests, **options: Any) -> None:
        super().__init__(**options)
        self._incomplete = arrivals
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._begin()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._end()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def _begin(self) -> None:
        if self._incomplete.begin(self._peer):
            self._deadline = self.loop.call_later(self._incomplete.seconds, self.transport.abort)
        else:
            self.transport.abort()

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self._incomplete.end(self._peer)


class _QuietServer(uvicorn.Server):
    """uvicorn server that reports readiness, installs no signal handlers and stops without delay."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stopping.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Renew the date header every second until the server is stopped, instead of polling ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listeners immediately if there are no connections; uvicorn always waits."""
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listener in (*self.servers, *(sockets or ())):
            listener.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
