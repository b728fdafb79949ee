"""Brings a database to the schema of this version. Safe to run by many processes at once, and again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

import psycopg

from found_footy.adapters.storage.postgres.database import display_url, translated
from found_footy.domain.errors import EngineError

LOCK = 7_042_026
"""Any number that nobody else uses as an advisory lock in this database."""


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    folder = files(__package__) / "migrations"
    found = [Migration(f.name, f.read_text(encoding="utf-8")) for f in folder.iterdir() if f.name.endswith(".sql")]
    return sorted(found, key=lambda migration: migration.name)


async def migrate(url: str) -> list[str]:
    """Applies what is missing, all or nothing; returns the names."""
    with translated(display_url(url)):
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=10) as connection:
            await connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
            await connection.execute(
                "create table if not exists schema_migrations"
                " (name text primary key, checksum text not null, applied_at timestamptz not null default now())"
            )
            cursor = await connection.execute("select name, checksum from schema_migrations")
            applied: dict[str, str] = dict(await cursor.fetchall())
            fresh = []
            for migration in migrations():
                known = applied.get(migration.name)
                if known is None:
                    await connection.execute(migration.sql.encode())
                    await connection.execute(
                        "insert into schema_migrations (name, checksum) values (%s, %s)",
                        [migration.name, migration.checksum],
                    )
                    fresh.append(migration.name)
                elif known != migration.checksum:
                    raise EngineError(f"migration {migration.name} was changed after it was applied to this database")
            return fresh


async def inspect(url: str) -> tuple[str, list[str]]:
    """The server's version, and the migrations that it lacks."""
    with translated(display_url(url)):
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=10) as connection:
            applied: set[str] = set()
            cursor = await connection.execute("select to_regclass('schema_migrations') is not null")
            if (await cursor.fetchone() or (False,))[0]:
                cursor = await connection.execute("select name from schema_migrations")
                applied = {row[0] for row in await cursor.fetchall()}
            lacking = [migration.name for migration in migrations() if migration.name not in applied]
            return connection.info.parameter_status("server_version") or "", lacking
