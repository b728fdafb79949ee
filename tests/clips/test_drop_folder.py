"""Files that people drop into a folder: those inside of it, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected
from tests.clips.conftest import Open, names_in, saved
from tests.clips.hostile_server import VIDEO


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
    ("link", "reason"),
    [
        ("folder:../secret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:%2e%2e/secret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:%2E%2E%2Fsecret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:../drop-too/secret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:sub/../../secret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:/etc/passwd", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:%2fetc%2fpasswd", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:outside.mp4", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:out/secret", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:.", RejectionReason.FORBIDDEN_ADDRESS),
        ("folder:", RejectionReason.UNSUPPORTED),
        ("folder:goal.mp4%00.txt", RejectionReason.UNSUPPORTED),
        ("folder:missing.mp4", RejectionReason.GONE),
        ("folder:goal.mp4/inside", RejectionReason.GONE),
        ("folder:sub", RejectionReason.NOT_A_VIDEO),
        ("folder:pipe.mp4", RejectionReason.NOT_A_VIDEO),
        ("folder:loop.mp4", RejectionReason.NOT_A_VIDEO),
        ("folder:" + "n" * 5000, RejectionReason.NOT_A_VIDEO),
        ("folder:empty.mp4", RejectionReason.NOT_A_VIDEO),
        ("folder:large.mp4", RejectionReason.TOO_LARGE),
    ],
)
async def test_everything_else_is_refused(
    opened: Open, folder: Path, target: Path, link: str, reason: RejectionReason
) -> None:
    with pytest.raises(CandidateRejected) as raised:
        await opened(drop_folder=folder).fetch(link, target)
    assert raised.value.reason == reason
    assert names_in(target.parent) == []


async def test_without_a_folder_there_are_no_files(opened: Open, target: Path) -> None:
    with pytest.raises(CandidateRejected) as raised:
        await opened().fetch("folder:goal.mp4", target)
    assert raised.value.reason == RejectionReason.UNSUPPORTED
