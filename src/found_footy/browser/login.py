"""Opens a window in which a person logs in to X, with the profile of the browser service."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from found_footy.browser.chromium import Chromium, lock_profile, start_chromium
from found_footy.browser.cookies import back_up_cookies
from found_footy.browser.models import BrowserOptions
from found_footy.browser.x_search import READ_PAGE, parse_x_page
from found_footy.errors import SettingsError, SourceUnavailable

POLL_SECONDS = 0.5
EVALUATE_SECONDS = 10
"""Time limit for evaluating a page: a hung browser never responds."""
MAX_TIMEOUTS = 3
MAX_FAILED_POLLS = 20
"""Consecutive polls without a readable page after which the window counts as closed, in case its close event is lost.
"""


def has_display(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    return not platform.startswith("linux") or any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def require_display() -> None:
    if not has_display():
        raise SettingsError(
            "there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are not set): use `ssh -X`, or log "
            "in on a machine with a desktop and copy `browser/cookies.json` of its data folder"
        )


async def log_in(
    options: BrowserOptions, *, headless: bool = False, opened: Callable[[Page], Awaitable[None]] | None = None
) -> bool:
    """Wait until a person has logged in (True) or closed the window (False). `opened` receives the page."""
    if not headless:
        require_display()
    with lock_profile(options.profile):
        chromium = await start_chromium(options, headless=headless, lean=False)
        try:
            page = chromium.context.pages[0] if chromium.context.pages else await chromium.context.new_page()
            try:
                await page.goto(f"{options.x_url.rstrip('/')}/login", wait_until="commit")
            except PlaywrightError as error:
                raise SourceUnavailable(f"{options.x_url} does not respond") from error
            if opened is not None:
                await opened(page)
            if not await _until_logged_in(chromium):
                return False
            await back_up_cookies(chromium.context, options.x_url, options.folder)
            return True
        finally:
            await chromium.close()


async def _until_logged_in(chromium: Chromium) -> bool:
    """Poll all windows, because a login through another site may end in a new one."""
    timeouts = failed_polls = 0
    while not chromium.gone and chromium.context.pages and failed_polls < MAX_FAILED_POLLS:
        failed_polls += 1
        for page in chromium.context.pages:
            try:
                async with asyncio.timeout(EVALUATE_SECONDS):
                    reading = parse_x_page(await page.evaluate(READ_PAGE, 1))
            except PlaywrightError:
                # The page is navigating or closed; the next poll shows which.
                continue
            except TimeoutError:
                timeouts += 1
                continue
            timeouts = failed_polls = 0
            if reading.account:
                return True
        if timeouts >= MAX_TIMEOUTS:
            raise SourceUnavailable("the browser no longer responds: close it and log in again")
        await asyncio.sleep(POLL_SECONDS)
    return False
