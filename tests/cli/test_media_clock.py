"""`footy media clock`, `verify` and `parse-clock`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import pytest
from typer.testing import CliRunner

from found_footy.cli import media
from found_footy.clips import frame_selection
from found_footy.clips.models import FrameReading
from found_footy.errors import VisionUnavailable
from found_footy.fixtures.models import Score, Sport
from found_footy.media.models import Frame, RelativeBox
from tests.media.pictures import grass

SEEN = FrameReading(0.0, True, False, "67:20", "+4", None, ("ARS", "CHE"), Score(2, 1), RelativeBox(0.1, 0.1, 0.2, 0.2))


class FixedVision:
    """Returns the same reading for every frame, except that the clock runs."""

    name = "fixed"

    def __init__(self, seen: FrameReading | None) -> None:
        self._seen = seen
        self.closed = False

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> FixedVision:
        return self

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        if self._seen is None:
            raise VisionUnavailable("not running")
        at = frames[1].seconds
        return replace(self._seen, at=at, clock=f"67:{20 + int(at)}" if self._seen.clock else None)

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def clip(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clip of 10 seconds, without a file."""

    def frames_at(path: Path, fractions: Sequence[float]) -> list[Frame]:
        return [Frame(10 * fraction, grass(320, 180)) for fraction in fractions]

    monkeypatch.setattr(frame_selection, "frames_at", frames_at)


def called(*arguments: str, seen: FrameReading | None = SEEN, code: int = 0) -> str:
    vision = FixedVision(seen)
    with patch.object(media, "open_vision", lambda: vision):
        result = CliRunner().invoke(media.media, arguments)
    assert result.exit_code == code, result.output
    assert vision.closed or arguments[0] == "parse-clock" or code == 2
    return result.stdout


def answer(*arguments: str, seen: FrameReading = SEEN) -> Any:
    return json.loads(called(*arguments, "--json", seen=seen))


def test_clock_shows_each_frame_and_the_minute() -> None:
    frame = {"added": "+4", "stoppage_clock": None, "teams": ["ARS", "CHE"], "score": "2-1"}
    assert answer("clock", "clip.mp4") == {
        "soccer": True,
        "screen": False,
        "minute": 67,
        "frames": [{"at": 2.5, "clock": "67:22", **frame}, {"at": 7.5, "clock": "67:27", **frame}],
    }


def test_a_clip_without_a_clock_has_no_minute() -> None:
    nothing = FrameReading(0.0, False, True)
    answered = answer("clock", "clip.mp4", seen=nothing)
    assert (answered["soccer"], answered["screen"], answered["minute"], len(answered["frames"])) == (
        False,
        True,
        None,
        7,
    )


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        (["--elapsed", "68"], "verified", None),
        (["--elapsed", "45", "--extra", "2"], "rejected", "wrong minute"),
        (["--elapsed", "68", "--home", "Arsenal", "--away", "Chelsea"], "verified", None),
        (["--elapsed", "68", "--home", "Real Madrid", "--away", "Sevilla"], "rejected", "other teams"),
        (["--elapsed", "68", "--score-before", "2-1", "--score-after", "3-1"], "verified", None),
        (["--elapsed", "68", "--score-before", "0-0", "--score-after", "1-0"], "unverified", "other score"),
    ],
)
def test_verify_shows_status_minute_and_reason(options: list[str], status: str, reason: str | None) -> None:
    assert answer("verify", "clip.mp4", *options) == {"status": status, "minute": 67, "reason": reason}


@pytest.mark.parametrize(("text", "minute"), [("90+3:15", 93), ("1-1", None), ("--", None)])
def test_parse_clock_shows_the_minute(text: str, minute: int | None) -> None:
    assert json.loads(called("parse-clock", "--json", "--", text)) == {"minute": minute}


def test_output_for_people_is_text() -> None:
    assert "minute 67" in called("clock", "clip.mp4")
    assert "ARS – CHE" in called("clock", "clip.mp4")
    assert "verified" in called("verify", "clip.mp4", "--elapsed", "68")
    assert "rejected: wrong minute" in called("verify", "clip.mp4", "--elapsed", "30")
    assert "minute 93" in called("parse-clock", "90+3")
    assert "not a match clock" in called("parse-clock", "HD")


@pytest.mark.parametrize("command", [["clock"], ["verify", "--elapsed", "68"]])
def test_the_proof_is_an_image(tmp_path: Path, command: list[str]) -> None:
    proof = tmp_path / "proof.png"
    called(*command, "clip.mp4", "--save-proof", str(proof))
    drawn = cv2.imread(str(proof))
    assert drawn is not None
    assert drawn.shape[1] == 320


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "clip.mp4"],
        ["verify", "clip.mp4", "--elapsed", "200"],
        ["verify", "clip.mp4", "--elapsed", "60", "--score-before", "one"],
    ],
)
def test_invalid_options_are_rejected(arguments: list[str]) -> None:
    called(*arguments, code=2)


def test_an_unwritable_proof_path_is_rejected(tmp_path: Path) -> None:
    called("clock", "clip.mp4", "--save-proof", str(tmp_path / "no" / "proof.png"), code=2)


def test_an_unavailable_vision_server_is_an_error() -> None:
    with patch.object(media, "open_vision", lambda: FixedVision(None)):
        result = CliRunner().invoke(media.media, ["clock", "clip.mp4", "--json"])
    assert isinstance(result.exception, VisionUnavailable)
    assert result.stdout == ""
