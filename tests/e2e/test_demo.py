"""`footy demo` in a terminal: it prints its addresses, serves pages until Ctrl-C, and feeds the library."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.processes import Installation
from tests.support.scenarios import ONE_GOAL, rendered_clips

pytestmark = pytest.mark.timeout(600)


class Terminal:
    """A process whose output is a terminal."""

    def __init__(self, master: int, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._output = ""
        self._more = asyncio.Event()
        os.set_blocking(master, False)
        self._master = master
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            self._output += os.read(self._master, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            asyncio.get_running_loop().remove_reader(self._master)
        self._more.set()

    async def expect(self, pattern: str, seconds: float) -> re.Match[str]:
        """Wait until the output matches."""
        async with asyncio.timeout(seconds):
            while (found := re.search(pattern, self._output)) is None:
                assert self.process.returncode is None, self._output[-3000:]
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
    installation = Installation(
        tmp_path, {"FOOTY_WEB_PORT": "0", "FOOTY_WORKERS": "1", "FOOTY_UNDO_SECONDS": "2", "TERM": "xterm"}
    )
    process = await installation.start("demo", "--scenario", str(ONE_GOAL), stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    terminal = Terminal(master, process)
    yield terminal
    if process.returncode is None:
        process.kill()
        await process.wait()
    terminal.close()
    await Installation(tmp_path / "demo", {}).destroy()


async def test_the_demo_serves_pages_and_a_library_until_it_is_stopped(demo: Terminal) -> None:
    address = await demo.expect(r"watch it at \S*?(http://127\.0\.0\.1:\d+)", 120)
    found = await demo.expect(r"pages stay up at (http://127\.0\.0\.1:\d+)", 400)
    assert found[1] == address[1]
    async with httpx.AsyncClient(base_url=found[1], timeout=20) as web:
        page = await web.get("/", headers={"accept": "text/html"})
        assert "Aston Villa" in page.text
        goals = (await web.get("/api/v1/events", params={"status": "complete"})).json()["items"]
        best = next(goal["_s3_videos"][0] for goal in goals if goal["_s3_videos"])
        film = await web.get(f"/v/{best['id']}", headers={"range": "bytes=0-99"})
        assert (film.status_code, len(film.content)) == (206, 100)
        poster = await web.get(f"/v/{best['id']}/poster.jpg", params={"w": 320})
        assert poster.headers["content-type"] == "image/jpeg"
        fixtures = (await web.get("/api/v1/fixtures")).json()["items"]
        feeds = {fixture["teams"]["home"]["name"]: {f["feed"] for f in fixture["_feeds"]} for fixture in fixtures}
        assert feeds["Aston Villa"] == {"api_football", "espn"}
        token = await demo.expect(r"log in at \S+/login with this token:\s+\S*?(footy_\w+)", 60)
        await review_and_search(web, token[1])
    demo.process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(demo.process.wait(), 60) == 0


async def review_and_search(web: httpx.AsyncClient, token: str) -> None:
    """Approve every clip, then find one of a goal by its words, by similarity and by an uploaded picture."""
    editor = {"authorization": f"Bearer {token}"}
    limit = {"most": 50}
    while clips := (await web.get("/api/v1/review/queue", params=limit, headers=editor)).json()["queue"]:
        done = await web.post("/api/v1/review/actions", json={"kind": "approve", "clips": clips}, headers=editor)
        assert done.status_code == 200, done.text
    async with asyncio.timeout(180):
        while not (items := await search(web, place="library")) or await unfinished(web, editor):
            await asyncio.sleep(0.5)
    clip = next(each["clip"] for each in items if each["clip"]["event"])
    words = f"{clip['facts']['player']} {clip['facts']['team']}"
    assert clip["id"] in clip_ids(await search(web, q=words))
    alike = await search(web, like=str(clip["id"]), limit="100")
    assert [each["likeness"] for each in alike] == sorted((each["likeness"] for each in alike), reverse=True)
    picture = await web.get(clip["picture"])
    answer = await web.post("/api/v1/library/search", content=picture.content, headers={"content-type": "image/jpeg"})
    assert clip["id"] in clip_ids(answer.json()["items"][:1]), "the picture of a clip is most like that clip"


async def unfinished(web: httpx.AsyncClient, editor: dict[str, str]) -> int:
    """Return the number of clips that are not embedded yet."""
    counts = (await web.get("/api/v1/review/queue", headers=editor)).json()["counts"]
    return sum(count for state, count in counts.items() if state != "embedded")


async def search(web: httpx.AsyncClient, **parameters: str) -> list[dict[str, Any]]:
    answer = await web.get("/api/v1/library/search", params=parameters)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def clip_ids(moments: list[dict[str, Any]]) -> set[int]:
    return {clip["id"] for moment in moments for clip in (moment["clip"], *moment["copies"])}
