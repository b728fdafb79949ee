"""A web server on loopback that answers anything, also what no web server should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.support.tcp_server import TcpServer


@dataclass(frozen=True)
class Request:
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def ids(self) -> list[int]:
        return [int(part) for part in self.params["ids"].split("-")]


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    """Bytes that are announced and never come."""
    drips: bool = False
    """A byte now and then, for ever."""
    held: bool = False
    """Nothing at all, for ever."""


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(json.dumps(value).encode(), status, headers or {})


class RawServer(TcpServer):
    """Answers each request with what `answer` makes of it. `requests` keeps them all."""

    def __init__(self, answer: Callable[[Request], Reply] | Reply) -> None:
        super().__init__()
        self.answer = answer
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._open = 0

    @classmethod
    def in_turn(cls, replies: Sequence[Reply]) -> Self:
        """One reply after the other; the last one stays."""
        left = list(replies)
        return cls(lambda request: left.pop(0) if len(left) > 1 else left[0])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        parts = urlsplit(first.split()[1])
        headers = dict(line.lower().split(": ", 1) for line in lines)
        request = Request(parts.path, dict(parse_qsl(parts.query)), headers)
        self.requests.append(request)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        await asyncio.sleep(0.005)  # so that requests that are sent together meet here
        reply = self.answer if isinstance(self.answer, Reply) else self.answer(request)
        self._open -= 1
        await self._write(writer, reply)

    async def _write(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        while reply.held:
            await asyncio.sleep(1)
        length = {} if reply.drips else {"content-length": str(len(reply.body) + reply.missing)}
        headers = {"connection": "close", **length, **reply.headers}
        head = [f"HTTP/1.1 {reply.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*head, "", ""]).encode() + reply.body)
        await writer.drain()
        while reply.drips:
            await asyncio.sleep(0.02)
            writer.write(b" ")
            await writer.drain()
