"""From a scenario to footage: the broadcast around a goal, around another minute, or of another match. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from found_footy.simulator.clips.codes import codes_of
from found_footy.simulator.clips.kinds import BOARD_STYLES, HARD_STYLES, BoardStyle, Scene
from found_footy.simulator.clips.spec import Footage, Pair
from found_footy.simulator.course import Span, course_of
from found_footy.simulator.notation import Minute
from found_footy.simulator.script import Goal, Match, Scenario

FAR_ENOUGH = 8
"""Minutes from the goal to a wrong minute: well beyond any tolerance."""

_UNKNOWN_TEAMS = ("Harbour", "Valley")
_EARLIEST_WRONG = 7
"""A clock at 02:36 can be meant as 92:36, with its leading digit dropped; a wrong minute must be wrong for sure."""


def goal_footage(match: Match, index: int) -> Footage:
    goal = match.goals[index]
    minute = final_minute(goal)
    before = _score_before(match, index)
    after = (before[0] + (goal.side == "home"), before[1] + (goal.side == "away"))
    span, added = _half(match, minute)
    return Footage(
        scene="match",
        venue=str(match.id),
        moment=f"{match.id} goal {index}",
        teams=(match.home.name, match.away.name),
        codes=_codes(match),
        style=_style(match),
        before=before,
        after=after,
        side=0 if goal.side == "home" else 1,
        penalty=goal.kind == "penalty",
        goal_clock=(minute.played - 1) * 60 + _second(match, index),
        half_ends=span.full * 60,
        added=added,
    )


def wrong_minute_footage(match: Match, index: int) -> Footage:
    """The same match, minutes away, and nothing is scored."""
    goal = goal_footage(match, index)
    minutes = wrong_minutes(match, match.goals[index])
    chance = random.Random(f"wrong minute {goal.moment}")
    minute = Minute(chance.choice(minutes))
    score = _score_at(match, minute)
    span, added = _half(match, minute)
    return replace(
        goal,
        moment=f"{goal.moment} but {minute}",
        before=score,
        after=score,
        side=chance.randrange(2),
        penalty=False,
        goal_clock=(minute.played - 1) * 60 + chance.randrange(20, 50),
        half_ends=span.full * 60,
        added=added,
    )


def wrong_minutes(match: Match, goal: Goal) -> list[int]:
    """The minutes of the two halves that are far enough from every minute that the feed gives the goal."""
    said = [goal.minute.played, *(change.minute.played for change in goal.changes if change.minute)]
    course = course_of(match)
    earliest = _EARLIEST_WRONG if goal.minute.extra else 1
    return [
        minute
        for minute in range(earliest, 2 * match.half_length + 1)
        if all(abs(minute - other) >= FAR_ENOUGH for other in said) and course.moment_of(Minute(minute)) is not None
    ]


def other_match_footage(scenario: Scenario, match: Match, index: int) -> Footage:
    """A goal of another match on the day, or of teams that nobody knows, at the very same minute."""
    goal = goal_footage(match, index)
    others = [other for other in scenario.matches if other.starts and not set(_codes(other)) & set(goal.codes)]
    chance = random.Random(f"other match {goal.moment}")
    other = chance.choice(others) if others else None
    before: Pair = (chance.randrange(3), chance.randrange(3))
    side = chance.randrange(2)
    return replace(
        goal,
        venue=str(other.id) if other else "another ground",
        moment=f"{goal.moment} but elsewhere",
        teams=(other.home.name, other.away.name) if other else _UNKNOWN_TEAMS,
        codes=_codes(other) if other else codes_of(*_UNKNOWN_TEAMS),
        style=_readable(_style(other)) if other else "classic",
        before=before,
        after=(before[0] + (side == 0), before[1] + (side == 1)),
        side=side,
        penalty=False,
    )


def last_season_footage(match: Match, index: int) -> Footage:
    """The same teams at the same minute, a year ago: only the score gives it away."""
    goal = goal_footage(match, index)
    before = (goal.before[0] + 1, goal.before[1] + 2)
    return replace(
        goal,
        venue=f"{match.id} last season",
        moment=f"{goal.moment} last season",
        style="classic" if goal.style != "classic" else "split",
        before=before,
        after=(before[0] + (goal.side == 0), before[1] + (goal.side == 1)),
    )


def other_scene(match: Match, index: int, scene: Scene) -> Footage:
    """Not soccer at all."""
    goal = goal_footage(match, index)
    return replace(goal, scene=scene, venue=scene, moment=f"{goal.moment} {scene}", after=goal.before, penalty=False)


def final_minute(goal: Goal) -> Minute:
    """The minute that the feed settles on, which is the one that was on the screen."""
    corrected = [change.minute for change in goal.changes if change.minute is not None]
    return corrected[-1] if corrected else goal.minute


def _codes(match: Match) -> tuple[str, str]:
    return match.broadcast.codes or codes_of(match.home.name, match.away.name)


def _style(match: Match) -> BoardStyle:
    if match.broadcast.style is not None:
        return match.broadcast.style
    return random.Random(f"style {match.league}").choice([style for style in BOARD_STYLES if style not in HARD_STYLES])


def _readable(style: BoardStyle) -> BoardStyle:
    """A match that only its scoreboard gives away must not have one that is hard to read."""
    return "classic" if style in HARD_STYLES else style


def _second(match: Match, index: int) -> int:
    """The second within the minute: goals of one minute come one after the other."""
    minute = final_minute(match.goals[index])
    same = [place for place, goal in enumerate(match.goals) if final_minute(goal) == minute]
    slot = 34 // len(same)
    return 20 + same.index(index) * slot + random.Random(f"second {match.id} {index}").randrange(max(1, slot - 6))


def _score_before(match: Match, index: int) -> Pair:
    course = course_of(match)
    moment = course.moment_of(match.goals[index].minute) or 0
    earlier = [
        goal.side
        for place, goal, at in _counted(match, moment)
        if at < moment or (at == moment and place < index)
        if place != index
    ]
    return earlier.count("home"), earlier.count("away")


def _score_at(match: Match, minute: Minute) -> Pair:
    moment = course_of(match).moment_of(minute) or 0
    sides = [goal.side for _, goal, _ in _counted(match, moment)]
    return sides.count("home"), sides.count("away")


def _counted(match: Match, moment: int) -> Iterator[tuple[int, Goal, int]]:
    """The goals that stand at a moment of the matchday, with the moment of each."""
    course = course_of(match)
    for place, goal in enumerate(match.goals):
        at = course.moment_of(goal.minute)
        if at is None or at > moment:
            continue
        if goal.cancelled_after is None or at + goal.cancelled_after * 60 > moment:
            yield place, goal, at


def _half(match: Match, minute: Minute) -> tuple[Span, int]:
    """The span of play that a minute lies in, and its announced stoppage time."""
    span = next(span for span in course_of(match).spans if span.moment_of(minute) is not None)
    half, extra = match.half_length, match.extra_half_length
    halves = (half, 2 * half, 2 * half + extra, 2 * half + 2 * extra)
    return span, (*match.stoppage, 0, 0)[halves.index(span.full)]
