"""Plays a scripted matchday through the real system, and holds the outcome against the script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from found_footy.bootstrap import open_store
from found_footy.config import Settings, as_demo
from found_footy.domain.errors import StoreUnavailable
from found_footy.ops.engines.data_folder import DataFolder
from found_footy.ops.engines.postgres import EmbeddedPostgres
from found_footy.ops.engines.temporal import EmbeddedTemporal
from found_footy.ops.running import Running, running
from found_footy.simulator.script import Scenario
from found_footy.simulator.server import Simulator
from found_footy.simulator.state import PlaybackState
from found_footy.simulator.verdict import Verdict, has_settled, judge

LOOK_SECONDS = 0.5
CLOSING_SECONDS = 60.0
"""How long, after the last whistle, the system may take to close the matches."""


@dataclass(frozen=True)
class Look:
    """What there is to see at one moment of the demo."""

    state: PlaybackState
    documents: Sequence[Mapping[str, Any]]
    settings: Settings


def demo_settings(settings: Settings, simulator: Simulator) -> Settings:
    """The demo's own folder and engines, whatever else is set; the simulator is the feed."""
    return as_demo(settings).model_copy(
        update={
            "data_dir": settings.data_dir / "demo",
            "database_url": None,
            "temporal_address": None,
            "temporal_namespace": "default",
            "temporal_api_key": None,
            "feed": "api_football",
            "api_football_url": simulator.url,
            "api_football_key": SecretStr(simulator.key),
            "tracked_teams": (),
            "tracked_leagues": (),
        }
    )


async def play(
    scenario: Scenario,
    settings: Settings,
    speed: float,
    show: Callable[[Look], None],
    afterwards: Callable[[Running, Verdict], Awaitable[None]],
) -> Verdict:
    """`afterwards` runs before anything is stopped."""
    simulator = Simulator(scenario, speed=speed)
    async with simulator:
        settings = demo_settings(settings, simulator)
        await clear(settings)
        try:
            async with running(settings) as system, open_store(system.settings) as store:
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
                            break
                    await asyncio.sleep(LOOK_SECONDS)
                verdict = judge(simulator.truth, documents)
                await afterwards(system, verdict)
        finally:
            await clear(settings)
    return verdict


async def clear(settings: Settings) -> None:
    """Each demo starts from nothing, and leaves nothing but its logs."""
    folder = DataFolder(settings.data_dir)
    with folder.lock():
        await EmbeddedPostgres(folder).destroy()
        await EmbeddedTemporal(folder).destroy()
