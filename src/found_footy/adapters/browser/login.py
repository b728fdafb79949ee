"""A window for a person to log in to X, in the profile that the service uses afterwards."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from found_footy.adapters.browser.chromium import start_chromium
from found_footy.adapters.browser.lock import owned
from found_footy.adapters.browser.options import BrowserOptions
from found_footy.adapters.browser.reading import READ_PAGE, page_reading
from found_footy.adapters.browser.running_chromium import Chromium
from found_footy.domain.errors import SettingsError, SourceUnavailable

LOOK_SECONDS = 0.5
ANSWER_SECONDS = 10
"""A look at a page has no end of its own where the browser hangs."""
UNANSWERED_LOOKS = 3


def has_display(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    return not platform.startswith("linux") or any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def need_display() -> None:
    if not has_display():
        raise SettingsError(
            "there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are not set): log in on a machine "
            "with a desktop and copy the folder `browser/profile` of its data folder, or use `ssh -X`"
        )


async def log_in(
    options: BrowserOptions, *, headless: bool = False, opened: Callable[[Page], Awaitable[None]] | None = None
) -> bool:
    """Waits until somebody is logged in, or the window is closed; says whether somebody is. `opened` gets the page."""
    if not headless:
        need_display()
    with owned(options.profile):
        chromium = await start_chromium(options, headless=headless, lean=False)
        try:
            page = chromium.context.pages[0] if chromium.context.pages else await chromium.context.new_page()
            try:
                await page.goto(f"{options.x_url.rstrip('/')}/login", wait_until="commit")
            except PlaywrightError as error:
                raise SourceUnavailable(f"{options.x_url} does not answer") from error
            if opened is not None:
                await opened(page)
            return await _until_logged_in(chromium)
        finally:
            await chromium.close()


async def _until_logged_in(chromium: Chromium) -> bool:
    """Looks at all windows: a login by way of another site may end in a new one."""
    unanswered = 0
    while not chromium.gone and chromium.context.pages:
        for page in chromium.context.pages:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    reading = page_reading(await page.evaluate(READ_PAGE, 1))
            except PlaywrightError:
                # It is on its way elsewhere, or closed; the next look tells.
                continue
            except TimeoutError:
                unanswered += 1
                continue
            unanswered = 0
            if reading.account:
                return True
        if unanswered >= UNANSWERED_LOOKS:
            raise SourceUnavailable("the browser does not answer any more: close it, and log in again")
        await asyncio.sleep(LOOK_SECONDS)
    return False
