"""Everything runs, and then every feed is away for a while: it is shown, recovered from, and told once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.cli.demo import declared_sources, simulator_environment
from found_footy.config import Settings
from found_footy.operations.models import HealthGrade, Recovery
from found_footy.operations.store import PostgresHealth
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.postgres import Database
from tests.discovery.serving import free_port

FOOTY = str(Path(sys.executable).parent / "footy")

pytestmark = pytest.mark.timeout(600)

MATCH = 1390001
STALE_WITHIN = 60.0
"""Seconds from the end of the last feed until the pages must say so."""
SHORTER = {
    "FOOTY_STALE_SECONDS": "10",
    "FOOTY_HEALTH_SECONDS": "0.5",
    "FOOTY_FRESH_SECONDS": "12",
    "FOOTY_STALL_SECONDS": "15",
    "FOOTY_FAILING_SECONDS": "25",
}


class Line:
    """The line to a feed, which can be cut."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._to = (parts.hostname, parts.port)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cut = False
        self.url = ""

    async def __aenter__(self) -> Line:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut_off(self) -> None:
        self.cut = True
        self.hang_up()

    def hang_up(self) -> None:
        for writer in self._open:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            writer.close()
            return
        there, beyond = await asyncio.open_connection(*self._to)
        self._open |= {writer, beyond}
        for source, target in ((reader, beyond), (there, writer)):
            task = asyncio.create_task(_pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await source.read(65536):
            target.write(part)
            await target.drain()
    target.close()


class Installation:
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = DataFolder(folder)
        self._environment = environment
        self._pages = f"http://127.0.0.1:{environment['FOOTY_WEB_PORT']}"

    async def __aenter__(self) -> Installation:
        self._up = await asyncio.create_subprocess_exec(
            FOOTY, "up", env=self._environment, stderr=asyncio.subprocess.PIPE, start_new_session=True
        )
        assert self._up.stderr is not None
        lines = []
        while line := await asyncio.wait_for(self._up.stderr.readline(), 180):
            lines.append(line.decode())
            if line.startswith(b"{") and json.loads(line)["action"] == "ready":
                break
        else:
            raise AssertionError("".join(lines))
        self._drain = asyncio.create_task(self._up.stderr.read())
        runtime = self._folder.read_runtime()
        assert runtime is not None
        assert runtime.database_url is not None
        self.database = Database(runtime.database_url)
        await self.database.open()
        self.health = PostgresHealth(self.database)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.database.close()
        self._up.send_signal(signal.SIGTERM)
        await asyncio.wait_for(self._up.wait(), 120)
        await self._drain

    def pid(self, name: str) -> int | None:
        runtime = self._folder.read_runtime()
        return runtime.pids.get(name) if runtime else None

    async def pages_are_up(self) -> bool:
        """`footy up` is ready before its web process is."""
        try:
            async with httpx.AsyncClient(base_url=self._pages, timeout=60, trust_env=False) as client:
                return (await client.get("/health/ready")).is_success
        except httpx.ConnectError:
            return False

    async def shown(self) -> tuple[str, dict[str, Any]]:
        """What the card of the match says of its age, on the page; and the match as JSON."""
        async with httpx.AsyncClient(base_url=self._pages, timeout=60, trust_env=False) as client:
            page = (await client.get("/")).raise_for_status().text
            document = (await client.get(f"/api/v1/fixtures/{MATCH}")).raise_for_status().json()
        card = re.search(rf'<article class="match" id="match-{MATCH}".*?</article>', page, re.DOTALL)
        assert card is not None, page
        words = re.search(r"<p class=\"silence\" data-stale(?P<hidden> hidden)?>(?P<said>[^<]*)</p>", card[0])
        assert words is not None, card[0]
        assert bool(words["hidden"]) is not bool(words["said"])
        return words["said"], document


@pytest.fixture
async def lines(tmp_path: Path) -> AsyncIterator[tuple[list[Line], Installation]]:
    """A line for each of two feeds."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOOTY_")}
    async with (
        # Slowly, so that the match is still on when the feeds come back.
        Simulator(load_scenario("quick"), speed=10) as simulator,
        Line(simulator.url) as one,
        Line(simulator.url) as other,
    ):
        feeds = declared_sources(simulator.scenario, simulator.url, browser=False)
        assert [feed["domain_id"] for feed in feeds] == ["api_football", "espn"]
        for feed, way in zip(feeds, (one, other), strict=True):
            feed["metadata"]["base_url"] = way.url
        file = tmp_path / "sources.yaml"
        file.write_text(yaml.safe_dump({"sources": feeds}))
        given = dict(simulator_environment(simulator))
        del given["FOOTY_FEED"]
        environment = (
            kept
            | given
            | {
                "FOOTY_PROFILE": "demo",
                "FOOTY_DATA_DIR": str(tmp_path),
                "FOOTY_WORKERS": "1",
                "FOOTY_WEB_PORT": str(free_port()),
                "FOOTY_FEEDS_FILE": str(file),
                **SHORTER,
            }
        )
        async with Installation(tmp_path, environment) as installation:
            yield [one, other], installation
    folder = DataFolder(tmp_path)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 150) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():
            await asyncio.sleep(0.2)


def test_news_are_shown_as_stale_in_time_where_nobody_sets_anything() -> None:
    assert Settings.model_fields["stale_seconds"].default < STALE_WITHIN


@pytest.mark.chaos
async def test_with_every_feed_down_the_pages_say_so_and_health_returns_by_itself_with_one_audit_entry(
    lines: tuple[list[Line], Installation],
) -> None:
    cables, installation = lines
    health = installation.health

    async def is_well() -> bool:
        summary = await health.summary()
        return summary is not None and summary.grade is HealthGrade.HEALTHY and summary.freshness.count > 0

    async def is_stale() -> bool:
        said, document = await installation.shown()
        return bool(said) and document["stale"]

    async def is_fresh() -> bool:
        said, document = await installation.shown()
        return not said and not document["stale"]

    async def has_acted() -> bool:
        return any(entry.seconds is not None for entry in await health.recoveries())

    async def only_entry() -> Recovery:
        (entry,) = await health.recoveries()
        return entry

    async def worker_is_back() -> bool:
        return installation.pid("worker-1") not in (None, worker)

    await until(is_well)
    await until(installation.pages_are_up)
    await until(is_fresh)
    _, document = await installation.shown()
    assert {each["feed"] for each in document["_feeds"]} == {"api_football", "espn"}
    assert await health.recoveries() == []
    worker, watchdog = installation.pid("worker-1"), installation.pid("watchdog")

    for cable in cables:
        cable.cut_off()
    cut = time.monotonic()
    await until(is_stale, STALE_WITHIN)
    said, document = await installation.shown()
    age = re.fullmatch(r"stale · (\d+) s", said)
    assert age is not None, said
    passed = time.monotonic() - cut
    # It is counted from the last answer, which came before the end, and not from when somebody noticed.
    assert 10 <= int(age[1]) <= passed + 30, passed
    assert document["age_seconds"] >= int(age[1])
    assert document["goals"] != {"home": None, "away": None}, "what was known is still shown"

    await until(has_acted)
    await until(worker_is_back)
    assert installation.pid("watchdog") == watchdog, "it does not end itself"
    entry = await only_entry()
    steps = {step["name"]: (step["ok"], step["said"]) for step in entry.after["attempts"][0]["steps"]}
    # On a busy machine a worker may take longer than it is given, and is killed.
    assert steps["workers"][0] is True, steps
    assert steps["workers"][1].startswith("workers ended: 1"), steps
    assert steps["poller"][0] is True, steps
    assert await is_stale(), "it is said as long as it holds"

    for cable in cables:
        cable.cut = False
    await until(is_well)
    await until(is_fresh)
    entry = await only_entry()
    assert entry.healthy_at is not None
    assert entry.outcome is not None
