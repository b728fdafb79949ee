"""`footy media scenes`: JSON, table and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Footy
from tests.media.made_clips import write
from tests.media.made_films import joined, shot


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures, cuts = joined([shot(1, 30), shot(2, 12), shot(3, 40)])
    assert cuts == [30, 42]
    return write(tmp_path_factory.mktemp("films") / "film.mp4", pictures)


def test_scenes_json_has_rate_and_cuts(footy: Footy, film: Path) -> None:
    ended = footy("media", "scenes", str(film), "--least", "0.4", "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == {"fps": 25.0, "cuts": [30, 42]}
    assert ended.err == ""


def test_scenes_prints_a_table(footy: Footy, film: Path) -> None:
    ended = footy("media", "scenes", str(film), "--least", "0.4")
    rows = [line.split() for line in ended.out.splitlines()]
    assert rows == [
        ["scene", "from", "to", "frames", "at"],
        ["1", "0", "29", "30", "0:00:00.00"],
        ["2", "30", "41", "12", "0:00:01.20"],
        ["3", "42", "81", "40", "0:00:01.68"],
    ]


def test_scenes_have_a_minimum_length_by_default(footy: Footy, film: Path) -> None:
    found = json.loads(footy("media", "scenes", str(film), "--json").out)["cuts"]
    assert len(found) == 1
    assert set(found) < {30, 42}


@pytest.mark.parametrize(("content", "kind"), [(None, "NotFound"), (b"", "NotAVideo"), (b"no video", "NotAVideo")])
def test_scenes_reports_an_invalid_file(footy: Footy, tmp_path: Path, content: bytes | None, kind: str) -> None:
    path = tmp_path / "wrong.mp4"
    if content is not None:
        path.write_bytes(content)
    ended = footy("media", "scenes", str(path), "--json")
    assert ended.code != 0
    assert ended.error()["class"] == kind
    assert ended.out == ""


@pytest.mark.parametrize("least", ["-1", "61", "soon"])
def test_an_invalid_minimum_length_is_rejected(footy: Footy, film: Path, least: str) -> None:
    ended = footy("media", "scenes", str(film), "--least", least)
    assert ended.code == 2
    assert "--least" in ended.words
