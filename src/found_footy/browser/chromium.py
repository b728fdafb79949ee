"""Chromium: resource blocking, profile lock, process tracking, page reuse, start and stop."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route, async_playwright
from playwright.async_api import Error as PlaywrightError

from found_footy.browser.cookies import restore_cookies
from found_footy.browser.models import BrowserOptions
from found_footy.errors import AlreadyRunning, SettingsError, SourceUnavailable
from found_footy.runtime import confinement
from found_footy.runtime.clock import utc_now
from found_footy.runtime.confinement import landlock_version
from found_footy.runtime.process_table import Process, children_of, members_of, process_table, with_mark

log = logging.getLogger(__name__)

LEAN_FLAGS = ("--blink-settings=imagesEnabled=false,downloadableBinaryFontsEnabled=false",)
"""Disables images and web fonts in every frame, without intercepting requests."""
HEAVY_RESOURCE_TYPES = frozenset({"image", "media", "font"})
BLOCKED_EXTENSIONS = (
    *("mp4", "m4s", "m4a", "m3u8", "mpd", "webm", "ts", "aac", "mp3"),
    *("woff", "woff2", "ttf", "otf", "ico"),
)
"""Media, preloaded fonts and favicons, for which there is no flag."""
BLOCKED_URL_PATTERNS = [{"urlPattern": f"*://*:*/*.{ending}", "block": True} for ending in BLOCKED_EXTENSIONS]
"""Match the path only, because a search term in the query string may contain such an extension."""


async def block_videos(page: Page) -> None:
    """Block media by URL for the life of the page. Cross-site frames are separate targets and are not covered."""
    session = await page.context.new_cdp_session(page)
    # Blocking requires the Network domain. Responses are read from the page, so nothing is buffered.
    await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
    try:
        await session.send("Network.setBlockedURLs", {"urlPatterns": BLOCKED_URL_PATTERNS})
    except PlaywrightError as error:
        # Older versions of Chromium support only patterns that match anywhere in the URL; media is then not blocked.
        log.warning("videos are not blocked: %s", error.message, extra={"action": "videos_not_blocked"})


async def block_heavy_resources(route: Route) -> None:
    """Abort heavy requests by resource type, in every frame. Costs each request a round trip to this process."""
    # The page and its request may be closed in the meantime.
    with suppress(PlaywrightError):
        if route.request.resource_type in HEAVY_RESOURCE_TYPES:
            await route.abort()
        else:
            await route.continue_()


# --- Profile lock: two Chromium instances in one profile lose the login.


@contextmanager
def lock_profile(profile: Path) -> Iterator[None]:
    """Hold the profile's lock file. The kernel releases it when the owner is killed."""
    profile.parent.mkdir(parents=True, exist_ok=True)
    with profile.with_name(f"{profile.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"another `footy browser` uses the profile {profile}") from None
        yield


# --- Process tracking, so that no browser process is left behind.


class ProcessTree:
    """The processes of one browser: the driver, which is a child of this process, and its descendants."""

    def __init__(self, driver: int, mark: str) -> None:
        self.driver = driver
        self.mark = mark
        """`NAME=value` in the environment that the driver passes to the browser."""
        self._groups: set[int] = set()

    def members(self) -> list[Process]:
        table = process_table()
        own_process = table[os.getpid()]
        roots = with_mark(self.mark, table)
        # The pid of an ended driver may have been reused.
        if self.driver in children_of(own_process.pid, table):
            roots.add(self.driver)
        pids = members_of(roots, self._groups, table) - {own_process.pid}
        # Forget groups without processes, whose ids may be reused as well.
        self._groups = {table[pid].group for pid in pids} - {own_process.group}
        return [table[pid] for pid in sorted(pids)]

    async def end(self, seconds: float = 5, *, except_driver: bool = False) -> list[int]:
        """Kill the remaining processes and wait until they have ended. Return the survivors."""
        spared_pid = self.driver if except_driver else -1
        deadline = time.monotonic() + seconds
        while remaining := [each.pid for each in self.members() if not each.ended and each.pid != spared_pid]:
            if time.monotonic() > deadline:
                return remaining
            for pid in remaining:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)
        return []


