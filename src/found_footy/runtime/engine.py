"""Interfaces of supervised processes and engines, what the embedded engines share, and their ports."""

from __future__ import annotations

import asyncio
import logging
import random
import shutil
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Protocol

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder, write_private
from found_footy.runtime.process import TERMINATE, ManagedProcess, StopPlan, stop_leftovers

logger = logging.getLogger(__name__)


class Supervised(Protocol):
    """A supervised process. A failed or cancelled `start` leaves nothing running."""

    @property
    def name(self) -> str:
        """Name in logs and in the status."""

    @property
    def pid(self) -> int | None:
        """Pid; None if it is not running."""

    async def start(self) -> None:
        """Start, and return once it responds. Raises EngineError if it does not."""

    async def wait(self) -> int:
        """Wait for the process to exit and return its exit code."""

    async def stop(self) -> None:
        """Stop it if it is running."""


class Engine(Supervised, Protocol):
    """A server with an address for clients. It keeps its address when it is started again."""

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for clients. Available after the first start."""

    def ports(self) -> Mapping[str, int]:
        """Return the ports by name. Available after the first start."""


# --- Loopback ports that persist between runs.


HOST = "127.0.0.1"

# Below the ephemeral port range, where an outgoing connection could take the port while a server restarts; a client
# that keeps retrying could even connect to itself.
_LOWEST, _HIGHEST = 20_000, 29_999


def is_free(port: int) -> bool:
    """Whether a server can listen on this loopback port now."""
    with socket.socket() as probe:
        # Like a server, ignore lingering connections of the last run.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def require_free(port: int) -> None:
    """Raise EngineError if the port is in use."""
    if not is_free(port):
        raise EngineError(f"Port {port} on {HOST} is in use by another program.")


def free_port() -> int:
    """Return a free port outside the ephemeral range, so that no outgoing connection takes it meanwhile."""
    for port in random.sample(range(_LOWEST, _HIGHEST + 1), 200):
        if is_free(port):
            return port
    raise EngineError(f"No free port between {_LOWEST} and {_HIGHEST} on {HOST}.")


class StickyPort:
    """Port of one engine: the configured one, otherwise that of the last run if free, otherwise any free one.

    After `keep`, the port never changes, because clients use it.
    """

    def __init__(self, given: int | None, memory: Path) -> None:
        self._port = given
        self._memory = memory

    @property
    def number(self) -> int:
        """The port. Raises EngineError before the first start."""
        if self._port is None:
            raise EngineError("The engine has no port before it has started.")
        return self._port

    def choose(self) -> int:
        """Return the port to try. Raises EngineError if the fixed port is in use."""
        if self._port is not None:
            require_free(self._port)
            return self._port
        remembered = self._read_last_port()
        return remembered if remembered is not None and is_free(remembered) else free_port()

    def keep(self, port: int) -> None:
        """Fix the port for this run, and prefer it for the next one."""
        self._port = port
        if port != self._read_last_port():
            write_private(self._memory, f"{port}\n")

    def _read_last_port(self) -> int | None:
        try:
            return int(self._memory.read_text())
        except (FileNotFoundError, ValueError):
            return None


# --- Embedded engines.


class EmbeddedEngine(ABC):
    """A server on loopback whose program comes from a package. This process must hold the lock of the folder."""

    name: ClassVar[str]
    title: ClassVar[str]
    """Name in messages."""

    def __init__(self, folder: DataFolder, home: Path, port: int | None, stop_plan: StopPlan = TERMINATE) -> None:
        self._folder = folder
        self._home = home
        self._process = ManagedProcess(self.name, folder, stop_plan)
        self._port = StickyPort(port, home / "port")

    @property
    def pid(self) -> int | None:
        """Pid of the server, None if it is not running."""
        return self._process.pid

    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """Return the settings for clients. Available after the first start."""

    def ports(self) -> Mapping[str, int]:
        """Return the port by name."""
        return {self.name: self._port.number}

    async def start(self) -> None:
        """Start the server and return when it responds."""
        self._folder.require_lock()
        self._process.require_stopped()
        began = time.monotonic()
        await stop_leftovers(self._folder, self.name)
        try:
            data = await self._start()
        except BaseException:  # cancelled, too: a failed start leaves nothing running
            await self.stop()
            raise
        logger.info(
            "%s listens on port %d",
            self.title,
            self._port.number,
            extra={
                "action": "engine_started",
                "child": self.name,
                "pid": self.pid,
                "port": self._port.number,
                "data": str(data),
                "seconds": round(time.monotonic() - began, 3),
            },
        )

    @abstractmethod
    async def _start(self) -> Path:
        """Start the server on the sticky port; return the folder of its data when it responds."""

    async def wait(self) -> int:
        """Wait for the server to exit and return its exit code."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Stop the server after its data has reached the disk."""
        await self._process.stop()

    async def destroy(self) -> None:
        """Stop the server and remove its data."""
        self._folder.require_lock()
        await self.stop()
        await stop_leftovers(self._folder, self.name)
        await self._remove_data()

    async def _remove_data(self) -> None:
        if self._home.exists():
            await asyncio.to_thread(shutil.rmtree, self._home)
