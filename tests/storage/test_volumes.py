"""A volume with too little free space refuses work before it begins; folders of killed processes are removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from found_footy.errors import VolumeFull
from found_footy.storage.objects.store import open_object_store
from found_footy.storage.volumes import remove_abandoned_folders, require_space

GB = 1_000_000_000


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def set_free(number: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100 * GB, 0, number))  # type: ignore[attr-defined]

    return set_free


@pytest.mark.parametrize(
    ("bytes_free", "floor", "needed", "refused"),
    [(2 * GB, GB, 0, False), (GB - 1, GB, 0, True), (2 * GB, GB, GB + 1, True), (0, 0, GB, False)],
)
def test_work_is_refused_below_the_floor(
    tmp_path: Path, free: Callable[[int], None], bytes_free: int, floor: int, needed: int, refused: bool
) -> None:
    free(bytes_free)
    if refused:
        with pytest.raises(VolumeFull, match=r"MB free.* must stay free") as error:
            require_space(tmp_path / "not yet made", floor, needed)
        assert error.value.retryable
        assert "FOOTY_FREE_SPACE_MB" in error.value.hint
    else:
        require_space(tmp_path, floor, needed)


async def test_a_full_folder_takes_no_object_and_keeps_those_it_has(
    tmp_path: Path, free: Callable[[int], None]
) -> None:
    url, file = (tmp_path / "objects").as_uri(), tmp_path / "file"
    file.write_bytes(b"film")
    async with aclosing(
        open_object_store(url, endpoint=None, region="", access_key=None, secret_key=None, free_space=GB)
    ) as objects:
        free(2 * GB)
        await objects.put("a", file)
        free(GB // 2)
        for refused in (objects.put("b", file), objects.copy("a", "b"), objects.get("a", tmp_path / "c")):
            with pytest.raises(VolumeFull):
                await refused
        assert [each.key async for each in objects.list()] == ["a"]
        assert await objects.read("a") == b"film", "what is there is still served"
        await objects.delete(["a"])


def test_folders_of_killed_processes_are_removed_and_no_others(tmp_path: Path) -> None:
    old = 1_000_000_000
    for name in ("footy-abcd1234", "footy-upload-abcd1234", "footy-library-abcd1234", "footy-mine", "other-abcd1234"):
        (tmp_path / name / "in").mkdir(parents=True)
        for path in (tmp_path / name / "in", tmp_path / name):
            os.utime(path, (old, old))
    busy = tmp_path / "footy-image-abcd1234"
    busy.mkdir()
    (busy / "frame").touch()
    os.utime(busy, (old, old))
    (tmp_path / "footy-recording-abcd1234").symlink_to(tmp_path / "other-abcd1234")
    assert remove_abandoned_folders(tmp_path) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "footy-image-abcd1234", "footy-library-abcd1234", "footy-mine", "footy-recording-abcd1234", "other-abcd1234",
    ]  # fmt: skip
