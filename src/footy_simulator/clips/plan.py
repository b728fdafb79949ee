"""Derive footage and clips from a scenario: of a goal or wicket, of another moment, or of another match."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from footy_simulator.clips.broadcast import ENDS_AT, GOAL_AT, WIPE, broadcast_timeline
from footy_simulator.clips.figures import codes_of
from footy_simulator.clips.models import (
    BOARD_STYLES,
    CRICKET_STYLES,
    HARD_STYLES,
    OTHER_SCENES,
    Alteration,
    BoardStyle,
    ClipKind,
    ClipSpec,
    CricketStyle,
    Footage,
    MasterSpec,
    Pair,
    Scene,
)
from footy_simulator.cricket import runs_after, wickets_in_order
from footy_simulator.football import TimelineSpan, match_timeline
from footy_simulator.scenario import (
    BALLS_PER_OVER,
    WICKETS_PER_INNINGS,
    PostedClip,
    Scenario,
    ScriptedCricketMatch,
    ScriptedGoal,
    ScriptedInnings,
    ScriptedMatch,
    ScriptedMinute,
    ScriptedWicket,
)
from found_footy.fixtures.models import Side

MIN_DISTANCE_BALLS = 3 * BALLS_PER_OVER
"""Balls between the wicket and a wrong over: well beyond any tolerance."""

_UNKNOWN_CRICKET_TEAMS = ("Harbour Lions", "Valley Kings")
_MORE_WICKETS, _MORE_RUNS = 3, 40
"""Difference of last season's score, so that it matches neither the score before nor after."""


@dataclass(frozen=True, slots=True)
class FallenWicket:
    """A wicket with its position in the match."""

    wicket: ScriptedWicket
    innings: ScriptedInnings
    place: int
    """Index of the innings in the script."""
    number: int
    """Number of the wicket in its innings, from 1."""


def fallen_of(match: ScriptedCricketMatch) -> list[FallenWicket]:
    """All wickets of a match in the order in which they fall."""
    return [
        FallenWicket(wicket, innings, place, number)
        for place, innings in enumerate(match.innings)
        for number, wicket in enumerate(wickets_in_order(innings), start=1)
    ]


def wicket_footage(match: ScriptedCricketMatch, index: int) -> Footage:
    fallen = fallen_of(match)[index]
    ball = fallen.wicket.ball.count
    runs = runs_after(fallen.innings, ball)
    return Footage(
        scene="cricket",
        venue=str(match.id),
        moment=f"{match.id} wicket {index}",
        teams=(match.home.name, match.away.name),
        codes=_codes(match),
        style=_style(match),
        before=(runs, fallen.number - 1),
        after=(runs, fallen.number),
        side=0 if fallen.innings.batting is Side.HOME else 1,
        penalty=False,
        goal_clock=0,
        half_ends=0,
        added=0,
        balls=(ball - 1, ball),
    )


def wrong_over_footage(match: ScriptedCricketMatch, index: int) -> Footage:
    """The same innings, overs away, without a wicket."""
    fallen, footage = fallen_of(match)[index], wicket_footage(match, index)
    chance = random.Random(f"wrong over {footage.moment}")
    ball = chance.choice(wrong_balls(fallen))
    score = runs_after(fallen.innings, ball), sum(each.ball.count <= ball for each in fallen.innings.wickets)
    return replace(footage, moment=f"{footage.moment} but {ball}", before=score, after=score, balls=(ball - 1, ball))


def wrong_balls(fallen: FallenWicket) -> list[int]:
    """Balls of the innings far enough from the wicket, on which no other wicket falls."""
    others = {wicket.ball.count for wicket in fallen.innings.wickets}
    ball = fallen.wicket.ball.count
    balls = range(2, fallen.innings.overs.count + 1)
    return [each for each in balls if abs(each - ball) >= MIN_DISTANCE_BALLS and each not in others]


