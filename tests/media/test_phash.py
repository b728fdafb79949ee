"""The hash of a clip: what changes it and what does not, and its two written forms."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.media.fingerprint import CropBox, Fingerprint, content_box, fingerprint_of, hash_video, mirror
from tests.media.made_clips import Alter, Picture, scene, write, write_copy, write_scene

PATTERNS = {
    "brighter to the right": (lambda x, y: x, "ffffffffffffffff"),
    "brighter to the left": (lambda x, y: -x, "0000000000000000"),
    "brightest in the middle": (lambda x, y: -abs(x - 0.5), "f0f0f0f0f0f0f0f0"),
    "turns round half-way down": (lambda x, y: np.where(y < 0.5, x, -x), "ffffffff00000000"),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_bit_means_brighter_to_the_right_from_the_top_left(name: str) -> None:
    make, expected = PATTERNS[name]
    y, x = np.mgrid[0:108, 0:192]
    values = make(x / 192, y / 108)
    picture = np.interp(values, (values.min(), values.max()), (0, 255)).astype(np.uint8)
    found = fingerprint_of(picture[None], np.array([0]))
    assert found.to_text() == f"dense:0.125:0={expected}"


def test_flat_and_dark_pictures_are_left_out() -> None:
    telling = np.asarray(cv2.cvtColor(next(scene(1)), cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    noise = np.random.default_rng(1).integers(0, 4, telling.shape, dtype=np.uint8)
    pictures = np.stack([telling, np.full_like(telling, 128), noise, telling, telling // 64])
    assert fingerprint_of(pictures, np.arange(5)).places.tolist() == [0, 3]


def test_a_clip_is_hashed_every_eighth_of_a_second_to_its_end(tmp_path: Path) -> None:
    found = hash_video(write_scene(tmp_path / "clip.mp4", 3))
    assert found.places.tolist() == list(range(24))
    assert found.step == 0.125


def bars(top: int = 0, bottom: int = 0, left: int = 0, right: int = 0, colour: int = 0) -> Alter:
    def alter(picture: Picture) -> Picture:
        made = cv2.copyMakeBorder(picture, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(colour,) * 3)
        return np.asarray(made, dtype=np.uint8)

    return alter


def captioned(picture: Picture) -> Picture:
    made = bars(60, 60)(picture)
    cv2.putText(made, "WHAT A GOAL, FOLLOW", (30, 40), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (255, 255, 255), 2)
    return made


def blurred(picture: Picture) -> Picture:
    behind = cv2.resize(picture, (320, 400))
    made = np.asarray(cv2.GaussianBlur(behind, (0, 0), 14), dtype=np.uint8)
    made[110:290] = picture
    return made


BARS: list[tuple[str, Alter, tuple[float, float, float, float]]] = [
    ("none", bars(), (0, 0, 0, 0)),
    ("letterbox", bars(30, 30), (30, 30, 0, 0)),
    ("pillarbox", bars(0, 0, 60, 60), (0, 0, 60, 60)),
    ("one side only", bars(bottom=40), (0, 40, 0, 0)),
    ("all round, white", bars(6, 6, 6, 6, 255), (6, 6, 6, 6)),
    ("caption", captioned, (60, 60, 0, 0)),
    ("blurred copy", blurred, (110, 110, 0, 0)),
]


@pytest.mark.parametrize(("name", "alter", "expected"), BARS, ids=[name for name, _, _ in BARS])
def test_bars_and_borders_are_found(name: str, alter: Alter, expected: tuple[float, float, float, float]) -> None:
    frames = np.stack([_small(alter(picture)) for picture in scene(4, fps=5)])
    scale = frames.shape[1] / len(alter(next(scene(1))))
    box = content_box(frames)
    cut = (box.top, frames.shape[1] - box.bottom, box.left, frames.shape[2] - box.right)
    assert cut == pytest.approx([side * scale for side in expected], abs=2.5)


def test_a_dark_moment_does_not_move_the_borders() -> None:
    pictures = [picture if 5 < n < 10 else picture // 50 for n, picture in enumerate(scene(4, fps=5))]
    frames = np.stack([_small(picture) for picture in pictures])
    assert content_box(frames) == CropBox(0, frames.shape[1], 0, frames.shape[2])


def test_a_clip_that_is_black_throughout_is_not_cut_to_nothing() -> None:
    assert content_box(np.zeros((10, 108, 192), dtype=np.uint8)) == CropBox(0, 108, 0, 192)


def _small(picture: Picture) -> Picture:
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    scale = 192 / max(grey.shape)
    size = (round(grey.shape[1] * scale), round(grey.shape[0] * scale))
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def test_the_mirrored_hash_is_the_hash_of_the_mirrored_clip(tmp_path: Path) -> None:
    straight = hash_video(write_scene(tmp_path / "a.mp4", 4, crf="12"))
    seen = hash_video(write_copy(tmp_path / "b.mp4", lambda picture: picture[:, ::-1], 4, crf="12"))
    differing = np.bitwise_count(mirror(straight).hashes ^ seen.hashes)
    assert differing.max() <= 4
    assert mirror(mirror(straight)) == straight


fingerprints = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 2**64 - 1)),
    max_size=60,
).map(
    lambda pairs: Fingerprint(
        np.cumsum([gap for gap, _ in pairs], dtype=np.int64) - 1, np.array([h for _, h in pairs], dtype=np.uint64)
    )
)


@settings(deadline=None)
@given(fingerprints)
def test_both_encodings_survive_a_round_trip(fingerprint: Fingerprint) -> None:
    assert Fingerprint.from_text(fingerprint.to_text()) == fingerprint
    assert Fingerprint.from_bytes(fingerprint.to_bytes()) == fingerprint
    places = int(fingerprint.places[-1]) + 1 if len(fingerprint) else 0
    assert len(fingerprint.to_bytes()) == 8 + (places + 7) // 8 + 8 * len(fingerprint)


def test_the_text_form_is_that_of_the_exchange_format() -> None:
    text = "dense:0.25:0=00000000000000ff,0.25=0123456789abcdef,1.5=ffffffffffffffff"
    found = Fingerprint.from_text(text)
    assert found.places.tolist() == [0, 1, 6]
    assert found.hashes.tolist() == [0xFF, 0x0123456789ABCDEF, 2**64 - 1]
    assert found.to_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dense",
        "dense:0.25",
        "sparse:0.25:",
        "dense:x:",
        "dense:0:",
        "dense:0.25:0=12",
        "dense:0.25:0=zz",
        "dense:0.25:,",
        "dense:0.25:1=00000000000000ff,0.5=00000000000000ff",
        "dense:0.25:9e9=00000000000000ff",
        "dense:0.25:-1=00000000000000ff",
    ],
)
def test_a_wrong_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Fingerprint.from_text(text)


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_wrong_bytes_are_refused_or_read(data: bytes) -> None:
    for given_bytes in (data, b"F1\xfa\x00" + data):
        try:
            found = Fingerprint.from_bytes(given_bytes)
        except ValueError:
            continue
        assert len(found) == found.places.size


def test_a_stored_hash_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    data = hash_video(write(tmp_path / "clip.mp4", scene(2))).to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError):
            Fingerprint.from_bytes(data[:length])
