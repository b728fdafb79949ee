"""The embedded PostgreSQL: one cluster, on loopback, with the database and the extension that the product needs."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder, write_private
from found_footy.ops.engines.cluster import (
    ENVIRONMENT,
    SUPERUSER,
    create_cluster,
    remove_home,
    stop_postmaster,
)
from found_footy.ops.engines.placement import Placement, all_homes, inside_home, place
from found_footy.ops.engines.ports import HOST, StickyPort
from found_footy.ops.engines.process import Command, ManagedProcess, stop_leftovers

logger = logging.getLogger(__name__)

DATABASE = "footy"

# Crash recovery after a long run of writes is the slowest start there is.
_START_SECONDS = 60.0
_STOP_PLAN = (
    (signal.SIGINT, 10.0),  # "fast": connections are cut, data is written
    (signal.SIGQUIT, 3.0),  # "immediate": the next start recovers
)
_SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "shared_buffers": "128MB",
    "max_connections": "100",
    "max_wal_size": "512MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",  # a line every five minutes, of no use here
    "jit": "off",
}


class EmbeddedPostgres:
    """PostgreSQL 18 with pgvector. The folder must be locked by this process while it is used."""

    name = "postgres"

    def __init__(self, folder: DataFolder, port: int | None = None) -> None:
        self._folder = folder
        self._process = ManagedProcess(self.name, folder, _STOP_PLAN)
        self._port = StickyPort(port, inside_home(folder) / "port")
        self._password_file = inside_home(folder) / "password"
        self._password = ""

    @property
    def pid(self) -> int | None:
        """The postmaster's pid while it runs."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Where the product's database answers, with the password; known after the first start."""
        return self._url(DATABASE, self._port.number)

    def environment(self) -> Mapping[str, str]:
        """The setting by which clients find it."""
        return {"DATABASE_URL": self.url}

    def ports(self) -> Mapping[str, int]:
        """Its one port."""
        return {self.name: self._port.number}

    async def start(self) -> None:
        """Start, make what is missing, and return when a query has been answered."""
        self._folder.require_lock()
        self._process.require_stopped()
        began = time.monotonic()
        await stop_leftovers(self._folder, self.name)
        placement = await asyncio.to_thread(place, self._folder)
        await stop_postmaster(placement.data)
        await self._prepare_cluster(placement)
        try:
            await self._start_server(placement)
            await self._prepare_database()
        except BaseException:  # cancelled, too: a failed start leaves nothing running
            await self.stop()
            raise
        logger.info(
            "PostgreSQL answers on port %d",
            self._port.number,
            extra={
                "action": "engine_started",
                "child": self.name,
                "pid": self.pid,
                "port": self._port.number,
                "data": str(placement.data),
                "seconds": round(time.monotonic() - began, 3),
            },
        )

    async def wait(self) -> int:
        """The exit code, when the server ends."""
        return await self._process.wait()

    async def stop(self) -> None:
        """The fast shutdown: connections are cut and data is written."""
        await self._process.stop()

    async def destroy(self) -> None:
        """Stop, and remove the data, wherever it lies."""
        self._folder.require_lock()
        await self.stop()
        await stop_leftovers(self._folder, self.name)
        for home in all_homes(self._folder):
            for data in home.glob("*/postmaster.pid"):
                await stop_postmaster(data.parent)
            await asyncio.to_thread(remove_home, home)

    async def _prepare_cluster(self, placement: Placement) -> None:
        if placement.data.exists():
            if not self._password_file.exists():
                raise EngineError(f"The password of the database in {placement.data} is lost: {self._password_file}.")
        else:
            if not self._password_file.exists():
                write_private(self._password_file, secrets.token_urlsafe(24) + "\n")
            await create_cluster(placement, self._password_file.read_text().strip(), self._folder)
        self._password = self._password_file.read_text().strip()

    async def _start_server(self, placement: Placement) -> None:
        deadline = time.monotonic() + _START_SECONDS
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        while True:
            port = self._port.choose()
            argv: list[str | Path] = [placement.binaries.postgres, "-D", placement.data, "-p", str(port), *settings]
            self._process.start(Command(argv, ENVIRONMENT, account=placement.account))
            if await self._answers(port, deadline):
                self._port.keep(port)
                return
            said = self._process.log_tail()
            # Backends of a server that was killed notice within moments that they are alone, and leave.
            orphans_leave = "pre-existing shared memory block" in said
            port_was_taken = "Address already in use" in said
            if time.monotonic() > deadline or not (orphans_leave or port_was_taken):
                raise EngineError(f"PostgreSQL ended while it started (exit {self._process.returncode}):\n{said}")
            await asyncio.sleep(0.25)

    async def _answers(self, port: int, deadline: float) -> bool:
        """True when a query was answered, False when the server ended first."""
        url = self._url("postgres", port)
        while self._process.returncode is None:
            try:
                async with await psycopg.AsyncConnection.connect(url, connect_timeout=3) as connection:
                    await connection.execute("SELECT 1")
                return True
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise EngineError(f"PostgreSQL refuses the password in {self._password_file}.") from error
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"PostgreSQL did not answer within {_START_SECONDS:.0f} s: {error}\n{self._process.log_tail()}"
                    ) from error
            await asyncio.sleep(0.03)
        return False

    async def _prepare_database(self) -> None:
        try:
            await self._make_database()
        except psycopg.Error as error:
            raise EngineError(f"The database {DATABASE} could not be prepared: {error}") from error

    async def _make_database(self) -> None:
        admin = self._url("postgres", self._port.number)
        async with await psycopg.AsyncConnection.connect(admin, autocommit=True) as connection:
            found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if await found.fetchone() is None:
                await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    def _url(self, database: str, port: int) -> str:
        # These builds have no TLS; said here, so that a PGSSLMODE in the environment changes nothing.
        return f"postgresql://{SUPERUSER}:{self._password}@{HOST}:{port}/{database}?sslmode=disable"
