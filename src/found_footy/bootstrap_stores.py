"""The database and the object store, alone: a command that only looks starts in half the time without the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from found_footy.adapters.storage.objects import ThreadedObjectStore, open_object_store
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.config import Settings
from found_footy.domain.errors import EngineError


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[PostgresStore]:
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    database = Database(settings.database_url.get_secret_value())
    await database.open()
    try:
        yield PostgresStore(database)
    finally:
        await database.close()


def objects_folder(settings: Settings) -> Path:
    """The object store where no other is named."""
    return settings.data_dir.absolute() / "objects"


def build_objects(settings: Settings) -> ThreadedObjectStore:
    access, secret = settings.s3_access_key, settings.s3_secret_key
    return open_object_store(
        settings.object_store_url or objects_folder(settings).as_uri(),
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        access_key=access.get_secret_value() if access else None,
        secret_key=secret.get_secret_value() if secret else None,
    )
