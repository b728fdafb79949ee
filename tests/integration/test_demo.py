"""`footy demo` in a terminal: it says where the pages are, and keeps them up until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from found_footy.config import Settings
from found_footy.ops.demo import has_browser
from found_footy.ops.engines import DataFolder, EmbeddedPostgres

FOOTY = str(Path(sys.executable).parent / "footy")

pytestmark = pytest.mark.timeout(600)


class Terminal:
    """A program that believes to be looked at by somebody."""

    def __init__(self, master: int, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._said = ""
        self._more = asyncio.Event()
        os.set_blocking(master, False)
        self._master = master
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            self._said += os.read(self._master, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            asyncio.get_running_loop().remove_reader(self._master)
        self._more.set()

    async def says(self, pattern: str, seconds: float) -> re.Match[str]:
        async with asyncio.timeout(seconds):
            while (found := re.search(pattern, self._said)) is None:
                assert self.process.returncode is None, self._said[-3000:]
                self._more.clear()
                await self._more.wait()
        return found

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Terminal]:
    master, slave = os.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")}
    process = await asyncio.create_subprocess_exec(
        FOOTY, "demo", "--scenario", "quick",
        env={**environment, "FOOTY_DATA_DIR": str(tmp_path), "FOOTY_WEB_PORT": "0", "TERM": "xterm", "COLUMNS": "200"},
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    terminal = Terminal(master, process)
    yield terminal
    if process.returncode is None:
        process.kill()
        await process.wait()
    terminal.close()
    folder = DataFolder(tmp_path / "demo")
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()


async def test_the_pages_stay_until_somebody_stops_them(demo: Terminal) -> None:
    address = await demo.says(r"watch it at \S*?(http://127\.0\.0\.1:\d+)", 120)
    found = await demo.says(r"the pages stay at (http://127\.0\.0\.1:\d+)", 400)
    assert found[1] == address[1]
    async with httpx.AsyncClient(base_url=found[1], timeout=20) as web:
        page = await web.get("/", headers={"accept": "text/html"})
        assert "Manchester United" in page.text
        assert ("New Zealand" in page.text) == has_browser(Settings(_env_file=None)), "cricket is read with a browser"
        goals = (await web.get("/api/v1/events", params={"status": "complete"})).json()["items"]
        best = next(goal["_s3_videos"][0] for goal in goals if goal["_s3_videos"])
        film = await web.get(f"/v/{best['id']}", headers={"range": "bytes=0-99"})
        assert (film.status_code, len(film.content)) == (206, 100)
        poster = await web.get(f"/v/{best['id']}/poster.jpg", params={"w": 320})
        assert poster.headers["content-type"] == "image/jpeg"
        fixtures = (await web.get("/api/v1/fixtures")).json()["items"]
        told_by = {fixture["teams"]["home"]["name"]: {f["feed"] for f in fixture["_feeds"]} for fixture in fixtures}
        assert told_by["Aston Villa"] == {"api_football", "espn"}
    demo.process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(demo.process.wait(), 60) == 0
