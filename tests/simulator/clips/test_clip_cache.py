"""Rendering is the same every time, and done once."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from clip_helpers import scenario_with, spec_of

from footy_simulator.clips import encode as rendering
from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for

SPEC = spec_of("copy logo 360p -1s 3s")


def test_the_same_spec_gives_the_same_bytes(tmp_path: Path) -> None:
    one, other = render(SPEC, tmp_path / "one"), render(SPEC, tmp_path / "other")
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()


def test_a_file_that_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = render(SPEC, tmp_path)
    monkeypatch.delattr(rendering, "write_video")
    assert render(SPEC, tmp_path) == path


def test_copies_share_one_master_and_leave_nothing_half_made(tmp_path: Path) -> None:
    for spec in clips_for(scenario_with("copy 360p -1s 3s", "copy grey 360p +0s 3s"), 5001, 0):
        render(spec, tmp_path)
    names = sorted(path.name.split("-")[0] for path in tmp_path.iterdir())
    assert names == ["copy", "copy", "master"]


def test_a_failed_rendering_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(rendering, "write_master", fail)
    with pytest.raises(OSError, match="no space left"):
        render(SPEC, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_name_follows_the_content_and_not_the_post() -> None:
    assert replace(SPEC, number=7, after=9).file_name == SPEC.file_name
    for other in (replace(SPEC, kbit=999), replace(SPEC, start=10.5), replace(SPEC, also=())):
        assert other.file_name != SPEC.file_name


def _render_there(spec: ClipSpec, folder: Path) -> Path:
    return render(spec, folder)


def test_two_processes_may_make_the_same_clip(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        paths = pool.starmap(_render_there, [(SPEC, tmp_path)] * 2)
    assert paths[0] == paths[1]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".mp4", ".mp4"]
