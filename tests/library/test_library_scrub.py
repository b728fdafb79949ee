"""The library's rows beside its objects, both ways."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from found_footy.fixtures.store import FixtureStore
from found_footy.library import scrub as library_scrub
from found_footy.library.models import clip_file_key, master_key, sprite_key, upload_key
from found_footy.library.scrub import ScrubReport, is_abandoned, merge_sorted, scrub
from found_footy.library.store import LibraryStore
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.library_world import CutSource, film, put

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
async def library(store: FixtureStore) -> LibraryStore:
    return LibraryStore(store.database)


@pytest.fixture
async def filmed(library: LibraryStore, objects: ThreadedObjectStore) -> CutSource:
    made = await film(library, objects, (0.4, 0.4))
    # The source was an upload, of which the test's world has no object.
    await library.mark_deleted(await library.pending_deletions(10))
    return made


def later() -> datetime:
    return datetime.now(UTC) + 2 * HOUR


@pytest.mark.parametrize(
    ("named", "stored", "expected"),
    [
        ("", "", []),
        ("ab", "ab", [("a", True, True), ("b", True, True)]),
        ("ac", "b", [("a", True, False), ("b", False, True), ("c", True, False)]),
        ("", "ab", [("a", False, True), ("b", False, True)]),
        ("ab", "", [("a", True, False), ("b", True, False)]),
        ("b", "abc", [("a", False, True), ("b", True, True), ("c", False, True)]),
    ],
)
def test_merging_sorted_lists(named: str, stored: str, expected: list[tuple[str, bool, bool]]) -> None:
    assert list(merge_sorted(iter(named), iter(stored))) == expected


@pytest.mark.parametrize(
    ("key", "age", "abandoned"),
    [
        (clip_file_key(1, 2), 0.9 * HOUR, False),
        (clip_file_key(1, 2), 1.1 * HOUR, True),
        (upload_key("a"), 23 * HOUR, False),
        (upload_key("a"), 25 * HOUR, True),
    ],
)
def test_recent_objects_are_not_abandoned(key: str, age: timedelta, abandoned: bool) -> None:
    now = datetime(2026, 8, 22, tzinfo=UTC)
    assert is_abandoned(key, now - age, now) is abandoned


async def test_a_library_in_order_is_clean(
    library: LibraryStore, objects: ThreadedObjectStore, filmed: CutSource
) -> None:
    assert await scrub(library, objects, later(), delete=True) == ScrubReport(5, 5, 0, 0, 0, 0)


@pytest.mark.parametrize("piece", [1, 2, 100_000])
async def test_missing_and_unknown_objects_are_found_and_only_abandoned_ones_deleted(
    library: LibraryStore,
    objects: ThreadedObjectStore,
    filmed: CutSource,
    monkeypatch: pytest.MonkeyPatch,
    piece: int,
) -> None:
    monkeypatch.setattr(library_scrub, "CHUNK_SIZE", piece)
    source, clip = filmed.source_id, filmed.clips[0]
    gone, unknown, upload = sprite_key(source, clip), clip_file_key(source, 10**6), upload_key("new")
    await objects.delete([gone])
    await put(objects, unknown, b"x")
    await put(objects, upload, b"x")
    await put(objects, "7001/other/clip.mp4", b"not of the library")

    seen = await scrub(library, objects, datetime.now(UTC), delete=True)
    assert (seen.missing_keys, seen.unknown_keys) == ((gone,), tuple(sorted([unknown, upload])))
    assert (seen.rows, seen.objects, seen.deleted, seen.is_clean) == (5, 6, 0, False)

    only_seen = await scrub(library, objects, later())
    assert (only_seen.unknown, only_seen.deleted) == (2, 0)
    done = await scrub(library, objects, later(), delete=True)
    assert (done.unknown, done.deleted) == (2, 1)
    left = await scrub(library, objects, later() + DAY, delete=True)
    assert (left.unknown_keys, left.deleted) == ((upload,), 1)
    assert (await scrub(library, objects, later())).unknown == 0
    assert await objects.head(master_key(source)) is not None
    assert await objects.head("7001/other/clip.mp4") is not None


async def test_queued_objects_are_neither_missing_nor_unknown(
    library: LibraryStore, objects: ThreadedObjectStore, filmed: CutSource, tmp_path: Path
) -> None:
    await library.release_files(filmed.clips[0])
    seen = await scrub(library, objects, later(), delete=True)
    assert (seen.to_delete, seen.unknown, seen.missing, seen.is_clean) == (2, 0, 0, True)


async def test_reported_keys_are_limited(
    library: LibraryStore, objects: ThreadedObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_scrub, "MAX_REPORTED", 2)
    for number in range(5):
        await put(objects, clip_file_key(1, number), b"x")
    seen = await scrub(library, objects, later())
    assert (seen.unknown, len(seen.unknown_keys)) == (5, 2)
