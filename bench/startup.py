"""Time from `footy up` to ready, against the slowest engine alone

Cold is an empty data folder, warm the same folder again. The baseline is the slower of the two engines, started
separately.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from bench.table import table
from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal

FOOTY = str(Path(sys.executable).parent / "footy")


async def main() -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        async with Simulator(load_scenario("quick")) as simulator:
            cold, _ = await _up(folder, simulator)
            warm, stop = await _up(folder, simulator)
        cold_floor = await _engines(Path(parent) / "floor")
        warm_floor = await _engines(Path(parent) / "floor")
        for used in (folder, Path(parent) / "floor"):
            data = DataFolder(used)
            with data.lock():
                await EmbeddedPostgres(data).destroy()
    table(
        ["start", "seconds to ready", "engines alone", "ratio"],
        [
            ["cold", f"{cold:.1f}", f"{cold_floor:.1f}", f"{cold / cold_floor:.1f}"],
            ["warm", f"{warm:.1f}", f"{warm_floor:.1f}", f"{warm / warm_floor:.1f}"],
        ],
    )
    print(f"\nStop on SIGTERM: {stop:.1f} s.")


async def _up(folder: Path, simulator: Simulator) -> tuple[float, float]:
    environment = {
        **os.environ,
        "FOOTY_DATA_DIR": str(folder),
        "FOOTY_API_FOOTBALL_URL": simulator.url,
        "API_FOOTBALL_KEY": simulator.key,
    }
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(FOOTY, "up", env=environment, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    while json.loads(await process.stderr.readline())["action"] != "ready":
        pass
    ready = time.perf_counter() - began
    process.send_signal(signal.SIGTERM)
    began = time.perf_counter()
    await process.communicate()
    return ready, time.perf_counter() - began


async def _engines(folder: Path) -> float:
    data = DataFolder(folder)
    with data.lock():
        engines = (EmbeddedPostgres(data), EmbeddedTemporal(data))
        began = time.perf_counter()
        await asyncio.gather(*(engine.start() for engine in engines))
        seconds = time.perf_counter() - began
        for engine in engines:
            await engine.stop()
    return seconds
