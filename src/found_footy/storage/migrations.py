"""Migrations of the database schema, and checks that reject any other schema.

`schema/` contains the baseline, one file per feature. `schema/documents.sql` defines the document functions and views,
and is applied again whenever it changes. Later changes are in `schema/changes/0002_*.sql` and so on.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NoReturn

import psycopg
from psycopg.rows import tuple_row

from found_footy.errors import SchemaOutdated, SchemaTooNew, StoreUnavailable
from found_footy.storage.connections import MIGRATION_SECONDS, connect
from found_footy.version import current_build

log = logging.getLogger(__name__)

BASELINE = "0001_baseline"
BASELINE_FILES = (
    "text_search",
    "fixtures",
    "feeds",
    "clips",
    "library",
    "takedowns",
    "outbox",
    "notifications",
    "recordings",
    "operations",
    "access",
)
DOCUMENTS = "documents"
CHECK_SECONDS = 30.0
INSPECTION_SECONDS = 20.0
MIGRATION_LOCK = 7_042_026
"""Advisory lock number, unique in this database."""

Connection = psycopg.AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Differences between the database and the schema of this version."""

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Applied by a newer version."""
    changed: tuple[str, ...] = ()
    """Applied with different content."""

    def check(self) -> None:
        """Raises SchemaTooNew or SchemaOutdated."""
        self.check_not_newer()
        if self.missing:
            raise SchemaOutdated(f"the database schema is missing {', '.join(self.missing)}")

    def check_not_newer(self) -> None:
        if self.unknown:
            raise SchemaTooNew(f"the database schema has {', '.join(self.unknown)}, unknown to this version")
        if self.changed:
            raise SchemaTooNew(f"the database schema was created with a different version of {', '.join(self.changed)}")


@cache
def migrations() -> tuple[Migration, ...]:
    """Migrations in the order of application. Documents come last because they depend on all tables."""
    folder = files(__package__) / "schema"
    baseline = "\n".join(_read(folder / f"{name}.sql") for name in BASELINE_FILES)
    changes = folder / "changes"
    later = sorted(
        (Migration(each.name.removesuffix(".sql"), _read(each)) for each in changes.iterdir())
        if changes.is_dir()
        else (),
        key=lambda migration: migration.name,
    )
    return (Migration(BASELINE, baseline), *later, Migration(DOCUMENTS, _read(folder / f"{DOCUMENTS}.sql")))


def _read(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


async def migrate(url: str) -> list[str]:
    """Apply missing migrations in one transaction and return them. Safe to run concurrently. Raises SchemaTooNew."""
    from found_footy.storage.postgres import redacted_url, translate_errors  # circular import

    with translate_errors(redacted_url(url)):
        async with await connect(url, answer_seconds=MIGRATION_SECONDS) as connection:
            await connection.execute("select pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
            state = await read_schema_state(connection)
            state.check_not_newer()
            await connection.execute(
                "create table if not exists schema_migrations ("
                " number bigint generated always as identity primary key,"
                " name text not null,"
                " checksum text not null,"
                " applied_at timestamptz not null default now(),"
                " applied_by text not null,"
                " unique (name, checksum))"
            )
            for migration in migrations():
                if migration.name in state.missing:
                    await connection.execute(migration.sql.encode())
                    await connection.execute(
                        "insert into schema_migrations (name, checksum, applied_by) values (%s, %s, %s)",
                        [migration.name, migration.checksum, f"found-footy {current_build()}"],
                    )
            return list(state.missing)


async def inspect(url: str) -> tuple[str, SchemaState]:
    """Return the server version and the state of the schema."""
    from found_footy.storage.postgres import redacted_url, translate_errors

    with translate_errors(redacted_url(url)):
        async with await connect(url, answer_seconds=INSPECTION_SECONDS) as connection:
            state = await read_schema_state(connection)
            return connection.info.parameter_status("server_version") or "", state


async def read_schema_state(connection: Connection) -> SchemaState:
    """Compare the database with this version."""
    # The connection's default cursor may have another row factory or count statements.
    async with psycopg.AsyncCursor(connection, row_factory=tuple_row) as cursor:
        await cursor.execute(
            "select count(*), count(*) filter (where attname = 'number') from pg_attribute"
            " where attrelid = to_regclass('schema_migrations') and attnum > 0"
        )
        columns, has_number = await cursor.fetchone() or (0, 0)
        if columns and not has_number:
            raise SchemaTooNew("the database was created by a pre-release version")
        applied: list[tuple[str, str]] = []
        if columns:
            await cursor.execute("select name, checksum from schema_migrations order by number")
            applied = await cursor.fetchall()
    return compare_schema(applied)


def compare_schema(applied: list[tuple[str, str]]) -> SchemaState:
    """Compare applied migrations, as (name, checksum) in the order of application, with those of this version."""
    ours = {migration.name: migration.checksum for migration in migrations()}
    checksums = {name: checksum for name, checksum in applied if name != DOCUMENTS}
    documents = [checksum for name, checksum in applied if name == DOCUMENTS]
    missing = [name for name in ours if name != DOCUMENTS and name not in checksums]
    unknown = [name for name in checksums if name not in ours]
    changed = [name for name in checksums if name in ours and checksums[name] != ours[name]]
    if ours[DOCUMENTS] not in documents:
        missing.append(DOCUMENTS)
    elif documents[-1] != ours[DOCUMENTS]:
        unknown.append(DOCUMENTS)  # a newer version has applied its documents since
    return SchemaState(tuple(missing), tuple(unknown), tuple(changed))


async def watch_schema(url: str) -> NoReturn:
    """Check the schema periodically. Raises SchemaTooNew or SchemaOutdated."""
    while True:
        try:
            _, state = await inspect(url)
            state.check()
        except (SchemaOutdated, SchemaTooNew):
            raise
        except StoreUnavailable as error:
            log.warning("%s", error, extra={"action": "schema_not_checked"})
        await asyncio.sleep(CHECK_SECONDS)


class SchemaFence:
    """Checks the schema of connections, at most once every CHECK_SECONDS.

    The check is lazy: the web server and the watchdog must start while the database is down.
    """

    def __init__(self) -> None:
        self._checked_at: float | None = None

    async def check(self, connection: Connection) -> None:
        """Raises SchemaTooNew or SchemaOutdated."""
        now = time.monotonic()
        if self._checked_at is not None and now - self._checked_at < CHECK_SECONDS:
            return
        (await read_schema_state(connection)).check()
        self._checked_at = now
