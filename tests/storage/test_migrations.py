"""The schema is applied once, and a program refuses a database of another version."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import psycopg
import pytest

from found_footy.config import Settings
from found_footy.errors import SchemaOutdated, SchemaTooNew
from found_footy.fixtures.read_store import SQL as FIXTURES_SQL
from found_footy.storage import migrations as module
from found_footy.storage.migrations import (
    BASELINE,
    DOCUMENTS,
    Migration,
    SchemaState,
    compare_schema,
    inspect,
    migrate,
    migrations,
    watch_schema,
)
from found_footy.storage.postgres import Database
from found_footy.storage.read_pool import ReadPool

OURS = [(each.name, each.checksum) for each in migrations()]
BASELINE_ROW, DOCUMENTS_ROW = OURS[0], OURS[-1]


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(statement.encode())


FUTURE = "insert into schema_migrations (name, checksum, applied_by) values ('9999_future', 'x', 'found-footy 99')"


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        ([], SchemaState(missing=(BASELINE, DOCUMENTS))),
        (OURS, SchemaState()),
        ([BASELINE_ROW], SchemaState(missing=(DOCUMENTS,))),
        ([(BASELINE, "other"), DOCUMENTS_ROW], SchemaState(changed=(BASELINE,))),
        ([*OURS, ("9999_future", "x")], SchemaState(unknown=("9999_future",))),
        ([BASELINE_ROW, (DOCUMENTS, "older")], SchemaState(missing=(DOCUMENTS,))),
        ([BASELINE_ROW, (DOCUMENTS, "older"), DOCUMENTS_ROW], SchemaState()),
        ([*OURS, (DOCUMENTS, "newer")], SchemaState(unknown=(DOCUMENTS,))),
    ],
    ids=["empty", "equal", "no documents", "changed", "newer", "old documents", "both documents", "newer documents"],
)
def test_a_database_is_compared_with_the_program(applied: list[tuple[str, str]], expected: SchemaState) -> None:
    assert compare_schema(applied) == expected


async def test_concurrent_migrations_apply_the_schema_once(empty_database: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_database) for _ in range(4)))
    assert sorted(applied) == [[], [], [], [BASELINE, DOCUMENTS]]
    version, state = await inspect(empty_database)
    assert int(version.split(".")[0]) >= 15
    assert state == SchemaState()


async def test_changed_documents_are_applied_again_once(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    *others, documents = migrations()
    edited = Migration(DOCUMENTS, documents.sql + "\ncomment on view fixtures_live is 'edited';\n")
    monkeypatch.setattr(module, "migrations", lambda: (*others, edited))
    assert await migrate(database_url) == [DOCUMENTS]
    assert await migrate(database_url) == []
    monkeypatch.undo()
    with pytest.raises(SchemaTooNew, match="documents"):
        await migrate(database_url)


async def test_nothing_works_with_a_newer_schema(database_url: str) -> None:
    execute(database_url, FUTURE)
    with pytest.raises(SchemaTooNew, match="9999_future"):
        await migrate(database_url)
    database, pool = Database(database_url), ReadPool(database_url)
    await database.open()
    await pool.open()
    try:
        with pytest.raises(SchemaTooNew, match="9999_future"):
            async with database.connection():
                raise AssertionError("not reached")
        with pytest.raises(SchemaTooNew, match="9999_future"):
            await pool.fetch(FIXTURES_SQL["version"])
    finally:
        await database.close()
        await pool.close()


async def test_nothing_works_with_an_older_schema(empty_database: str) -> None:
    database = Database(empty_database)
    await database.open()
    try:
        with pytest.raises(SchemaOutdated, match=BASELINE):
            async with database.connection():
                raise AssertionError("not reached")
        await migrate(empty_database)
        async with database.connection() as connection:
            await connection.execute("select from fixtures")
    finally:
        await database.close()


async def test_a_running_process_notices_a_newer_schema(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.05)
    watching = asyncio.create_task(watch_schema(database_url))
    done, _ = await asyncio.wait([watching], timeout=0.2)
    assert not done
    execute(database_url, FUTURE)
    async with asyncio.timeout(30):
        with pytest.raises(SchemaTooNew):
            await watching


async def test_a_worker_stops_when_the_schema_is_newer(
    database_url: str, temporal_address: str, valkey_server: str, tmp_path: object
) -> None:
    from found_footy.app import work

    execute(database_url, FUTURE)
    settings = Settings(
        database_url=database_url,
        redis_url=valkey_server,
        temporal_address=temporal_address,
        task_queue=f"test-{uuid4()}",
        data_dir=tmp_path,
        feed="espn",
        _env_file=None,
    )
    async with asyncio.timeout(60):
        with pytest.raises(SchemaTooNew, match="9999_future"):
            await work(settings, asyncio.Event())


async def test_a_database_of_a_pre_release_is_refused(empty_database: str) -> None:
    execute(
        empty_database,
        "create table schema_migrations (name text primary key, checksum text not null, applied_at timestamptz)",
    )
    with pytest.raises(SchemaTooNew, match="pre-release"):
        await migrate(empty_database)
