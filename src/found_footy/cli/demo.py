"""Play a scripted matchday through the real system and compare the outcome with the script."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from pydantic import SecretStr

from footy_simulator.checks import ClipReport, FixtureReport, Mismatch, check_clips, check_fixtures, has_settled
from footy_simulator.espn_cricket import SLUG
from footy_simulator.loader import load_scenario
from footy_simulator.playback import PlaybackState
from footy_simulator.scenario import Scenario
from footy_simulator.server import Simulator, serve_forever
from footy_simulator.team_facts import espn_league
from found_footy.access.models import ID_LENGTH, SECRET_BYTES, Role, new_token
from found_footy.access.store import TokenStore
from found_footy.app import Running, running
from found_footy.browser.chromium import find_chromium
from found_footy.cli.common import err, out, print_json, run
from found_footy.config import Settings, apply_demo_profile, environment_names
from found_footy.errors import EngineError, ScenarioError, SettingsError, StoreUnavailable
from found_footy.fixtures.store import FixtureStore
from found_footy.library.models import ClipState, SourceState
from found_footy.library.views import LibraryViews
from found_footy.runtime.clock import utc_now
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.engine import free_port
from found_footy.runtime.system import environment_of, with_web_port
from found_footy.storage.postgres import Database, open_database
from found_footy.storage.read_pool import ReadPool


def run_demo(name: str, settings: Settings, speed: float, *, keep: bool, as_json: bool) -> bool:
    """Play a scenario and print the comparison with its script. Return whether they agree."""
    from found_footy.cli.demo_view import DemoView

    scenario = load_scenario(name)
    if scenario.recording is not None:
        raise ScenarioError(f"{name} is a recording: it has no script to compare the outcome with")
    view = DemoView(err if as_json else out, scenario.title)

    async def show_result(system: Running, result: DemoResult) -> None:
        view.close()
        if as_json:
            print_json(result.to_json())
        else:
            view.summary(result)
        if keep or (out.is_terminal and not as_json):
            async with open_database(system.settings) as database:
                view.show_login(system.settings, await editor_token(database))
            # Ctrl-C only ends the wait: the exit code still reports the result of the matchday.
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    with view:
        result = run(
            lambda: play_demo(scenario, settings, speed, view.show, show_result, rendering=view.show_rendering)
        )
    return not result.mismatches


async def serve_scenario(name: str, settings: Settings, *, port: int, speed: float, lockstep: bool) -> None:
    """Serve the simulator until cancelled."""
    scenario = load_scenario(name)
    folder = clips_folder(settings)

    def print_addresses(simulator: Simulator) -> None:
        others = [
            feed for feed, is_declared in (("ESPN", scenario.feeds.espn), ("CREX", scenario.cricket)) if is_declared
        ]
        feeds = ", ".join([f"API-Football with the key {simulator.key}", *others])
        out.print(
            f"{feeds if scenario.recording is None else 'ESPN'} at {simulator.url}; stop with Ctrl-C", soft_wrap=True
        )
        if scenario.recording is None:
            out.print("for `footy up` in another terminal:", style="dim")
            for variable, value in simulator_environment(simulator, folder.parent).items():
                out.print(f"export {variable}={value}", markup=False, soft_wrap=True)

    await serve_forever(
        scenario, port=port, speed=speed, lockstep=lockstep, clips_folder=folder, on_ready=print_addresses
    )


# --- The simulator's feeds, declared in a file like real ones.


SOURCES_FILE = "sources.yaml"

_RateLimits = Mapping[str, int | float]
_FAST: _RateLimits = {"max_concurrent_contexts": 8, "min_interval_seconds": 0.0, "burst_allowance": 50}
_SLOW: _RateLimits = {"max_concurrent_contexts": 1, "min_interval_seconds": 4.0, "burst_allowance": 2}
"""Loading a page in a browser is expensive, and cricket is slow."""


def write_sources(folder: Path, scenario: Scenario, url: str, *, browser: bool) -> Path:
    """Write the file into this folder. Without a browser, CREX is omitted: its pages cannot be read."""
    path = (folder / SOURCES_FILE).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(
        {"sources": declared_sources(scenario, url, browser=browser)}, sort_keys=False, allow_unicode=True
    )
    path.write_text(text, encoding="utf-8")
    return path


def declared_sources(scenario: Scenario, url: str, *, browser: bool) -> list[dict[str, Any]]:
    feeds = [_source("api_football", 100, url)]
    if scenario.cricket and browser:
        feeds.append(_source("crex", 90, url, _SLOW))
    if scenario.feeds.espn is not None:
        leagues = [espn_league(league).slug for league in scenario.leagues.values()]
        if scenario.feeds.espn.cricket:
            leagues.append(SLUG)
        feeds.append(_source("espn", 80, url, leagues=leagues))
    return feeds


def _source(name: str, precedence: int, url: str, limits: _RateLimits = _FAST, **metadata: Any) -> dict[str, Any]:
    return {
        "domain_id": name,
        "adapter": name,
        "enabled": True,
        "precedence_weight": precedence,
        "rate_limits": dict(limits),
        "metadata": {"base_url": url, **metadata},
    }


# --- The library at the end: scenes of all published clips, ready for review.


@dataclass(frozen=True, slots=True)
class DemoLibrary:
    """Progress of the library with the published clips."""

    kept: int
    """Clips of goals whose search has ended: the expected number of sources."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """Sources by state, without goals withdrawn after their search ended."""
    clips: Mapping[str, int] = field(default_factory=dict)
    """Clips by state."""

    @property
    def scenes(self) -> int:
        return sum(self.clips.values())

    @property
    def ready(self) -> int:
        return self.clips.get(ClipState.PENDING_REVIEW, 0)

    @property
    def cut(self) -> int:
        return self.sources.get(SourceState.SPLICED, 0)

    @property
    def settled(self) -> bool:
        return self.cut == self.kept and self.ready == self.scenes

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        found = []
        if dict(self.sources) != ({SourceState.SPLICED.value: self.kept} if self.kept else {}):
            found.append(Mismatch(0, "library", f"{self.kept} clips cut into scenes", _format_states(self.sources)))
        if self.ready != self.scenes:
            found.append(Mismatch(0, "library", f"{self.scenes} scenes ready for review", _format_states(self.clips)))
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        return {"kept": self.kept, "sources": dict(self.sources), "clips": dict(self.clips)}


def _format_states(states: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "nothing"


def count_published(documents: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of clips that belong in the library: those of valid goals whose search has ended."""
    events = (event for document in documents for event in document["events"])
    return sum(len(event["_s3_videos"]) for event in events if event["_download_complete"] and not event["_removed"])


