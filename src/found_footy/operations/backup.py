"""Backups of database, objects and settings. Each file is stored once under the hash of its content (ADR 30).

A repository is a folder or a bucket with `blobs/{hash}` and one catalogue per backup. The catalogue is written last, so
that a backup is either complete or does not exist. Tables are read in one snapshot before the objects, so that every
object that a row refers to is copied, unless it was deleted meanwhile.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from psycopg import sql

from found_footy.errors import ArgumentsRejected, BackupBroken, NotFound, ObjectMissing
from found_footy.runtime.clock import utc_now
from found_footy.storage.connections import MIGRATION_SECONDS, connect
from found_footy.storage.migrations import DOCUMENTS, migrate, migrations
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import redacted_url, translate_errors

FORMAT = 1
BLOBS, CATALOGUES = "blobs/", "catalogues/"
RECENT = timedelta(days=1)
"""Blobs younger than this may belong to a backup in progress."""
CONCURRENCY = 4
_CHUNK = 1024 * 1024

TABLES = """
select c.relname as name, array(
    select a.attname::text from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by a.attnum) as columns,
    array(
    select distinct p.relname::text from pg_constraint k join pg_class p on p.oid = k.confrelid
    where k.conrelid = c.oid and k.contype = 'f' and p.oid <> c.oid) as parents
from pg_class c
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations'
order by c.relname
"""
SEQUENCES = """
select t.relname as table, a.attname as column, pg_get_serial_sequence(quote_ident(t.relname), a.attname) as sequence
from pg_class t join pg_attribute a on a.attrelid = t.oid
where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace and t.relname <> 'schema_migrations' and a.attnum > 0
    and pg_get_serial_sequence(quote_ident(t.relname), a.attname) is not null
"""
OCCUPIED = "select exists (select from fixtures) or exists (select from library_sources) or exists (select from tokens)"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableCopy:
    columns: tuple[str, ...]
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class ObjectCopy:
    size: int
    modified: datetime
    blob: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backup:
    """The catalogue of one backup."""

    id: str
    at: datetime
    version: str
    schema: Mapping[str, str]
    """Name and checksum of each applied migration."""
    tables: Mapping[str, TableCopy]
    sequences: Mapping[str, int]
    objects: Mapping[str, ObjectCopy]
    settings: Mapping[str, str]
    """File name to blob."""

    @property
    def blobs(self) -> set[str]:
        tables, objects = self.tables.values(), self.objects.values()
        return {each.blob for each in tables} | {each.blob for each in objects} | set(self.settings.values())

    @property
    def size(self) -> int:
        return sum(each.size for each in self.tables.values()) + sum(each.size for each in self.objects.values())

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Backup:
        """Raises BackupBroken."""
        try:
            if given["format"] != FORMAT:
                raise BackupBroken(f"the backup has format {given['format']}, which this version does not support")
            objects = {
                key: ObjectCopy(**{**each, "modified": datetime.fromisoformat(each["modified"])})
                for key, each in given["objects"].items()
            }
            tables = {
                name: TableCopy(tuple(each["columns"]), each["blob"], each["size"])
                for name, each in given["tables"].items()
            }
            return cls(
                given["id"],
                datetime.fromisoformat(given["at"]),
                given["version"],
                given["schema"],
                tables,
                given["sequences"],
                objects,
                given["settings"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BackupBroken(f"cannot read the catalogue: {error!r}") from error


# --- Rotation.


@dataclass(frozen=True, slots=True)
class KeepRules:
    """How many daily, weekly and monthly backups to keep: the newest of each period."""

    days: int = 7
    weeks: int = 4
    months: int = 6


def expired_backups(taken: Mapping[str, datetime], rules: KeepRules) -> list[str]:
    """Return the backups to delete, oldest first. The newest is always kept."""
    newest_first = sorted(taken, key=lambda id_: taken[id_], reverse=True)
    kept = set(newest_first[:1])
    periods = (("%Y-%m-%d", rules.days), ("%G-%V", rules.weeks), ("%Y-%m", rules.months))
    for pattern, count in periods:
        seen: set[str] = set()
        for id_ in newest_first:
            period = taken[id_].astimezone(UTC).strftime(pattern)
            if period not in seen and len(seen) < count:
                seen.add(period)
                kept.add(id_)
    return [id_ for id_ in reversed(newest_first) if id_ not in kept]


def load_order(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Order tables by their foreign keys: each follows the tables that it refers to."""
    order: list[str] = []
    waiting = sorted(parents)
    while waiting:
        ready = [name for name in waiting if all(each in order or each not in parents for each in parents[name])]
        if not ready:
            raise BackupBroken(f"the tables {', '.join(waiting)} have circular foreign keys")
        order += ready
        waiting = [name for name in waiting if name not in ready]
    return order


