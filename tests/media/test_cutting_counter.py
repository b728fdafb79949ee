"""On a real film with its frame numbers burnt in: the first and the last picture of each cut tell the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.media.cut import cut
from found_footy.media.master import make_master
from tests.media.numbered_films import LONG, tell_nobody
from tests.support.frame_counter import check_frames, counter


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counter") / "master.mp4"
    make_master(counter(), path, tell_nobody, LONG)
    return path


@pytest.mark.parametrize(("first", "end"), [(0, 20), (20, 30), (7, 23), (19, 21), (12, 13), (0, 30)])
def test_the_counter_reads_the_right_numbers(master: Path, tmp_path: Path, first: int, end: int) -> None:
    cut(master, first, end, tmp_path / "clip.mp4")
    check_frames(tmp_path / "clip.mp4", first, end)
