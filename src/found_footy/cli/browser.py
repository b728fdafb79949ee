"""`footy browser`: run and check the browser service, and log in to X."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from found_footy.cli.common import EXIT_NOT_AS_EXPECTED, AsJson, err, log_start, out, print_json
from found_footy.cli.common import run as run_command
from found_footy.config import Settings, load_settings
from found_footy.errors import EngineError, SettingsError, SourceLoggedOut
from found_footy.runtime.addresses import is_loopback
from found_footy.runtime.browser_secret import browser_headers, browser_secret
from found_footy.runtime.data_folder import DataFolder, with_running_browser, with_running_engines
from found_footy.runtime.logging import configure, hide_values
from found_footy.secrets import secret_values

if TYPE_CHECKING:
    from found_footy.browser.models import BrowserOptions
    from found_footy.storage.limits import SourceLimits

X_WINDOW = timedelta(minutes=15)
ANSWER_SECONDS = 5.0
CREX_HOSTS = ("crex.com", "www.crex.com", "crex.live", "www.crex.live")

browser = typer.Typer(
    name="browser",
    help="Run the Chromium service that searches X and reads feed pages. Default command: run.",
    invoke_without_command=True,
)


def browser_options(settings: Settings) -> BrowserOptions:
    """Raises SettingsError without a secret for other machines: their clients cannot read the data folder."""
    from found_footy.browser.chromium import choose_headless
    from found_footy.browser.login import has_display
    from found_footy.browser.models import BrowserOptions

    if settings.browser_secret is None and not is_loopback(settings.browser_host):
        raise SettingsError(
            f"FOOTY_BROWSER_HOST is {settings.browser_host}: set FOOTY_BROWSER_SECRET, here and for all workers"
        )
    return BrowserOptions(
        x_url=settings.x_url,
        secret=browser_secret(settings),
        profile=settings.data_dir.absolute() / "browser" / "profile",
        host=settings.browser_host,
        port=settings.browser_port,
        at_once=settings.browser_searches_at_once,
        pages_at_once=settings.browser_pages_at_once,
        browsers=settings.browsers,
        executable=settings.browser_path,
        headless=choose_headless(settings.browser_headless, settings.browser_path, display=has_display()),
        hours=settings.browser_hours,
        searches=settings.browser_searches,
        processes=settings.browser_processes,
        fresh_seconds=settings.browser_fresh_seconds,
        canary_every_seconds=settings.browser_canary_seconds,
        # Below the client's timeout, so that the client receives the reason.
        search_seconds=settings.source_timeout_seconds * 0.9,
        page_hosts=page_hosts(settings),
        private_hosts=settings.private_hosts,
        navigation_seconds=settings.navigation_seconds,
        scrape_seconds=settings.scrape_seconds,
    )


@asynccontextmanager
async def open_x_limits(settings: Settings) -> AsyncIterator[SourceLimits]:
    """Open the search budget of the X account, shared through Redis, or kept in a file without Redis."""
    from found_footy.storage.limits import CallBudget, LocalSourceLimits, RedisSourceLimits
    from found_footy.storage.redis import RedisCache

    budget = CallBudget(settings.x_calls, X_WINDOW)
    folder = settings.data_dir.absolute() / "browser"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    local = LocalSourceLimits(budget=budget, file=folder / "x-calls.json")
    try:
        url = with_running_engines(settings).redis_url
    except EngineError:
        url = settings.redis_url
    if url is None:
        yield local
        return
    cache = RedisCache(url.get_secret_value(), connect_seconds=1.0, answer_seconds=2.0)
    try:
        yield RedisSourceLimits(cache, "x", budget=budget, fallback=local)
    finally:
        await cache.aclose()


def page_hosts(settings: Settings) -> tuple[str, ...]:
    """Return the hosts whose pages feeds may request: CREX, the declared feeds, and the simulator."""
    return tuple(dict.fromkeys((*CREX_HOSTS, *_declared_hosts(settings.feeds_file), *settings.private_hosts)))


def _declared_hosts(path: Path) -> Iterator[str]:
    from found_footy.feeds.sources_file import load_sources

    if not path.exists():
        # The feeds report a missing file; X can be searched without it.
        return
    for source in load_sources(path):
        if source.adapter == "crex":
            yield urlsplit(str(source.metadata.get("base_url", ""))).netloc.lower()


@browser.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        run()


@browser.command()
def run() -> None:
    """Run the service until Ctrl-C."""
    from found_footy.browser.service import BrowserService

    settings = load_settings()
    configure(settings.log_format, settings.log_level)
    hide_values([*secret_values(settings), browser_secret(settings)])
    log_start("browser")

    async def body() -> None:
        async with (
            open_x_limits(settings) as limits,
            BrowserService(browser_options(settings), limits=limits) as service,
        ):
            err.print(
                f"browser service at {service.url} (set BROWSER_URL={service.url}); stop with Ctrl-C", soft_wrap=True
            )
            await service.wait()

    run_command(body, when_stopped=0)


@browser.command()
def login(
    host: Annotated[str, typer.Option(help="Address of the login page on a machine without a display.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the login page; 0 picks a free one.")] = 6080,
) -> None:
    """Log in to X with the service's browser profile, in a window or, without a display, on a web page."""
    from found_footy.browser.chromium import find_chromium
    from found_footy.browser.login import has_display, log_in
    from found_footy.browser.remote_login import remote_display, require_remote_display

    settings = load_settings()
    configure("pretty", "WARNING")
    remote = not has_display()
    if remote:
        require_remote_display()
    find_chromium(settings.browser_path, window=True)

    async def opened(_: object) -> None:
        err.print("Log in to X in the window. It closes by itself after the login; close it to cancel.")

    async def body() -> bool:
        async with AsyncExitStack() as stack:
            if remote:
                page = await stack.enter_async_context(remote_display(DataFolder(settings.data_dir), host, port))
                err.print(f"The window is at {page}", soft_wrap=True)
                err.print("From another machine, forward the port first: ssh -L PORT:127.0.0.1:PORT SERVER")
            if not await log_in(browser_options(settings), opened=opened):
                return False
        async with open_x_limits(settings) as limits:
            await limits.clear_cooldown()
        return True

    if not run_command(body):
        raise SourceLoggedOut("the window was closed before the login finished")
    out.print("logged in; `footy browser` can search X now")


