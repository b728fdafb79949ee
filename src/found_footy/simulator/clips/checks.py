"""What in the clips of a goal or a wicket must fit together."""

from __future__ import annotations

from collections.abc import Iterator

from found_footy.simulator.clip_script import Clip
from found_footy.simulator.clips.cricket_footage import Fallen, wrong_balls
from found_footy.simulator.clips.footage import FAR_ENOUGH, wrong_minutes
from found_footy.simulator.clips.kinds import FIXED_RANGE, WITHOUT_PICTURE, Alteration, reason_of
from found_footy.simulator.clips.timeline import ENDS_AT, GOAL_AT
from found_footy.simulator.cricket_script import Innings, Wicket
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import Goal, Match

_LAST = ENDS_AT - GOAL_AT
_ONE_OF: tuple[frozenset[Alteration], ...] = (
    frozenset({"letterbox", "pillarbox"}),
    frozenset({"crop", "no_clock"}),
    frozenset({"bright", "dark"}),
    frozenset({"vivid", "sepia", "grey"}),
)


def clip_problems(path: str, match: Match, goal: Goal) -> Iterator[Problem]:
    for index, clip in enumerate(goal.clips or ()):
        here = f"{path}.clips[{index}]"
        yield from _range(here, clip)
        yield from _alterations(here, clip)
        if clip.kind == "wrong_minute" and not wrong_minutes(match, goal):
            allowed = f"another kind: the match has no minute that is {FAR_ENOUGH} minutes from the goal"
            yield Problem(f"{here}.kind", clip.kind, allowed)


def wicket_clip_problems(path: str, innings: Innings, wicket: Wicket) -> Iterator[Problem]:
    for index, clip in enumerate(wicket.clips or ()):
        here = f"{path}.clips[{index}]"
        yield from _range(here, clip)
        yield from _alterations(here, clip)
        if clip.kind == "wrong_minute" and not wrong_balls(Fallen(wicket, innings, 0, 1)):
            yield Problem(
                f"{here}.kind", clip.kind, "another kind: the innings has no over that is far from the wicket"
            )


def _range(path: str, clip: Clip) -> Iterator[Problem]:
    if clip.kind in FIXED_RANGE:
        for name in ("start", "length"):
            if getattr(clip, name) is not None:
                yield Problem(f"{path}.{name}", getattr(clip, name), f"nothing: {clip.kind} has its own")
    elif clip.start is not None and clip.length is not None and clip.start + clip.length > _LAST:
        longest = f"up to {_LAST - clip.start:g}: the broadcast ends {_LAST:g} seconds after the goal"
        yield Problem(f"{path}.length", clip.length, longest)
    unused = ["height", "fps", "kbit"] if clip.kind in WITHOUT_PICTURE else []
    for name in ["height", "fps"] if clip.kind == "too_long" else unused:
        if getattr(clip, name) is not None:
            yield Problem(f"{path}.{name}", getattr(clip, name), f"nothing with {clip.kind}")


def _alterations(path: str, clip: Clip) -> Iterator[Problem]:
    if clip.also and reason_of(clip.kind) is not None:
        yield Problem(f"{path}.also", list(clip.also), f"nothing with {clip.kind}: it is refused as it is")
        return
    if len(set(clip.also)) < len(clip.also):
        yield Problem(f"{path}.also", list(clip.also), "each alteration once")
    for group in _ONE_OF:
        both = [name for name in clip.also if name in group]
        if len(set(both)) > 1:
            yield Problem(f"{path}.also", both, f"one of {', '.join(sorted(group))}")
