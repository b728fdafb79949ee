"""Kill any process while a matchday plays: the outcome is that of the undisturbed run."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from found_footy.bootstrap_stores import open_store
from found_footy.config import load_settings
from found_footy.domain.errors import StoreUnavailable
from found_footy.ops.demo import clear, demo_settings
from found_footy.ops.running import Running, running
from found_footy.simulator import Simulator, load_scenario
from found_footy.simulator.verdict import has_settled, judge
from tests.support.matchday import outcome

pytestmark = pytest.mark.timeout(600)

Disturbance = Callable[[Running, Simulator], Awaitable[None]]


async def play(folder: Path, disturb: Disturbance | None) -> dict[int, Any]:
    async with Simulator(load_scenario("quick").football) as simulator:
        settings = demo_settings(load_settings(), simulator).model_copy(update={"data_dir": folder, "web_port": 0})
        try:
            async with running(settings) as system, open_store(system.settings) as store:
                trouble = asyncio.create_task(disturb(system, simulator)) if disturb else None
                documents: list[dict[str, Any]] = []
                async with asyncio.timeout(480):
                    while not (simulator.state().settled and has_settled(simulator.truth, documents)):
                        await asyncio.sleep(0.5)
                        with suppress(StoreUnavailable):
                            documents = await store.fixtures()
                if trouble is not None:
                    assert trouble.done(), "the matchday was over before the disturbance"
                    await trouble
                assert judge(simulator.truth, documents).mismatches == ()
                return outcome(documents)
        finally:
            await clear(settings)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    return asyncio.run(play(tmp_path_factory.mktemp("undisturbed"), None))


async def next_poll(simulator: Simulator, after: int) -> None:
    """Returns while a poll is under way: the feed has just been asked."""
    while simulator.state().polls <= after:
        await asyncio.sleep(0.005)


def kill(system: Running, prefix: str) -> None:
    pids = [child.pid for child in system.supervisor.status() if child.name.startswith(prefix) and child.pid]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def killer(victims: Sequence[str], polls_between: int) -> Disturbance:
    async def disturb(system: Running, simulator: Simulator) -> None:
        for victim in victims:
            await next_poll(simulator, simulator.state().polls + polls_between)
            kill(system, victim)

    return disturb


@pytest.mark.parametrize(
    ("victims", "polls_between"),
    [
        pytest.param(["worker"] * 3, 4, id="both workers at once, in the middle of a poll"),
        pytest.param(["postgres", "temporal", "valkey", "watchdog"], 3, id="one engine after the other"),
        pytest.param([""], 8, id="everything at once"),
    ],
)
async def test_killed_processes_change_nothing(
    tmp_path: Path, undisturbed: dict[int, Any], victims: Sequence[str], polls_between: int
) -> None:
    assert await play(tmp_path, killer(victims, polls_between)) == undisturbed
