"""`footy browser` as a person runs it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from footy_simulator.x import XMode
from found_footy.cli.browser import CREX_HOSTS, page_hosts
from found_footy.config import PREFIX, Settings, environment_names
from found_footy.runtime.process_table import Process, members_of, process_table
from tests.browser.simulated import SECRET, Searched, SimulatedX, alive

pytestmark = pytest.mark.asyncio(loop_scope="package")

FOOTY = str(Path(sys.executable).parent / "footy")


@dataclass(frozen=True)
class Ended:
    code: int | None
    out: str
    err: str


async def start(folder: Path, *arguments: str, **settings: str) -> asyncio.subprocess.Process:
    named = {*environment_names().values(), "DISPLAY", "WAYLAND_DISPLAY"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name not in named}
    return await asyncio.create_subprocess_exec(
        FOOTY,
        "browser",
        *arguments,
        cwd=folder,
        env=kept | {"FOOTY_DATA_DIR": str(folder / "data"), "NO_COLOR": "1", "COLUMNS": "200"} | settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def footy(folder: Path, *arguments: str, **settings: str) -> Ended:
    process = await start(folder, *arguments, **settings)
    out, err = await process.communicate()
    return Ended(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def running(x: SimulatedX, folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, list[Process]]]:
    """The service with its processes; it must have ended when the block does."""
    service = await start(folder, FOOTY_X_URL=x.url, FOOTY_BROWSER_PORT="0", LOG_LEVEL="WARNING")
    assert service.stderr is not None
    try:
        line = await service.stderr.readline()
        assert b"BROWSER_URL=http://127.0.0.1:" in line
        table = process_table()
        yield service, [table[pid] for pid in members_of({service.pid}, (), table)]
        await service.communicate()
    finally:
        if service.returncode is None:
            service.kill()
            await service.communicate()


async def test_the_service_runs_until_stopped(x: SimulatedX, tmp_path: Path) -> None:
    async with running(x, tmp_path) as (service, processes):
        assert len(processes) > 3
        service.send_signal(signal.SIGTERM)
    assert service.returncode == 0
    assert alive(processes) == []
    assert (tmp_path / "data" / "browser" / "profile").is_dir()


async def test_a_killed_service_takes_its_browser_along(x: SimulatedX, tmp_path: Path) -> None:
    async with running(x, tmp_path) as (service, processes):
        service.kill()
    # Nobody is left to wait for them: they see for themselves that they are alone.
    while alive(processes):
        await asyncio.sleep(0.05)


def service_of(search: Searched) -> dict[str, str]:
    return {"BROWSER_URL": search.service.url, "FOOTY_BROWSER_SECRET": SECRET}


async def test_check_reports_health_and_canary(search: Searched, tmp_path: Path) -> None:
    await search()
    ended = await footy(tmp_path, "check", "--canary", "--json", **service_of(search))
    answer: dict[str, Any] = json.loads(ended.out)
    assert (ended.code, answer["healthy"], answer["health"]["healthy"]) == (0, True, True)
    assert answer["canary"]["posts"] >= 1
    told = await footy(tmp_path, "check", **service_of(search))
    assert (told.code, told.out.startswith("healthy: ")) == (0, True)


async def test_check_fails_where_the_service_is_not_well(search: Searched, x: SimulatedX, tmp_path: Path) -> None:
    x.state.mode = XMode.LOGGED_OUT
    for _ in range(3):
        await search()
    told = await footy(tmp_path, "check", **service_of(search))
    x.state.mode = XMode.NORMAL
    await search()
    assert told.code == 6
    assert "SourceLoggedOut" in told.out


@pytest.mark.parametrize(
    ("arguments", "settings", "kind"),
    [
        (("check", "--json"), {"FOOTY_BROWSER_PORT": "1"}, "SourceUnavailable"),
        (("check", "--json"), {"FOOTY_BROWSER_PORT": "0"}, "SettingsError"),
        (("check", "--json"), {"FOOTY_BROWSER_PORT": "much"}, "SettingsError"),
    ],
)
async def test_check_reports_the_problem(
    tmp_path: Path, arguments: tuple[str, ...], settings: dict[str, str], kind: str
) -> None:
    ended = await footy(tmp_path, *arguments, **settings)
    assert ended.code not in (0, None)
    assert json.loads(ended.err)["error"]["class"] == kind


async def test_another_server_is_reported(x: SimulatedX, tmp_path: Path) -> None:
    ended = await footy(tmp_path, "check", "--json", BROWSER_URL=x.url)
    assert json.loads(ended.err)["error"]["class"] == "SourceChanged"


async def test_the_pages_that_may_be_read_are_those_of_the_declared_feeds(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(
        "sources:\n"
        "  - {domain_id: crex, adapter: crex, metadata: {base_url: 'https://Cricket.example:8443/x'}}\n"
        "  - {domain_id: espn, adapter: espn, metadata: {base_url: 'https://espn.example', leagues: [soccer/eng.1]}}\n"
    )
    settings = Settings(feeds_file=file, private_hosts=("127.0.0.1:8700",))
    assert page_hosts(settings) == (*CREX_HOSTS, "cricket.example:8443", "127.0.0.1:8700")
    assert page_hosts(Settings(feeds_file=tmp_path / "none.yaml")) == CREX_HOSTS


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need no display variable")
async def test_a_login_without_a_display_has_a_hint(tmp_path: Path) -> None:
    ended = await footy(tmp_path, "login")
    assert ended.code == 2
    assert "ssh -X" in ended.err
