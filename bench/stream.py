"""Live updates to 1,000 listeners, compared with a bare server that broadcasts the same bytes

The delay is measured from the commit of a message until the last listener has received it: PostgreSQL's NOTIFY,
publishing and reading the outbox, and a thousand writes. The listeners are sockets of one separate process that reads
for all of them, so its overhead is part of both figures. The bare server already holds the bytes and only writes them;
its delay is measured from the send command to the last listener. Both use uvloop. Unlike the delays, the server's CPU
time does not depend on other load on the machine.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx
import psycopg
from psycopg.types.json import Jsonb

from bench.table import table
from found_footy.notifications.models import OutboxMessage
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.migrations import migrate
from found_footy.web.live import stream_message

LISTENERS = 1_000
MESSAGES = 50
PATH = "/api/v1/stream"
PAYLOAD = {"md5": "0" * 32, "rank": 1, "team": "Liverpool", "player": "Mohamed Salah", "verified": True}
GOAL = "7001_40_306_Goal_1"
ADD = "insert into outbox (topic, fixture_id, event_id, payload) values ('clip.published', 7001, %s, %s)"

Figures = tuple[list[float], float, float]
"""Delays in seconds, server memory per listener in kB, and CPU time per write in microseconds."""

Send = Callable[[int], Awaitable[float]]
"""Sends the message with this number and returns the time of sending."""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(folder)
        with data.lock():
            engine = EmbeddedPostgres(data)
            await engine.start()
            try:
                await migrate(engine.url)
                ours, content = await _ours(engine.url, Path(folder))
            finally:
                await engine.destroy()
    bare = await _bare(content)
    table(
        ["1,000 listeners", "p50 ms", "p99 ms", "worst ms", "processor time per write", "memory per listener"],
        [
            ["`/api/v1/stream`, from the commit", *_cells(ours)],
            [f"bare broadcast of the same {len(content)} bytes", *_cells(bare)],
            ["ratio", f"{median(ours[0]) / median(bare[0]):.1f}×", "", "", f"{ours[2] / bare[2]:.1f}×", ""],
        ],
    )


def _cells(figures: Figures) -> list[str]:
    delays, memory, processor = figures
    shown = (median(delays), quantiles(delays, n=100, method="inclusive")[98], max(delays))
    return [*(f"{1000 * each:.1f}" for each in shown), f"{processor:.0f} µs", f"{memory:.0f} kB"]


async def _ours(url: str, folder: Path) -> tuple[Figures, bytes]:
    async with _process("serve", url, str(folder)) as server:
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/login")).status_code == 200
            async with client.stream("GET", PATH) as answer:
                assert answer.status_code == 200
        before = _resident_kb(server.pid)
        async with (
            _listening(port) as listeners,
            await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
        ):
            memory = (_resident_kb(server.pid) - before) / LISTENERS

            async def commit(_: int) -> float:
                await connection.execute(ADD, [GOAL, Jsonb(PAYLOAD)])
                return time.monotonic()

            delays, processor = await _delays(server, listeners, commit)
            found = await connection.execute("select position, at, topic, fixture_id, event_id, payload from outbox")
            rows = await found.fetchall()
    return (delays, memory, processor), stream_message(OutboxMessage(*rows[-1])).content


async def _bare(content: bytes) -> Figures:
    async with _process("bare") as server:
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        before = _resident_kb(server.pid)
        async with _listening(port) as listeners:
            memory = (_resident_kb(server.pid) - before) / LISTENERS
            last = int(content.split(b"\n")[0].removeprefix(b"id: "))

            async def order(number: int) -> float:
                assert server.stdin is not None
                went = time.monotonic()
                server.stdin.write(base64.b64encode(content.replace(b"id: %d\n" % last, b"id: %d\n" % number)) + b"\n")
                await server.stdin.drain()
                return went

            delays, processor = await _delays(server, listeners, order)
            return delays, memory, processor


async def _delays(server: Process, listeners: Process, send: Send) -> tuple[list[float], float]:
    assert listeners.stdout is not None
    delays = []
    before = _processor_seconds(server.pid)
    for number in range(1, MESSAGES + 6):
        went = await send(number)
        heard, at = (await asyncio.wait_for(listeners.stdout.readline(), 30)).split()
        assert int(heard) == number
        if number > 5:  # warm-up
            delays.append(float(at) - went)
    return delays, 1e6 * (_processor_seconds(server.pid) - before) / (number * LISTENERS)


@asynccontextmanager
async def _listening(port: int) -> AsyncIterator[Process]:
    async with _process("listen", str(port), str(LISTENERS), PATH) as listeners:
        assert listeners.stdout is not None
        assert await asyncio.wait_for(listeners.stdout.readline(), 60) == b"ready\n"
        yield listeners


@asynccontextmanager
async def _process(*arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.stream_processes", *arguments, stdin=PIPE, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _resident_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no memory")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
