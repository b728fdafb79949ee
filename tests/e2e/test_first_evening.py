"""A fresh installation publishes clips without any key, login or browser: ESPN, Reddit and FxEmbed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import time
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
from tests.support.processes import Installation, wait_until
from tests.support.scenarios import SHORT_MATCH, rendered_clips

USED = ("kept", "duplicate")
"""States of posts whose file is a published clip or a copy of one."""
SERVICES = ("espn", "fxtwitter", "reddit", "x", "x_syndication", "wikidata", "wikidata_sparql")

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
async def installation(tmp_path: Path) -> AsyncIterator[Installation]:
    scenario = load_scenario(SHORT_MATCH).football.model_copy(
        update={"feeds": ScriptedFeeds(espn=ScriptedEspn(delay=0))}
    )
    # Matchday time runs faster than the clock: with a later start, a match could be over before its kick-off.
    begun = datetime.now(UTC) - timedelta(minutes=10)
    simulator = Simulator(scenario, start=begun, clips_folder=rendered_clips(), renderers=2)
    async with simulator:
        async with asyncio.timeout(240):
            while simulator.clips_to_render[0]:
                await asyncio.sleep(0.2)
        settings = {
            **{f"FOOTY_{service.upper()}_URL": simulator.url for service in SERVICES},
            "FOOTY_PRIVATE_HOSTS": urlsplit(simulator.url).netloc,
            "FOOTY_PROFILE": "demo",
            "FOOTY_WORKERS": "1",
            "FOOTY_WEB_PORT": "0",
        }
        installation = Installation(tmp_path / ".footy", settings, working_folder=tmp_path)
        del installation.environment["FOOTY_DATA_DIR"]  # the default is in the current folder
        yield installation
        await installation.destroy()


async def read_until(stream: asyncio.StreamReader, word: str) -> str:
    text = ""
    async with asyncio.timeout(180):
        while word not in text:
            line = await stream.readline()
            assert line, text
            text += line.decode()
    return text


async def test_clips_are_published_without_key_login_or_browser(installation: Installation, tmp_path: Path) -> None:
    init = await installation.run("init", "--yes")
    assert init.code == 0, init.out + init.err
    for name in ("feed espn", "source reddit", "source fxtwitter", "team names"):
        assert f"✓ {name}" in init.out, init.out
    assert (tmp_path / ".env").exists()

    up = await installation.start("up")
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
        goals = await all_goals(pages)
        assert len([goal for goal in goals if is_verified(goal)]) == 2, json.dumps(goals, indent=1)
        used = {post["source"] for goal in goals for post in goal["_discovered_videos"] if post["state"] in USED}
        assert used == {"reddit", "x"}
        found = [search["sources"]["fxtwitter"] for goal in goals for search in goal["_searches"]]
        assert any(report.get("found") for report in found), "posts on X are found through FxEmbed"

        findings = {each["what"]: each for each in await installation.passing_diagnosis()}
        assert not [each for each in findings.values() if each["state"] == "failed"]
        assert "dates=" in " ".join(findings["feed espn"]["asked"]), "the check asks what a poll asks"
        await wait_until(lambda: is_healthy(installation))
    except BaseException as error:
        up.send_signal(signal.SIGTERM)
        lines = [line for line in (await log).decode().splitlines() if not re.search(r"\b(INFO|info)\b", line)]
        error.add_note("\n".join(lines[-60:]))
        raise
    up.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(up.wait(), 60) == 0, (await log)[-3000:].decode()
    await log


async def is_healthy(installation: Installation) -> bool:
    return (await installation.call("health")).code == 0


def is_verified(goal: dict[str, Any]) -> bool:
    return goal["status"] == "complete" and any(clip["timestamp_verified"] for clip in goal["_s3_videos"])


async def all_goals(pages: str) -> list[dict[str, Any]]:
    """Return the goals of the matchday once both are verified, or as they are after five minutes."""
    goals: list[dict[str, Any]] = []
    until = time.monotonic() + 300
    async with httpx.AsyncClient(base_url=pages, timeout=20) as web:
        while time.monotonic() < until and len([goal for goal in goals if is_verified(goal)]) < 2:
            await asyncio.sleep(1)
            with contextlib.suppress(httpx.HTTPError, ValueError, KeyError):  # the web process starts after the banner
                listed = (await web.get("/api/v1/events")).json()["items"]
                goals = [(await web.get(f"/api/v1/events/{goal['_event_id']}")).json() for goal in listed]
    return goals
