"""Restarts the workers of this machine: `footy up` brings back whichever ends, so it is enough to end them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.identity import ProcessIdentity, identify, is_running

PREFIX = "worker-"
GRACE_SECONDS = 20.0
"""A worker that is well has finished by then; one that hangs would never."""
LOOK_SECONDS = 0.1


class LocalWorkers:
    def __init__(self, data_dir: Path, grace_seconds: float = GRACE_SECONDS) -> None:
        self._folder = DataFolder(data_dir)
        self._grace = grace_seconds

    async def restart(self) -> str:
        workers = self._workers()
        if not workers:
            return "no workers run here"
        _send(signal.SIGTERM, workers)
        hanging = await _still_there(workers, self._grace)
        _send(signal.SIGKILL, hanging)
        left = await _still_there(hanging, 5.0)
        if left:
            pids = ", ".join(str(worker.pid) for worker in left)
            raise EngineError(f"these workers cannot be ended: {pids}")
        killed = f"; killed because they did not react: {len(hanging)}" if hanging else ""
        return f"workers ended: {len(workers)}{killed}"

    def _workers(self) -> list[ProcessIdentity]:
        runtime = self._folder.read_runtime()
        pids = [pid for name, pid in runtime.pids.items() if name.startswith(PREFIX)] if runtime else []
        found = [identify(pid) for pid in pids]
        return [each for each in found if each is not None]


def _send(number: signal.Signals, workers: Iterable[ProcessIdentity]) -> None:
    for worker in workers:
        if is_running(worker):
            with suppress(ProcessLookupError):
                os.kill(worker.pid, number)


async def _still_there(workers: list[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    """They are children of another process, so all that can be done is to look again and again."""
    left = workers
    for _ in range(max(1, round(seconds / LOOK_SECONDS))):
        left = [each for each in left if is_running(each)]
        if not left:
            break
        await asyncio.sleep(LOOK_SECONDS)
    return left