# --- The repository.


class BackupRepository:
    def __init__(self, files: ObjectStore) -> None:
        self._files = files

    async def ids(self) -> list[str]:
        """Oldest first."""
        found = [each.key async for each in self._files.list(CATALOGUES)]
        return sorted(key.removeprefix(CATALOGUES).removesuffix(".json.gz") for key in found)

    async def load(self, id_: str | None = None) -> Backup:
        """Load a backup, by default the newest. Raises NotFound, BackupBroken."""
        known = await self.ids()
        chosen = id_ or (known[-1] if known else None)
        if chosen is None or chosen not in known:
            raise NotFound(f"backup {id_} not found" if id_ else "the repository contains no backup")
        with _work_folder() as folder:
            await self._files.get(_catalogue(chosen), folder / "catalogue")
            try:
                text = gzip.decompress(await asyncio.to_thread((folder / "catalogue").read_bytes))
                document = json.loads(text)
            except (OSError, EOFError, ValueError) as error:
                raise BackupBroken(f"the catalogue of {chosen} is damaged: {error}") from error
        return Backup.from_json(document)

    async def save(self, backup: Backup) -> None:
        with _work_folder() as folder:
            text = json.dumps(backup.to_json(), default=lambda value: value.isoformat(), separators=(",", ":"))
            await asyncio.to_thread((folder / "catalogue").write_bytes, gzip.compress(text.encode(), mtime=0))
            await self._files.put(_catalogue(backup.id), folder / "catalogue", content_type="application/gzip")

    async def blobs(self) -> dict[str, datetime]:
        return {each.key.rpartition("/")[2]: each.modified async for each in self._files.list(BLOBS)}

    async def add(self, path: Path, known: set[str]) -> str:
        """Store a file unless its content is already stored. Return its hash."""
        blob = await asyncio.to_thread(_hash_file, path)
        if blob not in known:
            await self._files.put(_blob(blob), path, content_type="application/octet-stream")
            known.add(blob)
        return blob

    async def fetch(self, blob: str, to: Path) -> None:
        """Raises BackupBroken if the content is missing or was modified."""
        try:
            await self._files.get(_blob(blob), to)
        except ObjectMissing:
            raise BackupBroken(f"the blob {blob} is missing") from None
        if await asyncio.to_thread(_hash_file, to) != blob:
            raise BackupBroken(f"the blob {blob} is damaged")

    async def delete(self, ids: Sequence[str], now: datetime) -> int:
        """Delete backups, then the blobs that no other backup uses. Return the number of deleted blobs."""
        await self._files.delete([_catalogue(id_) for id_ in ids])
        needed: set[str] = set()
        for id_ in await self.ids():
            needed |= (await self.load(id_)).blobs
        found = await self.blobs()
        unused = [blob for blob, modified in found.items() if blob not in needed and now - modified > RECENT]
        await self._files.delete([_blob(blob) for blob in unused])
        return len(unused)


def _catalogue(id_: str) -> str:
    return f"{CATALOGUES}{id_}.json.gz"


def _blob(digest: str) -> str:
    return f"{BLOBS}{digest[:2]}/{digest}"


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _work_folder(tempfile.TemporaryDirectory[str]):
    def __init__(self) -> None:
        super().__init__(prefix="footy-backup-")

    def __enter__(self) -> Path:  # type: ignore[override]
        return Path(super().__enter__())


# --- Creating, verifying and restoring.


