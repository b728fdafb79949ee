"""A TCP proxy that can fall silent: it still accepts connections and bytes, and never answers again."""

from __future__ import annotations

import asyncio

from tests.support.tcp_server import TcpServer


class SilentProxy(TcpServer):
    def __init__(self, host: str | None, port: int | None) -> None:
        """Without an address it is silent from the start."""
        super().__init__()
        self._target = (host, port)
        self._silent = host is None
        self.swallowed = 0

    def silence(self) -> None:
        self._silent = True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
