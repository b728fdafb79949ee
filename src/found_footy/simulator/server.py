"""The simulator as a server on the loopback interface."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from starlette.applications import Starlette
from starlette.routing import Route

from found_footy.http_server import HttpServer
from found_footy.simulator.api_football import ApiFootball
from found_footy.simulator.broken_answers import loop_routes
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.clock import MatchdayClock, TimeSource
from found_footy.simulator.crex_feed import CrexFeed
from found_footy.simulator.crex_site import CrexSiteState
from found_footy.simulator.dated import dated
from found_footy.simulator.espn_recording import Recording, Replay, espn_routes
from found_footy.simulator.espn_scripted import EspnScripted
from found_footy.simulator.feed_script import FeedScript
from found_footy.simulator.feed_view import FeedView
from found_footy.simulator.ground_truth import GroundTruth
from found_footy.simulator.matchday import Matchday
from found_footy.simulator.quota import FREE_LIMITS, Quota
from found_footy.simulator.script import Scenario
from found_footy.simulator.social.bluesky import bluesky_routes
from found_footy.simulator.social.clip_files import ClipFiles
from found_footy.simulator.social.clip_hosts import clip_host_routes
from found_footy.simulator.social.feed import SocialFeed
from found_footy.simulator.social.fxtwitter import fxtwitter_routes
from found_footy.simulator.social.media import media_routes
from found_footy.simulator.social.posts import Platform, SocialPost
from found_footy.simulator.social.reddit import CLIENT_ID, CLIENT_SECRET, reddit_routes
from found_footy.simulator.social.syndication import syndication_routes
from found_footy.simulator.social.traps import trap_routes
from found_footy.simulator.social.x_site import XMode, XSiteState, x_routes
from found_footy.simulator.state import Playback, PlaybackState, control_routes
from found_footy.simulator.wikidata import wikidata_routes

DEFAULT_KEY = "simulator-key"
BLUESKY_HANDLE = "finder.bsky.social"
BLUESKY_PASSWORD = "simu-late-dapp-pass"


class Simulator:
    """Plays a scenario over HTTP while its `async with` block is open.

    `port` 0 takes a free one. `start` is when the matchday begins, by default now. The videos behind the posts are
    rendered into `clips_folder`, which is a cache; without one there are posts, and their videos are missing.
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
            replay = Replay(Recording.load(scenario.recording.espn))
            self._playback = replay
            self._social = SocialFeed(scenario, reached=lambda: None)
            routes = espn_routes(replay, scenario.services.espn)
        else:
            clock = MatchdayClock(speed=speed, lockstep=lockstep, max_step=max_step, time_source=time_source)
            begin = (start or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
            matchday = Matchday(scenario, begin, clock)
            self._playback = matchday
            self._social = SocialFeed(scenario, matchday.reached)
            matchday.watch(self._social.notice)
            routes = self._feed_routes(matchday, time_source)
        posted = (post.clip for post in self._social.planned if post.clip is not None)
        self._files = None if clips_folder is None else ClipFiles(clips_folder, posted, renderers)
        app = Starlette(routes=[*routes, *control_routes(self._playback), *self._social_routes()])
        self._server = HttpServer(dated(app), port, name="the simulator", date_header=False)

    def _feed_routes(self, matchday: Matchday, time_source: TimeSource) -> list[Route]:
        """Each feed with its own delay and its own faults, over the same clock."""
        scenario, closing = self.scenario, self._closing
        ours = FeedView(matchday, FeedScript(faults=scenario.faults))
        service = scenario.services.api_football
        limits = FREE_LIMITS if service.plan == "free" else scenario.limits
        routes = ApiFootball(ours, self.key, Quota(limits, time_source), closing, service).routes()
        if scenario.feeds.espn is not None:
            espn = EspnScripted(FeedView(matchday, scenario.feeds.espn), closing, time_source, scenario.services.espn)
            routes += espn.routes(cricket=scenario.feeds.espn.cricket)
        if scenario.cricket:
            routes += CrexFeed(FeedView(matchday, scenario.feeds.crex), self.crex_state).routes()
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
            *trap_routes(self._closing),
            *wikidata_routes(self.scenario),
        ]

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def truth(self) -> GroundTruth:
        return self._playback.truth

    def state(self) -> PlaybackState:
        return self._playback.state()

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        """What is visible there at this moment, newest first."""
        return self._social.posts_of(platform)

    def clip_of(self, source: str, post_id: str) -> ClipSpec | None:
        """What a post shows; None for what shows no goal."""
        return self._social.clip_of(source, post_id)

    @property
    def clips_to_render(self) -> tuple[int, int]:
        """How many of the clips are not there yet, and how many there are."""
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
        """Until the server stops by itself, which it only does when something is wrong."""
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
    """Serve until cancelled; `on_ready` is called once requests are answered."""
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
