"""Which clips are posted of a goal or a wicket. Pure: a scenario gives its specs, and a spec all of its file."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from found_footy.simulator.clip_script import Clip
from found_footy.simulator.clips.cricket_footage import (
    fallen_of,
    last_season_wicket,
    other_cricket_footage,
    other_scene_of_wicket,
    wicket_footage,
    wrong_over_footage,
)
from found_footy.simulator.clips.footage import (
    goal_footage,
    last_season_footage,
    other_match_footage,
    other_scene,
    wrong_minute_footage,
)
from found_footy.simulator.clips.kinds import OTHER_SCENES
from found_footy.simulator.clips.spec import ClipSpec, Footage, Master
from found_footy.simulator.clips.timeline import ENDS_AT, GOAL_AT, timeline_of
from found_footy.simulator.cricket_script import CricketMatch
from found_footy.simulator.script import Match, Scenario

DEFAULT_CLIPS = (
    Clip(kind="copy"),
    Clip(kind="copy", also=("logo",), after=2),
    Clip(kind="copy", also=("letterbox",), fps=30, after=2),
)
"""Of a goal that says nothing about its clips."""
DEFAULT_WICKET_CLIPS = (Clip(kind="copy"), Clip(kind="copy", also=("logo",), after=2))

_HEIGHTS = (360, 360, 360, 360, 360, 480)
"""Of the copies that do not say theirs: one for a goal, so that its master need not be larger than they are."""
_KBITS = {180: (100, 150), 360: (600, 1300), 480: (900, 1700), 540: (1100, 2000), 720: (1500, 2800), 1080: (3000, 5000)}
_LENGTHS, _STARTS = (3.7, 4.2), (-2.0, -1.4)
"""Seconds, and seconds from the goal: short, since every picture costs, and close enough together to share three."""
_TOO_SHORT, _TOO_LONG = 2.0, 63.0
_LONG_HEIGHT, _LONG_FPS = 180, 10
"""A clip that is only there to be too long is made as cheaply as it goes."""
_SHOWN_OF_LONG = 10.0
"""Seconds of play in it; then the picture stands."""


@dataclass(frozen=True, slots=True)
class _Range:
    start: float
    length: float


def clips_for(scenario: Scenario, match_id: int, goal: int) -> list[ClipSpec]:
    """What is posted of a match's goal, the first being 0, in the order in which the file lists it.

    Wickets are counted over all innings, in the order in which they fall.
    """
    match = next(match for match in scenario.all_matches if match.id == match_id)
    posted, usual = _posted(match, goal)
    clips = usual if posted is None else posted
    return _with_masters([_spec(scenario, match, goal, number, clip) for number, clip in enumerate(clips)])


def _posted(match: Match | CricketMatch, goal: int) -> tuple[tuple[Clip, ...] | None, tuple[Clip, ...]]:
    """What the file says, and what is usual."""
    if isinstance(match, CricketMatch):
        return fallen_of(match)[goal].wicket.clips, DEFAULT_WICKET_CLIPS
    return match.goals[goal].clips, DEFAULT_CLIPS


def all_clips(scenario: Scenario) -> Iterator[ClipSpec]:
    """Every file that is posted of the matchday's goals; dead links are left out."""
    for match in scenario.matches:
        for goal in range(len(match.goals)):
            yield from (spec for spec in clips_for(scenario, match.id, goal) if spec.has_file)
    for cricket in scenario.cricket:
        for wicket in range(len(fallen_of(cricket))):
            yield from (spec for spec in clips_for(scenario, cricket.id, wicket) if spec.has_file)


def _spec(scenario: Scenario, match: Match | CricketMatch, goal: int, number: int, clip: Clip) -> ClipSpec:
    if isinstance(match, CricketMatch):
        footage = _cricket(scenario, match, goal, clip)
    else:
        footage = _footage(scenario, match, goal, clip)
    chance = random.Random(f"copy {match.id} {goal} {number} {clip.kind}")
    part = _range(footage, clip, chance)
    height, fps = clip.height or random.Random(f"height {match.id} {goal}").choice(_HEIGHTS), clip.fps or 25
    if clip.kind == "too_long":
        height, fps = _LONG_HEIGHT, _LONG_FPS
    return ClipSpec(
        match=match.id,
        goal=goal,
        number=number,
        kind=clip.kind,
        also=clip.also,
        after=clip.after,
        master=Master(footage, height, fps, part.start, part.start + min(part.length, _shown(clip))),
        start=part.start,
        length=part.length,
        height=height,
        fps=fps,
        kbit=clip.kbit or chance.randrange(*_KBITS[height], 10),
    )


def _footage(scenario: Scenario, match: Match, goal: int, clip: Clip) -> Footage:
    match clip.kind:
        case "wrong_minute":
            return wrong_minute_footage(match, goal)
        case "other_match":
            return other_match_footage(scenario, match, goal)
        case "last_season":
            return last_season_footage(match, goal)
        case "studio" | "basketball" | "landscape":
            return other_scene(match, goal, OTHER_SCENES[clip.kind])
        case _:
            return goal_footage(match, goal)


def _cricket(scenario: Scenario, match: CricketMatch, wicket: int, clip: Clip) -> Footage:
    match clip.kind:
        case "wrong_minute":
            return wrong_over_footage(match, wicket)
        case "other_match":
            return other_cricket_footage(scenario, match, wicket)
        case "last_season":
            return last_season_wicket(match, wicket)
        case "studio" | "basketball" | "landscape":
            return other_scene_of_wicket(match, wicket, OTHER_SCENES[clip.kind])
        case _:
            return wicket_footage(match, wicket)


def _range(footage: Footage, clip: Clip, chance: random.Random) -> _Range:
    """In whole hundredths of a second of the footage's timeline."""
    if clip.kind == "too_short":
        return _Range(GOAL_AT - 1.0, _TOO_SHORT)
    if clip.kind == "too_long":
        return _Range(GOAL_AT - 5.0, _TOO_LONG)
    if clip.kind == "replay":
        start, end = timeline_of(footage).replays
        return _Range(round(start, 2), math.floor((end - start) * 100) / 100)
    length = clip.length if clip.length is not None else round(chance.uniform(*_LENGTHS), 2)
    start = GOAL_AT + (clip.start if clip.start is not None else round(chance.uniform(*_STARTS), 2))
    return _Range(round(min(start, ENDS_AT - length), 2), length)


def _shown(clip: Clip) -> float:
    return _SHOWN_OF_LONG if clip.kind == "too_long" else math.inf


def _with_masters(specs: list[ClipSpec]) -> list[ClipSpec]:
    """One master for all copies of the same footage: as long, as high and as fast as the most that one needs."""
    shared: dict[Footage, Master] = {}
    for spec in specs:
        if not spec.has_picture:
            continue
        mine = replace(
            spec.master,
            start=float(math.floor(spec.master.start)),
            end=float(math.ceil(spec.master.end)),
            height=max(spec.height, 360),
            fps=50 if spec.fps == 50 else 25,
        )
        other = shared.get(spec.footage, mine)
        shared[spec.footage] = replace(
            mine,
            start=min(mine.start, other.start),
            end=max(mine.end, other.end),
            height=max(mine.height, other.height),
            fps=max(mine.fps, other.fps),
        )
    return [replace(spec, master=shared.get(spec.footage, spec.master)) for spec in specs]
