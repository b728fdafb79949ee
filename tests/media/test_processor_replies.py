"""Replies of sandboxed processes are validated field by field: a hostile file may control them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from found_footy.errors import DecoderUnavailable, FootyError, MediaBroken, MediaTooLarge, NotAVideo
from found_footy.media.models import Keyframe
from found_footy.media.processor import (
    media_error,
    parse_cuts,
    parse_frames,
    parse_keyframes,
    parse_master,
    parse_sprite,
    parse_video_info,
)
from found_footy.runtime.sandbox import SandboxEnd, SandboxError, SandboxLimits


@pytest.mark.parametrize(
    ("end", "raised", "kind"),
    [
        (SandboxEnd.TIMEOUT, "", MediaTooLarge),
        (SandboxEnd.CPU_TIME, "", MediaTooLarge),
        (SandboxEnd.OUT_OF_MEMORY, "", MediaTooLarge),
        (SandboxEnd.KILLED, "", MediaTooLarge),
        (SandboxEnd.CRASHED, "", MediaBroken),
        (SandboxEnd.EXITED, "", MediaBroken),
        (SandboxEnd.INVALID_REPLY, "", MediaBroken),
        (SandboxEnd.RAISED, "NotAVideo", NotAVideo),
        (SandboxEnd.RAISED, "LookupError", MediaBroken),
        (SandboxEnd.RAISED, "SettingsError", MediaBroken),
        (SandboxEnd.UNAVAILABLE, "", DecoderUnavailable),
    ],
)
def test_an_end_in_the_sandbox_becomes_a_media_error(end: SandboxEnd, raised: str, kind: type[FootyError]) -> None:
    error = media_error(SandboxError(end, "detail", raised), Path("clip.mp4"), SandboxLimits(60, 512))
    assert type(error) is kind


INFO = {
    "container": "mp4",
    "codec": "h264",
    "width": 320,
    "height": 180,
    "aspect": 1.78,
    "fps": 25.0,
    "variable_frame_rate": False,
    "duration": 2.0,
    "frames": 50,
    "bit_rate": 1000,
    "file_size": 250,
    "rotation": 0,
    "has_audio": True,
}


def test_video_info_is_parsed() -> None:
    assert parse_video_info({"info": dict(INFO)}).frames == 50


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {},
        {**INFO, "more": 1},
        {**INFO, "width": "320"},
        {**INFO, "width": True},
        {**INFO, "duration": float("inf")},
        {**INFO, "duration": float("nan")},
        {**INFO, "has_audio": 1},
    ],
)
def test_invalid_video_info_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        parse_video_info({"info": wrong})


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        [[0.0, 2, 2], [0.0, 2, 2]],
        [[0.0, 2]],
        [7],
        [[0.0, 2, 3]],
        [[0.0, 1, 1]],
        [[0.0, -2, -2]],
        [[0.0, 2.0, 2]],
        [[0.0, 100_000, 100_000]],
        [["now", 2, 2]],
        [[float("nan"), 2, 2]],
    ],
)
def test_frames_of_a_wrong_size_are_refused(values: Any) -> None:
    assert parse_frames({"frames": [[0.5, 2, 2]]}, bytearray(12), 1)[0].pixels.shape == (2, 2, 3)
    with pytest.raises(ValueError):
        parse_frames({"frames": values}, bytearray(12), 1)


MASTER = {"frames": 100, "rate": [30000, 1001], "width": 1280, "height": 720, "audio": True}
SHEET = {"columns": 10, "rows": 2, "width": 240, "height": 136, "count": 15, "every": 2, "rate": [25, 1]}


def test_a_master_is_parsed() -> None:
    master = parse_master({"master": MASTER}, 60)
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
        parse_master({"master": wrong}, 60)


def test_a_sprite_sheet_is_parsed() -> None:
    assert parse_sprite({"sprite": SHEET}, 30).count == 15
    assert parse_sprite({"sprite": SHEET}, 29).frames == 29


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
def test_a_wrong_sprite_sheet_is_refused(change: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError):
        parse_sprite({"sprite": {**SHEET, **change}}, 30)


def test_keyframes_are_parsed_and_numbered() -> None:
    values = {"keyframes": [[12, "25%", 640, 360], [20, "sharpest", 640, 360]]}
    assert parse_keyframes(values, 10, 30, ["25%", "50%", "sharpest"]) == [
        Keyframe(0, 12, "25%", 640, 360),
        Keyframe(1, 20, "sharpest", 640, 360),
    ]


@pytest.mark.parametrize(
    "values",
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
def test_wrong_keyframes_are_refused(values: Any) -> None:
    with pytest.raises(ValueError):
        parse_keyframes({"keyframes": values}, 10, 30, ["25%", "50%"])


@pytest.mark.parametrize("cuts", [[], [1], [5, 9, 1000]])
def test_cuts_are_parsed(cuts: list[int]) -> None:
    assert parse_cuts(np.array(cuts, dtype="<u4").tobytes()) == cuts


@pytest.mark.parametrize(
    "payload", [b"\1", np.array([0, 5], "<u4").tobytes(), np.array([5, 5], "<u4").tobytes(), b"\xff" * 4]
)
def test_wrong_cuts_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError):
        parse_cuts(payload)
