"""The simulator as an HTTP server on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from starlette.applications import Starlette
from starlette.routing import Route

from footy_simulator.api_football import FREE_LIMITS, ApiFootballServer, RequestQuota
from footy_simulator.bluesky import bluesky_routes
from footy_simulator.clip_hosts import clip_host_routes, hostile_link_routes, media_routes
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.worker import RenderPool
from footy_simulator.crex import CrexFeed, CrexSiteState
from footy_simulator.espn import EspnServer
from footy_simulator.espn_recording import EspnRecording, RecordingPlayback, espn_routes
from footy_simulator.expectations import ExpectedOutcome
from footy_simulator.faults import FaultyFeed, dated, loop_routes
from footy_simulator.fxtwitter import fxtwitter_routes
from footy_simulator.matchday import Matchday, MatchdayClock, TimeSource
from footy_simulator.playback import Playback, PlaybackState, control_routes
from footy_simulator.posts import Platform, PostTimeline, SocialPost
from footy_simulator.reddit import CLIENT_ID, CLIENT_SECRET, reddit_routes
from footy_simulator.scenario import Scenario, ScriptedFeed
from footy_simulator.wikidata import wikidata_routes
from footy_simulator.x import XMode, XSiteState, syndication_routes, x_routes
from found_footy.runtime.http_server import HttpServer

DEFAULT_KEY = "simulator-key"
BLUESKY_HANDLE = "finder.bsky.social"
BLUESKY_PASSWORD = "simu-late-dapp-pass"


class Simulator:
    """Serves a scenario over HTTP inside its `async with` block.

    `port` 0 selects a free port. `start` is when the matchday begins, by default now. The posts' videos are rendered
    into `clips_folder`, which is a cache; without it, the videos are missing.
    """

    bluesky_handle = BLUESKY_HANDLE
    bluesky_password = BLUESKY_PASSWORD
    reddit_client_id = CLIENT_ID
    reddit_client_secret = CLIENT_SECRET

    def __init__(
        self,
        scenario: Scenario,
        *,
        port: int = 0,
        key: str = DEFAULT_KEY,
        start: datetime | None = None,
        speed: float = 60.0,
        lockstep: bool = True,
        max_step: float = 60.0,
        time_source: TimeSource = time.monotonic,
        clips_folder: Path | None = None,
        renderers: int = 1,
    ) -> None:
        self.key = key
        self.scenario = scenario
        self.crex_state = CrexSiteState(embedded=scenario.services.crex.embedded_json)
        self.x_state = XSiteState(XMode.LOGGED_OUT if scenario.services.x.wall else XMode.NORMAL)
        self._closing = asyncio.Event()
        self._playback: Playback
        routes: list[Route]
        if scenario.recording is not None:
            replay = RecordingPlayback(EspnRecording.load(scenario.recording.espn))
            self._playback = replay
            self._social = PostTimeline(scenario, reached=lambda: None)
            routes = espn_routes(replay, scenario.services.espn)
        else:
            clock = MatchdayClock(speed=speed, lockstep=lockstep, max_step=max_step, time_source=time_source)
            begin = (start or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
            matchday = Matchday(scenario, begin, clock)
            self._playback = matchday
            self._social = PostTimeline(scenario, matchday.reached)
            matchday.watch(self._social.notice)
            routes = self._feed_routes(matchday, time_source)
        posted = (post.clip for post in self._social.planned if post.clip is not None)
        self._files = None if clips_folder is None else RenderPool(clips_folder, posted, renderers)
        app = Starlette(routes=[*routes, *control_routes(self._playback), *self._social_routes()])
        self._server = HttpServer(dated(app), port, name="the simulator", date_header=False)

    def _feed_routes(self, matchday: Matchday, time_source: TimeSource) -> list[Route]:
        """Each feed with its own delay and faults, over one clock."""
        scenario, closing = self.scenario, self._closing
        ours = FaultyFeed(matchday, ScriptedFeed(faults=scenario.faults))
        service = scenario.services.api_football
        limits = FREE_LIMITS if service.plan == "free" else scenario.limits
        routes = ApiFootballServer(ours, self.key, RequestQuota(limits, time_source), closing, service).routes()
        if scenario.feeds.espn is not None:
            espn = EspnServer(FaultyFeed(matchday, scenario.feeds.espn), closing, time_source, scenario.services.espn)
            routes += espn.routes(cricket=scenario.feeds.espn.cricket)
        if scenario.cricket:
            routes += CrexFeed(FaultyFeed(matchday, scenario.feeds.crex), self.crex_state).routes()
        return [*routes, *loop_routes()]

    def _social_routes(self) -> list[Route]:
        posts, base_url, services = self._social.posts_of, lambda: self.url, self.scenario.services
        return [
            *x_routes(posts, self.x_state),
            *syndication_routes(self._social, base_url, services.x),
            *fxtwitter_routes(posts, self._social, base_url, services.fxtwitter),
            *bluesky_routes(posts, base_url, self.bluesky_handle, self.bluesky_password, services.bluesky),
            *reddit_routes(posts, base_url, services.reddit),
            *clip_host_routes(posts, base_url, services.hosts),
            *media_routes(self._files),
            *hostile_link_routes(self._closing),
            *wikidata_routes(self.scenario),
        ]

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def truth(self) -> ExpectedOutcome:
        return self._playback.truth

    def state(self) -> PlaybackState:
        return self._playback.state()

    def hold_at(self, offset: float | None) -> None:
        """Let a scripted matchday stand still at this offset in seconds; None lets it go on."""
        assert isinstance(self._playback, Matchday), "a recording cannot be held"
        self._playback.hold_at(offset)

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        """Posts visible on a platform now, newest first."""
        return self._social.posts_of(platform)

    def clip_of(self, source: str, post_id: str) -> ClipSpec | None:
        """The clip that a post shows; None for posts without a goal."""
        return self._social.clip_of(source, post_id)

    @property
    def clips_to_render(self) -> tuple[int, int]:
        """Number of clips still to render, and of all clips."""
        return (0, 0) if self._files is None else (self._files.missing, self._files.total)

    async def __aenter__(self) -> Simulator:
        await self._server.start()
        if self._files is not None:
            self._files.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._files is not None:
            await self._files.stop()
        await self._server.stop()

    async def wait(self) -> None:
        """Wait until the server stops by itself, which only happens after an error."""
        await self._server.wait()


async def serve_forever(
    scenario: Scenario,
    *,
    port: int = 0,
    key: str = DEFAULT_KEY,
    speed: float = 60.0,
    lockstep: bool = True,
    max_step: float = 60.0,
    clips_folder: Path | None = None,
    on_ready: Callable[[Simulator], None] = lambda simulator: None,
) -> None:
    """Serve until cancelled; `on_ready` is called once the server accepts requests."""
    simulator = Simulator(
        scenario,
        port=port,
        key=key,
        speed=speed,
        lockstep=lockstep,
        max_step=max_step,
        clips_folder=clips_folder,
    )
    async with simulator:
        on_ready(simulator)
        await simulator.wait()
