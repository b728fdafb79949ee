"""The library's rows and objects, for the commands that work on those of the running system."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from found_footy.command import located, run
from found_footy.config import Settings
from found_footy.domain.errors import EngineError

if TYPE_CHECKING:
    from found_footy.adapters.storage.objects import ThreadedObjectStore
    from found_footy.adapters.storage.postgres.library import PostgresLibrary
    from found_footy.adapters.storage.postgres.library_reading import PostgresLibraryReading

T = TypeVar("T")

LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Opened:
    settings: Settings
    store: PostgresLibrary
    reading: PostgresLibraryReading


def with_library(do: Callable[[Opened], Coroutine[Any, Any, T]]) -> T:
    settings = located("database_url")

    async def body() -> T:
        async with _opened(settings) as opened:
            return await do(opened)

    return run(body)


@asynccontextmanager
async def opened_objects(settings: Settings) -> AsyncIterator[ThreadedObjectStore]:
    """By themselves, since most commands do without them."""
    from found_footy.bootstrap_stores import build_objects

    objects = build_objects(settings)
    try:
        yield objects
    finally:
        await objects.aclose()


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Opened]:
    """Not by the library's composition root, which would load models and media as well."""
    from found_footy.adapters.storage.postgres.database import Database
    from found_footy.adapters.storage.postgres.library import PostgresLibrary
    from found_footy.adapters.storage.postgres.library_reading import PostgresLibraryReading
    from found_footy.adapters.storage.postgres.readers import Readers

    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    url = settings.database_url.get_secret_value()
    database, readers = Database(url), Readers(url)
    await database.open()
    await readers.open()
    try:
        yield Opened(settings, PostgresLibrary(database), PostgresLibraryReading(readers))
    finally:
        await readers.close()
        await database.close()
