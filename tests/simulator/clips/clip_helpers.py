"""Short ways to a scenario with clips, to a rendered file, and to what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
import yaml

from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for
from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario

Frame = npt.NDArray[np.uint8]

LEAGUE = {"id": 9001, "name": "Local League", "country": "Nowhere", "season": 2025, "round": "Round 1"}


def scenario_with(*clips: Any, minute: int | str = 52, match: dict[str, Any] | None = None, **goal: Any) -> Scenario:
    """One match with one goal of the home side, and its clips."""
    scored = {"minute": minute, "side": "home", **goal}
    if clips:
        scored["clips"] = list(clips)
    played = {
        "id": 5001,
        "league": "local",
        "home": {"id": 701, "name": "Town"},
        "away": {"id": 702, "name": "Rovers"},
        "kickoff": "+1m",
        "stoppage": [2, 4],
        "goals": [scored],
        **(match or {}),
    }
    return parse_scenario(yaml.safe_dump({"leagues": {"local": LEAGUE}, "matches": [played]}), "day.yaml")


def spec_of(clip: Any, **fields: Any) -> ClipSpec:
    return clips_for(scenario_with(clip, **fields), 5001, 0)[0]


@dataclass(frozen=True, slots=True)
class Video:
    width: int
    height: int
    fps: float
    seconds: float
    frames: list[Frame]
    """BGR."""


def watch(path: Path) -> Video:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [np.asarray(frame.to_ndarray(format="bgr24"), np.uint8) for frame in container.decode(stream)]
        rate = float(stream.average_rate or 0)
        return Video(stream.width, stream.height, rate, len(frames) / rate, frames)


def made(spec: ClipSpec, folder: Path) -> Video:
    return watch(render(spec, folder))


def difference(one: Frame, other: Frame) -> float:
    """Mean absolute difference of two pictures of one size, in steps of brightness, without what encoding does."""
    small, smaller = (
        cv2.resize(frame, None, fx=1 / 4, fy=1 / 4, interpolation=cv2.INTER_AREA) for frame in (one, other)
    )
    return float(np.abs(small.astype(np.int16) - smaller.astype(np.int16)).mean())