@browser.command()
def check(
    canary: Annotated[bool, typer.Option("--canary", help="Also run a test search on X.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the health of the running service."""
    settings = with_running_browser(load_settings())
    configure("pretty", "ERROR")
    seconds = settings.source_timeout_seconds + ANSWER_SECONDS
    health = _ask(settings, "/health", ANSWER_SECONDS)
    canary_result = _ask(settings, "/canary", seconds) if canary else None
    good = health.get("healthy") is True and (canary_result is None or "error" not in canary_result)
    if as_json:
        print_json({"url": _url(settings), "healthy": good, "health": health, "canary": canary_result})
    else:
        _show(health, canary_result)
    if not good:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _show(health: dict[str, Any], canary: dict[str, Any] | None) -> None:
    out.print("[green]healthy[/]" if health.get("healthy") is True else "[red]not healthy[/]", end=": ")
    out.print(str(health.get("message", "")), markup=False)
    for title in ("browser", "searches", "readings"):
        scalars = {name: value for name, value in health.get(title, {}).items() if not isinstance(value, (list, dict))}
        facts = ", ".join(f"{name} {value}" for name, value in scalars.items())
        out.print(f"{title}: {facts}", markup=False, soft_wrap=True)
    for recycle in health.get("browser", {}).get("recycles", [])[-3:]:
        out.print(f"recycled: {recycle.get('at')}, {recycle.get('why')}", markup=False, soft_wrap=True)
    out.print(f"last success: {health.get('last_success') or 'none'}", markup=False)
    if error := health.get("last_error"):
        out.print(f"last error: {error.get('class')} at {error.get('at')}", markup=False)
    if canary is not None and (error := canary.get("error")):
        out.print(f"canary: {error.get('class')}: {error.get('message')}", markup=False, soft_wrap=True)
        out.print(str(error.get("hint", "")), style="dim", markup=False, soft_wrap=True)
    elif canary is not None:
        out.print(f"canary: {canary.get('posts')} posts, the newest from {canary.get('newest')}", markup=False)


def _url(settings: Settings) -> str:
    if settings.browser_url is None and settings.browser_port == 0:
        raise SettingsError(
            "BROWSER_URL is not set and FOOTY_BROWSER_PORT is 0. Set BROWSER_URL to the address of `footy browser`."
        )
    return (settings.browser_url or f"http://127.0.0.1:{settings.browser_port}").rstrip("/")


def _ask(settings: Settings, path: str, seconds: float) -> dict[str, Any]:
    """Return the service's response with any status: an unhealthy service includes its state."""
    from found_footy.browser.client import BrowserClient

    return asyncio.run(BrowserClient(_url(settings), browser_headers(settings)).request("GET", path, seconds))
