"""Every feed is unreachable for a while: pages show it, the watchdog recovers, and the audit log has one entry."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from found_footy.operations.store import OperationsStore
from found_footy.runtime.engine import free_port
from tests.support.processes import Installation, wait_until

pytestmark = pytest.mark.timeout(600)

MATCH = 1390001
STALE_WITHIN = 60.0
"""Pages must show that data is stale within this many seconds after the last feed failed."""
SHORT_LIMITS = {
    "FOOTY_STALE_SECONDS": "10",
    "FOOTY_HEALTH_SECONDS": "0.5",
    "FOOTY_FRESH_SECONDS": "12",
    "FOOTY_STALL_SECONDS": "15",
    "FOOTY_FAILING_SECONDS": "25",
}


class FeedConnection:
    """A TCP proxy in front of a feed that can be cut off."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._to = (parts.hostname, parts.port)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cut = False
        self.url = ""

    async def __aenter__(self) -> FeedConnection:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.close_connections()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut_off(self) -> None:
        self.cut = True
        self.close_connections()

    def close_connections(self) -> None:
        for writer in self._open:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            writer.close()
            return
        there, beyond = await asyncio.open_connection(*self._to)
        self._open |= {writer, beyond}
        for source, target in ((reader, beyond), (there, writer)):
            task = asyncio.create_task(_forward(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await source.read(65536):
            target.write(part)
            await target.drain()
    target.close()


@dataclass(frozen=True)
class RunningSystem:
    """A running installation whose feeds can be cut off."""

    installation: Installation
    connections: Sequence[FeedConnection]
    health: OperationsStore
    pages: httpx.AsyncClient

    async def pages_are_up(self) -> bool:
        """`footy up` is ready before its web process is."""
        try:
            return (await self.pages.get("/health/ready")).is_success
        except httpx.ConnectError:
            return False

    async def shown(self) -> tuple[str, dict[str, Any]]:
        """Return the age that the match's card shows, and the match as JSON."""
        page = (await self.pages.get("/")).raise_for_status().text
        document = (await self.pages.get(f"/api/v1/fixtures/{MATCH}")).raise_for_status().json()
        card = re.search(rf'<article class="match" id="match-{MATCH}".*?</article>', page, re.DOTALL)
        assert card is not None, page
        age = re.search(r"<p class=\"staleness\" data-stale(?P<hidden> hidden)?>(?P<text>[^<]*)</p>", card[0])
        assert age is not None, card[0]
        assert bool(age["hidden"]) is not bool(age["text"])
        return age["text"], document


@pytest.fixture
async def system(tmp_path: Path) -> AsyncIterator[RunningSystem]:
    """With two feeds."""
    async with (
        # Slow, so that the match is still in play when the feeds come back.
        Simulator(load_scenario("quick"), speed=10) as simulator,
        FeedConnection(simulator.url) as first,
        FeedConnection(simulator.url) as second,
    ):
        feeds = declared_sources(simulator.scenario, simulator.url, browser=False)
        assert [feed["domain_id"] for feed in feeds] == ["api_football", "espn"]
        for feed, connection in zip(feeds, (first, second), strict=True):
            feed["metadata"]["base_url"] = connection.url
        file = tmp_path / "sources.yaml"
        file.write_text(yaml.safe_dump({"sources": feeds}))
        port = free_port()
        settings = simulator_environment(simulator) | {
            "FOOTY_PROFILE": "demo",
            "FOOTY_WORKERS": "1",
            "FOOTY_WEB_PORT": str(port),
            "FOOTY_FEEDS_FILE": str(file),
            **SHORT_LIMITS,
        }
        del settings["FOOTY_FEED"]
        installation = Installation(tmp_path, settings)
        up = await installation.up()
        pages = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
        async with installation.database() as database, pages:
            yield RunningSystem(installation, (first, second), OperationsStore(database), pages)
        await up.stop()
    await installation.destroy()


def test_the_default_limit_shows_stale_data_in_time() -> None:
    assert Settings.model_fields["stale_seconds"].default < STALE_WITHIN


@pytest.mark.chaos
async def test_an_outage_of_all_feeds_is_shown_and_recovered_from_with_one_audit_entry(system: RunningSystem) -> None:
    installation, health = system.installation, system.health

    async def is_healthy() -> bool:
        summary = await health.summary()
        return summary is not None and summary.grade is HealthGrade.HEALTHY and summary.freshness.count > 0

    async def is_stale() -> bool:
        age, document = await system.shown()
        return bool(age) and document["stale"]

    async def is_fresh() -> bool:
        age, document = await system.shown()
        return not age and not document["stale"]

    async def has_recovered() -> bool:
        return any(entry.seconds is not None for entry in await health.recoveries())

    async def only_entry() -> Recovery:
        (entry,) = await health.recoveries()
        return entry

    await wait_until(is_healthy)
    await wait_until(system.pages_are_up)
    await wait_until(is_fresh)
    _, document = await system.shown()
    assert {each["feed"] for each in document["_feeds"]} == {"api_football", "espn"}
    assert await health.recoveries() == []
    running = installation.pid("worker-1"), installation.pid("watchdog")

    for connection in system.connections:
        connection.cut_off()
    cut = time.monotonic()
    await wait_until(is_stale, STALE_WITHIN)
    age, document = await system.shown()
    seconds = re.fullmatch(r"stale · (\d+) s", age)
    assert seconds is not None, age
    passed = time.monotonic() - cut
    # The age counts from the last answer, not from when the outage was detected.
    assert 10 <= int(seconds[1]) <= passed + 30, passed
    assert document["age_seconds"] >= int(seconds[1])
    assert document["goals"] != {"home": None, "away": None}, "the last data is still shown"

    await wait_until(has_recovered)
    assert (installation.pid("worker-1"), installation.pid("watchdog")) == running, "only what is stuck is restarted"
    entry = await only_entry()
    steps = {step["name"]: step["ok"] for step in entry.after["attempts"][0]["steps"]}
    assert steps == {"pauses": True, "poller": True}
    assert await is_stale(), "shown until data is fresh again"

    for connection in system.connections:
        connection.cut = False
    await wait_until(is_healthy)
    await wait_until(is_fresh)
    entry = await only_entry()
    assert entry.healthy_at is not None
    assert entry.outcome is not None
