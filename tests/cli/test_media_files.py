"""`footy media probe`, `hash`, `compare` and `duplicates`: JSON, text and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from found_footy.cli import media as media_commands
from found_footy.cli.media import _hash_file, media
from found_footy.errors import MediaBroken, NotAVideo, NotFound
from found_footy.media.fingerprint import Fingerprint
from tests.media.made_clips import write_scene


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """whole, part (from 1 s on) and other, and two files that are no videos."""
    folder = tmp_path_factory.mktemp("clips")
    write_scene(folder / "whole.mp4", 6)
    write_scene(folder / "part.mp4", 3, start=1.0)
    write_scene(folder / "other.mp4", 4, seed=5)
    (folder / "wrong.mp4").write_text("no video")
    (folder / "notes.txt").write_text("not looked at")
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(media, [str(each) for each in arguments], catch_exceptions=True)


def answer(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def test_probe_prints_the_properties(clips: Path) -> None:
    told = answer("probe", clips / "whole.mp4")
    assert (told["width"], told["height"], told["fps"], told["duration"], told["codec"]) == (320, 180, 25, 6, "h264")
    words = run("probe", clips / "whole.mp4").stdout
    assert "duration: 6.0" in words
    assert "has audio: False" in words


def test_hash_is_the_text_form(clips: Path) -> None:
    told = answer("hash", clips / "part.mp4")
    assert (told["frames"], told["step"]) == (24, 0.125)
    assert len(Fingerprint.from_text(told["hash"])) == 24
    assert run("hash", clips / "part.mp4").stdout.strip() == told["hash"]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("part", "whole", {"duplicate": True, "offset_seconds": 1.0, "matched_frames": 24, "keep": "b"}),
        ("whole", "part", {"duplicate": True, "offset_seconds": -1.0, "matched_frames": 24, "keep": "a"}),
        ("whole", "other", {"duplicate": False, "offset_seconds": None, "matched_frames": 0, "keep": None}),
    ],
)
def test_compare_reports_duplicates_and_the_copy_to_keep(clips: Path, a: str, b: str, expected: dict[str, Any]) -> None:
    assert answer("compare", clips / f"{a}.mp4", clips / f"{b}.mp4") == expected


def test_compare_prints_text(clips: Path) -> None:
    same = run("compare", clips / "part.mp4", clips / "whole.mp4").stdout.replace("\n", "")
    assert "same moment: the first starts at +1.00 s of the second; 24 frames match; keep" in same
    assert run("compare", clips / "whole.mp4", clips / "other.mp4").stdout == "different\n"


def test_duplicates_lists_pairs_groups_and_unreadable_files(clips: Path) -> None:
    whole, part, other, wrong = (str(clips / f"{name}.mp4") for name in ("whole", "part", "other", "wrong"))
    told = answer("duplicates", clips)
    assert list(told) == ["pairs", "groups", "errors"]
    assert [(pair["a"], pair["b"], pair["duplicate"]) for pair in told["pairs"]] == [
        (other, part, False),
        (other, whole, False),
        (part, whole, True),
    ]
    assert set(told["pairs"][0]) == {"a", "b", "duplicate", "offset_seconds", "matched_frames"}
    assert (told["pairs"][2]["offset_seconds"], told["pairs"][2]["matched_frames"]) == (1.0, 24)
    assert told["groups"] == [[part, whole]]
    assert [(each["file"], each["class"]) for each in told["errors"]] == [(wrong, "NotAVideo")]


def test_duplicates_prints_the_copy_to_keep(clips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        media_commands, "_hash_all", lambda paths: ([_hash_file(path, str(path)) for path in paths], [])
    )
    words = run("duplicates", clips / "whole.mp4", clips / "part.mp4").stdout.replace("\n", " ")
    assert f"keep {clips / 'whole.mp4'}" in words
    assert "2 files, 1 groups of duplicates, 0 unreadable" in words


def test_a_file_given_twice_is_read_once(clips: Path) -> None:
    assert answer("duplicates", clips / "whole.mp4", clips / "whole.mp4") == {"pairs": [], "groups": [], "errors": []}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["probe", "none.mp4"], NotFound),
        (["hash", "wrong.mp4"], NotAVideo),
        (["compare", "whole.mp4", "none.mp4"], NotFound),
        (["compare", "wrong.mp4", "whole.mp4"], NotAVideo),
        (["duplicates", "none.mp4"], NotFound),
        (["probe", "cut.mp4"], MediaBroken),
    ],
)
def test_media_errors_are_footy_errors(clips: Path, arguments: list[str], kind: type[Exception]) -> None:
    (clips / "cut.mp4").write_bytes((clips / "whole.mp4").read_bytes()[:5000])
    try:
        command, *files = arguments
        assert isinstance(run(command, *(clips / name for name in files)).exception, kind)
    finally:
        (clips / "cut.mp4").unlink()