async def read_library(settings: Settings, documents: Sequence[Mapping[str, Any]]) -> DemoLibrary:
    """Read the progress of the library. Raises StoreUnavailable."""
    if settings.database_url is None:
        raise EngineError("DATABASE_URL is not set")
    readers = ReadPool(settings.database_url.get_secret_value(), size=1)
    await readers.open()
    try:
        totals = await LibraryViews(readers).totals()
    finally:
        await readers.close()
    counted_sources = Counter(totals.sources) - Counter(totals.withdrawn)
    return DemoLibrary(count_published(documents), counted_sources, totals.clips)


async def editor_token(database: Database) -> str:
    """Create a token for reviewing. It is deleted with the demo's database."""
    random, secret = secrets.token_bytes(ID_LENGTH), secrets.token_bytes(SECRET_BYTES)
    token, text = new_token("demo", Role.EDITOR, utc_now(), random, secret)
    await TokenStore(database).add_token(token)
    return text


# --- Playing


REFRESH_SECONDS = 0.5
COMPLETION_SECONDS = 120.0
"""Time after full time to end the searches and complete the matches."""
LIBRARY_SECONDS = 120.0
"""Additional time to cut the published clips into scenes."""


@dataclass(frozen=True)
class DemoSnapshot:
    """State of the demo at one moment."""

    state: PlaybackState
    documents: Sequence[Mapping[str, Any]]
    settings: Settings
    library: DemoLibrary | None = None
    """Set once the matchday is over."""


