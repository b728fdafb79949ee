"""What is special about a folder: links, files of strangers, sidecars, a disk that fills up or goes away."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from found_footy.errors import ObjectMissing, ObjectStoreError, ObjectStoreUnavailable
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.storage.conftest import open_folder

FileOf = Callable[[bytes], Path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of `folder_objects`."""
    return tmp_path / "store"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def move(folder: Path, to: Path) -> None:
    assert not to.exists()
    folder.rename(to)


def visible_in(folder: Path) -> list[str]:
    return [name for name in files_in(folder) if not name.startswith(".")]


async def keys_in(objects: ThreadedObjectStore, prefix: str = "") -> list[str]:
    return sorted([stored.key async for stored in objects.list(prefix)])


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    open_folder(tmp_path / "a" / "b ü#?%")
    assert (tmp_path / "a" / "b ü#?%").is_dir()


@pytest.mark.parametrize("place", ["file", "file/below", "file/far/below"])
def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ObjectStoreError, match="open the folder") as caught:
        open_folder(tmp_path / place)
    assert not caught.value.retryable


async def test_the_check_names_the_folder(folder_objects: ThreadedObjectStore, root: Path) -> None:
    assert await folder_objects.check() == f"folder {root}, writable"
    assert visible_in(root) == []


async def test_an_object_is_a_plain_file_that_people_can_open(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf
) -> None:
    await folder_objects.put("a/b.mp4", file_of(b"content"), content_type="video/webm", metadata={"home": "Beşiktaş"})
    assert (root / "a" / "b.mp4").read_bytes() == b"content"
    (sidecar,) = (root / ".metadata").rglob("*.json")
    assert json.loads(sidecar.read_text()) == {
        "key": "a/b.mp4",
        "content_type": "video/webm",
        "metadata": {"home": "Beşiktaş"},
    }


