"""A line to a server that breaks after so many bytes, and stays broken."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class CuttingProxy:
    def __init__(self, endpoint: str, after_bytes: int) -> None:
        parts = urlsplit(endpoint)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = parts.hostname, parts.port
        self._left = after_bytes
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._left <= 0:
            writer.close()
            return
        answers, requests = await asyncio.open_connection(*self._target)
        back = asyncio.ensure_future(self._pass_on(answers, writer))
        try:
            while self._left > 0 and (data := await reader.read(65_536)):
                self._left -= len(data)
                requests.write(data)
                await requests.drain()
        except ConnectionError:
            pass  # either side may go first
        finally:
            back.cancel()
            writer.close()
            requests.close()

    async def _pass_on(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await answers.read(65_536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass  # either side may go first