# --- Page reuse: opening a new page costs half as much as a search.


CLEAR_SECONDS = 2
CLEAR_STORAGE_SCRIPT = "() => { sessionStorage.clear(); window.name = ''; }"
"""Clears the state that a tab keeps between pages. Cookies and storage are shared, because they hold the login."""


class SparePages:
    def __init__(self, max_pages: int = 2, max_uses: int = 50) -> None:
        self._max_pages = max_pages
        self._max_uses = max_uses
        """Bounds memory growth of a page."""
        self._uses: dict[Page, int] = {}
        """Uses of each open page, including pages in use."""
        self._spare: list[Page] = []
        self.crashed: set[Page] = set()
        """Crashed pages that are not closed yet."""

    def __len__(self) -> int:
        return len(self._spare)

    def add(self, page: Page) -> None:
        """Register a new page for its first search."""
        self._uses[page] = 1
        # Spare pages may crash too.
        page.on("crash", lambda _: self._crashed(page))
        page.on("close", lambda _: self._closed(page))

    def take(self) -> Page | None:
        """Return the most recently used spare page, or None."""
        if not self._spare:
            return None
        page = self._spare.pop()
        self._uses[page] += 1
        return page

    async def keep(self, page: Page) -> bool:
        """Clear the page and keep it for the next search. Return False if it has to be closed instead."""
        if not self._can_keep(page) or not await _clear_page(page) or not self._can_keep(page):
            return False
        self._spare.append(page)
        return True

    def _can_keep(self, page: Page) -> bool:
        return 0 < self._uses.get(page, 0) < self._max_uses and len(self._spare) < self._max_pages

    def _crashed(self, page: Page) -> None:
        self.crashed.add(page)
        self._forget(page)

    def _closed(self, page: Page) -> None:
        self.crashed.discard(page)
        self._forget(page)

    def _forget(self, page: Page) -> None:
        self._uses.pop(page, None)
        if page in self._spare:
            self._spare.remove(page)


async def _clear_page(page: Page) -> bool:
    """Navigate to an empty page, so that no script or post of the search remains.

    This takes a fifth of a search. Cheaper ways leave something running: Chromium does not freeze a visible page, and a
    page without scripts still has workers, media and animations.
    """
    try:
        async with asyncio.timeout(CLEAR_SECONDS):
            await page.evaluate(CLEAR_STORAGE_SCRIPT)
            await page.goto("about:blank", wait_until="commit")
    except (TimeoutError, PlaywrightError):
        return False
    return True


# --- A running Chromium: pages, contexts, shutdown.


CONTEXT_OPTIONS: dict[str, Any] = {
    # Make texts and times independent of the machine.
    "locale": "en-US",
    "timezone_id": "UTC",
    # A service worker would bypass request blocking.
    "service_workers": "block",
    "accept_downloads": False,
}
CLOSE_SECONDS = 5


