"""A TCP proxy between two parts that can drop connections, fall silent, and delay."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from found_footy.runtime.engine import free_port
from tests.support.tcp_server import TcpServer


class Link(TcpServer):
    """Has its port before it starts. The target, a port on loopback, may be set later and change."""

    def __init__(self, target: int | None = None) -> None:
        super().__init__()
        self.port = free_port()
        self.target = target
        self.delay = 0.0
        """Seconds that each packet waits, in both directions."""
        self._open = asyncio.Event()
        self._open.set()
        self._refuses = False

    def cut(self, *, silently: bool) -> None:
        """Pass nothing on until `restore`. Unless silently, drop the connections, and close new ones at once."""
        self._open.clear()
        self._refuses = not silently
        if self._refuses:
            for task in self._tasks:
                task.cancel()

    def restore(self) -> None:
        """Pass everything on again without delay, also what waited meanwhile."""
        self.delay = 0.0
        self._refuses = False
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses or self.target is None:
            return
        await self._open.wait()
        answers, requests = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            with suppress(ExceptionGroup):  # of the direction that ended
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass_on(reader, requests))
                    group.create_task(self._pass_on(answers, writer))
        finally:
            requests.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Both directions end when one does: half-closed connections are rare."""
        while data := await reader.read(65_536):
            if self.delay:
                await asyncio.sleep(self.delay)
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError
