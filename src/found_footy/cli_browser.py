"""`footy browser`: the service that searches X and reads pages of feeds, the login to X, and whether it is well."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from found_footy.command import EXIT_NOT_AS_EXPECTED, AsJson
from found_footy.command import run as run_command
from found_footy.config import Settings, load_settings
from found_footy.console import err, out, print_json
from found_footy.domain.errors import EngineError, SettingsError, SourceChanged, SourceLoggedOut, SourceUnavailable
from found_footy.ops.locate import with_running_engines
from found_footy.ops.logging import configure
from found_footy.ports_limits import CallBudget

if TYPE_CHECKING:
    from found_footy.adapters.browser.options import BrowserOptions
    from found_footy.ports_limits import SourceLimits

X_WINDOW = timedelta(minutes=15)
ANSWER_SECONDS = 5.0
CREX_HOSTS = ("crex.com", "www.crex.com", "crex.live", "www.crex.live")

browser = typer.Typer(
    name="browser",
    help="Search X, and read pages of feeds, through Chromium: without a command, run the service.",
    invoke_without_command=True,
)


def browser_options(settings: Settings) -> BrowserOptions:
    from found_footy.adapters.browser.chromium import choose_headless
    from found_footy.adapters.browser.login import has_display
    from found_footy.adapters.browser.options import BrowserOptions

    return BrowserOptions(
        x_url=settings.x_url,
        profile=settings.data_dir.absolute() / "browser" / "profile",
        port=settings.browser_port,
        executable=settings.browser_path,
        headless=choose_headless(settings.browser_headless, settings.browser_path, display=has_display()),
        hours=settings.browser_hours,
        searches=settings.browser_searches,
        processes=settings.browser_processes,
        fresh_seconds=settings.browser_fresh_seconds,
        # Whoever asks gives up after that time, and should hear why before.
        search_seconds=settings.source_timeout_seconds * 0.9,
        page_hosts=page_hosts(settings),
        private_hosts=settings.private_hosts,
        navigation_seconds=settings.navigation_seconds,
        scrape_seconds=settings.scrape_seconds,
    )


@asynccontextmanager
async def open_x_limits(settings: Settings) -> AsyncIterator[SourceLimits]:
    """The X account's budget of search calls: shared through Redis, and kept in a file while there is none."""
    from found_footy.adapters.local_limits import LocalSourceLimits
    from found_footy.adapters.storage.redis.cache import RedisCache
    from found_footy.adapters.storage.redis.source_limits import RedisSourceLimits

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
    """The hosts whose pages feeds may have read: CREX's, those of the declared feeds, and a simulator's."""
    return tuple(dict.fromkeys((*CREX_HOSTS, *_declared_hosts(settings.feeds_file), *settings.private_hosts)))


def _declared_hosts(path: Path) -> Iterator[str]:
    from found_footy.adapters.feeds.sources import load_sources

    if not path.exists():
        # Whoever reads feeds says what is wrong with that; X is searched all the same.
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
    """Run the service on loopback until Ctrl-C."""
    from found_footy.adapters.browser.service import BrowserService

    settings = load_settings()
    configure(settings.log_format, settings.log_level)

    async def body() -> None:
        async with (
            open_x_limits(settings) as limits,
            BrowserService(browser_options(settings), limits=limits) as service,
        ):
            err.print(f"X is searched at {service.url} (BROWSER_URL={service.url}); stop with Ctrl-C", soft_wrap=True)
            await service.wait()

    run_command(body, when_stopped=0)


@browser.command()
def login() -> None:
    """Open a window to log in to X, in the profile that the service uses."""
    from found_footy.adapters.browser.login import log_in, need_display

    settings = load_settings()
    configure("pretty", "WARNING")
    need_display()

    async def opened(_: object) -> None:
        err.print("Log in to X in the window. It closes by itself when you are in; closing it gives up.")

    async def body() -> bool:
        if not await log_in(browser_options(settings), opened=opened):
            return False
        async with open_x_limits(settings) as limits:
            await limits.clear_cooldown()
        return True

    if not run_command(body):
        raise SourceLoggedOut("the window was closed before anybody was logged in")
    out.print("logged in; `footy browser` can search now")


@browser.command()
def check(
    canary: Annotated[bool, typer.Option("--canary", help="Also search X for a common word.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the running service whether it is well."""
    settings = load_settings()
    configure("pretty", "ERROR")
    seconds = settings.source_timeout_seconds + ANSWER_SECONDS
    health = _ask(settings, "/health", ANSWER_SECONDS)
    word = _ask(settings, "/canary", seconds) if canary else None
    good = health.get("healthy") is True and (word is None or "error" not in word)
    if as_json:
        print_json({"url": _url(settings), "healthy": good, "health": health, "canary": word})
    else:
        _show(health, word)
    if not good:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _show(health: dict[str, Any], canary: dict[str, Any] | None) -> None:
    out.print("[green]healthy[/]" if health.get("healthy") is True else "[red]not healthy[/]", end=": ")
    out.print(str(health.get("message", "")), markup=False)
    for title in ("browser", "searches", "readings"):
        told = {name: value for name, value in health.get(title, {}).items() if not isinstance(value, (list, dict))}
        facts = ", ".join(f"{name} {value}" for name, value in told.items())
        out.print(f"{title}: {facts}", markup=False, soft_wrap=True)
    for recycle in health.get("browser", {}).get("recycles", [])[-3:]:
        out.print(f"started anew: {recycle.get('at')}, {recycle.get('why')}", markup=False, soft_wrap=True)
    out.print(f"last success: {health.get('last_success') or 'none'}", markup=False)
    if error := health.get("last_error"):
        out.print(f"last error: {error.get('class')} at {error.get('at')}", markup=False)
    if canary is not None and (error := canary.get("error")):
        out.print(f"canary: {error.get('class')}: {error.get('message')}", markup=False, soft_wrap=True)
        out.print(str(error.get("hint", "")), style="dim", markup=False, soft_wrap=True)
    elif canary is not None:
        out.print(f"canary: {canary.get('posts')} posts, the newest of {canary.get('newest')}", markup=False)


def _url(settings: Settings) -> str:
    if settings.browser_url is None and settings.browser_port == 0:
        raise SettingsError("BROWSER_URL: not given, and FOOTY_BROWSER_PORT is 0; allowed is the service's address")
    return (settings.browser_url or f"http://127.0.0.1:{settings.browser_port}").rstrip("/")


def _ask(settings: Settings, path: str, seconds: float) -> dict[str, Any]:
    """The service's answer, whatever its status: a service that is not well says so in its answer."""
    import httpx

    url = _url(settings) + path
    try:
        answer = httpx.get(url, timeout=seconds)
    except httpx.HTTPError as error:
        raise SourceUnavailable(f"{url} does not answer ({type(error).__name__}): does `footy browser` run?") from error
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise SourceChanged(f"what answers at {url} is not `footy browser`")
    return body