@dataclass(eq=False, slots=True)
class Chromium:
    """A running Chromium. `users` counts the tasks that have a page in it.

    Pages of X share the context with the login and are reused. Every other page gets a separate context without
    cookies, closed with the page, so no state is shared between sites or visits.
    """

    driver: Playwright
    context: BrowserContext
    """Context of X, with the profile."""
    tree: ProcessTree
    started_at: datetime
    searches: int = 0
    readings: int = 0
    users: int = 0
    gone: bool = False
    """The browser was closed, crashed or was killed."""
    is_unresponsive: bool = False
    """The browser did not complete an operation in time."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    opening: int = 0
    """Pages and contexts being opened, which are not in `_owned` yet."""
    spares: SparePages = field(default_factory=SparePages)
    _owned: set[Page | BrowserContext] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.idle.set()
        self._owned.update({self.context, *self.context.pages})

    @property
    def tasks(self) -> int:
        return self.searches + self.readings

    @property
    def contexts(self) -> list[BrowserContext]:
        return self.browser.contexts

    @property
    def pages(self) -> list[Page]:
        return [page for context in self.contexts for page in context.pages]

    @property
    def browser(self) -> Browser:
        assert self.context.browser is not None
        return self.context.browser

    def enter(self, *, is_isolated: bool) -> None:
        self.users += 1
        self.searches += not is_isolated
        self.readings += is_isolated
        self.idle.clear()

    def leave(self) -> None:
        self.users -= 1
        if not self.users:
            self.idle.set()

    async def acquire_page(self) -> Page:
        """Return a page in the logged-in context: a spare one, or a new one."""
        page = self.spares.take()
        if page is None:
            async with self._opening_page():
                page = await self.context.new_page()
                self._owned.add(page)
                await block_videos(page)
            self.spares.add(page)
        return page

    async def release_page(self, page: Page) -> None:
        """Reuse a page after a successful search. After a failed one use `close_page`, because its state is unknown."""
        kept = False
        try:
            kept = await self.spares.keep(page)
        finally:
            if not kept:
                await self.close_page(page)

    async def new_isolated_page(self, proxy: str) -> Page:
        """Open a page in a separate context whose connections all go through the proxy."""
        async with self._opening_page():
            context = await self.browser.new_context(
                proxy={"server": proxy},
                **CONTEXT_OPTIONS,
                viewport={"width": 1280, "height": 1600},
            )
            self._owned.add(context)
            # Pages of feeds show advertisements in cross-site frames.
            await context.route("**/*", block_heavy_resources)
            page = await context.new_page()
            self._owned.add(page)
        return page

    @asynccontextmanager
    async def _opening_page(self) -> AsyncIterator[None]:
        self.opening += 1
        try:
            yield
        except (asyncio.CancelledError, PlaywrightError):
            # The browser or its driver may be dead, or the page may still open with no owner to close it.
            self.is_unresponsive = True
            raise
        finally:
            self.opening -= 1

    async def close_page(self, page: Page) -> None:
        """Close a page, with its context unless that is X's."""
        is_isolated = page.context is not self.context
        await self._close(page.context if is_isolated else page)
        if not is_isolated and not page.is_closed():
            # The driver has died and sends no more events.
            self.is_unresponsive = True
        self._owned -= {page, page.context} - {self.context}

    async def fit_metadata(self) -> int:
        """Close popups and other pages and contexts without an owner. Return their number."""
        if self.opening or self.gone or self.is_unresponsive:
            return 0
        strays: list[Page | BrowserContext] = [each for each in self.contexts if each not in self._owned]
        strays += [each for each in self.context.pages if each not in self._owned or each in self.spares.crashed]
        for stray in strays:
            await self._close(stray)
        self._owned -= set(strays)
        return len(strays)

    async def reset(self) -> int:
        """Close all contexts except X's, and all pages of X except the first. Return the number of closed pages."""
        before = len(self.pages)
        closing: list[Page | BrowserContext] = [each for each in self.contexts if each is not self.context]
        for target in closing + self.context.pages[1:]:
            await self._close(target)
            self._owned.discard(target)
        return before - len(self.pages)

    async def _close(self, target: Page | BrowserContext) -> None:
        """Close even if the caller is cancelled, because a failure to close reveals a stuck browser."""
        closing = asyncio.create_task(self._close_in_time(target))
        try:
            await asyncio.shield(closing)
        finally:
            await asyncio.wait({closing})

    async def _close_in_time(self, target: Page | BrowserContext) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await target.close()
        except (TimeoutError, PlaywrightError):
            self.is_unresponsive = True

    async def close(self) -> None:
        """Shut down gracefully if possible, then kill the remaining processes."""
        if self.is_unresponsive:
            await self.tree.end(except_driver=True)
        with suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.context.close()
        await stop_driver(self.driver, self.tree)


async def stop_driver(driver: Playwright, tree: ProcessTree) -> None:
    # A driver that does not stop is killed, whatever the reason.
    with suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await driver.stop()
    remaining = await tree.end()
    if remaining:
        log.error("processes cannot be killed: %s", remaining, extra={"action": "browser_left"})


def first_line(error: PlaywrightError) -> str:
    """Return the first line of the message, without the protocol log that follows."""
    lines = error.message.strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


# --- Finding and starting Chromium.