def other_cricket_footage(scenario: Scenario, match: ScriptedCricketMatch, index: int) -> Footage:
    """A wicket of another match of the day, or of unknown teams, at the same ball."""
    footage = wicket_footage(match, index)
    others = [other for other in scenario.cricket if not set(_codes(other)) & set(footage.codes)]
    chance = random.Random(f"other match {footage.moment}")
    other = chance.choice(others) if others else None
    return replace(
        footage,
        venue=str(other.id) if other else "another ground",
        moment=f"{footage.moment} but elsewhere",
        teams=(other.home.name, other.away.name) if other else _UNKNOWN_CRICKET_TEAMS,
        codes=_codes(other) if other else codes_of(*_UNKNOWN_CRICKET_TEAMS),
        style=_style(other) if other else "bar",
        side=chance.randrange(2),
    )


def last_season_wicket(match: ScriptedCricketMatch, index: int) -> Footage:
    """The same teams at the same ball a year earlier: only the score differs."""
    footage = wicket_footage(match, index)
    runs, wickets = footage.after
    more = _MORE_WICKETS if wickets + _MORE_WICKETS <= WICKETS_PER_INNINGS else -_MORE_WICKETS
    after = (runs + _MORE_RUNS, wickets + more)
    return replace(
        footage,
        moment=f"{footage.moment} last season",
        style="bar" if footage.style != "bar" else "southern",
        before=(after[0], after[1] - 1),
        after=after,
    )


def other_scene_of_wicket(match: ScriptedCricketMatch, index: int, scene: Scene) -> Footage:
    """Footage without cricket."""
    footage = wicket_footage(match, index)
    moment = f"{footage.moment} {scene}"
    return replace(footage, scene=scene, venue=scene, moment=moment, after=footage.before, balls=None)


def _codes(match: ScriptedCricketMatch) -> tuple[str, str]:
    return match.home.short, match.away.short


def _style(match: ScriptedCricketMatch) -> CricketStyle:
    chosen = match.style
    return chosen if chosen is not None else random.Random(f"style {match.series}").choice(CRICKET_STYLES)


# --- Football.


MIN_DISTANCE_MINUTES = 8
"""Minutes between the goal and a wrong minute: well beyond any tolerance."""

_UNKNOWN_TEAMS = ("Harbour", "Valley")
FIRST_SAFE_MINUTE = 7
"""A clock at 02:36 may mean 92:36 without its leading digit; a wrong minute must be unambiguous."""


def goal_footage(match: ScriptedMatch, index: int) -> Footage:
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
        codes=_football_codes(match),
        style=_football_style(match),
        before=before,
        after=after,
        side=0 if goal.side == "home" else 1,
        penalty=goal.kind == "penalty",
        goal_clock=(minute.played - 1) * 60 + _second(match, index),
        half_ends=span.full * 60,
        added=added,
    )


def wrong_minute_footage(match: ScriptedMatch, index: int) -> Footage:
    """The same match, minutes away, without a goal."""
    chance = random.Random(f"wrong minute {match.id} goal {index}")
    return _footage_at(match, index, chance.choice(wrong_minutes(match, match.goals[index])), chance)


def _footage_at(match: ScriptedMatch, index: int, played: int, chance: random.Random) -> Footage:
    goal, minute = goal_footage(match, index), ScriptedMinute(played)
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


def wrong_minutes(match: ScriptedMatch, goal: ScriptedGoal) -> list[int]:
    """Minutes far enough from every minute that the feed ever reports for the goal."""
    earliest = FIRST_SAFE_MINUTE if goal.minute.extra else 1
    return [minute for minute, apart in _distances(match, goal) if minute >= earliest and apart >= MIN_DISTANCE_MINUTES]


def _distances(match: ScriptedMatch, goal: ScriptedGoal) -> Iterator[tuple[int, int]]:
    """Each minute of regular play, and how far it is from the nearest one that the feed ever reports for the goal."""
    reported = [goal.minute.played, *(change.minute.played for change in goal.changes if change.minute)]
    course = match_timeline(match)
    for minute in range(1, 2 * match.half_length + 1):
        if course.moment_of(ScriptedMinute(minute)) is not None:
            yield minute, min(abs(minute - other) for other in reported)


