"""`footy demo` in a terminal: it says where the pages are, and keeps them up until Ctrl-C. The library is at work."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from found_footy.cli.demo import has_browser
from found_footy.config import Settings
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from tests.support.clip_cache import rendered_clips

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
    (tmp_path / "demo-clips").symlink_to(rendered_clips())
    master, slave = os.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")}
    process = await asyncio.create_subprocess_exec(
        FOOTY, "demo", "--scenario", "quick",
        env={
            **environment, "FOOTY_DATA_DIR": str(tmp_path), "FOOTY_WEB_PORT": "0", "FOOTY_UNDO_SECONDS": "2",
            "TERM": "xterm", "COLUMNS": "200",
        },
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
    found = await demo.says(r"pages stay up at (http://127\.0\.0\.1:\d+)", 400)
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
        token = await demo.says(r"log in at \S+/login with this token:\s+\S*?(footy_\w+)", 60)
        await reviewed_and_found(web, token[1])
    demo.process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(demo.process.wait(), 60) == 0


async def reviewed_and_found(web: httpx.AsyncClient, token: str) -> None:
    """Every scene is reviewed; one of a goal is found again by its words, and by how it looks."""
    editor = {"authorization": f"Bearer {token}"}
    most = {"most": 50}
    while clips := (await web.get("/api/v1/review/queue", params=most, headers=editor)).json()["queue"]:
        done = await web.post("/api/v1/review/actions", json={"kind": "approve", "clips": clips}, headers=editor)
        assert done.status_code == 200, done.text
    async with asyncio.timeout(180):
        while not (items := await found(web, place="library")) or await waiting(web, editor):
            await asyncio.sleep(0.5)
    clip = next(each["clip"] for each in items if each["clip"]["event"])
    words = f"{clip['facts']['player']} {clip['facts']['team']}"
    assert clip["id"] in ids_in(await found(web, q=words))
    alike = await found(web, like=str(clip["id"]), limit="100")
    assert [each["likeness"] for each in alike] == sorted((each["likeness"] for each in alike), reverse=True)
    picture = await web.get(clip["picture"])
    answer = await web.post("/api/v1/library/search", content=picture.content, headers={"content-type": "image/jpeg"})
    assert clip["id"] in ids_in(answer.json()["items"][:1]), "the picture of a clip is most like that clip"


async def waiting(web: httpx.AsyncClient, editor: dict[str, str]) -> int:
    """Clips that have not come to their end."""
    counts = (await web.get("/api/v1/review/queue", headers=editor)).json()["counts"]
    return sum(count for state, count in counts.items() if state != "embedded")


async def found(web: httpx.AsyncClient, **wanted: str) -> list[dict[str, Any]]:
    answer = await web.get("/api/v1/library/search", params=wanted)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def ids_in(moments: list[dict[str, Any]]) -> set[int]:
    return {clip["id"] for moment in moments for clip in (moment["clip"], *moment["copies"])}
