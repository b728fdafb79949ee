"""Embedded PostgreSQL: its cluster on disk and its server on loopback."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import psycopg
from psycopg import sql

from found_footy.errors import EngineError
from found_footy.runtime.data_folder import DataFolder, write_private
from found_footy.runtime.engine import HOST, EmbeddedEngine
from found_footy.runtime.postgres_install import Placement, all_homes, choose_placement, inside_home
from found_footy.runtime.process import Command, ManagedProcess, stop_foreign_process
from found_footy.runtime.process_table import command_line, identify

SUPERUSER = "footy"

# English messages, because some are parsed to identify a failure, and the same time zone everywhere.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


async def create_cluster(placement: Placement, password: str, folder: DataFolder) -> None:
    """Create the cluster atomically: in a temporary folder, renamed when complete."""
    home, data = placement.home, placement.data
    work = home / f"{data.name}.partial-{secrets.token_hex(4)}"
    cluster, password_file = work / "data", work / "password"
    _delete_partial_clusters(home, data.name)
    try:
        work.mkdir(mode=0o700)
        cluster.mkdir(mode=0o700)
        # A file, because arguments are visible to all users, and initdb cannot open another user's pipe.
        password_file.touch(mode=0o600)
        password_file.write_text(f"{password}\n")
        if placement.account is not None:
            work.chmod(0o711)
            for path in (password_file, cluster):
                os.chown(path, placement.account.uid, placement.account.gid)
        await _initdb(placement, cluster, password_file, folder)
        cluster.rename(data)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _delete_partial_clusters(home: Path, name: str) -> None:
    for old in home.glob(f"{name}.partial-*"):
        # Left over from a killed initdb. Its last process may still be writing; the next start removes the rest.
        shutil.rmtree(old, ignore_errors=True)


async def _initdb(placement: Placement, cluster: Path, password_file: Path, folder: DataFolder) -> None:
    process = ManagedProcess("initdb", folder)
    argv: list[str | Path] = [placement.binaries.initdb, "-D", cluster, "-U", SUPERUSER, "--pwfile", password_file]
    argv += ["--auth=scram-sha-256", "-E", "UTF8", "--no-sync"]
    argv += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    process.start(Command(argv, ENVIRONMENT, account=placement.account))
    try:
        code = await process.wait()
    finally:
        await process.stop()
    if code != 0:
        raise EngineError(f"PostgreSQL could not create its data folder (exit {code}):\n{process.log_tail()}")


async def stop_postmaster(data: Path) -> None:
    """Stop a server that still runs on this cluster, or repair the pid file of a dead one."""
    pid_file = data / "postmaster.pid"
    try:
        lines = pid_file.read_text().splitlines()
        pid = int(lines[0])
    except (FileNotFoundError, IndexError, ValueError):
        return
    identity = identify(pid)
    if identity is None:
        return
    program, _, arguments = command_line(pid).partition(" ")
    if Path(program).name == "postgres" and f"-D {data} " in arguments:
        await stop_foreign_process(identity, signal.SIGINT, timeout_seconds=15.0)
        return
    _replace_pid(pid_file, lines)


def _replace_pid(pid_file: Path, lines: list[str]) -> None:
    """Replace a pid that the system has reused with our own.

    PostgreSQL refuses to start while that process exists, unless it is the server's parent. The file must stay: its
    shared memory key lets a new server detect live backends of the old one.
    """
    # Root writes into another user's folder here, so a symbolic link is not followed.
    with open(os.open(pid_file, os.O_RDWR | os.O_NOFOLLOW), "r+") as file:
        file.write("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
        file.truncate()


def remove_home(home: Path) -> None:
    """Delete a home folder with its contents, if it exists."""
    if home.is_symlink():
        raise EngineError(f"{home} is a symbolic link; its target is not deleted.")
    if home.exists():
        shutil.rmtree(home)


# --- The server.


DATABASE = "footy"

# Startup takes longest with crash recovery after many writes.
_START_SECONDS = 60.0
_STOP_PLAN = (
    (signal.SIGINT, 10.0),  # "fast": closes connections, writes data
    (signal.SIGQUIT, 3.0),  # "immediate": the next start recovers
)
_SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "shared_buffers": "128MB",
    "max_connections": "300",
    "max_wal_size": "512MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",  # they add a line every five minutes
    "jit": "off",
}


class EmbeddedPostgres(EmbeddedEngine):
    """PostgreSQL 18 with pgvector."""

    name = "postgres"
    title = "PostgreSQL"

    def __init__(
        self, folder: DataFolder, port: int | None = None, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__(folder, inside_home(folder), port, _STOP_PLAN)
        self._settings = {**_SETTINGS, **settings}
        self._password_file = self._home / "password"
        self._password = ""

    @property
    def url(self) -> str:
        """URL of the product's database, including the password. Available after the first start."""
        return self._url(DATABASE, self._port.number)

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for clients."""
        return {"DATABASE_URL": self.url}

    async def _start(self) -> Path:
        """Create cluster and database if missing, and return when a query succeeds."""
        placement = await asyncio.to_thread(choose_placement, self._folder)
        await stop_postmaster(placement.data)
        await self._prepare_cluster(placement)
        await self._start_server(placement)
        await self._prepare_database()
        return placement.data

    async def _remove_data(self) -> None:
        """Remove it from all possible locations."""
        for home in all_homes(self._folder):
            for data in home.glob("*/postmaster.pid"):
                await stop_postmaster(data.parent)
            await asyncio.to_thread(remove_home, home)

    async def _prepare_cluster(self, placement: Placement) -> None:
        if placement.data.exists():
            if not self._password_file.exists():
                raise EngineError(
                    f"The password of the database in {placement.data} is missing: {self._password_file}."
                )
        else:
            if not self._password_file.exists():
                write_private(self._password_file, secrets.token_urlsafe(24) + "\n")
            await create_cluster(placement, self._password_file.read_text().strip(), self._folder)
        self._password = self._password_file.read_text().strip()

    async def _start_server(self, placement: Placement) -> None:
        deadline = time.monotonic() + _START_SECONDS
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        while True:
            port = self._port.choose()
            argv: list[str | Path] = [placement.binaries.postgres, "-D", placement.data, "-p", str(port), *settings]
            self._process.start(Command(argv, ENVIRONMENT, account=placement.account))
            if await self._wait_until_ready(port, deadline):
                self._port.keep(port)
                return
            log_tail = self._process.log_tail()
            # Backends of a killed server soon notice that the postmaster has exited, and exit too.
            orphans_leave = "pre-existing shared memory block" in log_tail
            port_was_taken = "Address already in use" in log_tail
            if time.monotonic() > deadline or not (orphans_leave or port_was_taken):
                raise EngineError(f"PostgreSQL exited during startup (exit {self._process.returncode}):\n{log_tail}")
            await asyncio.sleep(0.25)

    async def _wait_until_ready(self, port: int, deadline: float) -> bool:
        """Wait until a query succeeds; return False if the server exits first."""
        url = self._url("postgres", port)
        while self._process.returncode is None:
            try:
                async with await psycopg.AsyncConnection.connect(url, connect_timeout=3) as connection:
                    await connection.execute("SELECT 1")
                return True
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise EngineError(f"PostgreSQL rejects the password in {self._password_file}.") from error
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"PostgreSQL did not respond within {_START_SECONDS:.0f} s: {error}\n{self._process.log_tail()}"
                    ) from error
            await asyncio.sleep(0.03)
        return False

    async def _prepare_database(self) -> None:
        try:
            await self._create_database()
        except psycopg.Error as error:
            raise EngineError(f"Cannot prepare the database {DATABASE}: {error}") from error

    async def _create_database(self) -> None:
        admin = self._url("postgres", self._port.number)
        async with await psycopg.AsyncConnection.connect(admin, autocommit=True) as connection:
            found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if await found.fetchone() is None:
                await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    def _url(self, database: str, port: int) -> str:
        # These builds have no TLS; explicit, so that PGSSLMODE in the environment has no effect.
        return f"postgresql://{SUPERUSER}:{self._password}@{HOST}:{port}/{database}?sslmode=disable"
