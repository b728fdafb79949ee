"""What several tests of the engines need."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.process_table import identify


async def query(url: str, statement: LiteralString) -> list[tuple[Any, ...]]:
    """Run one statement in a connection of its own."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        cursor = await connection.execute(statement)
        return await cursor.fetchall() if cursor.description else []


async def eventually(condition: Callable[[], bool], seconds: float = 90.0) -> None:
    """Wait until it holds: at once, or for as long as a busy machine may need."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        await asyncio.sleep(0.02)


def owner_process(folder: DataFolder) -> subprocess.Popen[bytes]:
    """Another process that owns the folder and runs everything in it."""
    return subprocess.Popen([sys.executable, str(Path(__file__).with_name("engine_owner.py")), str(folder.path)])


def exists(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    return identify(pid) is not None


@contextmanager
def listener(port: int) -> Iterator[None]:
    """Somebody else on this port."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        yield
