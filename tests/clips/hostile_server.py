"""A web server on loopback that answers as badly as a stranger may wish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.support.tcp_server import TcpServer

VIDEO = b"\x00\x00\x00\x18ftypmp42" + bytes(range(256)) * 40
"""Looks like an mp4 to whoever reads only its beginning, as a downloader does."""


@dataclass(frozen=True)
class Request:
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    kind: str = "video/mp4"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    """What is announced, where it is not the truth."""
    unmeasured: bool = False
    """No length is announced: the end of the connection ends the body."""
    then: bytes = b""
    """Sent after the body, again and again."""
    pause: float = 0
    """Seconds before each of these."""
    silent: bool = False
    """Nothing at all, for ever."""


def html(text: str, status: int = 200) -> Reply:
    return Reply(text.encode(), status, "text/html; charset=utf-8")


def redirect(to: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": to})


Answers = Callable[[Request], Reply] | Mapping[str, Reply] | Reply


class HostileServer(TcpServer):
    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers
        self.requests: list[Request] = []
        self.sent = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        request = Request(first.split()[1], headers)
        self.requests.append(request)
        await self._write(writer, self._reply(request))

    def _reply(self, request: Request) -> Reply:
        if isinstance(self.answers, Reply):
            return self.answers
        if isinstance(self.answers, Mapping):
            return self.answers.get(request.path, Reply(status=404))
        return self.answers(request)

    async def _write(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        while reply.silent:
            await asyncio.sleep(1)
        headers = {"Content-Type": reply.kind, "Connection": "close", **reply.headers}
        if not reply.unmeasured:
            headers["Content-Length"] = str(len(reply.body) if reply.length is None else reply.length)
        head = [f"HTTP/1.1 {reply.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*head, "", ""]).encode() + reply.body)
        await writer.drain()
        for piece in _forever(reply.then):
            await asyncio.sleep(reply.pause)
            writer.write(piece)
            self.sent += len(piece)
            await writer.drain()


def _forever(piece: bytes) -> Iterator[bytes]:
    while piece:
        yield piece
