"""The browser service acts with somebody's account, so it needs its secret."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from found_footy.browser.client import BrowserClient
from found_footy.browser.routes import browser_app
from found_footy.browser.service import BrowserService
from found_footy.cli.browser import browser_options
from found_footy.config import Settings
from found_footy.discovery.x import XSource
from found_footy.errors import SettingsError, SourceUnavailable
from found_footy.runtime.browser_secret import HEADER, browser_secret
from tests.browser.simulated import SECRET, Searched, SimulatedX, options

pytestmark = pytest.mark.asyncio(loop_scope="package")

COMMANDS = ("/recycle", "/reset", "/scale")


@pytest.mark.parametrize("headers", [{}, {HEADER: ""}, {HEADER: "another"}, {HEADER: SECRET + "x"}])
@pytest.mark.parametrize("path", ["/search?q=goal", "/canary", "/page?url=http://crex.example/", *COMMANDS])
async def test_the_browser_service_needs_its_secret(search: Searched, path: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=search.service.url, headers=headers) as stranger:
        method = "POST" if path in COMMANDS else "GET"
        answer = await stranger.request(method, path, json={} if method == "POST" else None)
        assert (answer.status_code, answer.json()["error"]["class"]) == (403, "NotAllowed")


async def test_a_stranger_learns_only_whether_the_browser_is_healthy(search: Searched) -> None:
    async with httpx.AsyncClient(base_url=search.service.url) as stranger:
        assert set((await stranger.get("/health")).json()) == {"healthy"}
    assert "browser" in (await search.client.get("/health")).json()


async def test_clients_with_another_secret_report_it(search: Searched) -> None:
    with pytest.raises(SourceUnavailable, match="a different FOOTY_BROWSER_SECRET"):
        await BrowserClient(search.service.url, {HEADER: "another"}).facts()
    assert (await BrowserClient(search.service.url, {HEADER: SECRET}).facts())["healthy"] is True
    source = XSource(search.service.url, "https://x.com", headers={HEADER: "another"}, timeout=10)
    try:
        with pytest.raises(SourceUnavailable, match="same FOOTY_BROWSER_SECRET"):
            await source.check()
    finally:
        await source.aclose()


async def test_processes_with_one_data_folder_share_a_secret(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    secret = browser_secret(settings)
    assert len(secret) == 64
    assert browser_secret(settings) == secret
    (file,) = (tmp_path / "data" / "browser").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert browser_secret(settings.model_copy(update={"browser_secret": SecretStr("given")})) == "given"


@pytest.mark.parametrize("host", ["0.0.0.0", "browser.example", "192.0.2.1"])
async def test_other_machines_are_served_only_with_a_configured_secret(tmp_path: Path, host: str) -> None:
    settings = Settings(data_dir=tmp_path, browser_host=host, browser_headless=True, _env_file=None)
    with pytest.raises(SettingsError, match="FOOTY_BROWSER_SECRET"):
        browser_options(settings)
    given = settings.model_copy(update={"browser_secret": SecretStr(SECRET)})
    assert (browser_options(given).host, browser_options(given).secret) == (host, SECRET)


@pytest.mark.parametrize(
    ("bound", "name", "is_served"),
    [
        ("127.0.0.1", "127.0.0.1:8888", True),
        ("127.0.0.1", "localhost:8888", True),
        ("127.0.0.2", "127.0.0.2:8888", True),
        ("::1", "[::1]:8888", True),
        ("127.0.0.1", "browser.example", False),
        ("0.0.0.0", "browser.example", True),
    ],
)
async def test_only_a_service_on_loopback_restricts_its_host_names(
    x: SimulatedX, tmp_path: Path, bound: str, name: str, is_served: bool
) -> None:
    app = browser_app(BrowserService(replace(options(x.url, tmp_path), host=bound)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        answer = await client.post("/scale", json={}, headers={"Host": name, HEADER: SECRET})
        assert answer.status_code == 400
        assert ("body: expected" in answer.text) is is_served
