"""A worker process: any command that the supervisor keeps running next to the engines."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines.process import Command, ManagedProcess

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What to run. `env` is laid over our own environment and may hold passwords."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    grace_seconds: float = 20.0
    """How long it may take to finish its work after SIGTERM."""


class WorkerProcess:
    """One worker. It counts as started once it has been spawned: it reports its own readiness elsewhere."""

    def __init__(self, spec: WorkerSpec, folder: DataFolder) -> None:
        self.name = spec.name
        self._spec = spec
        self._process = ManagedProcess(spec.name, folder, ((signal.SIGTERM, spec.grace_seconds),))

    @property
    def pid(self) -> int | None:
        """The pid while it runs."""
        return self._process.pid

    async def start(self) -> None:
        """Spawn the process."""
        program = shutil.which(self._spec.argv[0])
        if program is None:
            raise EngineError(f"The program {self._spec.argv[0]} of {self.name} was not found.")
        self._process.start(Command([program, *self._spec.argv[1:]], {**os.environ, **self._spec.env}, cwd=Path.cwd()))
        logger.info(
            "%s started", self.name, extra={"action": "worker_started", "child": self.name, "pid": self._process.pid}
        )

    async def wait(self) -> int:
        """The exit code, when it ends."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Ask it to finish, and end it when it does not."""
        await self._process.stop()
