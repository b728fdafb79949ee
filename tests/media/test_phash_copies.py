"""Copies are found and other clips are not, on files: those that the tests render, and real ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
import pytest

from found_footy.media.fingerprint import Fingerprint, hash_video
from found_footy.media.hash_match import match, match_mirrored
from tests.media.made_clips import HEIGHT, WIDTH, Alter, Picture, scene, write, write_copy, write_scene
from tests.support.recorded import recorded


def resized(width: int, height: int) -> Alter:
    return lambda picture: np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def barred(down: int, across: int, colour: int = 0) -> Alter:
    return lambda picture: np.asarray(
        cv2.copyMakeBorder(picture, down, down, across, across, cv2.BORDER_CONSTANT, value=(colour,) * 3), np.uint8
    )


def with_logo(picture: Picture) -> Picture:
    made = picture.copy()
    cv2.rectangle(made, (WIDTH - 70, 10), (WIDTH - 10, 34), (30, 30, 230), -1)
    cv2.putText(made, "GOALS", (WIDTH - 66, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1)
    return made


def shifted(gains: tuple[float, float, float], lift: float = 0.0) -> Alter:
    return lambda picture: np.clip(picture * np.array(gains) + lift, 0, 255).astype(np.uint8)


def grey(picture: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), np.uint8)


def all_at_once(picture: Picture) -> Picture:
    return barred(40, 0)(with_logo(shifted((0.9, 1.0, 1.2))(picture)))


def as_it_is(picture: Picture) -> Picture:
    return picture


COPIES: dict[str, tuple[Alter, dict[str, float | str], float]] = {
    # alteration, how it is made, where the copy starts in the original
    "smaller": (resized(160, 90), {}, 0.0),
    "larger": (resized(640, 360), {}, 0.0),
    "stretched": (resized(240, 180), {}, 0.0),
    "24 frames a second": (as_it_is, {"fps": 24}, 0.0),
    "30 frames a second": (as_it_is, {"fps": 30}, 0.0),
    "12 frames a second": (as_it_is, {"fps": 12}, 0.0),
    "50 frames a second": (as_it_is, {"fps": 50}, 0.0),
    "low bitrate": (as_it_is, {"crf": "40"}, 0.0),
    "another codec": (as_it_is, {"codec": "mpeg4"}, 0.0),
    "logo": (with_logo, {}, 0.0),
    "bars above and below": (barred(40, 0), {}, 0.0),
    "bars left and right": (barred(0, 60), {}, 0.0),
    "white frame": (barred(6, 6, 255), {}, 0.0),
    "grey": (grey, {}, 0.0),
    "sepia": (shifted((0.6, 0.9, 1.1), 10), {}, 0.0),
    "dark": (shifted((0.5, 0.5, 0.5)), {}, 0.0),
    "starts later": (as_it_is, {"start": 2.0, "seconds": 6}, 2.0),
    "starts between two samples": (as_it_is, {"start": 1.12, "seconds": 6}, 1.12),
    "starts earlier": (as_it_is, {"start": -1.5, "seconds": 9}, -1.5),
    "a short part": (as_it_is, {"start": 3.0, "seconds": 3}, 3.0),
    "everything at once": (all_at_once, {"start": 1.4, "seconds": 5, "fps": 30, "crf": "34"}, 1.4),
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Fingerprint:
    return hash_video(write_scene(tmp_path_factory.mktemp("original") / "clip.mp4", 8))


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_found_where_it_starts(tmp_path: Path, original: Fingerprint, kind: str) -> None:
    alter, how, start = COPIES[kind]
    copy = hash_video(write_copy(tmp_path / "copy.mp4", alter, **how))  # type: ignore[arg-type]
    found = match(copy, original)
    assert found is not None
    assert found.offset_seconds == pytest.approx(start, abs=0.25)
    assert match_mirrored(copy, original) is None


def test_a_mirrored_copy_is_found_as_one(tmp_path: Path, original: Fingerprint) -> None:
    copy = hash_video(write_copy(tmp_path / "copy.mp4", lambda picture: picture[:, ::-1]))
    assert match(copy, original) is None
    assert match_mirrored(copy, original) is not None


def dark(path: Path) -> Path:
    return write(path, (picture // 60 for picture in scene(8)))


def black(path: Path) -> Path:
    return write(path, [np.zeros((HEIGHT, WIDTH, 3), np.uint8)] * 200)


def still(path: Path) -> Path:
    return write(path, [next(scene(1, start=2.0))] * 200)


def fades_to_black(path: Path) -> Path:
    return write(
        path, ((picture * max(0.0, 1 - n / 40)).astype(np.uint8) for n, picture in enumerate(scene(8, seed=9)))
    )


OTHERS: list[Callable[[Path], Path]] = [
    lambda path: write_scene(path, 8, seed=2),
    lambda path: write_scene(path, 8, seed=3),
    lambda path: write_scene(path, 8, start=40),
    dark,
    black,
    still,
    fades_to_black,
]


def test_other_clips_match_neither_the_original_nor_one_another(tmp_path: Path, original: Fingerprint) -> None:
    others = [hash_video(make(tmp_path / f"{n}.mp4")) for n, make in enumerate(OTHERS)]
    for a, b in combinations([original, *others], 2):
        assert match(a, b) is None


def test_a_renamed_file_has_the_same_hash(tmp_path: Path) -> None:
    path = write_scene(tmp_path / "clip.mp4", 2)
    shutil.copy(path, tmp_path / "other.bin")
    assert hash_video(tmp_path / "other.bin") == hash_video(path)


# --- Recorded clips: every pair of which `video/README` says whether it is one. Each file is hashed once.

CHAIRS = {
    # seconds of the original at which each starts
    "near-duplicates/chair-orig-22-sd-bar.mp4": 0.0,
    "near-duplicates/chair-22-sd-grey-bar.mp4": 0.0,
    "near-duplicates/chair-22-sd-sepia-bar.mp4": 0.0,
    "near-duplicates/chair-22-with-small-logo-bar.mp4": 0.0,
    "near-duplicates/chair-22-with-large-logo-bar.mp4": 0.0,
    "near-duplicates/chair-20-sd-bar.mp4": 2.0,
    "near-duplicates/chair-19-sd-bar.mp4": 3.7,
}
CATS = dict.fromkeys((f"near-duplicates/cat.{name}" for name in ("1.mp4", "2.mp4", "3.webm")), 0.0)
RECORDED_COPIES: tuple[tuple[str, str, float], ...] = (
    # clip, its original, second of the original at which it starts
    *((a, b, starts[a] - starts[b]) for starts in (CHAIRS, CATS) for a, b in combinations(starts, 2)),
    ("broadcasts/riv-boc-sub-1-3.mp4", "broadcasts/riv-boc-67m.mp4", 0.0),
    ("broadcasts/riv-boc-sub-8-12.mp4", "broadcasts/riv-boc-67m.mp4", 8.03),
    ("broadcasts/dunk-banner.mp4", "broadcasts/dunk-clean.mp4", 0.0),
)


@cache
def hashed(name: str) -> Fingerprint:
    return hash_video(recorded("video", *name.split("/")))


@pytest.mark.parametrize(("copy", "original", "start"), RECORDED_COPIES)
def test_recorded_copies_are_found_where_they_start(copy: str, original: str, start: float) -> None:
    found = match(hashed(copy), hashed(original))
    assert found is not None
    assert found.offset_seconds == pytest.approx(start, abs=0.13)


def test_no_other_recorded_clips_match() -> None:
    """Among them one template with other pictures, two kicks from one tripod, two plays of one match."""
    folders = [recorded("video", folder) for folder in ("broadcasts", "football", "near-duplicates", "scenes")]
    names = sorted(f"{path.parent.name}/{path.name}" for folder in folders for path in folder.iterdir())
    copies = {frozenset((copy, original)) for copy, original, _ in RECORDED_COPIES}
    others = [pair for pair in combinations(names, 2) if frozenset(pair) not in copies]
    assert [(a, b) for a, b in others if match(hashed(a), hashed(b)) or match_mirrored(hashed(a), hashed(b))] == []
