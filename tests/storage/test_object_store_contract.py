"""What an object store does, whether it is a folder or an S3 server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from found_footy.errors import ObjectMissing, ObjectStoreError
from found_footy.storage.objects.backend import PART_BYTES, ObjectStore
from found_footy.storage.objects.store import ThreadedObjectStore

FileOf = Callable[[bytes], Path]
Fill = Callable[[Sequence[str]], None]

KEY = "1380101/1380101_40_306_Goal_1/0cc175b9c0f1b6a831c399e269772661.mp4"
TEXTS = {
    "german": "Bayern München",
    "turkish": "Beşiktaş",
    "chinese": "北京国安",
    "arabic": "الهلال السعودي",
    "hebrew": "מכבי תל אביב \u200f(1)",
    "lines": "first\nsecond\r\n\tthird\x00",
    "spaces": "  two  spaces  ",
    "percent": "100 % sure %41 %",
    "emoji": "⚽️ 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "signs": "a;b,c=\"d\" <e>&'f' +g ?h #i",
    "rfc_2047": "=?UTF-8?B?QmF5ZXJu?=",
    "empty": "",
    "x9": "9",
}


async def keys_in(objects: ThreadedObjectStore, prefix: str = "") -> list[str]:
    return sorted([stored.key async for stored in objects.list(prefix)])


def files_in(folder: Path, pattern: str) -> list[Path]:
    return list(folder.rglob(pattern))


@cache
def filled(size: int) -> bytes:
    return random.Random(size).randbytes(size)


async def test_the_backend_implements_the_interface(objects: ThreadedObjectStore) -> None:
    port: ObjectStore = objects
    assert await port.head(KEY) is None


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 17])
async def test_a_stored_file_is_returned_unchanged(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path, size: int
) -> None:
    await objects.put(KEY, file_of(filled(size)))
    await objects.get(KEY, tmp_path / "back.mp4")
    assert (tmp_path / "back.mp4").read_bytes() == filled(size)
    stored = await objects.head(KEY)
    assert stored is not None
    assert (stored.key, stored.size) == (KEY, size)


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "a/b c%20d%2Fe.mp4",
        "ü/北京国安.mp4",
        "x~!@$^&*()=+[]{}|;:'\",<>?`.mp4",
        "a#b",
        "a/b..c",
        "a" * 200,
    ],
)
async def test_a_key_may_have_many_characters(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path, key: str
) -> None:
    await objects.put(key, file_of(b"1"), metadata={"name": "x"})
    await objects.copy(key, "copied/once.mp4")
    await objects.delete([key])
    await objects.copy("copied/once.mp4", key)
    await objects.get(key, tmp_path / "back")
    assert await keys_in(objects) == sorted([key, "copied/once.mp4"])
    assert await objects.metadata(key) == {"name": "x"}
    await objects.delete([key, "copied/once.mp4"])
    assert await keys_in(objects) == []


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../out", "a/../../out", "a\\b", "a\nb", "a//b", ".metadata/a", "a" * 801]
)
async def test_a_key_that_leads_elsewhere_is_refused_by_every_method(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path, key: str
) -> None:
    calls = [
        objects.put(key, file_of(b"1")),
        objects.get(key, tmp_path / "back"),
        objects.copy(key, "a"),
        objects.copy("a", key),
        objects.delete(["a", key]),
        objects.head(key),
        objects.metadata(key),
        objects.read(key),
        objects.read(key, 0, 0),
    ]
    for call in calls:
        with pytest.raises(ObjectStoreError, match="is not a valid object key") as caught:
            await call
        assert not caught.value.retryable
    if key:
        with pytest.raises(ObjectStoreError, match="is not a valid object key"):
            await keys_in(objects, key)


async def test_storing_again_replaces_the_object(objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path) -> None:
    await objects.put(KEY, file_of(filled(PART_BYTES + 5)), metadata={"old": "yes", "both": "1"})
    await objects.put(KEY, file_of(b"second"), metadata={"both": "2"})
    await objects.get(KEY, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"second"
    assert await objects.metadata(KEY) == {"both": "2"}
    assert await keys_in(objects) == [KEY]


async def test_the_same_file_can_be_stored_twice(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    path = file_of(b"same")
    await objects.put(KEY, path, metadata={"home": "Beşiktaş"})
    await objects.put(KEY, path, metadata={"home": "Beşiktaş"})
    assert await objects.metadata(KEY) == {"home": "Beşiktaş"}
    assert await keys_in(objects) == [KEY]


async def test_of_many_that_store_the_same_key_at_once_one_wins_whole(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path
) -> None:
    contents = {str(number): filled(40_000 + number) for number in range(12)}
    await asyncio.gather(
        *(objects.put(KEY, file_of(content), metadata={"number": number}) for number, content in contents.items())
    )
    winner = (await objects.metadata(KEY))["number"]
    await objects.get(KEY, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == contents[winner]
    assert await keys_in(objects) == [KEY]


async def test_getting_replaces_the_file_that_was_there(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path
) -> None:
    target = tmp_path / "target" / "clip.mp4"
    target.parent.mkdir()
    target.write_bytes(b"older and longer")
    await objects.put(KEY, file_of(b"new"))
    await objects.get(KEY, target)
    assert target.read_bytes() == b"new"
    assert files_in(target.parent, "*") == [target]


async def test_a_missing_object_has_its_own_error(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path
) -> None:
    await objects.put("a/there", file_of(b"1"))
    for key in (KEY, "a", "a/there/below"):
        assert await objects.head(key) is None
        for call in (
            objects.get(key, tmp_path / "back"),
            objects.copy(key, "b"),
            objects.metadata(key),
            objects.read(key),
            objects.read(key, 0, 0),
        ):
            with pytest.raises(ObjectMissing) as caught:
                await call
            assert not caught.value.retryable
    assert files_in(tmp_path, "*back*") == files_in(tmp_path, "*.part") == []
    assert await keys_in(objects) == ["a/there"]


@pytest.mark.parametrize("target", ["missing/folder/clip.mp4", "file/clip.mp4", "folder"])
async def test_an_unwritable_store_is_not_a_missing_object(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path, target: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    await objects.put(KEY, file_of(b"1"))
    with pytest.raises(ObjectStoreError, match=r"^write ") as caught:
        await objects.get(KEY, tmp_path / target)
    assert not isinstance(caught.value, ObjectMissing)
    assert files_in(tmp_path, "*.part") == []


async def test_a_file_that_is_not_there_cannot_be_stored(objects: ThreadedObjectStore, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.mp4", tmp_path):
        with pytest.raises(ObjectStoreError, match=r"^store ") as caught:
            await objects.put(KEY, path)
        assert not isinstance(caught.value, ObjectMissing)
    assert await keys_in(objects) == []


@pytest.mark.parametrize("content_type", ["", "video", "video/mp4\r\nx: y", "vidéo/mp4", "a/" + "b" * 100])
async def test_an_invalid_content_type_is_rejected(
    objects: ThreadedObjectStore, file_of: FileOf, content_type: str
) -> None:
    with pytest.raises(ObjectStoreError, match="content type"):
        await objects.put(KEY, file_of(b"1"), content_type=content_type)


async def test_metadata_may_be_any_text(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put(KEY, file_of(b"1"), metadata=TEXTS)
    assert await objects.metadata(KEY) == TEXTS


async def test_metadata_of_a_large_file_is_returned(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put(KEY, file_of(filled(2 * PART_BYTES)), metadata=TEXTS)
    assert await objects.metadata(KEY) == TEXTS


async def test_an_object_without_metadata_has_none(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put(KEY, file_of(b"1"))
    assert await objects.metadata(KEY) == {}


async def test_metadata_that_is_too_long_is_cut(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put(KEY, file_of(b"1"), metadata={"short": "Beşiktaş", "long": "北京国安" * 1000})
    kept = await objects.metadata(KEY)
    assert kept["short"] == "Beşiktaş"
    assert kept["long"].startswith("北京国安" * 10)
    assert kept["long"].endswith("…")


@pytest.mark.parametrize("metadata", [{"Home": "x"}, {"home-team": "x"}, {"ü": "x"}, {"": "x"}, {"a\r\nb": "x"}])
async def test_metadata_of_a_bad_name_is_refused(
    objects: ThreadedObjectStore, file_of: FileOf, metadata: dict[str, str]
) -> None:
    with pytest.raises(ObjectStoreError, match="is not a valid metadata name"):
        await objects.put(KEY, file_of(b"1"), metadata=metadata)
    assert await objects.head(KEY) is None


async def test_a_copy_has_the_content_and_the_metadata(
    objects: ThreadedObjectStore, file_of: FileOf, tmp_path: Path
) -> None:
    content = filled(PART_BYTES + 3)
    await objects.put("staging/a.mp4", file_of(content), metadata=TEXTS)
    await objects.copy("staging/a.mp4", KEY)
    await objects.copy("staging/a.mp4", KEY)
    await objects.delete(["staging/a.mp4"])
    await objects.get(KEY, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content
    assert await objects.metadata(KEY) == TEXTS
    assert await keys_in(objects) == [KEY]


async def test_copying_replaces_the_object(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put("a", file_of(b"new"), metadata={"a": "1"})
    await objects.put("b", file_of(b"older"), metadata={"b": "1"})
    await objects.copy("a", "b")
    assert await objects.read("b") == b"new"
    assert await objects.metadata("b") == {"a": "1"}


async def test_a_copy_is_independent_of_the_original(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put("a", file_of(b"first"))
    await objects.copy("a", "b")
    await objects.put("a", file_of(b"second"))
    assert await objects.read("b") == b"first"


async def test_deleting_is_safe_to_repeat(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put("a/1", file_of(b"1"), metadata={"a": "1"})
    await objects.put("a/2", file_of(b"2"))
    for _ in range(2):
        await objects.delete(["a/1", "a/never", "a/1", "a", "a/2/below"])
        assert await keys_in(objects) == ["a/2"]
    await objects.delete([])
    await objects.put("a/1", file_of(b"1"))
    assert await objects.metadata("a/1") == {}


async def test_a_bad_key_among_many_deletes_nothing(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put("a", file_of(b"1"))
    with pytest.raises(ObjectStoreError):
        await objects.delete(["a", "../b"])
    assert await keys_in(objects) == ["a"]


async def test_listing_and_deleting_exceed_a_thousand_keys(objects: ThreadedObjectStore, fill: Fill) -> None:
    keys = [f"many/{number % 7}/{number:04}.mp4" for number in range(1_100)]
    await asyncio.to_thread(fill, keys)
    assert await keys_in(objects, "many/") == sorted(keys)
    assert await keys_in(objects, "many/3/") == sorted(key for key in keys if key.startswith("many/3/"))
    await objects.delete(keys)
    assert await keys_in(objects) == []


async def test_a_prefix_matches_whole_names(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    for key in ("a/1", "a/b/2", "ab/3", "c"):
        await objects.put(key, file_of(b"1"))
    assert await keys_in(objects, "a/") == ["a/1", "a/b/2"]
    assert await keys_in(objects, "a") == ["a/1", "a/b/2"]
    assert await keys_in(objects, "a/b/") == ["a/b/2"]
    assert await keys_in(objects, "nothing/") == []
    assert await keys_in(objects, "c/") == []
    assert await keys_in(objects) == ["a/1", "a/b/2", "ab/3", "c"]


async def test_listed_objects_can_be_deleted_during_the_listing(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    path = file_of(b"1")
    await asyncio.gather(*(objects.put(f"a/{number}/x", path) for number in range(30)))
    seen = 0
    async for stored in objects.list("a/"):
        seen += 1
        await objects.delete([stored.key])
    assert seen == 30
    assert await keys_in(objects) == []


async def test_size_and_time_are_the_same_in_a_listing_and_a_look(
    objects: ThreadedObjectStore, file_of: FileOf
) -> None:
    await objects.put(KEY, file_of(b"12345"))
    (listed,) = [stored async for stored in objects.list()]
    looked = await objects.head(KEY)
    assert looked is not None
    assert listed.size == looked.size == 5
    assert abs(listed.modified - looked.modified) < timedelta(seconds=1)  # HTTP's headers have no fractions
    assert abs(looked.modified - datetime.now(UTC)) < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, b"0123456789"),
        (3, None, b"3456789"),
        (0, 4, b"0123"),
        (3, 4, b"3456"),
        (8, 100, b"89"),
        (9, 1, b"9"),
        (10, 1, b""),
        (10, None, b""),
        (5_000, 10, b""),
        (2, 0, b""),
    ],
)
async def test_a_part_of_an_object_can_be_read(
    objects: ThreadedObjectStore, file_of: FileOf, start: int, length: int | None, expected: bytes
) -> None:
    await objects.put(KEY, file_of(b"0123456789"))
    assert await objects.read(KEY, start, length) == expected


async def test_nothing_can_be_read_of_an_empty_object(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    await objects.put(KEY, file_of(b""))
    assert await objects.read(KEY) == b""


@pytest.mark.parametrize(("start", "length"), [(-1, 5), (0, -1)])
async def test_a_range_before_the_start_is_refused(objects: ThreadedObjectStore, start: int, length: int) -> None:
    with pytest.raises(ObjectStoreError, match="invalid byte range"):
        await objects.read(KEY, start, length)


async def test_one_read_is_bounded(
    objects: ThreadedObjectStore, file_of: FileOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("found_footy.storage.objects.store.READ_BYTES", 4)
    await objects.put(KEY, file_of(b"0123456789"))
    assert await objects.read(KEY) == b"0123"
    assert await objects.read(KEY, 2, 100) == b"2345"


async def test_a_check_leaves_nothing_behind(objects: ThreadedObjectStore) -> None:
    described = await objects.check()
    assert described.startswith(("folder /", "s3://footy/tests/"))
    assert await keys_in(objects) == []


async def test_others_are_served_while_a_store_works(objects: ThreadedObjectStore, file_of: FileOf) -> None:
    working = asyncio.create_task(objects.put(KEY, file_of(filled(PART_BYTES + 1))))
    turns = 0
    while not working.done():
        turns += 1
        await asyncio.sleep(0)
    await working
    assert turns > 10
