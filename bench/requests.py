"""Requests to the pages and the API, compared with a bare FastAPI route returning a constant of the same size

The database holds 10,000 matches, 30,000 goals and 100,000 videos. The server is a separate process with uvloop and
httptools, as `footy web` runs it; this process generates the load on 16 keep-alive connections, each of which sends its
next request after the response. "The same" repeats one request, as clients do after a goal; "others" requests a
different resource each time, so that nothing can be cached.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import psycopg
import uvloop
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.responses import Response

from bench.large_world import LAST_DAY, fill
from bench.table import table
from found_footy.app import open_web
from found_footy.config import Settings
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.migrations import migrate
from found_footy.web.app import create_app

CONNECTIONS = 16
WARM_UP, MEASURED = 1.0, 3.0
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Load:
    per_second: float
    median_ms: float
    p99_ms: float
    bytes: int


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(folder)
        with data.lock():
            engine = EmbeddedPostgres(data)
            await engine.start()
            try:
                await migrate(engine.url)
                await fill(engine.url)
                await _measure(engine.url, folder)
            finally:
                await engine.destroy()


async def _measure(url: str, folder: str) -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        found = await connection.execute("select id from events order by first_seen desc, id")
        goals = [row[0] for row in await found.fetchall()]
    hot = goals[len(goals) // 200]
    random.Random(7).shuffle(goals)
    wishes: list[tuple[str, Iterator[str]]] = [
        ("`/api/v1/fixtures?date=` (50 matches), the same", itertools.repeat(f"/api/v1/fixtures?date={LAST_DAY}")),
        ("`/api/v1/events/{id}`, the same", itertools.repeat(f"/api/v1/events/{hot}")),
        ("`/api/v1/events/{id}`, others", (f"/api/v1/events/{goal}" for goal in itertools.cycle(goals))),
        ("`/` (50 matches), the same", itertools.repeat("/")),
        ("`/g/{event}`, the same", itertools.repeat(f"/g/{hot}")),
        ("`/g/{event}`, others", (f"/g/{goal}" for goal in itertools.cycle(goals))),
    ]
    rows = []
    async with _server(url, folder) as (app_port, bare_port):
        for name, paths in wishes:
            ours = await asyncio.to_thread(uvloop.run, load(app_port, paths))
            bare = await asyncio.to_thread(uvloop.run, load(bare_port, itertools.repeat(f"/bare/{ours.bytes}")))
            rows.append(
                [
                    name,
                    f"{ours.bytes / 1000:.0f} kB",
                    f"{ours.per_second:,.0f}",
                    f"{ours.median_ms:.1f} / {ours.p99_ms:.1f} ms",
                    f"{bare.per_second:,.0f}",
                    f"{bare.median_ms:.1f} / {bare.p99_ms:.1f} ms",
                    f"{bare.per_second / ours.per_second:.1f}×",
                ]
            )
    table(["request", "size", "a second", "p50 / p99", "bare route", "its p50 / p99", "bare : ours"], rows)


async def load(port: int, paths: Iterator[str]) -> Load:
    """Raises RuntimeError for any unsuccessful response."""
    times: list[float] = []
    sizes: list[int] = []
    start = time.perf_counter() + WARM_UP
    end = start + MEASURED

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            path = next(paths)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{path}: {head[:100]!r}")
            lower = head.lower()
            at = lower.index(b"content-length:") + 15
            size = int(lower[at : lower.index(b"\r", at)])
            await reader.readexactly(size)
            if began >= start:
                times.append(time.perf_counter() - began)
                sizes.append(size)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    times.sort()
    return Load(
        len(times) / MEASURED,
        1000 * times[len(times) // 2],
        1000 * times[len(times) * 99 // 100],
        sum(sizes) // len(sizes),
    )


# --- The server, in a separate process


@asynccontextmanager
async def _server(url: str, folder: str) -> AsyncIterator[tuple[int, int]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.requests",
        json.dumps({"url": url, "folder": folder}),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        ours, bare = (await process.stdout.readline()).split()
        yield int(ours), int(bare)
    finally:
        process.terminate()
        await process.wait()


async def _serve(url: str, folder: str) -> None:
    given = {"database_url": SecretStr(url), "data_dir": Path(folder), "api_football_key": SecretStr("bench")}
    evening = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, 21, tzinfo=UTC)
    async with open_web(Settings().model_copy(update=given)) as services:
        app = create_app(replace(services, now=lambda: evening))
        async with HttpServer(app) as ours, HttpServer(_bare()) as bare:
            print(ours.port, bare.port, flush=True)
            await ours.wait()


def _bare() -> FastAPI:
    app = FastAPI()

    @app.get("/bare/{size}")
    async def bare(size: int) -> Response:
        return Response(_constant(size), media_type="application/json")

    return app


@cache
def _constant(size: int) -> bytes:
    return b"x" * size


if __name__ == "__main__":
    uvloop.run(_serve(**json.loads(sys.argv[1])))
