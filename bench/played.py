"""A scripted matchday in the demo's profile, without a browser; its clips are rendered before the clock starts."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap_stores import open_store
from found_footy.config import Settings
from found_footy.ops.demo import clear, demo_settings
from found_footy.ops.running import Running, running
from found_footy.simulator import Simulator
from found_footy.simulator.clips.rendering import render
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.script import Scenario

CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Played:
    simulator: Simulator
    system: Running
    store: PostgresStore

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        async with self.store.database.connection() as connection:
            return await (await connection.execute(sql.encode())).fetchall()


@asynccontextmanager
async def played(scenario: Scenario, folder: Path, clips: Path, **options: Any) -> AsyncIterator[Played]:
    """Engines, workers and simulator, until the block is left; the options are the simulator's."""
    logging.disable(logging.WARNING)
    async with Simulator(scenario, clips_folder=clips, **options) as simulator:
        settings = demo_settings(Settings(_env_file=None), simulator).model_copy(
            update={"data_dir": folder, "web_port": 0}
        )
        try:
            async with running(settings) as system, open_store(system.settings) as store:
                yield Played(simulator, system, store)
        finally:
            await clear(settings)


def prepare(specs: Iterable[ClipSpec], folder: Path) -> None:
    """Renders what is not there yet, on all cores; copies of one master go together, as it is made once."""
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