@dataclass(frozen=True)
class DemoResult:
    matchday: FixtureReport
    clips: ClipReport
    library: DemoLibrary

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        return self.matchday.mismatches + self.clips.mismatches + self.library.mismatches

    def to_json(self) -> dict[str, Any]:
        return {**self.matchday.to_json(), "clips": self.clips.to_json(), "library": self.library.to_json()}


def demo_settings(settings: Settings, simulator: Simulator) -> Settings:
    """Return settings with a separate folder and engines, and the simulator for every outside service.

    The only feed is API-Football; `with_feeds` declares all of them.
    """
    return apply_demo_profile(settings).model_copy(
        update={
            "data_dir": settings.data_dir / "demo",
            "database_url": None,
            "temporal_address": None,
            "redis_url": None,
            "temporal_namespace": "default",
            "temporal_api_key": None,
            "tracked_teams": (),
            "tracked_leagues": (),
            "llama_url": None,
            "object_store_url": None,
            "sources": ("fxtwitter", "reddit", "bluesky", "x"),
            "browser_url": None,
            "browser_headless": True,
            "reddit_subreddit": "soccer",
            "reddit_client_id": None,
            "reddit_client_secret": None,
            "reddit_ways": ("oauth", "fragment", "atom"),
            "drop_folder": None,
            **_simulated_services(simulator),
        }
    )


def _simulated_services(simulator: Simulator) -> dict[str, Any]:
    """Return the addresses of all outside services, pointing at the simulator."""
    services_with_url = (
        "api_football",
        "wikidata",
        "wikidata_sparql",
        "fxtwitter",
        "x",
        "x_syndication",
        "bluesky",
        "reddit",
        "reddit_oauth",
    )
    return {
        "feed": "api_football",
        # A scenario's matches are fictional.
        "follow": ("all",),
        **{f"{service}_url": simulator.url for service in services_with_url},
        "plc_url": f"{simulator.url}/plc",
        "api_football_key": SecretStr(simulator.key),
        "bluesky_handle": simulator.bluesky_handle,
        "bluesky_password": SecretStr(simulator.bluesky_password),
        # The only private address that may be requested; the demo rejects all others.
        "private_hosts": (urlsplit(simulator.url).netloc,),
    }


def with_feeds(settings: Settings, simulator: Simulator) -> Settings:
    """Declare all feeds of the simulator in a file in the data folder; CREX only if a browser is available."""
    browser = settings.browser_url is not None
    path = write_sources(settings.data_dir, simulator.scenario, simulator.url, browser=browser)
    return settings.model_copy(update={"feed": None, "feeds_file": path})


def simulator_environment(simulator: Simulator, folder: Path | None = None) -> Mapping[str, str]:
    """Return the environment for a system that runs elsewhere. With a folder, write the feeds file into it.

    The file includes CREX if a browser is found here; BROWSER_URL must then be set, too.
    """
    settings = Settings()
    services = _simulated_services(simulator)
    if folder is not None:
        browser = has_browser(settings)
        services["feeds_file"] = write_sources(folder, simulator.scenario, simulator.url, browser=browser)
        del services["feed"]
    settings = settings.model_copy(update=services)
    names = environment_names()
    return {names[field]: environment_of(settings)[names[field]] for field in services}


def has_browser(settings: Settings) -> bool:
    """Return whether a browser is available; source `x` and CREX are disabled without one."""
    try:
        find_chromium(settings.browser_path)
    except SettingsError:
        return False
    return True


