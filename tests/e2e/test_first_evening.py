"""A newcomer's first evening, as processes on real engines: no key, no login and no browser.

The simulator speaks the protocols of late 2026. Scores come over ESPN's, clips over Reddit's and FxEmbed's.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from footy_simulator.loader import load_scenario
from footy_simulator.scenario import ScriptedEspn, ScriptedFeeds
from footy_simulator.server import Simulator
from found_footy.config import PREFIX, environment_names
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from tests.support.clip_cache import rendered_clips

FOOTY = str(Path(sys.executable).parent / "footy")
USED = ("kept", "duplicate")
"""States of posts whose file is a published clip or a copy of one."""
SERVICES = ("espn", "fxtwitter", "reddit", "x", "x_syndication", "wikidata", "wikidata_sparql")

pytestmark = pytest.mark.timeout(600)


class Newcomer:
    """A person with a terminal in an empty folder."""

    def __init__(self, folder: Path, simulator: Simulator) -> None:
        self.folder = folder
        set_by_us = set(environment_names().values())
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(PREFIX) and k not in set_by_us},
            **{f"FOOTY_{service.upper()}_URL": simulator.url for service in SERVICES},
            "FOOTY_PRIVATE_HOSTS": urlsplit(simulator.url).netloc,
            "FOOTY_PROFILE": "demo",
            "FOOTY_WORKERS": "1",
            "FOOTY_WEB_PORT": "0",
            "COLUMNS": "200",
        }

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            FOOTY,
            *words,
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def run(self, *words: str) -> tuple[int, str, str]:
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(), 180)
        return process.returncode or 0, out.decode(), err.decode()


@pytest.fixture
async def newcomer(tmp_path: Path) -> AsyncIterator[Newcomer]:
    quick = load_scenario("quick").football
    scenario = quick.model_copy(
        update={"matches": quick.matches[1:], "faults": (), "feeds": ScriptedFeeds(espn=ScriptedEspn(delay=0))}
    )
    # Matchday time runs faster than the clock: with a later start, a match could be over before its kick-off.
    begun = datetime.now(UTC) - timedelta(minutes=10)
    simulator = Simulator(scenario, start=begun, clips_folder=rendered_clips(), renderers=2)
    async with simulator:
        async with asyncio.timeout(240):
            while simulator.clips_to_render[0]:
                await asyncio.sleep(0.2)
        home = tmp_path / "home"
        home.mkdir()
        yield Newcomer(home, simulator)
    folder = DataFolder(tmp_path / "home" / ".footy")
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()


async def read_until(stream: asyncio.StreamReader, word: str) -> str:
    text = ""
    async with asyncio.timeout(180):
        while word not in text:
            line = await stream.readline()
            assert line, text
            text += line.decode()
    return text


async def test_clips_are_published_without_key_login_or_browser(newcomer: Newcomer) -> None:
    code, out, err = await newcomer.run("init", "--yes")
    assert code == 0, out + err
    for name in ("feed espn", "source reddit", "source fxtwitter", "team names"):
        assert f"✓ {name}" in out, out
    assert (newcomer.folder / ".env").exists()

    up = await newcomer.start("up")
    assert up.stdout is not None
    assert up.stderr is not None
    log = asyncio.create_task(up.stderr.read())
    try:
        banner = await read_until(up.stdout, "Pages")
        assert "Premier League" in banner
        assert "espn on" in banner
        assert "api_football off (API_FOOTBALL_KEY" in banner
        assert "reddit on" in banner
        assert "bluesky off (needs FOOTY_BLUESKY_HANDLE" in banner
        pages = banner.split("Pages")[1].split()[0]
        goals = await verified_goals(pages)
        used = {post["source"] for goal in goals for post in goal["_discovered_videos"] if post["state"] in USED}
        assert used == {"reddit", "x"}
        found = [search["sources"]["fxtwitter"] for goal in goals for search in goal["_searches"]]
        assert any(report.get("found") for report in found), "posts on X are found through FxEmbed"

        code, out, err = await newcomer.run("doctor", "--live", "--json")
        findings = {each["what"]: each for each in json.loads(out)}
        assert code == 0, err
        assert not [each for each in findings.values() if each["state"] == "failed"]
        assert "dates=" in " ".join(findings["feed espn"]["asked"]), "the check asks what a poll asks"
        assert await healthy(newcomer)
    finally:
        up.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(up.wait(), 60) == 0, (await log)[-3000:].decode()
        await log


async def healthy(newcomer: Newcomer) -> str:
    """The report of `footy health`, once nothing is failing any more."""
    async with asyncio.timeout(120):
        while True:
            code, out, _ = await newcomer.run("health")
            if code == 0:
                return out
            await asyncio.sleep(1)


async def verified_goals(pages: str) -> list[dict[str, Any]]:
    """All goals of the matchday, once each has a verified clip."""
    async with httpx.AsyncClient(base_url=pages, timeout=20) as web, asyncio.timeout(300):
        while True:
            try:
                listed = (await web.get("/api/v1/events", params={"status": "complete"})).json()["items"]
            except (httpx.HTTPError, ValueError, KeyError):
                listed = []  # the web process starts a moment after the banner
            whole = [(await web.get(f"/api/v1/events/{goal['_event_id']}")).json() for goal in listed]
            with_clips = [goal for goal in whole if any(clip["timestamp_verified"] for clip in goal["_s3_videos"])]
            if len(with_clips) >= 2:
                return with_clips
            await asyncio.sleep(1)