class BackupService:
    """`settings_files` are copied unchanged and may contain secrets."""

    def __init__(
        self,
        database_url: str,
        objects: ObjectStore,
        repository: BackupRepository,
        settings_files: Sequence[Path] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._url, self._objects, self._repository = database_url, objects, repository
        self._settings_files = settings_files
        self._now = now

    async def ids(self) -> list[str]:
        """Oldest first."""
        return await self._repository.ids()

    async def create(self) -> Backup:
        """Create a backup and check that all blobs are stored. Unchanged files are not copied again."""
        now = self._now()
        previous = await self._previous()
        known = set(await self._repository.blobs())
        tables, sequences, schema = await self._copy_tables(known)
        objects = await self._copy_objects(previous.objects if previous else {}, known)
        settings = {
            path.name: await self._repository.add(path, known) for path in self._settings_files if path.is_file()
        }
        id_ = f"{now.astimezone(UTC):%Y-%m-%dT%H%M%S}Z"
        backup = Backup(id_, now, version("found-footy"), schema, tables, sequences, objects, settings)
        if lacking := backup.blobs - set(await self._repository.blobs()):
            raise BackupBroken(f"{len(lacking)} blobs are missing from the repository")
        await self._repository.save(backup)
        log.info(f"backup {id_}", extra={"action": "backup_created", "backup": id_, "objects": len(objects)})
        return backup

    async def verify(self, id_: str | None = None) -> Backup:
        """Read every blob of a backup and compare its hash. Raises BackupBroken."""
        backup = await self._repository.load(id_)
        limit = asyncio.Semaphore(CONCURRENCY)

        async def check(blob: str) -> None:
            async with limit:
                with _work_folder() as folder:
                    await self._repository.fetch(blob, folder / "blob")

        async with asyncio.TaskGroup() as group:
            for blob in sorted(backup.blobs):
                group.create_task(check(blob))
        return backup

    async def rotate(self, rules: KeepRules) -> list[str]:
        """Delete expired backups and return their ids."""
        taken = {id_: time_of(id_) for id_ in await self._repository.ids()}
        expired = expired_backups(taken, rules)
        if expired:
            await self._repository.delete(expired, self._now())
        return expired

    async def restore(
        self, id_: str | None = None, *, overwrite: bool = False, settings_to: Path | None = None
    ) -> Backup:
        """Restore into an empty system: first the objects, so that no row refers to a missing file, then all tables at
        once.

        All tables are downloaded and verified before anything changes. Raises BackupBroken, and ArgumentsRejected if
        the database is not empty or belongs to another version.
        """
        backup = await self._repository.load(id_)
        ours = {each.name: each.checksum for each in migrations() if each.name != DOCUMENTS}
        if dict(backup.schema) != ours:
            raise ArgumentsRejected(
                f"the backup was made with the schema of version {backup.version}; restore it with that version, "
                "then upgrade"
            )
        await migrate(self._url)
        if not overwrite:
            await self._require_empty()
        with _work_folder() as folder:
            for name, copy in backup.tables.items():
                await self._repository.fetch(copy.blob, folder / f"{name}.gz")
            await self._restore_objects(backup)
            await self._load_tables(backup, folder)
            if settings_to is not None:
                await asyncio.to_thread(settings_to.mkdir, parents=True, exist_ok=True, mode=0o700)
                for name, blob in backup.settings.items():
                    await self._repository.fetch(blob, settings_to / name)
        return backup

    async def _previous(self) -> Backup | None:
        try:
            return await self._repository.load()
        except (NotFound, BackupBroken):
            return None

    # --- Tables.

    async def _copy_tables(self, known: set[str]) -> tuple[dict[str, TableCopy], dict[str, int], dict[str, str]]:
        copies: dict[str, TableCopy] = {}
        async with self._session() as connection:
            await connection.execute("set transaction isolation level repeatable read, read only")
            rows = await (
                await connection.execute("select name, checksum from schema_migrations order by number")
            ).fetchall()
            schema = {name: checksum for name, checksum in rows if name != DOCUMENTS}
            with _work_folder() as folder:
                for name, columns, _ in await (await connection.execute(TABLES)).fetchall():
                    path = folder / f"{name}.gz"
                    query = sql.SQL("copy (select {} from {} order by ctid) to stdout").format(
                        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(name)
                    )
                    # Without time and name, so that an unchanged table yields the same file.
                    with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        async with connection.cursor().copy(query) as copy:
                            async for part in copy:
                                await asyncio.to_thread(packed.write, bytes(part))
                    size = path.stat().st_size
                    copies[name] = TableCopy(tuple(columns), await self._repository.add(path, known), size)
            sequences = {}
            for _, _, sequence in await (await connection.execute(SEQUENCES)).fetchall():
                value = await (
                    await connection.execute("select pg_sequence_last_value(%s::regclass)", [sequence])
                ).fetchone()
                if value is not None and value[0] is not None:
                    sequences[str(sequence)] = int(value[0])
        return copies, sequences, schema

    async def _require_empty(self) -> None:
        async with self._session() as connection:
            (occupied,) = await (await connection.execute(OCCUPIED)).fetchone() or (False,)
        if occupied:
            raise ArgumentsRejected("the database is not empty; restore into an empty one, or pass --overwrite")

    async def _load_tables(self, backup: Backup, folder: Path) -> None:
        async with self._session() as connection:
            found = await (await connection.execute(TABLES)).fetchall()
            parents = {name: list(each) for name, _, each in found}
            names = sql.SQL(", ").join(map(sql.Identifier, sorted(parents)))
            await connection.execute(sql.SQL("truncate {} restart identity cascade").format(names))
            for name in load_order(parents):
                if (copy := backup.tables.get(name)) is None:
                    continue
                columns = sql.SQL(", ").join(map(sql.Identifier, copy.columns))
                query = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(name), columns)
                with gzip.open(folder / f"{name}.gz") as packed:
                    async with connection.cursor().copy(query) as writer:
                        while part := await asyncio.to_thread(packed.read, _CHUNK):
                            await writer.write(part)
            for sequence, value in backup.sequences.items():
                await connection.execute("select setval(%s::regclass, %s)", [sequence, value])

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Any]:
        """Open a transaction without a statement timeout, but with a timeout on each response."""
        with translate_errors(redacted_url(self._url)):
            async with await connect(self._url, answer_seconds=MIGRATION_SECONDS) as connection:
                yield connection

    # --- Objects.

    async def _copy_objects(self, previous: Mapping[str, ObjectCopy], known: set[str]) -> dict[str, ObjectCopy]:
        copies: dict[str, ObjectCopy] = {}
        limit = asyncio.Semaphore(CONCURRENCY)

        async def copy(key: str, size: int, modified: datetime) -> None:
            async with limit:
                with _work_folder() as folder:
                    try:
                        await self._objects.get(key, folder / "object")
                        metadata = await self._objects.metadata(key)
                    except ObjectMissing:
                        return  # deleted after it was listed
                    blob = await self._repository.add(folder / "object", known)
                    copies[key] = ObjectCopy(size, modified, blob, metadata)

        async with asyncio.TaskGroup() as group:
            async for stored in self._objects.list():
                before = previous.get(stored.key)
                is_same = before is not None and (before.size, before.modified) == (stored.size, stored.modified)
                if before is not None and is_same and before.blob in known:
                    copies[stored.key] = before
                else:
                    group.create_task(copy(stored.key, stored.size, stored.modified))
        return dict(sorted(copies.items()))

    async def _restore_objects(self, backup: Backup) -> None:
        limit = asyncio.Semaphore(CONCURRENCY)

        async def restore(key: str, copy: ObjectCopy) -> None:
            async with limit:
                with _work_folder() as folder:
                    await self._repository.fetch(copy.blob, folder / "object")
                    content_type = _CONTENT_TYPES.get(key.rpartition(".")[2], "application/octet-stream")
                    await self._objects.put(key, folder / "object", content_type=content_type, metadata=copy.metadata)

        async with asyncio.TaskGroup() as group:
            for key, each in backup.objects.items():
                group.create_task(restore(key, each))


_CONTENT_TYPES = {"mp4": "video/mp4", "jpg": "image/jpeg", "webp": "image/webp", "gz": "application/gzip"}


def time_of(id_: str) -> datetime:
    try:
        return datetime.strptime(id_, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise BackupBroken(f"{id_[:60]!r} is not a backup id") from None
