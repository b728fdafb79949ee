"""Connections to PostgreSQL with a limit on every wait.

TCP keepalives detect a lost machine. They do not detect a server, proxy or firewall that accepts data and never
responds, so each response is limited to `answer_seconds`.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.rows import TupleRow

RV = TypeVar("RV")

STATEMENT_SECONDS = 60
"""The server cancels a statement after this time."""
ANSWER_SECONDS = 75.0
"""The client closes a connection after this time. Longer than the server's limit, whose message comes first."""
MIGRATION_SECONDS = 1800.0
IDLE_TRANSACTION_SECONDS = 300
"""Releases the locks of a worker that hangs inside a transaction."""

TCP_OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


WEB_CONNECTIONS = 4 + 2
"""Of `footy web` besides its pool: readers, the outbox reader and its listener."""
SCHEMA_CHECKS = 8
"""Short connections that many processes open twice a minute."""


def connections_needed(workers: int, pool: int) -> int:
    """Connections of a system at its busiest: workers, `footy web`, the watchdog with its lock, and one command."""
    return workers * pool + (pool + WEB_CONNECTIONS) + (pool + 1) + pool + SCHEMA_CHECKS


def workers_that_fit(allowed: int, pool: int) -> int:
    return max(0, (allowed - connections_needed(0, pool)) // pool)


async def connections_allowed(url: str) -> int:
    """Connections that the server grants to ordinary users."""
    async with await connect(url, answer_seconds=15.0, autocommit=True) as connection:
        cursor = await connection.execute(
            "select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
            " - coalesce(current_setting('reserved_connections', true)::int, 0)"
        )
        row = await cursor.fetchone()
    return int(row[0]) if row else 0


class BoundedConnection(AsyncConnection[Any]):
    """Closes the connection and raises OperationalError if the server does not respond in time."""

    answer_seconds = ANSWER_SECONDS

    async def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:  # noqa: ASYNC109
        if timeout is not None:
            return await super().wait(gen, interval, timeout)
        timed_out = False

        def close_socket() -> None:
            # A cancellation would first send a request to the unresponsive server.
            nonlocal timed_out
            timed_out = True
            with suppress(OSError, psycopg.OperationalError), socket.socket(fileno=os.dup(self.pgconn.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)

        timer = asyncio.get_running_loop().call_later(self.answer_seconds, close_socket)
        try:
            return await super().wait(gen, interval)
        except psycopg.OperationalError:
            if timed_out:
                raise psycopg.OperationalError(f"no response for {self.answer_seconds:g} s") from None
            raise
        finally:
            timer.cancel()


def bounded(answer_seconds: float) -> type[BoundedConnection]:
    """Return a connection class with another limit."""
    return type("BoundedConnection", (BoundedConnection,), {"answer_seconds": answer_seconds})


async def limit_statements(
    connection: AsyncConnection[Any], seconds: float = STATEMENT_SECONDS, *, read_only: bool = False
) -> None:
    """Set the limits of the session. Not in the connection options: connection poolers reject unknown ones."""
    limits = (
        f"set statement_timeout = {round(seconds * 1000)};"
        f" set idle_in_transaction_session_timeout = {IDLE_TRANSACTION_SECONDS * 1000};"
        # Detects lost clients, so that their sessions end.
        " set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"
    )
    await connection.execute((limits + ("; set default_transaction_read_only = on" if read_only else "")).encode())
    if not connection.autocommit:
        await connection.commit()


async def connect(url: str, *, answer_seconds: float = ANSWER_SECONDS, **options: Any) -> AsyncConnection[TupleRow]:
    """Open a connection outside of a pool."""
    return await bounded(answer_seconds).connect(url, **TCP_OPTIONS, **options)
