"""The simulator as a server on the loopback interface."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import TracebackType

import uvicorn
from starlette.applications import Starlette

from found_footy.domain.errors import EngineError
from found_footy.simulator.api_football import ApiFootball
from found_footy.simulator.clock import MatchdayClock, TimeSource
from found_footy.simulator.espn_recording import Recording, Replay, espn_routes
from found_footy.simulator.ground_truth import GroundTruth
from found_footy.simulator.matchday import Matchday
from found_footy.simulator.quota import Quota
from found_footy.simulator.script import Scenario
from found_footy.simulator.state import Playback, PlaybackState, control_routes

HOST = "127.0.0.1"
DEFAULT_KEY = "simulator-key"


class Simulator:
    """Plays a scenario over HTTP while its `async with` block is open.

    `port` 0 takes a free one. `start` is when the matchday begins, by default now.
    """

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
    ) -> None:
        self.key = key
        self._port = port
        self._closing = asyncio.Event()
        self._playback: Playback
        self._app: Starlette
        if scenario.recording is not None:
            replay = Replay(Recording.load(scenario.recording.espn))
            self._playback = replay
            self._app = Starlette(routes=espn_routes(replay) + control_routes(replay))
        else:
            clock = MatchdayClock(speed=speed, lockstep=lockstep, max_step=max_step, time_source=time_source)
            begin = (start or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
            matchday = Matchday(scenario, begin, clock)
            self._playback = matchday
            quota = Quota(scenario.limits, time_source)
            self._app = ApiFootball(matchday, key, quota, self._closing).app()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    @property
    def truth(self) -> GroundTruth:
        return self._playback.truth

    def state(self) -> PlaybackState:
        return self._playback.state()

    async def __aenter__(self) -> Simulator:
        # asyncio turns Nagle's delay off only where the protocol is named.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, self._port))
        except OSError as error:
            listener.close()
            raise EngineError(f"the simulator cannot take port {self._port}: {error.strerror}") from error
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none"
        )
        self._server = _QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name="simulator")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait({ready, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            ready.cancel()
            self._serving.result()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.should_exit = True
        await self._serving

    async def wait(self) -> None:
        """Until the server stops by itself, which it only does when something is wrong."""
        await asyncio.shield(self._serving)


class _QuietServer(uvicorn.Server):
    """Leaves the process's signals to the process, and says when it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_forever(
    scenario: Scenario,
    *,
    port: int = 0,
    key: str = DEFAULT_KEY,
    speed: float = 60.0,
    lockstep: bool = True,
    max_step: float = 60.0,
    on_ready: Callable[[Simulator], None] = lambda simulator: None,
) -> None:
    """Serve until cancelled; `on_ready` is called once requests are answered."""
    simulator = Simulator(scenario, port=port, key=key, speed=speed, lockstep=lockstep, max_step=max_step)
    async with simulator:
        on_ready(simulator)
        await simulator.wait()