HEADLESS_NAMES = ("chromium-headless-shell", "chrome-headless-shell")
"""Headless builds: a search costs two thirds of one in full Chromium, and a page in a separate context a third. They
use the same profile.
"""
FULL_BROWSER_NAMES = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")
"""Chrome comes first, because sites treat regular browsers best."""
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disk-cache-size=67108864",
    "--autoplay-policy=document-user-activation-required",
    # WebRTC would bypass the proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # X logs out browsers that announce automation.
    "--disable-blink-features=AutomationControlled",
)
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
ALLOWED_VARIABLES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
    | {"DBUS_SESSION_BUS_ADDRESS", *PROXY_VARIABLES, *(name.upper() for name in PROXY_VARIABLES)}
)
MARK_VARIABLE = "FOUND_FOOTY_BROWSER"
START_SECONDS = 30
DRIVER_SECONDS = 15.0
"""Time limit for starting the driver, which then starts Chromium. A restart request waits for both."""
DRIVER_STOP_SECONDS = 5.0


_starting = asyncio.Lock()
"""Serializes driver starts, because a driver is identified as the new child process."""


def find_chromium(configured: Path | None = None, *, window: bool = False) -> Path:
    """Return the path of a browser: one with windows if `window`, otherwise the lightest."""
    if configured is not None:
        if not os.access(configured, os.X_OK) or configured.is_dir():
            raise SettingsError(f"FOOTY_BROWSER_PATH: {configured} is not an executable file")
        return configured
    names = FULL_BROWSER_NAMES if window else HEADLESS_NAMES + FULL_BROWSER_NAMES
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise SettingsError(
        f"no browser found ({', '.join(names)}): install Chromium (on Debian "
        "`apt install chromium`), or set FOOTY_BROWSER_PATH to its executable"
    )


def choose_headless(requested: bool | None, configured: Path | None, *, display: bool) -> bool:
    """Whether to run without a window. By default a window is used if a display and a full browser are available."""
    if requested is not None:
        return requested
    if not display or (configured is not None and "headless" in configured.name):
        return True
    try:
        find_chromium(configured, window=True)
    except SettingsError:
        return True
    return False


async def start_chromium(options: BrowserOptions, *, headless: bool, lean: bool) -> Chromium:
    """Start Chromium; `lean` blocks images. Raises SettingsError if none is found, SourceUnavailable if it fails to
    start.
    """
    executable = find_chromium(options.executable, window=not headless)
    try:
        _prepare_profile(options.profile)
    except OSError as error:
        raise SourceUnavailable(f"the browser's profile {options.profile} cannot be used: {error.strerror}") from error
    async with AsyncExitStack() as stack:
        async with _starting:
            driver, tree = await _start_driver(f"{MARK_VARIABLE}={secrets.token_hex(8)}")
        stack.push_async_callback(stop_driver, driver, tree)
        try:
            flags = [*FLAGS, *LEAN_FLAGS] if lean else [*FLAGS]
            # The driver enforces the same limit, unless the driver itself hangs.
            async with asyncio.timeout(START_SECONDS + DRIVER_STOP_SECONDS):
                context = await _launch(driver, executable, options.profile, tree.mark, flags, headless=headless)
        except PlaywrightError as error:
            raise SourceUnavailable(f"{executable} could not start: {first_line(error)}") from error
        except TimeoutError:
            raise SourceUnavailable(f"{executable} did not start within {START_SECONDS} s") from None
        with suppress(PlaywrightError):  # the browser is dying, which its next use reveals
            await restore_cookies(context, options.x_url, options.folder, replace=not options.owns_login)
        stack.pop_all()
    spares = SparePages(min(options.at_once, options.spare_pages), options.page_uses)
    chromium = Chromium(driver, context, tree, utc_now(), spares=spares)
    context.on("close", lambda _: setattr(chromium, "gone", True))
    return chromium


