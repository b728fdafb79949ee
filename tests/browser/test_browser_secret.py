"""The browser service acts with somebody's account, so it needs its secret."""

from __future__ import annotations

import stat
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from found_footy.browser.client import BrowserClient
from found_footy.config import Settings
from found_footy.discovery.x import XSource
from found_footy.errors import SourceUnavailable
from found_footy.runtime.browser_secret import HEADER, browser_secret
from tests.browser.simulated import SECRET, Searched

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize("headers", [{}, {HEADER: ""}, {HEADER: "another"}, {HEADER: SECRET + "x"}])
@pytest.mark.parametrize("path", ["/search?q=goal", "/canary", "/page?url=http://crex.example/", "/recycle", "/reset"])
async def test_the_browser_service_needs_its_secret(search: Searched, path: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=search.service.url, headers=headers) as stranger:
        method = "POST" if path in ("/recycle", "/reset") else "GET"
        answer = await stranger.request(method, path, json={} if method == "POST" else None)
        assert (answer.status_code, answer.json()["error"]["class"]) == (403, "NotAllowed")


async def test_a_stranger_learns_only_whether_the_browser_is_healthy(search: Searched) -> None:
    async with httpx.AsyncClient(base_url=search.service.url) as stranger:
        assert set((await stranger.get("/health")).json()) == {"healthy"}
    assert "browser" in (await search.client.get("/health")).json()


async def test_clients_with_another_secret_say_so(search: Searched) -> None:
    with pytest.raises(SourceUnavailable, match="another FOOTY_BROWSER_SECRET"):
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
