"""Processes of `bench/stream.py`, each started as `python -m bench.stream_processes ROLE`.

`serve URL FOLDER` is the web process; `bare` writes each line of its standard input to all connections. Both print
their port. `listen PORT NUMBER PATH` opens that many connections, and prints when the last of them has received each
message.
"""

from __future__ import annotations

import asyncio
import base64
import re
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import cast

import uvloop
from pydantic import SecretStr

from found_footy.app import open_web
from found_footy.config import Settings
from found_footy.runtime.http_server import HttpServer
from found_footy.web.app import create_app

HOST = "127.0.0.1"
ID = re.compile(rb"(?:^|\n)id: (\d+)\n")


async def serve(url: str, folder: str) -> None:
    settings = Settings().model_copy(update={"database_url": SecretStr(url), "data_dir": Path(folder)})
    async with open_web(settings) as services, HttpServer(create_app(services)) as server:
        print(server.port, flush=True)
        await asyncio.Event().wait()


async def bare() -> None:
    """Plain sockets, without HTTP, database or limits."""
    everybody: set[asyncio.WriteTransport] = set()

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            writer = cast(asyncio.WriteTransport, transport)
            writer.write(b"event: hello\n\n")
            everybody.add(writer)

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((HOST, 0))
    await asyncio.get_running_loop().create_server(Connection, sock=listener, backlog=4096)
    print(listener.getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        message = base64.b64decode(line)
        for transport in everybody:
            transport.write(message)


async def listen(port: int, number: int, path: str) -> None:
    """Print `ready` when all are connected, and for each message its id and the time of the last receipt."""
    loop = asyncio.get_running_loop()
    heard: Counter[int] = Counter()
    connected = 0
    ready = asyncio.Event()
    request = f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode()

    class Listener(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            cast(asyncio.WriteTransport, transport).write(request)

        def data_received(self, data: bytes) -> None:
            nonlocal connected
            if b"event: hello" in data:
                connected += 1
                if connected == number:
                    ready.set()
                return
            for found in ID.findall(data):
                heard[int(found)] += 1
                if heard[int(found)] == number:
                    print(int(found), time.monotonic(), flush=True)

        def connection_lost(self, exc: Exception | None) -> None:
            sys.exit("a listener was cut off")

    for begin in range(0, number, 50):
        some = range(begin, min(number, begin + 50))
        await asyncio.gather(*(loop.create_connection(Listener, HOST, port) for _ in some))
    await ready.wait()
    print("ready", flush=True)
    await asyncio.Event().wait()


def main(role: str, *given: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        match role:
            case "serve":
                runner.run(serve(*given))
            case "bare":
                runner.run(bare())
            case "listen":
                port, number, path = given
                runner.run(listen(int(port), int(number), path))


if __name__ == "__main__":
    main(*sys.argv[1:])
