"""A real server on loopback for the time of a test, and what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

Answer = Callable[[Request], Response] | Response


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


@contextlib.asynccontextmanager
async def serving(routes: list[BaseRoute] | list[Route]) -> AsyncIterator[str]:
    """The URL of a server with these routes."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        Starlette(routes=list(routes)),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    server = _QuietServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await server.ready.wait()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class Stub:
    """Wikidata's two endpoints, which answer whatever a test wants. `asked` keeps the requests."""

    def __init__(self, search: Answer, query: Answer | None = None) -> None:
        self.asked: list[Request] = []
        self._answers = {"/w/api.php": search, "/sparql": query or bindings([])}

    @property
    def routes(self) -> list[Route]:
        return [Route(path, self._answer) for path in self._answers]

    def queries(self) -> list[str]:
        return [request.query_params["query"] for request in self.asked if request.url.path == "/sparql"]

    async def _answer(self, request: Request) -> Response:
        self.asked.append(request)
        answer = self._answers[request.url.path]
        return answer if isinstance(answer, Response) else answer(request)


def found(*ids: Any) -> Response:
    return JSONResponse({"searchinfo": {}, "search": [{"id": item} for item in ids], "success": 1})


def bindings(rows: list[Any]) -> Response:
    return JSONResponse({"head": {"vars": ["item", "what", "value"]}, "results": {"bindings": rows}})


def row(item: str, what: str, value: str, language: str = "en") -> dict[str, Any]:
    return {
        "item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{item}"},
        "what": {"type": "literal", "value": what},
        "value": {"type": "literal", "value": value, "xml:lang": language},
    }
