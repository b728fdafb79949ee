"""The engines and servers of chaos runs, each behind a proxy and on a disk of its own, and restarted when it dies."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from found_footy.browser.chromium import find_chromium
from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.runtime.embedded_temporal import EmbeddedTemporal
from found_footy.runtime.embedded_valkey import EmbeddedValkey
from found_footy.runtime.engine import Supervised, free_port
from found_footy.runtime.supervisor import WorkerProcess, WorkerSpec
from found_footy.runtime.system import FOOTY
from found_footy.storage.migrations import migrate
from tests.chaos.disturbances import DISKS, LINKS, Target
from tests.chaos.vision_server import VisionServer
from tests.support.link import Link
from tests.support.seaweed import SeaweedServer

MEGABYTE = 1_000_000
DISK_SIZES = {Target.POSTGRES: 1500, Target.TEMPORAL: 1500, Target.VALKEY: 200, Target.OBJECTS: 1500, Target.WORK: 500}
"""In megabytes. They occupy only as much memory as is stored on them."""
TEMPLATE = "chaos_template"
RESTART_SECONDS = 0.3
SOURCE_SECONDS = 20.0
"""Timeout of a search."""


class KeptProcess:
    """Starts a process again whenever it ends, as a service manager does."""

    def __init__(self, unit: Supervised) -> None:
        self.unit = unit
        self.restarts = 0
        self._watch: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self.unit.pid

    async def start(self) -> None:
        await self.unit.start()
        self._watch = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        await self.unit.stop()

    async def _keep_running(self) -> None:
        while True:
            await self.unit.wait()
            while True:
                await asyncio.sleep(RESTART_SECONDS)
                with suppress(EngineError, OSError, RuntimeError):  # its disk may be full
                    await self.unit.start()
                    break
            self.restarts += 1


class ObjectServer:
    """SeaweedFS as a supervised process."""

    name = "objects"

    def __init__(self, folder: Path) -> None:
        self.server = SeaweedServer(folder)

    @property
    def pid(self) -> int | None:
        return self.server.pid

    async def start(self) -> None:
        self.server.kill()
        await asyncio.to_thread(self.server.start)

    async def wait(self) -> int:
        while self.server.pid is not None:
            await asyncio.sleep(0.05)
        return 0

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.kill)


class Disk:
    """A file system in memory whose size can change; a plain folder where mounting is not allowed."""

    def __init__(self, path: Path, megabytes: int) -> None:
        self.path = path
        self._bytes = megabytes * MEGABYTE
        path.mkdir(mode=0o711, exist_ok=True)
        self.is_mounted = _run("mount", "-t", "tmpfs", "-o", f"size={self._bytes},mode=711", "tmpfs", str(path))

    def fill(self) -> None:
        """Shrink it to what is stored there."""
        found = os.statvfs(self.path)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        self._resize(max(used, found.f_frsize))

    def free(self) -> None:
        self._resize(self._bytes)

    def unmount(self) -> None:
        if self.is_mounted:
            _run("umount", "--lazy", str(self.path))

    def _resize(self, size: int) -> None:
        if not _run("mount", "-o", f"remount,size={size}", str(self.path)):
            raise RuntimeError(f"{self.path} cannot be resized")


def _run(*command: str) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@dataclass(frozen=True)
class Addresses:
    """What one run uses of the shared servers: settings through the proxies, and the database past them."""

    settings: dict[str, Any]
    database_url: str
    temporal_address: str
    namespace: str
    objects: dict[str, Any]


class Stage:
    """Shared by all runs. The outside and the receiver belong to a run, their links to the stage."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="footy-chaos-"))
        self.folder.chmod(0o711)
        self.links = {target: Link() for target in LINKS}
        self.disks: dict[Target, Disk] = {}
        self.servers: dict[Target, KeptProcess] = {}
        self.has_browser = True
        self._secret = secrets.token_hex(16)
        self._runs = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _open(self) -> None:
        for target in DISKS:
            self.disks[target] = Disk(self.folder / target, DISK_SIZES[target])
            self._stack.callback(self.disks[target].unmount)
        for link in self.links.values():
            await self._stack.enter_async_context(link)
        self._postgres = EmbeddedPostgres(self._data_folder(Target.POSTGRES), settings={"fsync": "off"})
        self._temporal = EmbeddedTemporal(self._data_folder(Target.TEMPORAL))
        self._valkey = EmbeddedValkey(self._data_folder(Target.VALKEY))
        self._objects = ObjectServer(self.folder / Target.OBJECTS)
        self._vision = VisionServer(self.folder / "ocr")
        units: dict[Target, Supervised] = {
            Target.POSTGRES: self._postgres,
            Target.TEMPORAL: self._temporal,
            Target.VALKEY: self._valkey,
            Target.OBJECTS: self._objects,
            Target.VISION: self._vision,
            Target.BROWSER: self._browser(),
        }
        await asyncio.gather(*(self._start(target, unit) for target, unit in units.items()))
        self.links[Target.POSTGRES].target = self._postgres.ports()["postgres"]
        self.links[Target.TEMPORAL].target = self._temporal.ports()["temporal"]
        self.links[Target.VALKEY].target = next(iter(self._valkey.ports().values()))
        self.links[Target.OBJECTS].target = urlsplit(self._objects.server.endpoint).port
        self.links[Target.VISION].target = urlsplit(self._vision.url).port
        await self._create_database(TEMPLATE, "template0")
        await migrate(self._database_url(TEMPLATE))

    async def _start(self, target: Target, unit: Supervised) -> None:
        kept = KeptProcess(unit)
        self.servers[target] = kept
        self._stack.push_async_callback(kept.stop)
        await kept.start()

    def _data_folder(self, name: str) -> DataFolder:
        folder = DataFolder(self.folder / name)
        self._stack.enter_context(folder.lock())
        return folder

    def _browser(self) -> WorkerProcess:
        port = free_port()
        self.links[Target.BROWSER].target = port
        environment = {
            "FOOTY_DATA_DIR": str(self.folder / "browser-data"),
            "FOOTY_BROWSER_PORT": str(port),
            "FOOTY_BROWSER_SECRET": self._secret,
            "FOOTY_BROWSER_PATH": str(find_chromium(None)),
            "FOOTY_BROWSER_HEADLESS": "true",
            "FOOTY_BROWSER_FRESH_SECONDS": "1",
            "FOOTY_X_CALLS": "100000",
            "FOOTY_SOURCE_TIMEOUT_SECONDS": str(SOURCE_SECONDS),
            "FOOTY_X_URL": self.links[Target.OUTSIDE].url,
            "FOOTY_PRIVATE_HOSTS": self.links[Target.OUTSIDE].host,
        }
        folder = self._data_folder("browser")
        return WorkerProcess(WorkerSpec("browser", [FOOTY, "browser"], environment), folder)

    @property
    def run_name(self) -> str:
        """Of the latest run: its namespace, and its folder."""
        return f"chaos-{self._runs}"

    async def prepare_run(self) -> Addresses:
        """An empty database, cache, namespace and bucket prefix."""
        self._runs += 1
        name = f"chaos_{self._runs}"
        await self._create_database(name, TEMPLATE)
        url, namespace = self._database_url(name), self.run_name
        links = self.links
        cache = urlsplit(self._valkey.url)._replace(path=f"/{self._runs % 16}")
        await _flush(cache.geturl())
        server = self._objects.server
        objects = {
            "object_store_url": f"s3://{server.bucket}/{namespace}",
            "s3_endpoint": server.endpoint,
            "s3_access_key": SecretStr(server.access_key),
            "s3_secret_key": SecretStr(server.secret_key),
        }
        settings = {
            **objects,
            "s3_endpoint": links[Target.OBJECTS].url,
            "database_url": SecretStr(_through(url, links[Target.POSTGRES])),
            "redis_url": SecretStr(_through(cache.geturl(), links[Target.VALKEY])),
            "temporal_address": links[Target.TEMPORAL].host,
            "temporal_namespace": namespace,
            "llama_url": links[Target.VISION].url,
            "browser_url": links[Target.BROWSER].url,
            "browser_secret": SecretStr(self._secret),
        }
        return Addresses(settings, url, self._temporal.address, namespace, objects)

    def restore(self) -> None:
        """End what disturbances of a failed run left."""
        for link in self.links.values():
            link.restore()
        for disk in self.disks.values():
            if disk.is_mounted:
                disk.free()
        for server in self.servers.values():
            if server.pid is not None:
                signal_tree(server.pid, signal.SIGCONT)

    def _database_url(self, name: str) -> str:
        return urlsplit(self._postgres.url)._replace(path=f"/{name}").geturl()

    async def _create_database(self, name: str, template: str) -> None:
        from psycopg import AsyncConnection, OperationalError, sql

        statement = sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template))
        async with asyncio.timeout(60):
            while True:
                try:
                    async with await AsyncConnection.connect(
                        self._database_url("postgres"), autocommit=True
                    ) as connection:
                        await connection.execute(statement)
                        return
                except OperationalError:  # of a server that recovers
                    await asyncio.sleep(0.2)


def _through(url: str, link: Link) -> str:
    parts = urlsplit(url)
    user, _, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}@{link.host}" if user else link.host).geturl()


async def _flush(url: str) -> None:
    from found_footy.storage.redis import RedisCache

    cache = RedisCache(url)
    try:
        await cache.run("FLUSHDB")
    finally:
        await cache.aclose()


def tree_of(pid: int) -> list[int]:
    """The process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def signal_tree(pid: int, number: signal.Signals) -> None:
    send(tree_of(pid), number)


def send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    async with Stage() as stage:
        yield stage
