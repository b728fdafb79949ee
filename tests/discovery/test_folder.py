"""What is found in a folder that people drop files into, and what is left where it is."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from found_footy.discovery import folder as module
from found_footy.discovery.folder import Folder
from found_footy.discovery.models import Post
from found_footy.errors import SourceUnavailable
from tests.discovery.source_sites import NOW, QUERY, SINCE, drop

RECENT = NOW - timedelta(seconds=30)


async def found(folder: Path, now: datetime = NOW) -> list[Post]:
    return list(await Folder(folder, now=lambda: now).search(QUERY, SINCE))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Salah Liverpool 67.mp4", True),
        ("Liverpool/Salah_67.mp4", True),
        ("LFC - City/second half/goal-salah.MOV", True),
        ("salah.liverpool.webm", True),
        ("Mohamed Salah (Liverpool).mkv", True),
        ("Salah.mp4", False),
        ("Liverpool/Haaland.mp4", False),
        ("Liverpool/Salah.txt", False),
        ("Liverpool/Salah.mp4.part", False),
        ("Liverpool/Salah", False),
        ("Liverpool/.Salah.mp4", False),
        (".Liverpool/Salah.mp4", False),
        ("1/2/3/4/5/6/Liverpool Salah.mp4", True),
        ("1/2/3/4/5/6/7/Liverpool Salah.mp4", False),
    ],
)
async def test_a_file_is_found_by_its_name_and_that_of_its_folders(tmp_path: Path, name: str, expected: bool) -> None:
    drop(tmp_path, name, RECENT)
    assert bool(await found(tmp_path)) is expected


@pytest.mark.parametrize(
    "name",
    [
        b"Liverpool/Salah 100% #1?.mp4",
        "Liverpool/Salah – Núñez ü.mp4".encode(),
        b"Liverpool Salah \xff\xfe.mp4",
        b"Liverpool Salah\n\x1b[31m.mp4",
        "Liverpool \u202eSalah.mp4".encode(),
    ],
)
async def test_any_name_makes_a_usable_address_and_id(tmp_path: Path, name: bytes) -> None:
    drop(tmp_path, os.fsdecode(name), RECENT)
    (post,) = await found(tmp_path)
    assert post.media_url.isascii()
    assert unquote_to_bytes(post.media_url.removeprefix("folder:")) == name
    assert len(post.id) == 32
    assert post.text.isprintable()
    assert post.posted_at == RECENT


@pytest.mark.parametrize(
    ("ago", "expected"),
    [(0.0, False), (0.9, False), (1.0, True), (100.0, True), (-30.0, False), (-3600.0, True)],
)
async def test_a_file_that_may_still_be_written_waits(tmp_path: Path, ago: float, expected: bool) -> None:
    drop(tmp_path, "Salah Liverpool.mp4", NOW - timedelta(seconds=ago))
    posts = await found(tmp_path)
    assert bool(posts) is expected
    assert all(post.posted_at <= NOW for post in posts)


async def test_an_empty_file_waits(tmp_path: Path) -> None:
    drop(tmp_path, "Salah Liverpool.mp4", RECENT, b"")
    assert await found(tmp_path) == []


async def test_a_growing_file_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = drop(tmp_path, "Salah Liverpool.mp4", RECENT)
    look = module._is_complete

    def grows(*given: object) -> bool:
        path.write_bytes(b"more than before")
        os.utime(path, (RECENT.timestamp(), RECENT.timestamp()))
        return look(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_is_complete", grows)
    assert await found(tmp_path) == []


async def test_a_rewritten_file_is_a_new_post(tmp_path: Path) -> None:
    drop(tmp_path, "Salah Liverpool.mp4", RECENT)
    (first,) = await found(tmp_path)
    drop(tmp_path, "Salah Liverpool.mp4", RECENT + timedelta(seconds=5), b"the whole video")
    (second,) = await found(tmp_path)
    assert first.id != second.id
    assert first.media_url == second.media_url


async def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    secret = drop(outside, "Salah Liverpool.mp4", RECENT)
    own = drop(inside, "Salah Liverpool.mp4", RECENT)
    (inside / "Salah Liverpool linked.mp4").symlink_to(secret)
    (inside / "Salah Liverpool folder").symlink_to(outside)
    (inside / "Salah Liverpool nowhere.mp4").symlink_to(inside / "missing.mp4")
    (inside / "Salah Liverpool itself.mp4").symlink_to(inside / "Salah Liverpool itself.mp4")
    (inside / "round").symlink_to(inside)
    (inside / "Salah Liverpool again.mp4").symlink_to(own)
    assert sorted(post.text for post in await found(inside)) == ["Salah Liverpool again.mp4", "Salah Liverpool.mp4"]


async def test_only_regular_files_are_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Salah Liverpool.mp4")
    (tmp_path / "Salah Liverpool.mov").mkdir()
    assert await found(tmp_path) == []


async def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    drop(tmp_path / "real", "Salah Liverpool.mp4", RECENT)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert len(await found(tmp_path / "link")) == 1


async def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    for wrong in (tmp_path / "missing", drop(tmp_path, "a file.mp4", RECENT)):
        with pytest.raises(SourceUnavailable, match=wrong.name):
            await found(wrong)
        with pytest.raises(SourceUnavailable, match=wrong.name):
            await Folder(wrong).check()


async def test_a_check_counts_the_videos(tmp_path: Path) -> None:
    drop(tmp_path, "a.mp4", RECENT)
    drop(tmp_path, "b/c.mkv", RECENT)
    assert await Folder(tmp_path).check() == f"2 videos in {tmp_path}"


async def test_too_many_files_raise_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 5)
    for number in range(8):
        drop(tmp_path, f"Salah Liverpool {number}.mp4", RECENT)
    assert len(await found(tmp_path)) == 5
    assert "were skipped" in caplog.text


async def test_an_unreadable_subfolder_does_not_affect_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("open", "closed"):
        drop(tmp_path, f"{name}/Salah Liverpool.mp4", RECENT)
    scandir = os.scandir

    def refused(path: str) -> object:
        """As for anybody but the superuser, who may read everything."""
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert [post.text for post in await found(tmp_path)] == ["open/Salah Liverpool.mp4"]
    assert "1 unreadable" in caplog.text