def other_match_footage(scenario: Scenario, match: ScriptedMatch, index: int) -> Footage:
    """A goal of another match of the day, or of unknown teams, at the same minute."""
    goal = goal_footage(match, index)
    others = [other for other in scenario.matches if other.starts and not set(_football_codes(other)) & set(goal.codes)]
    chance = random.Random(f"other match {goal.moment}")
    other = chance.choice(others) if others else None
    before: Pair = (chance.randrange(3), chance.randrange(3))
    side = chance.randrange(2)
    return replace(
        goal,
        venue=str(other.id) if other else "another ground",
        moment=f"{goal.moment} but elsewhere",
        teams=(other.home.name, other.away.name) if other else _UNKNOWN_TEAMS,
        codes=_football_codes(other) if other else codes_of(*_UNKNOWN_TEAMS),
        style=_readable(_football_style(other)) if other else "classic",
        before=before,
        after=(before[0] + (side == 0), before[1] + (side == 1)),
        side=side,
        penalty=False,
    )


def last_season_footage(match: ScriptedMatch, index: int, *, same_score: bool = False) -> Footage:
    """The same teams in the same ground at the same minute a year earlier: only the score differs, if anything."""
    goal = goal_footage(match, index)
    before = goal.before if same_score else (goal.before[0] + 1, goal.before[1] + 2)
    return replace(
        goal,
        moment=f"{goal.moment} last season",
        style="classic" if goal.style != "classic" else "split",
        before=before,
        after=(before[0] + (goal.side == 0), before[1] + (goal.side == 1)),
    )


def other_scene(match: ScriptedMatch, index: int, scene: Scene) -> Footage:
    """Footage without football."""
    goal = goal_footage(match, index)
    return replace(goal, scene=scene, venue=scene, moment=f"{goal.moment} {scene}", after=goal.before, penalty=False)


def final_minute(goal: ScriptedGoal) -> ScriptedMinute:
    """The feed's final minute, which is the one on the screen."""
    corrected = [change.minute for change in goal.changes if change.minute is not None]
    return corrected[-1] if corrected else goal.minute


def _football_codes(match: ScriptedMatch) -> tuple[str, str]:
    return match.broadcast.codes or codes_of(match.home.name, match.away.name)


def _football_style(match: ScriptedMatch) -> BoardStyle:
    if match.broadcast.style is not None:
        return match.broadcast.style
    return random.Random(f"style {match.league}").choice([style for style in BOARD_STYLES if style not in HARD_STYLES])


def _readable(style: BoardStyle) -> BoardStyle:
    """A style that is easy to read, for a match that only its scoreboard identifies."""
    return "classic" if style in HARD_STYLES else style


def _second(match: ScriptedMatch, index: int) -> int:
    """Second within the minute: goals of one minute come one after another."""
    minute = final_minute(match.goals[index])
    same = [place for place, goal in enumerate(match.goals) if final_minute(goal) == minute]
    slot = 34 // len(same)
    return 20 + same.index(index) * slot + random.Random(f"second {match.id} {index}").randrange(max(1, slot - 6))


def _score_before(match: ScriptedMatch, index: int) -> Pair:
    course = match_timeline(match)
    moment = course.moment_of(match.goals[index].minute) or 0
    earlier = [
        goal.side
        for place, goal, at in _counted(match, moment)
        if at < moment or (at == moment and place < index)
        if place != index
    ]
    return earlier.count("home"), earlier.count("away")


def _score_at(match: ScriptedMatch, minute: ScriptedMinute) -> Pair:
    moment = match_timeline(match).moment_of(minute) or 0
    sides = [goal.side for _, goal, _ in _counted(match, moment)]
    return sides.count("home"), sides.count("away")


