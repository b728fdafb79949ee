"""Compares the library's rows with the object store: every object that a row refers to must exist, and no others.

Both lists may exceed memory and have different orders, so each is sorted in chunks on disk and then merged. Objects are
listed before rows: an object stored meanwhile appears missing, and is checked again.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.library.models import PREFIX, upload_key
from found_footy.library.store import LibraryStore
from found_footy.storage.objects.backend import ObjectStore

CHUNK_SIZE = 100_000
"""Keys sorted in memory at a time."""
MAX_REPORTED = 100
"""Keys of each kind in a report; further ones are only counted."""
MIN_AGE = timedelta(hours=1)
"""A younger object may belong to running work, whose row is saved last."""
MIN_UPLOAD_AGE = timedelta(days=1)
"""Minimum age of an uploaded file, which may not be submitted yet."""
DELETE_BATCH = 500
MAX_DELETIONS = 200_000


@dataclass(frozen=True, slots=True)
class ScrubReport:
    rows: int
    """Objects that rows refer to."""
    objects: int
    missing: int
    """Referred to by a row, but not stored."""
    unknown: int
    """Stored, but neither referred to by a row nor queued for deletion."""
    to_delete: int
    """Stored and queued for deletion."""
    deleted: int
    missing_keys: tuple[str, ...] = ()
    unknown_keys: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not self.missing and self.unknown == self.deleted


class _Tally:
    def __init__(self) -> None:
        self.count = 0
        self.shown: list[str] = []

    def add(self, key: str) -> None:
        self.count += 1
        if len(self.shown) < MAX_REPORTED:
            self.shown.append(key)


async def scrub(store: LibraryStore, objects: ObjectStore, now: datetime, *, delete: bool = False) -> ScrubReport:
    """Compare rows and objects. `delete` removes unknown objects, except recent ones, whose row may still follow."""
    with ExitStack() as stack:
        stored = await _sort_on_disk(_stored_keys(objects), stack)
        expected = await _sort_on_disk(store.expected_keys(), stack)
        queued = frozenset(await store.pending_deletions(MAX_DELETIONS))
        missing, unknown = _Tally(), _Tally()
        orphaned: list[str] = []
        rows = listed = to_delete = deleted = 0
        for key, is_expected, is_stored in merge_sorted(expected, stored):
            rows += is_expected
            listed += is_stored
            if is_expected and is_stored:
                continue
            if is_expected:
                if await objects.head(key) is None:
                    missing.add(key)
            elif key in queued:
                to_delete += 1
            elif (found := await objects.head(key)) is not None:
                unknown.add(key)
                if delete and is_abandoned(key, found.modified, now):
                    orphaned.append(key)
            if len(orphaned) == DELETE_BATCH:
                await objects.delete(orphaned)
                deleted += len(orphaned)
                orphaned = []
        await objects.delete(orphaned)
        deleted += len(orphaned)
    return ScrubReport(
        rows, listed, missing.count, unknown.count, to_delete, deleted, tuple(missing.shown), tuple(unknown.shown)
    )


def is_abandoned(key: str, modified: datetime, now: datetime) -> bool:
    min_age = MIN_UPLOAD_AGE if key.startswith(upload_key("")) else MIN_AGE
    return now - modified > min_age


def merge_sorted(expected: Iterator[str], stored: Iterator[str]) -> Iterator[tuple[str, bool, bool]]:
    """Yield (key, is expected, is stored) from two sorted lists."""
    expected_key, stored_key = next(expected, None), next(stored, None)
    while expected_key is not None or stored_key is not None:
        if stored_key is None or (expected_key is not None and expected_key < stored_key):
            assert expected_key is not None
            yield expected_key, True, False
            expected_key = next(expected, None)
        elif expected_key is None or stored_key < expected_key:
            yield stored_key, False, True
            stored_key = next(stored, None)
        else:
            yield expected_key, True, True
            expected_key, stored_key = next(expected, None), next(stored, None)


async def _stored_keys(objects: ObjectStore) -> AsyncIterator[str]:
    async for each in objects.list(PREFIX):
        yield each.key


async def _sort_on_disk(keys: AsyncIterator[str], stack: ExitStack) -> Iterator[str]:
    chunks: list[Iterator[str]] = []
    chunk: list[str] = []
    async with aclosing(keys) as all_keys:  # type: ignore[type-var]
        async for key in all_keys:
            chunk.append(key)
            if len(chunk) == CHUNK_SIZE:
                chunks.append(_spool_to_disk(sorted(chunk), stack))
                chunk = []
    return _drop_repeats(heapq.merge(*chunks, sorted(chunk)))


def _spool_to_disk(keys: list[str], stack: ExitStack) -> Iterator[str]:
    file = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115
    file.writelines(f"{key}\n" for key in keys)
    file.seek(0)
    return (line[:-1] for line in file)


def _drop_repeats(keys: Iterator[str]) -> Iterator[str]:
    """Drop repeated keys: a listing whose pages change meanwhile may contain an object twice."""
    last = None
    for key in keys:
        if key != last:
            yield key
        last = key
