"""Plays a scripted matchday through the real system, and holds the outcome against the script."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from found_footy.adapters.browser.chromium import find_chromium
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap_stores import open_store
from found_footy.config import Settings, as_demo, environment_names
from found_footy.domain.errors import SettingsError, StoreUnavailable
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.demo_feeds import FILE, write_sources
from found_footy.ops.demo_library import DemoLibrary, kept_in, look_at_library
from found_footy.ops.engines.postgres import EmbeddedPostgres
from found_footy.ops.engines.temporal import EmbeddedTemporal
from found_footy.ops.engines.valkey import EmbeddedValkey
from found_footy.ops.running import Running, environment_of, running
from found_footy.ops.serving import with_web_port
from found_footy.simulator.clip_verdict import ClipVerdict, judge_clips
from found_footy.simulator.script import Scenario
from found_footy.simulator.server import Simulator
from found_footy.simulator.state import PlaybackState
from found_footy.simulator.verdict import Mismatch, Verdict, has_settled, judge

LOOK_SECONDS = 0.5
CLOSING_SECONDS = 120.0
"""How long, after the last whistle, the system may take to end the searches and close the matches."""
LIBRARY_SECONDS = 120.0
"""How long it may then take to cut what was kept into scenes."""


@dataclass(frozen=True)
class Look:
    """What there is to see at one moment of the demo."""

    state: PlaybackState
    documents: Sequence[Mapping[str, Any]]
    settings: Settings
    library: DemoLibrary | None = None
    """Once the matchday is over."""


@dataclass(frozen=True)
class DemoVerdict:
    matchday: Verdict
    clips: ClipVerdict
    library: DemoLibrary

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        return self.matchday.mismatches + self.clips.mismatches + self.library.mismatches

    def to_json(self) -> dict[str, Any]:
        return {**self.matchday.to_json(), "clips": self.clips.to_json(), "library": self.library.to_json()}


def demo_settings(settings: Settings, simulator: Simulator) -> Settings:
    """The demo's own folder and engines, whatever else is set; the simulator is the world.

    Of the feeds it is API-Football alone; `with_feeds` declares them all.
    """
    return as_demo(settings).model_copy(
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
            **_world(simulator),
        }
    )


def _world(simulator: Simulator) -> dict[str, Any]:
    """Where everything is that is elsewhere in life."""
    places = (
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
        # A scenario's matches are made up.
        "follow": ("all",),
        **{f"{place}_url": simulator.url for place in places},
        "plc_url": f"{simulator.url}/plc",
        "api_football_key": SecretStr(simulator.key),
        "bluesky_handle": simulator.bluesky_handle,
        "bluesky_password": SecretStr(simulator.bluesky_password),
        # The one private address that may be asked: everybody else's is refused, also in the demo.
        "private_hosts": (urlsplit(simulator.url).netloc,),
    }


def with_feeds(settings: Settings, simulator: Simulator) -> Settings:
    """All feeds of the simulator, declared in a file of the data folder; CREX only where a browser can read it."""
    browser = settings.browser_url is not None
    path = write_sources(settings.data_dir, simulator.scenario, simulator.url, browser=browser)
    return settings.model_copy(update={"feed": None, "feeds_file": path})


def simulator_environment(simulator: Simulator, folder: Path | None = None) -> Mapping[str, str]:
    """For a system that runs elsewhere; with a folder, the file that declares all feeds is written into it.

    CREX is among them where a browser is found here, and then wants BROWSER_URL, too.
    """
    settings = Settings()
    world = _world(simulator)
    if folder is not None:
        browser = has_browser(settings)
        world["feeds_file"] = write_sources(folder, simulator.scenario, simulator.url, browser=browser)
        del world["feed"]
    settings = settings.model_copy(update=world)
    names = environment_names()
    return {names[field]: environment_of(settings)[names[field]] for field in world}


def has_browser(settings: Settings) -> bool:
    """Source `x` and CREX need one; without it they stay off."""
    try:
        find_chromium(settings.browser_path)
    except SettingsError:
        return False
    return True


def with_browser(settings: Settings) -> Settings:
    port = _free_port()
    program = find_chromium(settings.browser_path)
    updates = {"browser_path": program, "browser_port": port, "browser_url": f"http://127.0.0.1:{port}"}
    return settings.model_copy(update=updates)


def clips_folder(settings: Settings) -> Path:
    """Rendered clips are kept: the next demo need not wait for them."""
    return settings.data_dir / "demo-clips"


async def play(
    scenario: Scenario,
    settings: Settings,
    speed: float,
    show: Callable[[Look], None],
    afterwards: Callable[[Running, DemoVerdict], Awaitable[None]],
    *,
    rendering: Callable[[int, int], None] = lambda missing, total: None,
    browser: bool = True,
) -> DemoVerdict:
    """`afterwards` runs before anything is stopped. The cricket is left out where no browser can follow it."""
    browser = browser and has_browser(settings)
    scenario = scenario if browser else scenario.football
    simulator = Simulator(scenario, speed=speed, clips_folder=clips_folder(settings), renderers=os.cpu_count() or 1)
    async with simulator:
        # Before the matchday begins: in life, too, the camera does not share its processor with those who watch.
        while simulator.clips_to_render[0]:
            rendering(*simulator.clips_to_render)
            await asyncio.sleep(LOOK_SECONDS)
        settings = demo_settings(settings, simulator)
        if browser:
            settings = with_browser(settings)
        settings = with_web_port(settings, any_other=True)
        await clear(settings)
        settings = with_feeds(settings, simulator)
        try:
            async with (
                running(settings, browser=settings.browser_url is not None) as system,
                open_store(system.settings) as store,
            ):
                documents = await _watch(simulator, store, settings, show)
                library = await _watch_library(simulator, system.settings, documents, show)
                verdict = DemoVerdict(
                    judge(simulator.truth, documents), judge_clips(scenario, documents, simulator.clip_of), library
                )
                await afterwards(system, verdict)
        finally:
            await clear(settings)
    return verdict


async def _watch(
    simulator: Simulator, store: PostgresStore, settings: Settings, show: Callable[[Look], None]
) -> list[dict[str, Any]]:
    """Until every match is where it belongs; returns what is known of them all."""
    deadline: float | None = None
    documents: list[dict[str, Any]] = []
    while True:
        # The engines may be restarted under us; the view then stands still for a moment.
        with suppress(StoreUnavailable):
            documents = await store.fixtures()
        state = simulator.state()
        show(Look(state, documents, settings))
        now = asyncio.get_running_loop().time()
        if state.settled:
            deadline = deadline or now + CLOSING_SECONDS
            if has_settled(simulator.truth, documents) or now > deadline:
                return documents
        await asyncio.sleep(LOOK_SECONDS)


async def _watch_library(
    simulator: Simulator, settings: Settings, documents: list[dict[str, Any]], show: Callable[[Look], None]
) -> DemoLibrary:
    deadline = asyncio.get_running_loop().time() + LIBRARY_SECONDS
    library = DemoLibrary(kept_in(documents))
    while True:
        with suppress(StoreUnavailable):
            library = await look_at_library(settings, documents)
        show(Look(simulator.state(), documents, settings, library))
        if library.settled or asyncio.get_running_loop().time() > deadline:
            return library
        await asyncio.sleep(LOOK_SECONDS)


async def clear(settings: Settings) -> None:
    """Each demo starts from nothing, and leaves nothing but its logs."""
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()
        await EmbeddedTemporal(folder).destroy()
        await EmbeddedValkey(folder).destroy()
        for name in ("objects", "browser"):
            await asyncio.to_thread(shutil.rmtree, settings.data_dir / name, ignore_errors=True)
        (settings.data_dir / FILE).unlink(missing_ok=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
