"""What a scoreboard shows at a second of play. Pure.

How stoppage time is written differs: `classic` and `glass` let the clock run on (`92:17`) beside `+4`; `split` freezes
it at `90:00`, with `+4` and a clock of its own; `lower` writes `90+2:17`; `compact` just runs on.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from footy_simulator.clips.models import Alteration, AnyStyle, Footage, PostKind


@dataclass(frozen=True, slots=True)
class ClockFace:
    clock: str
    added: str | None = None
    """The announced stoppage time, such as `+4`."""
    stoppage_clock: str | None = None
    """The clock that runs beside a frozen one."""


def clock_face(style: AnyStyle, second: float, half_ends: int, added: int) -> ClockFace:
    """At so many seconds of play; past `half_ends` the half is in its stoppage time of `added` minutes."""
    whole = int(second)
    if whole < half_ends:
        return ClockFace(_running(whole))
    shown = f"+{added}" if added else None
    match style:
        case "split":
            return ClockFace(_running(half_ends), shown, _running(whole - half_ends))
        case "lower":
            minutes, seconds = divmod(whole - half_ends, 60)
            return ClockFace(f"{half_ends // 60}+{minutes}:{seconds:02}", None)
        case "compact":
            return ClockFace(_running(whole))
        case _:
            return ClockFace(_running(whole), shown)


def overs_face(balls: int) -> ClockFace:
    """Overs and balls, as cricket scoreboards have them in the place of a clock."""
    return ClockFace(f"{balls // 6}.{balls % 6}")


def _running(second: int) -> str:
    return f"{second // 60:02}:{second % 60:02}"


# --- Where things are in the frame, as shares of its width and height: scoreboards, and what a crop keeps. Pure.


PORTRAIT = 9 / 16
LANDSCAPE = 16 / 9


@dataclass(frozen=True, slots=True)
class FrameBox:
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: FrameBox) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


FULL = FrameBox(0.0, 0.0, 1.0, 1.0)
BOARDS: dict[AnyStyle, FrameBox] = {
    "classic": FrameBox(0.045, 0.06, 0.415, 0.13),
    "split": FrameBox(0.05, 0.055, 0.51, 0.125),
    "lower": FrameBox(0.045, 0.765, 0.245, 0.945),
    "glass": FrameBox(0.585, 0.06, 0.955, 0.132),
    "compact": FrameBox(0.05, 0.05, 0.245, 0.088),
    "bar": FrameBox(0.03, 0.868, 0.62, 0.95),
    "corner": FrameBox(0.04, 0.78, 0.31, 0.945),
    "southern": FrameBox(0.2, 0.872, 0.83, 0.952),
}
"""With the stoppage display, which is not always on."""

_CROP = 0.86
"""How much of each side a cropped copy keeps."""
_MARGIN = 0.012


def visible_part(kind: PostKind, also: Iterable[Alteration], style: AnyStyle) -> FrameBox:
    """The part of the broadcast's frame that the copy shows; its aspect is that of the whole frame or of a phone."""
    if kind == "portrait":
        width = PORTRAIT / LANDSCAPE
        return FrameBox(0.5 - width / 2, 0.0, 0.5 + width / 2, 1.0)
    board = BOARDS[style]
    at_top, at_left = board.top < 0.5, board.left < 0.5
    if "no_clock" in also:
        share = 1.0 - (board.bottom + _MARGIN if at_top else 1.0 - board.top + _MARGIN)
        at_top, at_left = not at_top, not at_left
    elif "crop" in also:
        share = _CROP
    else:
        return FULL
    left = 0.0 if at_left else 1.0 - share
    top = 0.0 if at_top else 1.0 - share
    return FrameBox(left, top, left + share, top + share)


# --- The cuts of a broadcast around a goal: which camera is on when, what it shows, whether the scoreboard is on. Pure.


GOAL_AT = 12.0
ENDS_AT = 36.0
WIPE = 0.8
"""How long a wipe takes; the cut is in its middle, where it covers the picture."""

CameraName = Literal["wide", "close", "low", "behind"]


@dataclass(frozen=True, slots=True)
class Shot:
    camera: CameraName
    start: float
    end: float
    play_start: float
    """The second of play that is shown at `start`, from the goal: negative before it."""
    speed: float = 1.0

    @property
    def is_replay(self) -> bool:
        return self.speed < 1.0

    def play_at(self, time: float) -> float:
        return self.play_start + (time - self.start) * self.speed


@dataclass(frozen=True, slots=True)
class BroadcastTimeline:
    shots: tuple[Shot, ...]
    wipes: tuple[float, ...]
    """The middle of each wipe."""
    score_changes: float

    def shot_at(self, time: float) -> Shot:
        return next((shot for shot in self.shots if time < shot.end), self.shots[-1])

    def wipe_at(self, time: float) -> float | None:
        """How far a wipe has come, from 0 to 1; None while there is none."""
        for middle in self.wipes:
            if abs(time - middle) < WIPE / 2:
                return (time - middle) / WIPE + 0.5
        return None

    def board_at(self, time: float) -> bool:
        """Whether the scoreboard is on: not in replays, and not under a wipe."""
        return not self.shot_at(time).is_replay and self.wipe_at(time) is None

    @property
    def replays(self) -> tuple[float, float]:
        """From the first replay's start to the last one's end, without the wipes."""
        shots = [shot for shot in self.shots if shot.is_replay]
        return shots[0].start + WIPE / 2, shots[-1].end - WIPE / 2


@lru_cache(maxsize=256)
def broadcast_timeline(footage: Footage) -> BroadcastTimeline:
    chance = random.Random(f"cuts {footage.moment}")
    live_ends = GOAL_AT + chance.uniform(1.6, 2.8)
    close_ends = live_ends + chance.uniform(3.2, 4.4)
    cameras: list[CameraName] = ["low", "behind"]
    chance.shuffle(cameras)
    first_ends = close_ends + chance.uniform(5.6, 6.8)
    second_ends = first_ends + chance.uniform(4.2, 5.2)
    speed = chance.choice((0.45, 0.5, 0.6))
    shots = (
        Shot("wide", 0.0, live_ends, -GOAL_AT),
        Shot("close", live_ends, close_ends, live_ends - GOAL_AT),
        Shot(cameras[0], close_ends, first_ends, -(first_ends - close_ends) * speed + 0.7, speed),
        Shot(cameras[1], first_ends, second_ends, -(second_ends - first_ends) * speed + 0.6, speed),
        Shot("wide", second_ends, ENDS_AT, second_ends - GOAL_AT),
    )
    changes = GOAL_AT + chance.uniform(2.4, 4.6)
    return BroadcastTimeline(shots, (close_ends, second_ends), changes)
