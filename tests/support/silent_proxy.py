"""A TCP proxy that can fall silent: it still accepts connections and bytes, and never answers again."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class SilentProxy:
    def __init__(self, host: str | None, port: int | None) -> None:
        """Without an address it is silent from the start."""
        self._target = (host, port)
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent = host is None
        self.swallowed = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def silence(self) -> None:
        self._silent = True

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._silent:
                await self._swallow(reader)
                return
            answers, requests = await asyncio.open_connection(*self._target)
            back = asyncio.ensure_future(self._pass_on(answers, writer))
            try:
                await self._pass_on(reader, requests)
            finally:
                back.cancel()
                requests.close()
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            if self._silent:
                self.swallowed += len(data)
                continue
            writer.write(data)
            await writer.drain()

    async def _swallow(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65_536):
            self.swallowed += len(data)
