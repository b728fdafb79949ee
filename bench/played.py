"""Run a scripted matchday in the demo's profile, without a browser; clips are rendered before it starts."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.scenario import Scenario
from footy_simulator.server import Simulator
from found_footy.app import Running, running
from found_footy.cli.demo import clear, demo_settings
from found_footy.config import Settings
from found_footy.fixtures.store import FixtureStore, open_store

CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Played:
    simulator: Simulator
    system: Running
    store: FixtureStore

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        async with self.store.database.connection() as connection:
            return await (await connection.execute(sql.encode())).fetchall()


@asynccontextmanager
async def played(
    scenario: Scenario, folder: Path, clips: Path, settings: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[Played]:
    """Run engines, workers and simulator within the block; the options are the simulator's.

    `settings` replace those of the demo.
    """
    logging.disable(logging.WARNING)
    async with Simulator(scenario, clips_folder=clips, **options) as simulator:
        chosen = demo_settings(Settings(_env_file=None), simulator).model_copy(
            update={"data_dir": folder, "web_port": 0, **(settings or {})}
        )
        try:
            async with running(chosen) as system, open_store(system.settings) as store:
                yield Played(simulator, system, store)
        finally:
            await clear(chosen)


def prepare(specs: Iterable[ClipSpec], folder: Path) -> None:
    """Render missing clips on all cores; copies of one master share a task, because it is rendered once."""
    groups: dict[str, list[ClipSpec]] = {}
    for spec in specs:
        groups.setdefault(spec.master.key if spec.has_picture else spec.key, []).append(spec)
    began = time.perf_counter()
    with ProcessPoolExecutor(CORES) as pool:
        count = sum(pool.map(_render_all, groups.values(), [folder] * len(groups)))
    print(f"{count} clips rendered in {time.perf_counter() - began:.0f} s", flush=True)


def _render_all(specs: list[ClipSpec], folder: Path) -> int:
    for spec in specs:
        render(spec, folder)
    return len(specs)
