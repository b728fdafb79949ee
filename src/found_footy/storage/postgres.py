"""PostgreSQL: connection pool, named queries, error translation and advisory locks."""

from __future__ import annotations

import re
import select
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from found_footy.config import Settings
from found_footy.errors import EngineError, StoreUnavailable
from found_footy.storage.connections import ANSWER_SECONDS, TCP_OPTIONS, bounded, connect, limit_statements
from found_footy.storage.migrations import SchemaFence

Connection = AsyncConnection[DictRow]
Query: TypeAlias = bytes
"""Bytes, because psycopg types accept only literal strings."""


def load_queries(package: str | None, name: str) -> Mapping[str, Query]:
    """Read the queries of `{name}.sql`, from the folder of the module that uses them.

    A query starts at a line `-- name: …` and ends at the next.
    """
    text = (files(package or "") / f"{name}.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {query: sql.strip().removesuffix(";").encode() for query, sql in zip(parts[::2], parts[1::2], strict=True)}


DEFAULT_CONNECTIONS = 4
"""Per process. Statements take milliseconds, so a few connections serve all activities of a worker."""


class Database:
    """A connection pool, opened on first use. Connections fail unless the schema is that of this version.

    Statements time out after STATEMENT_SECONDS, and connections to an unresponsive server after `answer_seconds`.
    """

    def __init__(
        self,
        url: str,
        *,
        max_size: int = DEFAULT_CONNECTIONS,
        cursor_factory: type[AsyncCursor[Any]] = AsyncCursor,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._redacted_url = redacted_url(url)
        self._schema = SchemaFence()
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            timeout=10,
            open=False,
            connection_class=bounded(answer_seconds),
            kwargs={"row_factory": dict_row, "cursor_factory": cursor_factory, **TCP_OPTIONS},
            configure=limit_statements,
            check=_check_idle_connection,
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self, *, check_schema: bool = True) -> AsyncIterator[Connection]:
        """Run one transaction: committed at the end, rolled back on an error. Raises StoreUnavailable."""
        with translate_errors(self._redacted_url):
            async with self._pool.connection() as connection:
                if check_schema:
                    await self._schema.check(connection)
                yield connection

    async def fetch(self, query: Query, **params: Any) -> list[DictRow]:
        """Run one query in its own transaction."""
        async with self.connection() as connection:
            return await fetch(connection, query, params)


def require_database_url(settings: Settings) -> str:
    """Raises EngineError if it is not set."""
    if settings.database_url is None:
        raise EngineError("DATABASE_URL is not set. Start `footy up`, or point DATABASE_URL at a PostgreSQL server.")
    return settings.database_url.get_secret_value()


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    database = Database(require_database_url(settings), max_size=settings.database_connections)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def _check_idle_connection(connection: Connection) -> None:
    """Check a connection only if it has unread data, as after a server restart."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


async def fetch(connection: Connection, query: Query, params: Mapping[str, Any]) -> list[DictRow]:
    cursor = await connection.execute(query, params)
    return await cursor.fetchall() if cursor.description else []


@contextmanager
def translate_errors(server: str) -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable(f"{server}: {str(error).strip()}") from error


def redacted_url(url: str) -> str:
    """Return the URL without credentials, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


WATCHDOG_LOCK = 7_042_027
"""Advisory lock number, unique in this database."""
LOCK_ANSWER_SECONDS = 15.0


class AdvisoryLock:
    """A lock held by one process across all machines. The database releases it when the holder's connection closes."""

    def __init__(self, url: str, lock: int = WATCHDOG_LOCK) -> None:
        self._url = url
        self._lock = lock
        self._connection: AsyncConnection | None = None

    async def try_acquire(self) -> bool:
        """Return whether this process holds the lock. Raises StoreUnavailable, and then another process may hold it."""
        try:
            if self._connection is not None:
                await self._connection.execute("select 1")
                return True
            return await self._acquire()
        except psycopg.Error as error:
            await self.release()
            raise StoreUnavailable(f"{redacted_url(self._url)}: {str(error).strip()}") from error

    async def _acquire(self) -> bool:
        connection = await connect(self._url, autocommit=True, answer_seconds=LOCK_ANSWER_SECONDS)
        acquired = False
        try:
            # Makes the server detect a lost machine; otherwise the lock would never be released.
            await limit_statements(connection, 10)
            cursor = await connection.execute("select pg_try_advisory_lock(%s)", [self._lock])
            acquired = bool((await cursor.fetchone() or (False,))[0])
        finally:
            if acquired:
                self._connection = connection
            else:
                await connection.close()
        return acquired

    async def release(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()


def storable(text: str, max_length: int | None = None) -> str:
    """Remove what PostgreSQL cannot store: NUL characters and unpaired surrogates."""
    return text.replace("\x00", "").encode(errors="replace").decode()[:max_length]
