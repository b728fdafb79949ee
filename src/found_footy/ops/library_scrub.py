"""Compares the library's rows with its objects, both ways: what a row names must be there, and nothing else should be.

Both lists may be longer than memory, and come in orders of their own; so each is sorted in pieces on disk, and then
they are read side by side. Objects are listed first and rows after: what was stored meanwhile is a row without a listed
object, and those are looked for once more.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.domain.clips.keys import PREFIX, upload_key
from found_footy.ports import ObjectStore
from found_footy.ports_library import LibraryStore

PIECE = 100_000
"""Keys that are sorted in memory at a time."""
SHOWN = 100
"""Keys of a kind that a report names; the others are only counted."""
YOUNG = timedelta(hours=1)
"""An object that is younger may belong to work under way, whose row comes last."""
WAITING = timedelta(days=1)
"""The same of an uploaded file: whoever sends it has not submitted it yet."""
AT_ONCE = 500
MOST_DELETIONS = 200_000


@dataclass(frozen=True, slots=True)
class ScrubReport:
    rows: int
    """Objects that rows name."""
    objects: int
    missing: int
    """Named by a row, and not there."""
    unknown: int
    """There, named by no row, and not on the list of what is to be deleted."""
    to_delete: int
    """There, and on that list."""
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
        if len(self.shown) < SHOWN:
            self.shown.append(key)


async def scrub(store: LibraryStore, objects: ObjectStore, now: datetime, *, delete: bool = False) -> ScrubReport:
    """`delete` removes what nobody knows, unless it is so young that it may still become known."""
    with ExitStack() as stack:
        stored = await _sorted(_stored_keys(objects), stack)
        named = await _sorted(store.keys(), stack)
        leaving = frozenset(await store.deletions(MOST_DELETIONS))
        missing, unknown = _Tally(), _Tally()
        waiting: list[str] = []
        rows = listed = to_delete = deleted = 0
        for key, is_named, is_stored in side_by_side(named, stored):
            rows += is_named
            listed += is_stored
            if is_named and is_stored:
                continue
            if is_named:
                if await objects.head(key) is None:
                    missing.add(key)
            elif key in leaving:
                to_delete += 1
            elif (found := await objects.head(key)) is not None:
                unknown.add(key)
                if delete and is_abandoned(key, found.modified, now):
                    waiting.append(key)
            if len(waiting) == AT_ONCE:
                await objects.delete(waiting)
                deleted += len(waiting)
                waiting = []
        await objects.delete(waiting)
        deleted += len(waiting)
    return ScrubReport(
        rows, listed, missing.count, unknown.count, to_delete, deleted, tuple(missing.shown), tuple(unknown.shown)
    )


def is_abandoned(key: str, modified: datetime, now: datetime) -> bool:
    patience = WAITING if key.startswith(upload_key("")) else YOUNG
    return now - modified > patience


def side_by_side(named: Iterator[str], stored: Iterator[str]) -> Iterator[tuple[str, bool, bool]]:
    """(key, whether a row names it, whether it is there), of two sorted lists."""
    one, other = next(named, None), next(stored, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one < other):
            assert one is not None
            yield one, True, False
            one = next(named, None)
        elif one is None or other < one:
            yield other, False, True
            other = next(stored, None)
        else:
            yield one, True, True
            one, other = next(named, None), next(stored, None)


async def _stored_keys(objects: ObjectStore) -> AsyncIterator[str]:
    async for each in objects.list(PREFIX):
        yield each.key


async def _sorted(keys: AsyncIterator[str], stack: ExitStack) -> Iterator[str]:
    pieces: list[Iterator[str]] = []
    piece: list[str] = []
    async with aclosing(keys) as all_keys:  # type: ignore[type-var]
        async for key in all_keys:
            piece.append(key)
            if len(piece) == PIECE:
                pieces.append(_spooled(sorted(piece), stack))
                piece = []
    return _once(heapq.merge(*pieces, sorted(piece)))


def _spooled(keys: list[str], stack: ExitStack) -> Iterator[str]:
    file = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115
    file.writelines(f"{key}\n" for key in keys)
    file.seek(0)
    return (line[:-1] for line in file)


def _once(keys: Iterator[str]) -> Iterator[str]:
    """A listing of pages that change meanwhile may name an object twice."""
    last = None
    for key in keys:
        if key != last:
            yield key
        last = key