def with_browser(settings: Settings) -> Settings:
    port = free_port()
    program = find_chromium(settings.browser_path)
    updates = {"browser_path": program, "browser_port": port, "browser_url": f"http://127.0.0.1:{port}"}
    return settings.model_copy(update=updates)


def clips_folder(settings: Settings) -> Path:
    """Return the folder of rendered clips, which are kept for the next demo."""
    return settings.data_dir / "demo-clips"


async def play_demo(
    scenario: Scenario,
    settings: Settings,
    speed: float,
    show: Callable[[DemoSnapshot], None],
    show_result: Callable[[Running, DemoResult], Awaitable[None]],
    *,
    rendering: Callable[[int, int], None] = lambda missing, total: None,
    browser: bool = True,
) -> DemoResult:
    """Play a scenario. `show_result` runs before anything is stopped. Without a browser, cricket is left out."""
    browser = browser and has_browser(settings)
    scenario = scenario if browser else scenario.football
    simulator = Simulator(scenario, speed=speed, clips_folder=clips_folder(settings), renderers=os.cpu_count() or 1)
    async with simulator:
        # Render before the matchday begins, so that rendering does not slow down the system under test.
        while simulator.clips_to_render[0]:
            rendering(*simulator.clips_to_render)
            await asyncio.sleep(REFRESH_SECONDS)
        settings = demo_settings(settings, simulator)
        if browser:
            settings = with_browser(settings)
        settings = with_web_port(settings, any_other=True)
        await clear(settings)
        settings = with_feeds(settings, simulator)
        try:
            async with (
                running(settings, browser=settings.browser_url is not None) as system,
                open_database(system.settings) as database,
            ):
                documents = await _watch(simulator, FixtureStore(database), settings, show)
                library = await _watch_library(simulator, system.settings, documents, show)
                result = DemoResult(
                    check_fixtures(simulator.truth, documents),
                    check_clips(scenario, documents, simulator.clip_of),
                    library,
                )
                await show_result(system, result)
        finally:
            await clear(settings)
    return result


async def _watch(
    simulator: Simulator, store: FixtureStore, settings: Settings, show: Callable[[DemoSnapshot], None]
) -> list[dict[str, Any]]:
    """Show the matchday until every match has completed, and return all fixtures."""
    deadline: float | None = None
    documents: list[dict[str, Any]] = []
    while True:
        # The engines may be restarting; the view then pauses.
        with suppress(StoreUnavailable):
            documents = await store.fixtures()
        state = simulator.state()
        show(DemoSnapshot(state, documents, settings))
        now = asyncio.get_running_loop().time()
        if state.settled:
            deadline = deadline or now + COMPLETION_SECONDS
            if has_settled(simulator.truth, documents) or now > deadline:
                return documents
        await asyncio.sleep(REFRESH_SECONDS)


async def _watch_library(
    simulator: Simulator, settings: Settings, documents: list[dict[str, Any]], show: Callable[[DemoSnapshot], None]
) -> DemoLibrary:
    deadline = asyncio.get_running_loop().time() + LIBRARY_SECONDS
    library = DemoLibrary(count_published(documents))
    while True:
        with suppress(StoreUnavailable):
            library = await read_library(settings, documents)
        show(DemoSnapshot(simulator.state(), documents, settings, library))
        if library.settled or asyncio.get_running_loop().time() > deadline:
            return library
        await asyncio.sleep(REFRESH_SECONDS)


async def clear(settings: Settings) -> None:
    """Delete everything but the logs, before and after each demo."""
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()
        await EmbeddedTemporal(folder).destroy()
        await EmbeddedValkey(folder).destroy()
        for name in ("objects", "browser"):
            await asyncio.to_thread(shutil.rmtree, settings.data_dir / name, ignore_errors=True)
        (settings.data_dir / SOURCES_FILE).unlink(missing_ok=True)
