"""Logging in once, in a window, and being logged in afterwards."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from footy_simulator.x import XMode
from found_footy.browser.login import log_in
from found_footy.errors import AlreadyRunning, SettingsError, SourceUnavailable
from tests.browser.conftest import Opens
from tests.browser.simulated import Searched, SimulatedX, options

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def submit(page: Page) -> None:
    await page.get_by_label("Email or username").fill("somebody")
    await page.get_by_label("Password").fill("secret")
    await page.get_by_label("Password").press("Enter")


async def test_a_login_stays_in_the_profile(x: SimulatedX, tmp_path: Path, open_service: Opens) -> None:
    x.state.mode = XMode.LOGGED_OUT
    assert await log_in(options(x.url, tmp_path), headless=True, opened=submit)
    async with open_service() as search:
        assert (await search()).status_code == 200
    assert (tmp_path / "profile").stat().st_mode & 0o077 == 0


async def test_closing_the_window_cancels_the_login(x: SimulatedX, tmp_path: Path) -> None:
    async def close(page: Page) -> None:
        # Chromium loses a close request that arrives while the page is still loading.
        await page.wait_for_load_state()
        while not page.is_closed():
            with suppress(TimeoutError):
                await asyncio.wait_for(page.close(), 5)

    assert not await log_in(options(x.url, tmp_path), headless=True, opened=close)


async def test_a_window_without_a_close_event_times_out(
    x: SimulatedX, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("found_footy.browser.login.POLL_SECONDS", 0)

    async def lose_the_event(page: Page) -> None:
        def closed(*_: object) -> None:
            raise PlaywrightError("Target page, context or browser has been closed")

        monkeypatch.setattr(page, "evaluate", closed)

    assert not await log_in(options(x.url, tmp_path), headless=True, opened=lose_the_event)


async def test_a_browser_that_hangs_is_an_error(x: SimulatedX, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("found_footy.browser.login.EVALUATE_SECONDS", 0.2)

    async def hang(page: Page) -> None:
        monkeypatch.setattr(page, "evaluate", lambda *_: asyncio.sleep(60))

    with pytest.raises(SourceUnavailable, match="no longer responds"):
        await log_in(options(x.url, tmp_path), headless=True, opened=hang)


async def test_the_profile_of_a_running_service_is_not_touched(search: Searched) -> None:
    with pytest.raises(AlreadyRunning):
        await log_in(search.service.options, headless=True)


async def test_a_site_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable):
        await log_in(options("http://127.0.0.1:1", tmp_path), headless=True)


async def test_without_a_display_there_is_a_hint(
    x: SimulatedX, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(SettingsError, match="ssh -X"):
        await log_in(options(x.url, tmp_path))