def _counted(match: ScriptedMatch, moment: int) -> Iterator[tuple[int, ScriptedGoal, int]]:
    """Goals that stand at a moment of the matchday, with the moment of each."""
    course = match_timeline(match)
    for place, goal in enumerate(match.goals):
        at = course.moment_of(goal.minute)
        if at is None or at > moment:
            continue
        if goal.cancelled_after is None or at + goal.cancelled_after * 60 > moment:
            yield place, goal, at


def _half(match: ScriptedMatch, minute: ScriptedMinute) -> tuple[TimelineSpan, int]:
    """The span of play that contains a minute, and its announced stoppage time."""
    span = next(span for span in match_timeline(match).spans if span.moment_of(minute) is not None)
    half, extra = match.half_length, match.extra_half_length
    halves = (half, 2 * half, 2 * half + extra, 2 * half + 2 * extra)
    return span, (*match.stoppage, 0, 0)[halves.index(span.full)]


# --- Hard clips: what a scenario does not post, because no consumer can be required to judge it. Benchmarks count them.


HardCase = Literal[
    "minute 4 to 7 off",
    "minute 1 to 6 for a stoppage goal",
    "last season, same score and minute",
    "other match, unreadable board",
    "board only between sampled frames",
]
_NEAR_MINUTES = range(4, 8)
_EDGE_SECONDS = 1.2
"""How long live play, with the scoreboard, lasts before the replays in the last of these cases."""


def hard_clips(scenario: Scenario) -> Iterator[tuple[HardCase, ClipSpec]]:
    """The hard cases of each goal. Only the last one shows the goal."""
    for match in scenario.matches:
        for index, goal in enumerate(match.goals):
            chance = random.Random(f"hard {match.id} goal {index}")
            near = [minute for minute, apart in _distances(match, goal) if apart in _NEAR_MINUTES]
            if near:
                yield (
                    "minute 4 to 7 off",
                    _hard(match, index, "wrong_minute", _footage_at(match, index, chance.choice(near), chance)),
                )
            if goal.minute.extra and goal.minute.elapsed > match.half_length:
                early = _footage_at(match, index, chance.randrange(1, FIRST_SAFE_MINUTE), chance)
                yield "minute 1 to 6 for a stoppage goal", _hard(match, index, "wrong_minute", early)
            twin = last_season_footage(match, index, same_score=True)
            yield "last season, same score and minute", _hard(match, index, "last_season", twin)
            other = other_match_footage(scenario, match, index)
            yield "other match, unreadable board", _hard(match, index, "other_match", other, "no_clock")
            yield (
                "board only between sampled frames",
                _hard(match, index, "copy", goal_footage(match, index), replays=True),
            )


def _hard(
    match: ScriptedMatch, index: int, kind: ClipKind, footage: Footage, *also: Alteration, replays: bool = False
) -> ClipSpec:
    start, length = GOAL_AT - 2.0, 4.0
    if replays:
        begins, ends = broadcast_timeline(footage).replays
        start = round(begins - WIPE / 2 - _EDGE_SECONDS, 2)
        length = math.floor((ends - start) * 100) / 100
    master = MasterSpec(footage, 360, 25, float(math.floor(start)), float(math.ceil(start + length)))
    return ClipSpec(match.id, index, 0, kind, also, 0, master, start, length, 360, 25, 900)


# --- Clips: a scenario determines the specs, and a spec its file.


DEFAULT_CLIPS = (
    PostedClip(kind="copy"),
    PostedClip(kind="copy", also=("logo",), after=2),
    PostedClip(kind="copy", also=("letterbox",), fps=30, after=2),
)
"""Clips of a goal without `clips`."""
DEFAULT_WICKET_CLIPS = (PostedClip(kind="copy"), PostedClip(kind="copy", also=("logo",), after=2))

