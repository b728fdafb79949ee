"""Kill the web process in the middle of the news: each listener ends with exactly what was announced."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from found_footy.notifications.models import TOPICS
from tests.runtime.engine_helpers import eventually
from tests.support.sse import insert_outbox_rows, open_stream, write_outbox

pytestmark = pytest.mark.timeout(600)

LAST = ("fixture.completed", 99)
FILTERED = "fixture=1&fixture=99"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class WebProcess:
    """Always at the same address, however often it is killed."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self._environment = os.environ | {
            "DATABASE_URL": database_url,
            "FOOTY_DATA_DIR": str(folder),
            "FOOTY_WEB_PORT": str(free_port()),
        }
        self.url = f"http://127.0.0.1:{self._environment['FOOTY_WEB_PORT']}"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "tests.chaos.web_process"], env=self._environment)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def end(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@contextmanager
def web_process(database_url: str, folder: Path) -> Iterator[WebProcess]:
    made = WebProcess(database_url, folder)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.kill()
            made.process.wait()


class Fan:
    """Comes back whenever it is cut off, as a browser does."""

    def __init__(self, url: str, query: str) -> None:
        self.url, self.query = url, query
        self.heard: list[int] = []
        self.connections = 0
        self._last_id: str | None = "0"

    async def listen(self) -> None:
        async with httpx.AsyncClient(base_url=self.url) as client:
            while True:
                try:
                    async with open_stream(client, self.query, self._last_id) as stream:
                        self.connections += 1
                        while True:
                            event = await stream.event()
                            self._last_id = stream.last_id
                            if event.name in TOPICS:
                                self.heard.append(event.data["position"])
                                if (event.name, event.data["fixture_id"]) == LAST:
                                    return
                except (httpx.TransportError, StopAsyncIteration):
                    await asyncio.sleep(0.05)  # as long as there is nobody at that address


async def write(url: str, seed: str, stop: asyncio.Event) -> None:
    chance = random.Random(seed)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        while not stop.is_set():
            rows = [(chance.choice(list(TOPICS)), chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
            await insert_outbox_rows(connection, rows)
            await connection.commit()
            await asyncio.sleep(0.005)  # a pace, so that the flow lasts for the whole test


async def test_a_killed_web_process_costs_no_listener_a_message(database_url: str, tmp_path: Path) -> None:
    with web_process(database_url, tmp_path) as web:
        fans = [Fan(web.url, query) for query in ["", FILTERED] * 5]
        listening_fans = [asyncio.create_task(fan.listen()) for fan in fans]
        stop = asyncio.Event()
        writers = [asyncio.create_task(write(database_url, f"writer {number}", stop)) for number in range(3)]
        for death in (1, 2):
            await eventually(lambda death=death: all(fan.connections >= death for fan in fans))  # type: ignore[misc]
            before = [len(fan.heard) for fan in fans]
            await eventually(
                lambda before=before: all(len(fan.heard) > n + 20 for fan, n in zip(fans, before, strict=True))  # type: ignore[misc]
            )
            web.kill()
        await eventually(lambda: all(fan.connections >= 3 for fan in fans))
        stop.set()
        await asyncio.gather(*writers)
        await write_outbox(database_url, LAST)
        await asyncio.wait_for(asyncio.gather(*listening_fans), 120)
        assert web.end() == 0
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        cursor = await connection.execute("select position, fixture_id from outbox order by position")
        news = await cursor.fetchall()
    assert [position for position, _ in news] == list(range(1, len(news) + 1))
    assert len(news) > 200
    for fan in fans:
        wanted = [position for position, fixture in news if not fan.query or fixture in (1, 99)]
        assert fan.heard == wanted


async def test_a_web_process_that_is_told_to_stop_ends_its_streams_first(database_url: str, tmp_path: Path) -> None:
    with web_process(database_url, tmp_path) as web:
        fan = Fan(web.url, "")
        task = asyncio.create_task(fan.listen())
        await eventually(lambda: fan.connections == 1)
        assert web.end() == 0
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
