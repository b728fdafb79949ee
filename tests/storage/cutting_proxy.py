"""A line to a server that breaks after so many bytes, and stays broken."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from tests.support.tcp_server import TcpServer


class CuttingProxy(TcpServer):
    def __init__(self, endpoint: str, after_bytes: int) -> None:
        parts = urlsplit(endpoint)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = parts.hostname, parts.port
        super().__init__()
        self._left = after_bytes

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._left <= 0:
            return
        answers, requests = await asyncio.open_connection(*self._target)
        back = asyncio.ensure_future(self._pass_on(answers, writer))
        try:
            while self._left > 0 and (data := await reader.read(65_536)):
                self._left -= len(data)
                requests.write(data)
                await requests.drain()
        finally:
            back.cancel()
            requests.close()

    async def _pass_on(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await answers.read(65_536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass  # either side may go first