_HEIGHTS = (360, 360, 360, 360, 360, 480)
"""Heights of copies without one: one per goal, so that its master is no larger than needed."""
_KBITS = {180: (100, 150), 360: (600, 1300), 480: (900, 1700), 540: (1100, 2000), 720: (1500, 2800), 1080: (3000, 5000)}
_LENGTHS, _STARTS = (3.7, 4.2), (-2.0, -1.4)
"""Seconds, and seconds from the goal: short, because rendering is expensive, and overlapping by at least three."""
_TOO_SHORT, _TOO_LONG = 2.0, 63.0
_LONG_HEIGHT, _LONG_FPS = 180, 10
"""The clip that is only too long is rendered as cheaply as possible."""
_SHOWN_OF_LONG = 10.0
"""Seconds of play in it; then the picture freezes."""


@dataclass(frozen=True, slots=True)
class _Range:
    start: float
    length: float


def clips_for(scenario: Scenario, match_id: int, goal: int) -> list[ClipSpec]:
    """Clips of a match's goal (0 is the first), in file order.

    Wickets are numbered over all innings, in the order in which they fall.
    """
    match = next(match for match in scenario.all_matches if match.id == match_id)
    posted, usual = _posted(match, goal)
    clips = usual if posted is None else posted
    return _with_masters([_spec(scenario, match, goal, number, clip) for number, clip in enumerate(clips)])


def _posted(
    match: ScriptedMatch | ScriptedCricketMatch, goal: int
) -> tuple[tuple[PostedClip, ...] | None, tuple[PostedClip, ...]]:
    """The clips in the file, and the default clips."""
    if isinstance(match, ScriptedCricketMatch):
        return fallen_of(match)[goal].wicket.clips, DEFAULT_WICKET_CLIPS
    return match.goals[goal].clips, DEFAULT_CLIPS


def all_clips(scenario: Scenario) -> Iterator[ClipSpec]:
    """Every file posted of the matchday's goals, without dead links."""
    for match in scenario.matches:
        for goal in range(len(match.goals)):
            yield from (spec for spec in clips_for(scenario, match.id, goal) if spec.has_file)
    for cricket in scenario.cricket:
        for wicket in range(len(fallen_of(cricket))):
            yield from (spec for spec in clips_for(scenario, cricket.id, wicket) if spec.has_file)


def _spec(
    scenario: Scenario, match: ScriptedMatch | ScriptedCricketMatch, goal: int, number: int, clip: PostedClip
) -> ClipSpec:
    if isinstance(match, ScriptedCricketMatch):
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
        master=MasterSpec(footage, height, fps, part.start, part.start + min(part.length, _shown(clip))),
        start=part.start,
        length=part.length,
        height=height,
        fps=fps,
        kbit=clip.kbit or chance.randrange(*_KBITS[height], 10),
    )


def _footage(scenario: Scenario, match: ScriptedMatch, goal: int, clip: PostedClip) -> Footage:
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


def _cricket(scenario: Scenario, match: ScriptedCricketMatch, wicket: int, clip: PostedClip) -> Footage:
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


def _range(footage: Footage, clip: PostedClip, chance: random.Random) -> _Range:
    """In hundredths of a second of the footage's timeline."""
    if clip.kind == "too_short":
        return _Range(GOAL_AT - 1.0, _TOO_SHORT)
    if clip.kind == "too_long":
        return _Range(GOAL_AT - 5.0, _TOO_LONG)
    if clip.kind == "replay":
        start, end = broadcast_timeline(footage).replays
        return _Range(round(start, 2), math.floor((end - start) * 100) / 100)
    length = clip.length if clip.length is not None else round(chance.uniform(*_LENGTHS), 2)
    start = GOAL_AT + (clip.start if clip.start is not None else round(chance.uniform(*_STARTS), 2))
    return _Range(round(min(start, ENDS_AT - length), 2), length)


def _shown(clip: PostedClip) -> float:
    return _SHOWN_OF_LONG if clip.kind == "too_long" else math.inf


def _with_masters(specs: list[ClipSpec]) -> list[ClipSpec]:
    """One master for all copies of the same footage: as long, as high and as fast as any of them needs."""
    shared: dict[Footage, MasterSpec] = {}
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
