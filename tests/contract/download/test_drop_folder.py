"""Files that people drop into a folder: those inside of it, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from found_footy.domain.errors import ClipLost
from found_footy.domain.videos.losses import Loss

from .conftest import Open, names_in, saved
from .hostile_server import VIDEO


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "drop"
    (root / "sub").mkdir(parents=True)
    (root / "goal.mp4").write_bytes(VIDEO)
    (root / "sub" / "Tor für 100%.mp4").write_bytes(VIDEO)
    (root / "large.mp4").write_bytes(bytes(200_000))
    (root / "empty.mp4").touch()
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "drop-too").mkdir()
    (tmp_path / "drop-too" / "secret").write_bytes(b"secret")
    (root / "inside.mp4").symlink_to(root / "goal.mp4")
    (root / "outside.mp4").symlink_to(tmp_path / "secret")
    (root / "out").symlink_to(tmp_path)
    (root / "loop.mp4").symlink_to(root / "loop.mp4")
    os.mkfifo(root / "pipe.mp4")
    return root


@pytest.mark.parametrize(
    "link",
    ["folder:goal.mp4", "folder:sub/Tor%20f%C3%BCr%20100%25.mp4", "folder:sub/../goal.mp4", "folder:inside.mp4"],
)
async def test_a_file_of_the_folder_is_copied(opened: Open, folder: Path, target: Path, link: str) -> None:
    await opened(drop_folder=folder).fetch(link, target)
    assert saved(target) == VIDEO
    assert names_in(target.parent) == [target.name]


@pytest.mark.parametrize(
    ("link", "loss"),
    [
        ("folder:../secret", Loss.FORBIDDEN_ADDRESS),
        ("folder:%2e%2e/secret", Loss.FORBIDDEN_ADDRESS),
        ("folder:%2E%2E%2Fsecret", Loss.FORBIDDEN_ADDRESS),
        ("folder:../drop-too/secret", Loss.FORBIDDEN_ADDRESS),
        ("folder:sub/../../secret", Loss.FORBIDDEN_ADDRESS),
        ("folder:/etc/passwd", Loss.FORBIDDEN_ADDRESS),
        ("folder:%2fetc%2fpasswd", Loss.FORBIDDEN_ADDRESS),
        ("folder:outside.mp4", Loss.FORBIDDEN_ADDRESS),
        ("folder:out/secret", Loss.FORBIDDEN_ADDRESS),
        ("folder:.", Loss.FORBIDDEN_ADDRESS),
        ("folder:", Loss.UNSUPPORTED),
        ("folder:goal.mp4%00.txt", Loss.UNSUPPORTED),
        ("folder:missing.mp4", Loss.GONE),
        ("folder:goal.mp4/inside", Loss.GONE),
        ("folder:sub", Loss.NOT_A_VIDEO),
        ("folder:pipe.mp4", Loss.NOT_A_VIDEO),
        ("folder:loop.mp4", Loss.NOT_A_VIDEO),
        ("folder:" + "n" * 5000, Loss.NOT_A_VIDEO),
        ("folder:empty.mp4", Loss.NOT_A_VIDEO),
        ("folder:large.mp4", Loss.TOO_LARGE),
    ],
)
async def test_everything_else_is_refused(opened: Open, folder: Path, target: Path, link: str, loss: Loss) -> None:
    with pytest.raises(ClipLost) as lost:
        await opened(drop_folder=folder).fetch(link, target)
    assert lost.value.loss == loss
    assert names_in(target.parent) == []


async def test_without_a_folder_there_are_no_files(opened: Open, target: Path) -> None:
    with pytest.raises(ClipLost) as lost:
        await opened().fetch("folder:goal.mp4", target)
    assert lost.value.loss == Loss.UNSUPPORTED
