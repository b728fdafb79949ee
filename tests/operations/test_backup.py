"""A backup restores into an empty system exactly what there was; damage and strange versions are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from found_footy.errors import ArgumentsRejected, BackupBroken, NotFound
from found_footy.library.store import LibraryStore
from found_footy.operations import backup as backups
from found_footy.operations.backup import (
    Backup,
    BackupRepository,
    BackupService,
    KeepRules,
    expired_backups,
    load_order,
)
from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from tests.conftest import Databases, SampleDataCopy
from tests.support.web_world import NOW

TODAY = datetime(2026, 11, 19, 3, 0, tzinfo=UTC)


def open_folder(folder: Path) -> ThreadedObjectStore:
    return open_object_store(folder.as_uri(), endpoint=None, region="", access_key=None, secret_key=None)


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[ThreadedObjectStore]:
    async with aclosing(open_folder(tmp_path / "repository")) as opened:
        yield opened


def service(world: SampleDataCopy, files: ThreadedObjectStore, at: datetime = TODAY, *settings: Path) -> BackupService:
    assert world.settings.database_url is not None
    url = world.settings.database_url.get_secret_value()
    return BackupService(url, world.world.objects, BackupRepository(files), settings, lambda: at)


def rows_of(url: str) -> dict[str, list[str]]:
    with psycopg.connect(url) as connection:
        names = [row[0] for row in connection.execute(backups.TABLES).fetchall()]
        return {
            name: sorted(str(row[0]) for row in connection.execute(f'select t::text from "{name}" t'.encode()))
            for name in names
        }


async def contents(objects: ThreadedObjectStore) -> dict[str, tuple[bytes, str]]:
    return {
        each.key: (await objects.read(each.key), str(sorted((await objects.metadata(each.key)).items())))
        async for each in objects.list()
    }


async def test_a_backup_restores_an_empty_system_exactly(
    small_world: SampleDataCopy, files: ThreadedObjectStore, databases: Databases, tmp_path: Path
) -> None:
    await LibraryStore(small_world.store.database).import_published_clips(NOW, 10)
    (tmp_path / ".env").write_text("API_FOOTBALL_KEY=secret\n")
    made = await service(small_world, files, TODAY, tmp_path / ".env").create()
    assert small_world.settings.database_url is not None
    before = rows_of(small_world.settings.database_url.get_secret_value())
    assert before["fixtures"], "there is something to restore"
    with databases.borrowed() as url:
        async with aclosing(open_folder(tmp_path / "elsewhere")) as objects:
            empty = BackupService(url, objects, BackupRepository(files))
            restored = await empty.restore(settings_to=tmp_path / "settings")
            assert restored == made
            assert rows_of(url) == before
            assert await contents(objects) == await contents(small_world.world.objects)
            assert (tmp_path / "settings" / ".env").read_text() == "API_FOOTBALL_KEY=secret\n"
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                # Numbers go on where they were.
                cursor = await connection.execute(
                    "insert into library_sources (kind, state, title, url) values ('url', 'new', 't', 'u') returning id"
                )
                (number,) = await cursor.fetchone() or (0,)
                assert number == len(before["library_sources"]) + 1
            with pytest.raises(ArgumentsRejected, match="not empty"):
                await empty.restore()
            await empty.restore(overwrite=True)
            assert rows_of(url) == before


async def test_an_unchanged_file_is_stored_once(
    small_world: SampleDataCopy, files: ThreadedObjectStore, tmp_path: Path
) -> None:
    first = await service(small_world, files).create()
    stored = {each.key async for each in files.list("blobs")}
    (tmp_path / "new").write_bytes(b"a new film")
    await small_world.world.objects.put("7001/x/new.mp4", tmp_path / "new")
    await small_world.store.database.fetch(b"update fixtures set venue = 'Anfield' where id = 7001")
    second = await service(small_world, files, TODAY + timedelta(days=1)).create()
    added = {each.key async for each in files.list("blobs")} - stored
    assert len(added) == 2, "the film, and the table that has changed"
    assert len(second.objects) == len(first.objects) + 1


async def test_damage_is_found_by_verification_and_before_a_restore_changes_anything(
    small_world: SampleDataCopy, files: ThreadedObjectStore, databases: Databases, tmp_path: Path
) -> None:
    made = await service(small_world, files).create()
    assert await service(small_world, files).verify() == made
    blob = made.tables["events"].blob
    (tmp_path / "wrong").write_bytes(b"wrong")
    await files.put(f"blobs/{blob[:2]}/{blob}", tmp_path / "wrong")
    with pytest.raises(ExceptionGroup) as found:
        await service(small_world, files).verify()
    assert found.group_contains(BackupBroken, match="damaged")
    with databases.borrowed() as url:
        async with aclosing(open_folder(tmp_path / "elsewhere")) as objects:
            with pytest.raises(BackupBroken, match="damaged"):
                await BackupService(url, objects, BackupRepository(files)).restore()
            assert rows_of(url)["fixtures"] == []
            assert await contents(objects) == {}


async def test_a_backup_of_another_schema_is_refused(small_world: SampleDataCopy, files: ThreadedObjectStore) -> None:
    running = service(small_world, files)
    made = await running.create()
    await BackupRepository(files).save(replace(made, schema={**made.schema, "0099_future": "x"}))
    with pytest.raises(ArgumentsRejected, match="restore it with that version"):
        await running.restore(overwrite=True)


async def test_rotation_deletes_backups_and_what_only_they_need(
    small_world: SampleDataCopy, files: ThreadedObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await service(small_world, files, TODAY - timedelta(days=400)).create()
    await small_world.store.database.fetch(b"update fixtures set venue = 'Anfield' where id = 7001")
    new = await service(small_world, files).create()
    running = service(small_world, files)
    monkeypatch.setattr(backups, "RECENT", timedelta(days=-36500))
    assert await running.rotate(KeepRules(1, 0, 0)) == [old.id]
    assert await running.ids() == [new.id]
    left = {each.key.rpartition("/")[2] async for each in files.list("blobs")}
    assert left == new.blobs
    with pytest.raises(NotFound):
        await running.verify(old.id)


def taken(*days_ago: int) -> dict[str, datetime]:
    return {str(days): TODAY - timedelta(days=days) for days in days_ago}


@pytest.mark.parametrize(
    ("days_ago", "rules", "expired"),
    [
        ((0, 1, 2), KeepRules(2, 0, 0), ["2"]),
        ((0, 1, 2), KeepRules(0, 0, 0), ["2", "1"]),
        ((0,), KeepRules(0, 0, 0), []),
        ((0, 3, 4, 10, 17), KeepRules(1, 2, 0), ["17", "10", "3"]),
        ((0, 1, 40, 41, 70, 400), KeepRules(1, 0, 3), ["400", "41", "1"]),
    ],
)
def test_the_newest_backup_of_each_period_is_kept(
    days_ago: tuple[int, ...], rules: KeepRules, expired: list[str]
) -> None:
    assert expired_backups(taken(*days_ago), rules) == expired


def test_a_table_is_loaded_after_those_it_refers_to() -> None:
    assert load_order({"clips": ["goals"], "goals": ["matches"], "matches": []}) == ["matches", "goals", "clips"]
    with pytest.raises(BackupBroken, match="a, b"):
        load_order({"a": ["b"], "b": ["a"]})


def test_a_catalogue_of_a_newer_format_is_refused() -> None:
    with pytest.raises(BackupBroken, match="format 2"):
        Backup.from_json({"format": 2})