async def test_content_and_metadata_are_flushed_to_disk_before_they_are_renamed(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an object that the database names could be empty after a power cut."""
    flushed_before, flushed_after = set(), set()
    place, fsync = root / "a" / "b.mp4", os.fsync

    def recorded(descriptor: int) -> None:
        fsync(descriptor)
        (flushed_after if place.exists() else flushed_before).add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", recorded)
    await folder_objects.put("a/b.mp4", file_of(b"content"))
    (sidecar,) = (root / ".metadata").rglob("*.json")
    assert {place.stat().st_ino, sidecar.stat().st_ino} <= flushed_before
    assert place.parent.stat().st_ino in flushed_after, "the rename is flushed too"


async def test_deleting_leaves_neither_sidecars_nor_empty_folders(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf
) -> None:
    await folder_objects.put("a/b/c.mp4", file_of(b"1"), metadata={"a": "b"})
    await folder_objects.copy("a/b/c.mp4", "a/d.mp4")
    await folder_objects.delete(["a/b/c.mp4", "a/d.mp4"])
    assert files_in(root) == []
    assert not (root / "a").exists()


async def test_sidecars_of_similar_keys_do_not_meet(folder_objects: ThreadedObjectStore, file_of: FileOf) -> None:
    keys = ["a", "a.json/b", "a.json.json", "A2", "b/a", "b_a"]
    for key in keys:
        await folder_objects.put(key, file_of(b"1"), metadata={"key": key})
    assert [(await folder_objects.metadata(key))["key"] for key in keys] == keys


async def test_a_file_that_people_put_there_is_an_object_without_metadata(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf
) -> None:
    (root / "mine").mkdir()
    (root / "mine" / "clip.mp4").write_bytes(b"hello")
    (root / "mine" / ".DS_Store").write_bytes(b"")
    (root / "mine" / "half#1").write_bytes(b"")
    os.mkfifo(root / "mine" / "pipe")
    os.close(os.open(bytes(root / "mine") + b"/\xff.mp4", os.O_CREAT))
    assert await keys_in(folder_objects) == ["mine/clip.mp4"]
    assert await folder_objects.metadata("mine/clip.mp4") == {}
    assert await folder_objects.head("mine/pipe") is None
    await folder_objects.copy("mine/clip.mp4", "copy.mp4")
    assert await folder_objects.metadata("copy.mp4") == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"metadata": 5}', b"\xff", b"[" * 100_000])
async def test_a_damaged_sidecar_is_not_treated_as_empty(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf, content: bytes
) -> None:
    await folder_objects.put("a", file_of(b"1"))
    (sidecar,) = (root / ".metadata").rglob("*.json")
    sidecar.write_bytes(content)
    with pytest.raises(ObjectStoreError, match="damaged"):
        await folder_objects.metadata("a")
    await folder_objects.put("a", file_of(b"1"), metadata={"b": "c"})
    assert await folder_objects.metadata("a") == {"b": "c"}


async def test_no_link_leads_out_of_the_folder(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    (root / "dangling").symlink_to(outside / "new")
    await folder_objects.put("source", file_of(b"1"))
    for key in ("folder/secret", "file", "folder/new", "dangling"):
        for call in (
            folder_objects.put(key, file_of(b"2")),
            folder_objects.get(key, tmp_path / "back"),
            folder_objects.read(key),
            folder_objects.copy("source", key),
            folder_objects.copy(key, "target"),
            folder_objects.delete([key]),
            folder_objects.head(key),
            folder_objects.metadata(key),
        ):
            with pytest.raises(ObjectStoreError, match="symbolic link"):
                await call
    with pytest.raises(ObjectStoreError, match="symbolic link"):
        await keys_in(folder_objects, "folder/")
    assert await keys_in(folder_objects) == ["source"]
    assert files_in(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"


@pytest.mark.parametrize("hidden", [".metadata", ".staging"])
async def test_our_own_folders_must_not_be_links(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf, tmp_path: Path, hidden: str
) -> None:
    (tmp_path / "outside").mkdir()
    (root / hidden).symlink_to(tmp_path / "outside")
    with pytest.raises(ObjectStoreError, match="symbolic link"):
        await folder_objects.put("a", file_of(b"1"))
    assert files_in(tmp_path / "outside") == []


async def test_the_folder_itself_may_be_reached_through_a_link(tmp_path: Path, file_of: FileOf) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    objects = open_folder(tmp_path / "link")
    await objects.put("a", file_of(b"1"))
    assert await keys_in(objects) == ["a"]
    await objects.aclose()


async def test_a_file_and_a_folder_cannot_have_the_same_name(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf
) -> None:
    await folder_objects.put("a/b", file_of(b"1"), metadata={"c": "d"})
    for key in ("a", "a/b/c"):
        with pytest.raises(ObjectStoreError, match=f"^put {key}: ") as caught:
            await folder_objects.put(key, file_of(b"2"))
        assert not caught.value.retryable
    assert await keys_in(folder_objects) == ["a/b"]
    assert await folder_objects.metadata("a/b") == {"c": "d"}
    assert len(files_in(root)) == 2


async def test_a_missing_folder_is_not_treated_as_empty(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf, tmp_path: Path
) -> None:
    await folder_objects.put("a", file_of(b"1"))
    move(root, tmp_path / "unmounted")
    for call in (
        folder_objects.put("b", file_of(b"2")),
        folder_objects.get("a", tmp_path / "back"),
        folder_objects.read("a"),
        folder_objects.head("a"),
        folder_objects.metadata("a"),
        folder_objects.delete(["a"]),
        folder_objects.check(),
        keys_in(folder_objects),
        keys_in(folder_objects, "b/"),
    ):
        with pytest.raises(ObjectStoreUnavailable, match="does not exist") as caught:
            await call
        assert not isinstance(caught.value, ObjectMissing)
    move(tmp_path / "unmounted", root)
    assert await folder_objects.read("a") == b"1"


async def test_leftovers_of_a_dead_process_are_deleted_after_a_day(tmp_path: Path) -> None:
    staging = tmp_path / "store" / ".staging"
    for name, age in (("old", 90_000), ("young", 3_600)):
        (staging / name).mkdir(parents=True)
        (staging / name / "data").write_bytes(b"1")
        then = (staging / name).stat().st_mtime - age
        os.utime(staging / name, (then, then))
    objects = open_folder(tmp_path / "store")
    assert sorted(path.name for path in staging.iterdir()) == ["young"]
    assert await keys_in(objects) == []
    await objects.aclose()


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from found_footy.errors import ObjectStoreError
from found_footy.storage.objects.store import open_object_store

async def main(root, small, large):
    store = open_object_store(root.as_uri(), endpoint=None, region="", access_key=None, secret_key=None)
    await store.put("a", small, metadata={"is": "small"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, 6_000_000))
    for call in (lambda: store.put("a", large), lambda: store.put("b", large)):
        try:
            await call()
        except ObjectStoreError as error:
            print(type(error).__name__, error)
        else:
            sys.exit("a file beyond the limit was stored")
    await store.put("c", small)
    await store.aclose()

asyncio.run(main(*map(Path, sys.argv[1:])))
"""


async def test_a_put_that_fails_half_way_leaves_everything_as_it_was(
    folder_objects: ThreadedObjectStore, root: Path, file_of: FileOf
) -> None:
    """Under a limit on the size of files, which stops a write in the middle as a full disk does."""
    arguments = [sys.executable, "-c", FULL_DISK, str(root), str(file_of(b"1")), str(file_of(b"2" * 8_000_000))]
    ended = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("File too large") == 2
    assert await keys_in(folder_objects) == ["a", "c"]
    assert await folder_objects.read("a") == b"1"
    assert await folder_objects.metadata("a") == {"is": "small"}
    assert list((root / ".staging").iterdir()) == []


async def test_readers_never_see_a_file_with_the_metadata_of_another(tmp_path: Path, file_of: FileOf) -> None:
    """Two stores stand for two processes: they share nothing but the folder."""
    writer, reader = open_folder(tmp_path / "store"), open_folder(tmp_path / "store")
    sources = {str(number): file_of(b"x" * number) for number in range(1, 9)}
    await writer.put("key", sources["1"], metadata={"size": "1"})

    async def write() -> None:
        for _ in range(5):
            await asyncio.gather(*(writer.put("key", path, metadata={"size": size}) for size, path in sources.items()))

    writing = asyncio.create_task(write())
    copies = 0
    while not writing.done():
        await reader.copy("key", f"copies/{copies}")
        copies += 1
    await writing
    for number in range(copies):
        stored = await reader.head(f"copies/{number}")
        assert stored is not None
        assert await reader.metadata(f"copies/{number}") == {"size": str(stored.size)}
    await writer.aclose()
    await reader.aclose()


async def test_deleting_an_empty_folder_does_not_break_concurrent_writes(
    folder_objects: ThreadedObjectStore, file_of: FileOf
) -> None:
    path = file_of(b"1")
    for _ in range(20):
        await asyncio.gather(
            *(folder_objects.put(f"a/b/{number}", path) for number in range(4)),
            *(folder_objects.delete([f"a/b/{number}"]) for number in range(4)),
        )
    await folder_objects.delete([f"a/b/{number}" for number in range(4)])
    assert await keys_in(folder_objects) == []
