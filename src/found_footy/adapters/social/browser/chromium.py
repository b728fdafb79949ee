"""One Chromium, from its start to the end of its last process."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import BrowserContext, Page, Playwright, Route, async_playwright
from playwright.async_api import Error as PlaywrightError

from found_footy.adapters.social.browser.options import BrowserOptions
from found_footy.adapters.social.browser.processes import Family, all_processes, children_of
from found_footy.domain.errors import SettingsError, SourceUnavailable

log = logging.getLogger(__name__)

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disk-cache-size=67108864",
    "--autoplay-policy=document-user-activation-required",
)
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
ENVIRONMENT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
    | {"DBUS_SESSION_BUS_ADDRESS", *PROXIES, *(name.upper() for name in PROXIES)}
)
MARK = "FOUND_FOOTY_BROWSER"
UNWANTED = frozenset({"image", "media", "font"})
START_SECONDS = 30
CLOSE_SECONDS = 5

_starting = asyncio.Lock()
"""A driver is known by being the child that was not there before: so one at a time is started."""


def find_chromium(given: Path | None = None) -> Path:
    if given is not None:
        if not os.access(given, os.X_OK) or given.is_dir():
            raise SettingsError(f"FOOTY_BROWSER_PATH: {given} is no program that can be run")
        return given
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise SettingsError(
        f"no browser was found under the names {', '.join(NAMES)}: install Chromium (on Debian "
        "`apt install chromium`), or set FOOTY_BROWSER_PATH to its program"
    )


@dataclass(eq=False, slots=True)
class Chromium:
    """A running one. `users` are the searches that have a page in it."""

    driver: Playwright
    context: BrowserContext
    family: Family
    started_at: datetime
    searches: int = 0
    users: int = 0
    gone: bool = False
    """It has closed by itself, crashed, or was killed."""
    stuck: bool = False
    """It did not do in time what it was asked for."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.idle.set()

    def enter(self) -> None:
        self.users += 1
        self.searches += 1
        self.idle.clear()

    def leave(self) -> None:
        self.users -= 1
        if not self.users:
            self.idle.set()

    async def new_page(self) -> Page:
        try:
            return await self.context.new_page()
        except (asyncio.CancelledError, PlaywrightError):
            # It is dead, and perhaps its driver too, which then tells nothing more; or the page may yet open, and
            # nobody would close it.
            self.stuck = True
            raise

    async def close_page(self, page: Page) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await page.close()
        except (TimeoutError, PlaywrightError):
            self.stuck = True

    async def close(self) -> None:
        """In good order if it can be had; what is left after that is killed."""
        if self.stuck:
            await self.family.end(but_driver=True)
        with suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.context.close()
        await _end(self.driver, self.family)


async def start_chromium(options: BrowserOptions, *, headless: bool, lean: bool) -> Chromium:
    """A lean one fetches no pictures. Raises SettingsError where there is none, SourceUnavailable where it fails."""
    executable = find_chromium(options.executable)
    _prepare(options.profile)
    async with AsyncExitStack() as stack:
        async with _starting:
            before = children_of(os.getpid(), all_processes())
            driver = await async_playwright().start()
            pid = min(children_of(os.getpid(), all_processes()) - before)
        family = Family(pid, f"{MARK}={secrets.token_hex(8)}")
        stack.push_async_callback(_end, driver, family)
        try:
            context = await _launch(driver, executable, options.profile, family.mark, headless=headless)
            if lean:
                await context.route("**/*", _refuse_heavy)
        except PlaywrightError as error:
            raise SourceUnavailable(f"{executable} does not start: {first_line(error)}") from error
        stack.pop_all()
    chromium = Chromium(driver, context, family, datetime.now(UTC))
    context.on("close", lambda _: setattr(chromium, "gone", True))
    return chromium


async def _launch(driver: Playwright, executable: Path, profile: Path, mark: str, *, headless: bool) -> BrowserContext:
    return await driver.chromium.launch_persistent_context(
        profile,
        executable_path=executable,
        headless=headless,
        args=list(FLAGS),
        env=environment(os.environ, profile, mark),
        # Chromium refuses to start as root with its sandbox.
        chromium_sandbox=os.geteuid() != 0,
        # Texts and times that do not hang on the machine.
        locale="en-US",
        timezone_id="UTC",
        viewport={"width": 1280, "height": 1600} if headless else None,
        no_viewport=None if headless else True,
        # A service worker would fetch what the routes refuse.
        service_workers="block",
        accept_downloads=False,
        timeout=START_SECONDS * 1000,
    )


def environment(given: Mapping[str, str], profile: Path, mark: str) -> dict[str, str | float | bool]:
    """What Chromium needs, and none of the keys and passwords that the settings bring."""
    kept = {name: value for name, value in given.items() if name in ENVIRONMENT or name.startswith(("LC_", "XDG_"))}
    name, _, value = mark.partition("=")
    return {**kept, name: value, "BREAKPAD_DUMP_LOCATION": os.fspath(profile.parent / "crashes")}


async def _end(driver: Playwright, family: Family) -> None:
    # Whoever does not stop is killed: so it does not matter why.
    with suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await driver.stop()
    left = await family.end()
    if left:
        log.error("processes cannot be ended: %s", left, extra={"action": "browser_left"})


async def _refuse_heavy(route: Route) -> None:
    """Pictures, films and fonts are most of a page's bytes, and none of what is read."""
    # The page may be closed meanwhile, and with it the request.
    with suppress(PlaywrightError):
        if route.request.resource_type in UNWANTED:
            await route.abort()
        else:
            await route.continue_()


def _prepare(profile: Path) -> None:
    """Only the owner may read the profile, which holds the login."""
    profile.mkdir(parents=True, exist_ok=True, mode=0o700)
    profile.chmod(0o700)
    # Left behind by a browser that was killed, perhaps under another host name. The profile is ours: see lock.py.
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        profile.joinpath(name).unlink(missing_ok=True)


def first_line(error: PlaywrightError) -> str:
    """Without the protocol's log that follows, and without the escape sequences in it."""
    lines = error.message.strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
