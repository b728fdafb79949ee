"""Kill the web process while it streams: each client receives every message once."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from found_footy.notifications.models import TOPICS
from found_footy.runtime.engine import free_port
from tests.runtime.engine_helpers import eventually
from tests.support.processes import stopped_with_parent
from tests.support.sse import insert_outbox_rows, open_stream, write_outbox

pytestmark = pytest.mark.timeout(600)

LAST = ("fixture.completed", 99)
FILTERED = "fixture=1&fixture=99"


class WebProcess:
    """A web process that keeps its address over kills."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self._environment = os.environ | {
            "DATABASE_URL": database_url,
            "FOOTY_DATA_DIR": str(folder),
            "FOOTY_WEB_PORT": str(free_port()),
        }
        self.url = f"http://127.0.0.1:{self._environment['FOOTY_WEB_PORT']}"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            stopped_with_parent([sys.executable, "-m", "tests.chaos.web_process"]), env=self._environment
        )

    def restart(self) -> None:
        """Kill the process and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def stop(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@contextmanager
def web_process(database_url: str, folder: Path) -> Iterator[WebProcess]:
    web = WebProcess(database_url, folder)
    try:
        yield web
    finally:
        if web.process.poll() is None:
            web.process.kill()
            web.process.wait()


class ReconnectingClient:
    """Reconnects with its last event id, as a browser does."""

    def __init__(self, url: str, query: str) -> None:
        self.url, self.query = url, query
        self.positions: list[int] = []
        self.connections = 0
        self._last_id: str | None = "0"

    async def run(self) -> None:
        async with httpx.AsyncClient(base_url=self.url) as http:
            while True:
                try:
                    async with open_stream(http, self.query, self._last_id) as stream:
                        self.connections += 1
                        while True:
                            event = await stream.event()
                            self._last_id = stream.last_id
                            if event.name in TOPICS:
                                self.positions.append(event.data["position"])
                                if (event.name, event.data["fixture_id"]) == LAST:
                                    return
                except (httpx.TransportError, StopAsyncIteration):
                    await asyncio.sleep(0.05)  # until the process is back


async def write(url: str, seed: str, stop: asyncio.Event) -> None:
    chance = random.Random(seed)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        while not stop.is_set():
            rows = [(chance.choice(list(TOPICS)), chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
            await insert_outbox_rows(connection, rows)
            await connection.commit()
            await asyncio.sleep(0.005)  # so that writes go on for the whole test


async def test_a_killed_web_process_loses_no_message(database_url: str, tmp_path: Path) -> None:
    with web_process(database_url, tmp_path) as web:
        clients = [ReconnectingClient(web.url, query) for query in ["", FILTERED] * 5]
        tasks = [asyncio.create_task(client.run()) for client in clients]
        stop = asyncio.Event()
        writers = [asyncio.create_task(write(database_url, f"writer {number}", stop)) for number in range(3)]
        for kills in (0, 1):
            await eventually(lambda kills=kills: all(client.connections > kills for client in clients))  # type: ignore[misc]
            before = [len(client.positions) for client in clients]
            await eventually(
                lambda before=before: all(
                    len(client.positions) > n + 20 for client, n in zip(clients, before, strict=True)
                )  # type: ignore[misc]
            )
            web.restart()
        await eventually(lambda: all(client.connections >= 3 for client in clients))
        stop.set()
        await asyncio.gather(*writers)
        await write_outbox(database_url, LAST)
        await asyncio.wait_for(asyncio.gather(*tasks), 120)
        assert web.stop() == 0
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        cursor = await connection.execute("select position, fixture_id from outbox order by position")
        rows = await cursor.fetchall()
    assert [position for position, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) > 200
    for client in clients:
        expected = [position for position, fixture in rows if not client.query or fixture in (1, 99)]
        assert client.positions == expected


async def test_a_web_process_closes_its_streams_before_it_stops(database_url: str, tmp_path: Path) -> None:
    with web_process(database_url, tmp_path) as web:
        client = ReconnectingClient(web.url, "")
        task = asyncio.create_task(client.run())
        await eventually(lambda: client.connections == 1)
        assert web.stop() == 0
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
