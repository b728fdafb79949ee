"""The library's place on the disk: masters are fetched once, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from found_footy.errors import MediaBroken, ObjectMissing, StoreUnavailable
from found_footy.library.activities import report_progress
from found_footy.library.master_cache import MasterCache, hide_path
from found_footy.library.models import SourceKind, SourceState, SourceVideo, master_key
from found_footy.media.models import MasterVideo
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.library_world import NOW, put


def source(id_: int) -> SourceVideo:
    master = MasterVideo(10, Fraction(25), 320, 180, False, 4, f"md5-{id_}")
    return SourceVideo(id_, SourceKind.FILE, SourceState.DOWNLOADED, "A film", master=master)


@pytest.fixture
async def stored(objects: ThreadedObjectStore) -> ThreadedObjectStore:
    for id_ in range(4):
        await put(objects, master_key(id_), b"film")
    return objects


class CountingObjects:
    def __init__(self, objects: ThreadedObjectStore) -> None:
        self._objects = objects
        self.got: list[str] = []

    async def get(self, key: str, to: Path) -> None:
        self.got.append(key)
        await self._objects.get(key, to)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


async def test_a_master_is_downloaded_once_for_concurrent_users(stored: ThreadedObjectStore, place: Path) -> None:
    counting = CountingObjects(stored)
    disk = MasterCache(counting, place, max_idle=1)  # type: ignore[arg-type]

    async def look(id_: int) -> bytes:
        async with disk.master(source(id_)) as path:
            return await asyncio.to_thread(path.read_bytes)

    assert await asyncio.gather(*(look(1) for _ in range(5))) == [b"film"] * 5
    await look(1)
    assert counting.got == [master_key(1)]
    await look(2)
    await look(1)
    assert counting.got == [master_key(1), master_key(2), master_key(1)], "only so many are kept"
    (folder,) = os.listdir(place)
    assert len(os.listdir(place / folder)) == 1
    await disk.aclose()
    assert os.listdir(place) == []


async def test_a_master_in_use_is_not_evicted(stored: ThreadedObjectStore, place: Path) -> None:
    disk = MasterCache(stored, place, max_idle=0)
    newer = replace(source(1), master=MasterVideo(10, Fraction(25), 320, 180, False, 4, "other"))
    async with disk.master(source(1)) as path:
        async with disk.master(source(1)) as same, disk.master(newer) as other:
            assert same == path != other
        assert path.exists()
        assert not other.exists()
    assert not path.exists()
    await disk.aclose()


async def test_a_missing_master_can_be_retried(objects: ThreadedObjectStore, place: Path) -> None:
    disk = MasterCache(objects, place)
    for _ in range(2):
        with pytest.raises(ObjectMissing):
            async with disk.master(source(9)):
                pass
    await put(objects, master_key(9), b"film")
    async with disk.master(source(9)) as path:
        assert path.exists()
    await disk.aclose()


async def test_only_abandoned_folders_are_removed(objects: ThreadedObjectStore, place: Path) -> None:
    left = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from found_footy.library.master_cache import MasterCache\n"
        "disk = MasterCache(None, Path(sys.argv[1]))\n"
        "disk.folder().__enter__()\n"
        "os._exit(9)\n"
    )
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", left, str(place)], check=False)
    assert len(os.listdir(place)) == 1
    (place / "footy-library-is-no-folder").touch()
    living = MasterCache(objects, place)
    mine = set(os.listdir(place))
    assert len(mine) == 2, "its own, and a file that only looks alike"
    other = MasterCache(objects, place)
    assert mine < set(os.listdir(place))
    await living.aclose()
    await other.aclose()
    assert os.listdir(place) == ["footy-library-is-no-folder"]


def test_errors_contain_no_local_paths() -> None:
    error = MediaBroken("/tmp/footy-library-ab12/work-x/master.mp4: it is cut off")
    assert hide_path(error) == "the file: it is cut off"


class ProgressStore:
    def __init__(self) -> None:
        self.shares: list[float] = []
        self.away = True

    async def save_progress(self, source_id: int, share: float, now: object) -> None:
        if self.away:
            self.away = False
            raise StoreUnavailable("away")
        self.shares.append(share)


async def test_progress_is_saved_again_after_a_store_failure() -> None:
    notes = ProgressStore()
    async with report_progress(notes.save_progress, 1, lambda: NOW, every=0.001) as note:
        note.part(0.5, 1.0)(0.5)
        while not notes.shares:
            await asyncio.sleep(0.001)
        note.part(0.5, 1.0)(7.0)
        while len(notes.shares) < 2:
            await asyncio.sleep(0.001)
    assert notes.shares == [0.75, 1.0]
