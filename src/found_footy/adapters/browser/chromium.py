"""Finds Chromium on this machine, and starts it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from found_footy.adapters.browser.heavy import LEAN_FLAGS
from found_footy.adapters.browser.options import BrowserOptions
from found_footy.adapters.browser.processes import Family, all_processes, children_of
from found_footy.adapters.browser.running_chromium import SAME_EVERYWHERE, Chromium, end_driver, first_line
from found_footy.adapters.browser.spare_pages import SparePages
from found_footy.domain.errors import SettingsError, SourceUnavailable

WITHOUT_WINDOWS = ("chromium-headless-shell", "chrome-headless-shell")
"""Made for this: a search costs two thirds of what it costs in a whole Chromium, and a page in a context of its own a
third. They read and write the same profile."""
NAMES = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")
"""Chrome as people use it first: sites treat it best."""
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disk-cache-size=67108864",
    "--autoplay-policy=document-user-activation-required",
    # Calls between browsers would go around the proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # X logs browsers out that announce a driver.
    "--disable-blink-features=AutomationControlled",
)
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
ENVIRONMENT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
    | {"DBUS_SESSION_BUS_ADDRESS", *PROXIES, *(name.upper() for name in PROXIES)}
)
MARK = "FOUND_FOOTY_BROWSER"
START_SECONDS = 30
DRIVER_SECONDS = 15.0
"""For the driver, which starts Chromium. Whoever wants the browser to be started anew waits behind both."""
DRIVER_END_SECONDS = 5.0


_starting = asyncio.Lock()
"""A driver is known by being the child that was not there before: so one at a time is started."""


def find_chromium(given: Path | None = None, *, window: bool = False) -> Path:
    """A browser that can open a window, or else the one that needs least."""
    if given is not None:
        if not os.access(given, os.X_OK) or given.is_dir():
            raise SettingsError(f"FOOTY_BROWSER_PATH: {given} is no program that can be run")
        return given
    names = NAMES if window else WITHOUT_WINDOWS + NAMES
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise SettingsError(
        f"no browser was found under the names {', '.join(names)}: install Chromium (on Debian "
        "`apt install chromium`), or set FOOTY_BROWSER_PATH to its program"
    )


def choose_headless(wanted: bool | None, given: Path | None, *, display: bool) -> bool:
    """Whether the browser works without a window. Left open, it gets one where a display and a full browser exist."""
    if wanted is not None:
        return wanted
    if not display or (given is not None and "headless" in given.name):
        return True
    try:
        find_chromium(given, window=True)
    except SettingsError:
        return True
    return False


async def start_chromium(options: BrowserOptions, *, headless: bool, lean: bool) -> Chromium:
    """A lean one fetches no pictures. Raises SettingsError where there is none, SourceUnavailable where it fails."""
    executable = find_chromium(options.executable, window=not headless)
    try:
        _prepare(options.profile)
    except OSError as error:
        raise SourceUnavailable(f"the browser's profile {options.profile} cannot be used: {error.strerror}") from error
    async with AsyncExitStack() as stack:
        async with _starting:
            driver, family = await _start_driver(f"{MARK}={secrets.token_hex(8)}")
        stack.push_async_callback(end_driver, driver, family)
        try:
            flags = [*FLAGS, *LEAN_FLAGS] if lean else [*FLAGS]
            # The driver has the same limit, unless it is the one that hangs.
            async with asyncio.timeout(START_SECONDS + DRIVER_END_SECONDS):
                context = await _launch(driver, executable, options.profile, family.mark, flags, headless=headless)
        except PlaywrightError as error:
            raise SourceUnavailable(f"{executable} does not start: {first_line(error)}") from error
        except TimeoutError:
            raise SourceUnavailable(f"{executable} did not start within {START_SECONDS} s") from None
        stack.pop_all()
    spares = SparePages(min(options.at_once, options.spare_pages), options.page_uses)
    chromium = Chromium(driver, context, family, datetime.now(UTC), spares=spares)
    context.on("close", lambda _: setattr(chromium, "gone", True))
    return chromium


async def _start_driver(mark: str) -> tuple[Playwright, Family]:
    before = children_of(os.getpid(), all_processes())
    starting = asyncio.create_task(async_playwright().start(), name="start of the browser's driver")
    try:
        await asyncio.wait({starting}, timeout=DRIVER_SECONDS)
        if not starting.done():
            raise SourceUnavailable(f"the browser's driver did not start within {DRIVER_SECONDS:g} s")
        if (fault := starting.exception()) is not None:
            raise SourceUnavailable(f"the browser's driver does not start: {type(fault).__name__}: {fault}") from fault
        new = children_of(os.getpid(), all_processes()) - before
        if not new:
            raise SourceUnavailable("the browser's driver has ended at once")
        return starting.result(), Family(min(new), mark)
    except BaseException:
        # Its process first: then what waits for it ends by itself.
        for pid in children_of(os.getpid(), all_processes()) - before:
            await Family(pid, mark).end()
        await asyncio.wait({starting}, timeout=DRIVER_END_SECONDS)
        starting.cancel()
        raise


async def _launch(
    driver: Playwright, executable: Path, profile: Path, mark: str, flags: list[str], *, headless: bool
) -> BrowserContext:
    return await driver.chromium.launch_persistent_context(
        profile,
        executable_path=executable,
        headless=headless,
        args=flags,
        env=environment(os.environ, profile, mark),
        # Chromium refuses to start as root with its sandbox.
        chromium_sandbox=os.geteuid() != 0,
        # Playwright lets every page open windows; Chromium by itself only after a click of a person.
        ignore_default_args=["--disable-popup-blocking"],
        viewport={"width": 1280, "height": 1600} if headless else None,
        no_viewport=None if headless else True,
        timeout=START_SECONDS * 1000,
        **SAME_EVERYWHERE,
    )


def environment(given: Mapping[str, str], profile: Path, mark: str) -> dict[str, str | float | bool]:
    """What Chromium needs, and none of the keys and passwords that the settings bring."""
    kept = {name: value for name, value in given.items() if name in ENVIRONMENT or name.startswith(("LC_", "XDG_"))}
    name, _, value = mark.partition("=")
    return {**kept, name: value, "BREAKPAD_DUMP_LOCATION": os.fspath(profile.parent / "crashes")}


def _prepare(profile: Path) -> None:
    """Only the owner may read the profile, which holds the login."""
    profile.mkdir(parents=True, exist_ok=True, mode=0o700)
    profile.chmod(0o700)
    # Left behind by a browser that was killed, perhaps under another host name. The profile is ours: see lock.py.
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        profile.joinpath(name).unlink(missing_ok=True)
