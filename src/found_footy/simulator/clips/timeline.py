"""The cuts of a broadcast around a goal: which camera is on when, what it shows, whether the scoreboard is on. Pure.

Time is in seconds of the footage's timeline; the ball is in the net at `GOAL_AT`. A replay shows earlier play, slower.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from found_footy.simulator.clips.spec import Footage

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
class Timeline:
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
def timeline_of(footage: Footage) -> Timeline:
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
    return Timeline(shots, (close_ends, second_ends), changes)
