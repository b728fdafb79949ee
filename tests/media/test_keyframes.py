"""Keyframes: those that were wished for, each frame once, never a black or blurred one where there is a better."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from found_footy.errors import MediaError, NotAVideo, SettingsError
from found_footy.media.fingerprint import hash_range, hash_video, select_frames_to_hash
from found_footy.media.keyframes import (
    choose_frames,
    extract_keyframes,
    frame_at,
    information,
    parse_rules,
    select_samples,
    sharpness,
)
from found_footy.media.master import make_master
from tests.media.made_clips import scene, write
from tests.media.numbered_films import LONG, number_in, numbered, tell_nobody, write_film


@pytest.mark.parametrize(
    ("share", "first", "end", "frame"),
    [(0.0, 0, 100, 0), (1.0, 0, 100, 99), (0.5, 0, 101, 50), (0.25, 200, 301, 225), (0.5, 7, 8, 7), (1.0, 7, 8, 7)],
)
def test_a_share_of_the_clip_is_a_frame(share: float, first: int, end: int, frame: int) -> None:
    assert frame_at(share, first, end) == frame


@pytest.mark.parametrize(
    ("first", "end", "count"), [(0, 1, 1), (5, 8, 3), (0, 12, 12), (0, 1000, 12), (10**6, 10**6 + 13, 12)]
)
def test_the_selected_frames_lie_within_the_clip(first: int, end: int, count: int) -> None:
    chosen = select_samples(first, end)
    assert len(chosen) == count
    assert first <= chosen[0] <= chosen[-1] < end


@pytest.mark.parametrize("wanted", [[], ["101%"], ["-5%"], ["25"], ["sharp"], [""], ["%"], ["1e1%"], ["50%"] * 33])
def test_an_unknown_request_is_rejected(wanted: Sequence[str]) -> None:
    with pytest.raises(SettingsError, match="keyframes"):
        parse_rules(wanted)


def pictures_of(kind: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    sharp = next(iter(scene(1)))
    made = {
        "sharp": sharp,
        "blurred": cv2.GaussianBlur(sharp, (0, 0), 4),
        "black": np.random.default_rng(1).integers(0, 14, sharp.shape, dtype=np.uint8),
        "white": np.full_like(sharp, 250),
        "grey": cv2.cvtColor(cv2.cvtColor(sharp, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR),
    }
    return np.asarray(made[kind], dtype=np.uint8)


@pytest.mark.parametrize("worse", ["blurred", "black", "white"])
def test_the_sharper_picture_is_the_sharper_one(worse: str) -> None:
    assert sharpness(pictures_of("sharp")) > sharpness(pictures_of(worse))


@pytest.mark.parametrize("worse", ["blurred", "black", "white", "grey"])
def test_the_picture_that_shows_more_is_the_more_informative_one(worse: str) -> None:
    assert information(pictures_of("sharp")) > information(pictures_of(worse))


def test_no_frame_is_chosen_for_two_requests() -> None:
    looked_at = {3: pictures_of("blurred"), 5: pictures_of("sharp"), 8: pictures_of("black")}
    wishes = parse_rules(["sharpest", "50%", "informative", "50%", "0%"])
    assert choose_frames(wishes, looked_at, 0, 11) == {5: "sharpest", 0: "0%"}


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film")
    make_master(write_film(folder / "film.mp4", numbered(200), g="60"), folder / "master.mp4", tell_nobody, LONG)
    return folder / "master.mp4"


def test_the_files_are_the_frames(film: Path, tmp_path: Path) -> None:
    taken = extract_keyframes(film, 50, 151, ["25%", "50%", "0%", "100%", "50%"], tmp_path)
    assert [(each.frame, each.chosen_by) for each in taken] == [(75, "25%"), (100, "50%"), (50, "0%"), (150, "100%")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"]
    for number, each in enumerate(taken):
        picture = cv2.imread(str(tmp_path / f"{number}.jpg"))
        assert picture is not None
        assert number_in(np.asarray(picture[..., 1], np.uint8)) == each.frame
        assert picture.shape == (each.height, each.width, 3) == (90, 160, 3)


def test_of_a_clip_of_one_frame_there_is_one_keyframe(film: Path, tmp_path: Path) -> None:
    taken = extract_keyframes(film, 7, 8, ["25%", "sharpest", "75%", "informative"], tmp_path)
    assert [(each.frame, each.chosen_by) for each in taken] == [(7, "25%")]


def test_large_pictures_are_reduced(tmp_path: Path) -> None:
    film = write(tmp_path / "film.mp4", [np.full((1080, 1920, 3), 90, np.uint8)] * 2)
    make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    taken = extract_keyframes(tmp_path / "master.mp4", 0, 2, ["0%"], tmp_path)
    assert (taken[0].width, taken[0].height) == (1280, 720)


def test_the_sharpest_of_a_film_is_found(tmp_path: Path) -> None:
    """All is blurred but a second in the middle."""
    pictures = [
        picture if 40 <= number < 65 else np.asarray(cv2.GaussianBlur(picture, (0, 0), 5), np.uint8)
        for number, picture in enumerate(scene(4))
    ]
    make_master(write(tmp_path / "film.mp4", pictures), tmp_path / "master.mp4", tell_nobody, LONG)
    taken = extract_keyframes(tmp_path / "master.mp4", 0, 100, ["sharpest", "informative"], tmp_path)
    assert all(40 <= each.frame < 65 for each in taken)


@pytest.mark.parametrize(("first", "end"), [(5, 5), (9, 3), (-1, 5), (0, 201)])
def test_frames_that_are_not_there_are_refused(film: Path, tmp_path: Path, first: int, end: int) -> None:
    for use in (lambda: extract_keyframes(film, first, end, ["50%"], tmp_path), lambda: hash_range(film, first, end)):
        with pytest.raises(MediaError, match="are outside its 200 frames"):
            use()


def test_what_is_no_film_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no film")
    with pytest.raises(NotAVideo):
        extract_keyframes(tmp_path / "text.mp4", 0, 1, ["50%"], tmp_path)
    with pytest.raises(NotAVideo):
        hash_range(tmp_path / "text.mp4", 0, 1)


@pytest.mark.parametrize(
    ("frames", "rate", "chosen"),
    [
        (1, Fraction(25), [0]),
        (25, Fraction(25), [0, 3, 6, 9, 12, 16, 19, 22]),
        (26, Fraction(25), [0, 3, 6, 9, 12, 16, 19, 22, 25]),
        (30, Fraction(30), [0, 4, 7, 11, 15, 19, 22, 26]),
        (2, Fraction(1), [0] * 5 + [1] * 11),
    ],
)
def test_which_frames_are_hashed(frames: int, rate: Fraction, chosen: list[int]) -> None:
    assert select_frames_to_hash(frames, rate) == chosen


def test_of_hours_the_beginning_is_hashed() -> None:
    assert len(select_frames_to_hash(360_000, Fraction(25))) == 4800


def test_the_hash_of_a_stretch_is_that_of_its_file(tmp_path: Path) -> None:
    make_master(write(tmp_path / "film.mp4", scene(6)), tmp_path / "master.mp4", tell_nobody, LONG)
    assert hash_range(tmp_path / "master.mp4", 0, 150) == hash_video(tmp_path / "master.mp4")
    part = hash_range(tmp_path / "master.mp4", 50, 125)
    alone = hash_video(write(tmp_path / "part.mp4", scene(3, start=2)))
    assert part.places.tolist() == alone.places.tolist()
    bits = [int(one ^ other).bit_count() for one, other in zip(part.hashes, alone.hashes, strict=True)]
    assert max(bits) <= 10
    assert sum(bits) / len(bits) < 3
