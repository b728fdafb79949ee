"""A process that works on a film may be in a stranger's hands: nothing that it says is believed unseen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from found_footy.adapters.media.child import FILE_BYTES
from found_footy.adapters.media.messages import LENGTH
from found_footy.adapters.media.workshop_answers import cuts_of, keyframes_of, master_of, sprite_of
from found_footy.domain.errors import MediaBroken, MediaTooLarge
from found_footy.ports_library import Keyframe

from .conftest import Make

WORKSHOP = "tests.contract.media_reader.misbehaving_workshop"
FILM = Path("film.mp4")

MASTER = {"frames": 100, "rate": [30000, 1001], "width": 1280, "height": 720, "audio": True}
SHEET = {"columns": 10, "rows": 2, "width": 240, "height": 136, "count": 15, "every": 2, "rate": [25, 1]}


def test_a_master_is_read() -> None:
    master = master_of({"master": MASTER}, 60)
    assert (master.frames, master.rate, master.audio, master.md5) == (100, Fraction(30000, 1001), True, "")


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {**MASTER, "frames": 0},
        {**MASTER, "frames": "100"},
        {**MASTER, "frames": True},
        {**MASTER, "frames": 2**40},
        {**MASTER, "frames": 5000},
        {**MASTER, "rate": [0, 1]},
        {**MASTER, "rate": [25, 0]},
        {**MASTER, "rate": [25]},
        {**MASTER, "rate": 25},
        {**MASTER, "rate": [25.0, 1]},
        {**MASTER, "width": -2},
        {**MASTER, "height": 10**6},
    ],
)
def test_a_wrong_master_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        master_of({"master": wrong}, 60)


def test_a_sheet_is_read() -> None:
    assert sprite_of({"sprite": SHEET}, 30).count == 15
    assert sprite_of({"sprite": SHEET}, 29).frames == 29


@pytest.mark.parametrize(
    "change",
    [
        {"columns": 0},
        {"rows": 3},
        {"rows": 1},
        {"count": 14},
        {"every": 1},
        {"every": 31},
        {"width": 2000},
        {"height": 9000},
        {"rate": None},
    ],
)
def test_a_wrong_sheet_is_refused(change: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError):
        sprite_of({"sprite": {**SHEET, **change}}, 30)


def test_keyframes_are_read_and_numbered() -> None:
    told = {"keyframes": [[12, "25%", 640, 360], [20, "sharpest", 640, 360]]}
    assert keyframes_of(told, 10, 30, ["25%", "50%", "sharpest"]) == [
        Keyframe(0, 12, "25%", 640, 360),
        Keyframe(1, 20, "sharpest", 640, 360),
    ]


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        [[12, "25%", 640]],
        [7],
        [[9, "25%", 640, 360]],
        [[30, "25%", 640, 360]],
        [[12, "nicest", 640, 360]],
        [[12, ["25%"], 640, 360]],
        [[12, "25%", 0, 360]],
        [[12, "25%", 640, 360], [12, "50%", 640, 360]],
        [[12, "25%", 640, 360]] * 3,
    ],
)
def test_wrong_keyframes_are_refused(told: Any) -> None:
    with pytest.raises(ValueError):
        keyframes_of({"keyframes": told}, 10, 30, ["25%", "50%"])


@pytest.mark.parametrize("cuts", [[], [1], [5, 9, 1000]])
def test_cuts_are_read(cuts: list[int]) -> None:
    assert cuts_of(np.array(cuts, dtype="<u4").tobytes()) == cuts


@pytest.mark.parametrize(
    "payload", [b"\1", np.array([0, 5], "<u4").tobytes(), np.array([5, 5], "<u4").tobytes(), b"\xff" * 4]
)
def test_wrong_cuts_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError):
        cuts_of(payload)


def framed(header: Any) -> str:
    text = json.dumps(header).encode()
    return (LENGTH.pack(len(text)) + text).hex()


async def test_what_is_told_on_the_way_comes_before_the_answer(limited: Make) -> None:
    told: list[float] = []
    header, payload = await limited().process.run(f"{WORKSHOP}:tell_often", FILM, 100_000, progress=told.append)
    assert header["done"]
    assert bytes(payload) == b"some bytes"
    assert told[0] == 0
    assert len(told) < 1000


@pytest.mark.parametrize("share", [2.0, -0.5, float("nan"), "half", True, [1]])
async def test_no_share_of_the_work_is_nonsense(limited: Make, share: Any) -> None:
    said = framed({"bytes": 0, "progress": share})
    with pytest.raises(MediaBroken, match="nonsense"):
        await limited().process.run(f"{WORKSHOP}:answer_raw", FILM, said, progress=lambda _: None)


async def test_telling_without_end_ends_with_the_time(limited: Make) -> None:
    said = framed({"bytes": 0, "progress": 0.5})
    with pytest.raises(MediaTooLarge, match="within"):
        await limited(seconds=0.3).process.run(f"{WORKSHOP}:tell_without_end", FILM, said, progress=lambda _: None)


@pytest.mark.parametrize(("asked", "limit"), [(None, FILE_BYTES), (5000, 5000), (10**9, 10**9)])
async def test_only_who_has_to_may_write_large_files(limited: Make, asked: int | None, limit: int) -> None:
    header, _ = await limited().process.run(f"{WORKSHOP}:file_limit", FILM, file_bytes=asked)
    assert header["limit"] == [limit, limit]