async def _start_driver(mark: str) -> tuple[Playwright, ProcessTree]:
    before = children_of(os.getpid(), process_table())
    starting = asyncio.create_task(async_playwright().start(), name="start of the browser's driver")
    try:
        await asyncio.wait({starting}, timeout=DRIVER_SECONDS)
        if not starting.done():
            raise SourceUnavailable(f"the browser's driver did not start within {DRIVER_SECONDS:g} s")
        if (fault := starting.exception()) is not None:
            raise SourceUnavailable(f"the browser's driver could not start: {type(fault).__name__}: {fault}") from fault
        new = children_of(os.getpid(), process_table()) - before
        if not new:
            raise SourceUnavailable("the browser's driver exited immediately")
        return starting.result(), ProcessTree(min(new), mark)
    except BaseException:
        # Kill the process first, so that the start task ends.
        for pid in children_of(os.getpid(), process_table()) - before:
            await ProcessTree(pid, mark).end()
        await asyncio.wait({starting}, timeout=DRIVER_STOP_SECONDS)
        starting.cancel()
        raise


async def _launch(
    driver: Playwright, executable: Path, profile: Path, mark: str, flags: list[str], *, headless: bool
) -> BrowserContext:
    has_sandbox = await asyncio.to_thread(_has_sandbox, executable)
    if not has_sandbox:
        log.warning("Chromium runs without its own sandbox", extra={"action": "browser_not_sandboxed"})
    # A window needs the files and sockets of its display.
    is_confined = headless and landlock_version() > 0 and (has_sandbox or os.geteuid() == 0)
    return await driver.chromium.launch_persistent_context(
        profile,
        executable_path=await asyncio.to_thread(_write_launcher, executable, profile) if is_confined else executable,
        headless=headless,
        args=flags,
        env=environment(os.environ, profile, mark, is_confined=is_confined),
        chromium_sandbox=has_sandbox and (is_confined or os.geteuid() != 0),
        # Playwright allows every page to open popups; Chromium by default requires a user click.
        ignore_default_args=["--disable-popup-blocking"],
        viewport={"width": 1280, "height": 1600} if headless else None,
        no_viewport=None if headless else True,
        timeout=START_SECONDS * 1000,
        **CONTEXT_OPTIONS,
    )


def _has_sandbox(executable: Path) -> bool:
    """Whether Chromium can sandbox its renderers under the user that it will run as."""
    command = [sys.executable, "-I", "-S", confinement.__file__, "--probe"]
    if subprocess.run(command, check=False, capture_output=True, timeout=10).returncode == 0:
        return True
    helpers = (folder / "chrome-sandbox" for folder in (executable.resolve().parent, Path("/usr/lib/chromium")))
    return os.geteuid() != 0 and any(each.exists() and each.stat().st_mode & stat.S_ISUID for each in helpers)


def _write_launcher(executable: Path, profile: Path) -> Path:
    """Write a program that starts Chromium without privileges and with access to its own files only."""
    command = [sys.executable, "-I", "-S", confinement.__file__, profile, _crash_folder(profile), "--", executable]
    path = profile.parent / "launch"
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
    path.chmod(0o700)
    return path


def _crash_folder(profile: Path) -> Path:
    return profile.parent / "crashes"


def environment(
    variables: Mapping[str, str], profile: Path, mark: str, *, is_confined: bool = False
) -> dict[str, str | float | bool]:
    """Return the variables that Chromium needs, without keys and passwords of the settings."""
    allowed = {
        name: value
        for name, value in variables.items()
        if name in ALLOWED_VARIABLES or name.startswith(("LC_", "XDG_"))
    }
    name, _, value = mark.partition("=")
    home = {"HOME": os.fspath(profile)} if is_confined else {}
    return {**allowed, **home, name: value, "BREAKPAD_DUMP_LOCATION": os.fspath(_crash_folder(profile))}


def _prepare_profile(profile: Path) -> None:
    """Make the profile readable for its owner only, because it holds the login."""
    profile.mkdir(parents=True, exist_ok=True, mode=0o700)
    profile.chmod(0o700)
    _crash_folder(profile).mkdir(exist_ok=True, mode=0o700)
    # Left behind by a killed browser, perhaps under another host name. `lock_profile` guarantees exclusive use.
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        profile.joinpath(name).unlink(missing_ok=True)
