"""A process that dies of its file costs that file, and says which limit it was."""

from __future__ import annotations

import asyncio
import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from found_footy.adapters.media.limited_process import ending
from found_footy.adapters.media.messages import LENGTH, LONGEST_PAYLOAD, pictures_of, video_info
from found_footy.domain.errors import FootyError, MediaBroken, MediaTooLarge

from .conftest import Make, is_gone, written_in


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("abort", MediaBroken, "SIGABRT"),
        ("crash", MediaBroken, "SIGSEGV"),
        ("leave", MediaBroken, "exit code 3"),
        ("killed", MediaTooLarge, "killed"),
        ("use_up_processor", MediaTooLarge, "processor time"),
        ("take_memory", MediaTooLarge, "more than 512 MB"),
        ("take_memory_in_numpy", MediaTooLarge, "more than 512 MB"),
        ("take_memory_in_opencv", MediaTooLarge, "more than 512 MB"),
        ("fail", MediaBroken, r"what \[31m is this \(LookupError\)"),
        ("write_a_large_file", MediaBroken, "too large"),
    ],
)
async def test_an_end_has_its_reason(
    limited: Make, tmp_path: Path, name: str, kind: type[FootyError], words: str
) -> None:
    made = limited()
    with pytest.raises(kind, match=words):
        await made.run(name, tmp_path / "clip.mp4")
    assert await made.run("fine", tmp_path, 7) == {"told": [7], "bytes": 10}


@pytest.mark.parametrize("name", ["loop", "sleep"])
async def test_the_time_is_bounded(limited: Make, tmp_path: Path, name: str) -> None:
    made = limited(seconds=2)
    with pytest.raises(MediaTooLarge, match="not decoded within 2 s"):
        await made.run(name, tmp_path / "pid")
    if name == "sleep":
        await is_gone(await written_in(tmp_path / "pid"))
    assert (await limited().run("fine"))["bytes"] == 10


def framed(header: Any, payload: bytes = b"") -> str:
    text = json.dumps(header).encode()
    return (LENGTH.pack(len(text)) + text + payload).hex()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", "without an answer"),
        ("ff", "without an answer"),
        (LENGTH.pack(2**32 - 1).hex(), "nonsense"),
        (LENGTH.pack(4).hex() + b"pick".hex(), "nonsense"),
        (LENGTH.pack(2).hex() + b"\xff\xfe".hex(), "nonsense"),
        (framed([]), "nonsense"),
        (framed({}), "nonsense"),
        (framed({"bytes": -1}), "nonsense"),
        (framed({"bytes": "7"}), "nonsense"),
        (framed({"bytes": LONGEST_PAYLOAD + 1}), "nonsense"),
        (framed({"bytes": 10}, b"short"), "without an answer"),
        (framed({"bytes": 0, "error": "ProgramFault", "text": "\u202e odd"}), r"odd \(ProgramFault\)"),
        (framed({"bytes": 0, "error": ["?"]}), "MediaBroken|\\?"),
    ],
)
async def test_a_process_that_was_taken_over_is_not_believed(limited: Make, said: str, words: str) -> None:
    with pytest.raises(MediaBroken, match=words):
        await limited().run("answer_raw", Path("clip.mp4"), said)


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


def test_what_is_known_of_a_video_is_checked_field_by_field() -> None:
    assert video_info({"info": dict(INFO)}).frames == 50


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
def test_wrong_fields_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        video_info({"info": wrong})


@pytest.mark.parametrize(
    "told",
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
def test_pictures_of_a_wrong_size_are_refused(told: Any) -> None:
    assert pictures_of({"pictures": [[0.5, 2, 2]]}, bytearray(12), 1)[0].bgr.shape == (2, 2, 3)
    with pytest.raises(ValueError):
        pictures_of({"pictures": told}, bytearray(12), 1)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(-9, MediaTooLarge), (-24, MediaTooLarge), (-11, MediaBroken), (-200, MediaBroken), (1, MediaBroken)],
)
def test_how_a_process_ends_says_what_was_wrong(status: int, kind: type[FootyError]) -> None:
    assert type(ending(status, "clip.mp4", 512, 60)) is kind


async def test_the_limits_hold_in_the_process(limited: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTY_S3_SECRET_KEY", "secret")
    told = await limited(memory_mb=512, seconds=7, own=True).run("tell_all")
    limits = told["limits"]
    assert 512 * 1024**2 < limits["RLIMIT_AS"][0] < 3 * 1024**3
    assert limits["RLIMIT_AS"][0] == limits["RLIMIT_AS"][1]
    assert limits["RLIMIT_CPU"][0] == 7 * (os.cpu_count() or 1) + 1
    assert limits["RLIMIT_FSIZE"] == [1024**2] * 2
    assert limits["RLIMIT_CORE"] == [0, 0]
    assert limits["RLIMIT_NOFILE"][0] <= 64
    assert "secret" not in str(told["environment"])
    assert told["threads"] == 1
    # The usual three, the answer, and the folder that is being listed.
    assert told["descriptors"] == [0, 1, 2, 3, 4]


async def test_our_own_limits_stay_as_they_are(limited: Make) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE)
    await limited().run("fine")
    assert (resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE)) == before


async def test_twenty_calls_wait_for_a_place(limited: Make, tmp_path: Path) -> None:
    made = limited(at_once=3)
    told = await asyncio.gather(*(made.run("count_those_at_once", tmp_path) for _ in range(20)))
    assert max(each["count"] for each in told) <= 3
