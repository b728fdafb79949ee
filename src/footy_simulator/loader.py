"""Load and validate a scenario file; every problem is a `ScenarioError`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from footy_simulator.clips.broadcast import ENDS_AT, GOAL_AT
from footy_simulator.clips.models import FIXED_RANGE, WITHOUT_PICTURE, Alteration, reason_of
from footy_simulator.clips.plan import MIN_DISTANCE_MINUTES, FallenWicket, wrong_balls, wrong_minutes
from footy_simulator.crex import MODES
from footy_simulator.cricket import wickets_in_order
from footy_simulator.espn_recording import EspnRecording
from footy_simulator.football import MatchTimeline, match_timeline
from footy_simulator.scenario import (
    BALLS_PER_OVER,
    MATCH_FAULTS,
    WICKETS_PER_INNINGS,
    PostedClip,
    RecordingSource,
    Scenario,
    ScenarioProblem,
    ScriptedCricketMatch,
    ScriptedFault,
    ScriptedGoal,
    ScriptedInnings,
    ScriptedMatch,
    ScriptedWicket,
)
from found_footy.errors import ScenarioError

BUNDLED = Path(__file__).parent / "scenarios"


def bundled_scenarios() -> list[str]:
    return sorted(path.stem for path in BUNDLED.glob("*.yaml"))


def load_scenario(path_or_name: str | Path) -> Scenario:
    """Load a bundled scenario by name (`matchday`, `quick`) or a file by path."""
    bundled = str(path_or_name) in bundled_scenarios()
    path = BUNDLED / f"{path_or_name}.yaml" if bundled else Path(path_or_name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(bundled_scenarios())
        raise ScenarioError(f"{path}: cannot be read ({error}); bundled are {known}") from error
    scenario = parse_scenario(text, str(path))
    if scenario.recording is None:
        return scenario
    folder = (path.parent / scenario.recording.espn).resolve()
    EspnRecording.load(folder)  # Report a broken file now, not when it is served.
    return scenario.model_copy(update={"recording": RecordingSource(espn=folder)})


def parse_scenario(text: str, name: str) -> Scenario:
    """Parse and validate a scenario's YAML; `name` is the file name in messages."""
    try:
        data = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: invalid YAML: {error}") from error
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise _error(name, [_problem(detail) for detail in error.errors()]) from error
    found = validate_scenario(scenario)
    if found:
        raise _error(name, found)
    return scenario


class _UniqueKeys(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys, which would silently lose goals."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = [self.construct_object(key) for key, _ in node.value]
            twice = next(key for key in keys if keys.count(key) > 1)
            problem = f"the field {twice!r} is there twice"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        return mapping


def _error(name: str, found: list[ScenarioProblem]) -> ScenarioError:
    return ScenarioError("\n".join(f"{name}: {problem}" for problem in found))


def _problem(detail: ErrorDetails) -> ScenarioProblem:
    path = _path(detail["loc"])
    if detail["type"] == "unknown_field":
        context = detail["ctx"]
        return ScenarioProblem(f"{path}.{context['field']}".lstrip("."), context["given"], detail["msg"])
    if detail["type"] == "missing":
        return ScenarioProblem(path, None, "a value; the field is required")
    allowed = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return ScenarioProblem(path or "(the whole file)", detail["input"], allowed)


def _path(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".")


# --- Checks beyond the shape of the file.


_LAST = ENDS_AT - GOAL_AT
_ONE_OF: tuple[frozenset[Alteration], ...] = (
    frozenset({"letterbox", "pillarbox"}),
    frozenset({"crop", "no_clock"}),
    frozenset({"bright", "dark"}),
    frozenset({"vivid", "sepia", "grey"}),
)


def clip_problems(path: str, match: ScriptedMatch, goal: ScriptedGoal) -> Iterator[ScenarioProblem]:
    for index, clip in enumerate(goal.clips or ()):
        here = f"{path}.clips[{index}]"
        yield from _range(here, clip)
        yield from _alterations(here, clip)
        if clip.kind == "wrong_minute" and not wrong_minutes(match, goal):
            allowed = f"another kind: the match has no minute that is {MIN_DISTANCE_MINUTES} minutes from the goal"
            yield ScenarioProblem(f"{here}.kind", clip.kind, allowed)


def wicket_clip_problems(path: str, innings: ScriptedInnings, wicket: ScriptedWicket) -> Iterator[ScenarioProblem]:
    for index, clip in enumerate(wicket.clips or ()):
        here = f"{path}.clips[{index}]"
        yield from _range(here, clip)
        yield from _alterations(here, clip)
        if clip.kind == "wrong_minute" and not wrong_balls(FallenWicket(wicket, innings, 0, 1)):
            yield ScenarioProblem(
                f"{here}.kind", clip.kind, "another kind: the innings has no over that is far from the wicket"
            )


def _range(path: str, clip: PostedClip) -> Iterator[ScenarioProblem]:
    if clip.kind in FIXED_RANGE:
        for name in ("start", "length"):
            if getattr(clip, name) is not None:
                yield ScenarioProblem(f"{path}.{name}", getattr(clip, name), f"nothing: {clip.kind} has its own")
    elif clip.start is not None and clip.length is not None and clip.start + clip.length > _LAST:
        allowed_lengths = f"up to {_LAST - clip.start:g}: the broadcast ends {_LAST:g} seconds after the goal"
        yield ScenarioProblem(f"{path}.length", clip.length, allowed_lengths)
    unused = ["height", "fps", "kbit"] if clip.kind in WITHOUT_PICTURE else []
    for name in ["height", "fps"] if clip.kind == "too_long" else unused:
        if getattr(clip, name) is not None:
            yield ScenarioProblem(f"{path}.{name}", getattr(clip, name), f"nothing with {clip.kind}")


def _alterations(path: str, clip: PostedClip) -> Iterator[ScenarioProblem]:
    if clip.also and reason_of(clip.kind) is not None:
        yield ScenarioProblem(f"{path}.also", list(clip.also), f"nothing with {clip.kind}: it is refused as it is")
        return
    if len(set(clip.also)) < len(clip.also):
        yield ScenarioProblem(f"{path}.also", list(clip.also), "each alteration once")
    for group in _ONE_OF:
        both = [name for name in clip.also if name in group]
        if len(set(both)) > 1:
            yield ScenarioProblem(f"{path}.also", both, f"one of {', '.join(sorted(group))}")


# --- What in a cricket match's script must fit together.


def cricket_problems(path: str, match: ScriptedCricketMatch) -> Iterator[ScenarioProblem]:
    bats_first = match.innings[0].batting
    chosen = (match.toss.decision == "bat") == (match.toss.winner is bats_first)
    if not chosen:
        allowed = f"the side that {match.toss.decision}s by the toss, or another toss"
        yield ScenarioProblem(f"{path}.innings[0].batting", str(bats_first), allowed)
    limit = 4 if match.match_type == "Test" else 2
    if len(match.innings) > limit:
        yield ScenarioProblem(f"{path}.innings", len(match.innings), f"at most {limit} in a {match.match_type}")
    if match.ends != "ABD" and not match.result:
        yield ScenarioProblem(f"{path}.result", None, "the result in words")
    for index, innings in enumerate(match.innings):
        yield from _innings(f"{path}.innings[{index}]", innings)
        for place, wicket in enumerate(innings.wickets):
            yield from wicket_clip_problems(f"{path}.innings[{index}].wickets[{place}]", innings, wicket)


def _innings(path: str, innings: ScriptedInnings) -> Iterator[ScenarioProblem]:
    total = innings.overs.count
    if not total:
        yield ScenarioProblem(f"{path}.overs", str(innings.overs), "at least one ball")
    if len(innings.wickets) > WICKETS_PER_INNINGS:
        yield ScenarioProblem(f"{path}.wickets", len(innings.wickets), f"at most {WICKETS_PER_INNINGS}")
    fallen: set[int] = set()
    out: set[str] = set()
    for index, wicket in enumerate(innings.wickets):
        here = f"{path}.wickets[{index}]"
        if not 0 < wicket.ball.count <= total or not wicket.ball.ball:
            yield ScenarioProblem(f"{here}.ball", str(wicket.ball), f"a ball that is bowled, up to {_last(total)}")
        if wicket.ball.count in fallen:
            yield ScenarioProblem(f"{here}.ball", str(wicket.ball), "a ball on which no other wicket falls")
        if wicket.batter.key in out:
            yield ScenarioProblem(f"{here}.batter", wicket.batter.name, "somebody who is not out yet")
        fallen.add(wicket.ball.count)
        out.add(wicket.batter.key)
        if (wicket.bowler is None) != (wicket.kind in ("run_out", "other")):
            allowed = "nobody" if wicket.kind in ("run_out", "other") else f"a bowler with {wicket.kind}"
            yield ScenarioProblem(f"{here}.bowler", wicket.bowler and wicket.bowler.name, allowed)
    yield from _runs(path, innings)
    for index, pause in enumerate(innings.breaks):
        if pause.after.count >= total:
            yield ScenarioProblem(
                f"{path}.breaks[{index}].after", str(pause.after), f"before the last ball, {_last(total)}"
            )


def _runs(path: str, innings: ScriptedInnings) -> Iterator[ScenarioProblem]:
    """Totals never decrease."""
    before = 0
    for wicket in wickets_in_order(innings):
        if wicket.runs is not None:
            if not before <= wicket.runs <= innings.runs:
                yield ScenarioProblem(
                    f"{path}.wickets", f"{wicket.runs} runs at {wicket.ball}", f"{before} to {innings.runs}"
                )
            before = max(before, wicket.runs)


def _last(total: int) -> str:
    return f"{(total - 1) // BALLS_PER_OVER}.{(total - 1) % BALLS_PER_OVER + 1}" if total else "none"


# --- What in a feed's faults must fit together.


def fault_problems(path: str, fault: ScriptedFault, matches: Sequence[ScriptedMatch]) -> Iterator[ScenarioProblem]:
    """Faults of a feed with football matches."""
    yield from _times(path, fault)
    known = {match.id: match for match in matches}
    if fault.kind in MATCH_FAULTS:
        if fault.match not in known:
            ids = ", ".join(str(match_id) for match_id in sorted(known))
            yield ScenarioProblem(f"{path}.match", fault.match, f"the id of a match: {ids}")
        elif fault.kind == "invented_goal" and not match_timeline(known[fault.match]).at(fault.at).in_play:
            yield ScenarioProblem(f"{path}.at", f"{fault.at} s", "a time at which the match is being played")
    elif fault.match is not None:
        yield ScenarioProblem(f"{path}.match", fault.match, f"nothing: {fault.kind} is a fault of the whole feed")
    if (fault.kind == "timeout") != (fault.seconds is not None):
        allowed = "a number of seconds" if fault.kind == "timeout" else f"nothing with {fault.kind}"
        yield ScenarioProblem(f"{path}.seconds", fault.seconds, allowed)


def crex_fault_problems(path: str, fault: ScriptedFault) -> Iterator[ScenarioProblem]:
    """Faults of CREX pages: they affect all matches, and a hanging page hangs until the client gives up."""
    yield from _times(path, fault)
    if fault.kind not in MODES:
        yield ScenarioProblem(f"{path}.kind", fault.kind, f"one of {', '.join(MODES)}")
    for field in ("match", "seconds"):
        if getattr(fault, field) is not None:
            yield ScenarioProblem(f"{path}.{field}", getattr(fault, field), "nothing: pages break as a whole")


def _times(path: str, fault: ScriptedFault) -> Iterator[ScenarioProblem]:
    if fault.at < 0:
        yield ScenarioProblem(f"{path}.at", f"{fault.at} s", "a time after the matchday's start")
    if fault.lasts is not None and "polls" in fault.model_fields_set:
        yield ScenarioProblem(f"{path}.lasts", fault.lasts, "either polls or lasts")


# --- What in one match's script must fit together.


def match_problems(path: str, match: ScriptedMatch) -> Iterator[ScenarioProblem]:
    yield from _ending(path, match)
    yield from _shootout(path, match)
    codes = match.broadcast.codes
    if codes is not None and codes[0] == codes[1]:
        yield ScenarioProblem(f"{path}.broadcast.codes", list(codes), "two different ones")
    halves = 4 if match.ends in ("AET", "PEN") else 2
    if len(match.stoppage) not in (2, halves):
        numbers = "two numbers" if halves == 2 else "two numbers, or four"
        yield ScenarioProblem(f"{path}.stoppage", list(match.stoppage), f"{numbers} with ends: {match.ends}")
    if not match.starts:
        for field in ("goals", "incidents", "interruptions"):
            if getattr(match, field):
                yield ScenarioProblem(f"{path}.{field}", "a list", "nothing in a match that does not kick off")
        return
    course = match_timeline(match)
    stops = [span.stands for span in course.spans if span.status in ("SUSP", "INT")]
    for index, stop in enumerate(match.interruptions):
        if stop.minute in stops:
            stops.remove(stop.minute)
        else:
            allowed = "a minute inside a half, where no other one is"
            yield ScenarioProblem(f"{path}.interruptions[{index}].minute", str(stop.minute), allowed)
    for index, incident in enumerate(match.incidents):
        if course.moment_of(incident.minute) is None:
            yield ScenarioProblem(f"{path}.incidents[{index}].minute", str(incident.minute), _played(match, course))
        if (incident.kind == "substitution") != (incident.other is not None):
            allowed = "the player who goes off" if incident.other is None else "nothing but in a substitution"
            yield ScenarioProblem(f"{path}.incidents[{index}].other", incident.other, allowed)
    for index, goal in enumerate(match.goals):
        yield from _goal(f"{path}.goals[{index}]", match, course, goal)


def _ending(path: str, match: ScriptedMatch) -> Iterator[ScenarioProblem]:
    if (match.ends == "ABD") != (match.abandoned_at is not None):
        allowed = "the minute of the end" if match.ends == "ABD" else f"nothing with ends: {match.ends}"
        yield ScenarioProblem(f"{path}.abandoned_at", match.abandoned_at and str(match.abandoned_at), allowed)
    elif match.abandoned_at is not None and match.starts:
        course = match_timeline(match)
        if course.moment_of(match.abandoned_at) != course.final.start:
            allowed = f"a minute of the two halves, of {match.half_length} minutes and their stoppage time"
            yield ScenarioProblem(f"{path}.abandoned_at", str(match.abandoned_at), allowed)
    called_off = match.ends in ("PST", "CANC")
    if called_off != (match.called_off_at is not None):
        allowed = "the time of the announcement" if called_off else f"nothing with ends: {match.ends}"
        yield ScenarioProblem(f"{path}.called_off_at", match.called_off_at, allowed)
    elif match.called_off_at is not None and match.called_off_at >= match.kickoff:
        yield ScenarioProblem(f"{path}.called_off_at", f"{match.called_off_at} s", "a time before kick-off")


def _shootout(path: str, match: ScriptedMatch) -> Iterator[ScenarioProblem]:
    if match.ends != "PEN":
        if match.shootout:
            yield ScenarioProblem(f"{path}.shootout", "a list", f"nothing with ends: {match.ends}")
        return
    scored = [kick.side for kick in match.shootout if kick.scored]
    if scored.count("home") == scored.count("away"):
        level = f"{scored.count('home')}-{scored.count('away')}"
        yield ScenarioProblem(f"{path}.shootout", level, "kicks that give a winner, with ends: PEN")


def _goal(path: str, match: ScriptedMatch, course: MatchTimeline, goal: ScriptedGoal) -> Iterator[ScenarioProblem]:
    shown = course.moment_of(goal.minute)
    if shown is None:
        yield ScenarioProblem(f"{path}.minute", str(goal.minute), _played(match, course))
        return
    # Once the match is over nothing may happen to the goal: a consumer need not watch it any more.
    left = (course.final.start - shown) // 60
    if goal.cancelled_after is not None:
        if goal.cancelled_after > left:
            yield ScenarioProblem(f"{path}.cancelled_after", goal.cancelled_after, _before_the_end(left))
        left = min(left, goal.cancelled_after)
    yield from clip_problems(path, match, goal)
    yield from _changes(path, course, goal, shown, left)
    for index, at in enumerate(goal.flickers):
        since = goal.flickers[index - 1] + 2 if index else 1
        if not since <= at < left:
            # It has to come back for a minute at least, or two flickers would be one long absence.
            yield ScenarioProblem(f"{path}.flickers[{index}]", at, f"{since} to {left - 1}, in rising order")


def _changes(path: str, course: MatchTimeline, goal: ScriptedGoal, shown: int, left: int) -> Iterator[ScenarioProblem]:
    previous = 0
    for index, change in enumerate(goal.changes):
        here = f"{path}.changes[{index}]"
        if not previous < change.after <= left:
            yield ScenarioProblem(f"{here}.after", change.after, f"{previous + 1} to {left}, in rising order")
        previous = change.after
        if change.player is None and change.kind is None and change.minute is None:
            yield ScenarioProblem(here, "no change", "a player, a kind or a minute")
        if change.minute is not None:
            moment = course.moment_of(change.minute)
            if moment is None or moment > shown + change.after * 60:
                yield ScenarioProblem(f"{here}.minute", str(change.minute), "a minute that is played by then")


def _before_the_end(left: int) -> str:
    return f"up to {left} minutes, while the match is on"


def _played(match: ScriptedMatch, course: MatchTimeline) -> str:
    stoppage = ", ".join(str(minutes) for minutes in match.stoppage)
    return f"a minute that is played, up to {course.final.stands} (stoppage: {stoppage})"


# --- What in a scenario must fit together, beyond the type of each field.


@dataclass(slots=True)
class _Seen:
    """Ids and names used by previous matches."""

    matches: dict[int, str]
    teams: dict[int, str]


def validate_scenario(scenario: Scenario) -> list[ScenarioProblem]:
    scripted = bool(scenario.matches or scenario.cricket)
    if scripted == (scenario.recording is not None):
        given = "both" if scripted else "neither"
        return [ScenarioProblem("matches", given, "either matches or a recording")]
    if scenario.recording is not None:
        return [
            ScenarioProblem(field, "a value", "nothing: a recording has neither faults nor leagues")
            for field in ("faults", "leagues")
            if getattr(scenario, field)
        ]
    found = [*_identities(scenario), *_cricket_identities(scenario)]
    for index, match in enumerate(scenario.matches):
        found += match_problems(f"matches[{index}]", match)
    for index, played in enumerate(scenario.cricket):
        found += cricket_problems(f"cricket[{index}]", played)
    for index, fault in enumerate(scenario.faults):
        found += fault_problems(f"faults[{index}]", fault, scenario.matches)
    for index, fault in enumerate(() if scenario.feeds.espn is None else scenario.feeds.espn.faults):
        found += fault_problems(f"feeds.espn.faults[{index}]", fault, scenario.matches)
    for index, fault in enumerate(scenario.feeds.crex.faults):
        found += crex_fault_problems(f"feeds.crex.faults[{index}]", fault)
    return found


def _identities(scenario: Scenario) -> Iterator[ScenarioProblem]:
    seen = _Seen({}, {})
    for index, match in enumerate(scenario.matches):
        path = f"matches[{index}]"
        if match.id in seen.matches:
            yield ScenarioProblem(f"{path}.id", match.id, f"an id of its own; {seen.matches[match.id]} has it already")
        seen.matches.setdefault(match.id, path)
        if match.league not in scenario.leagues:
            yield ScenarioProblem(f"{path}.league", match.league, f"one of {', '.join(scenario.leagues) or '(none)'}")
        if match.home.id == match.away.id:
            yield ScenarioProblem(f"{path}.away.id", match.away.id, "another team than the home side")
        for side, team in (("home", match.home), ("away", match.away)):
            known = seen.teams.setdefault(team.id, team.name)
            if known != team.name:
                yield ScenarioProblem(
                    f"{path}.{side}.name", team.name, f"{known!r}, as team {team.id} is called before"
                )


def _cricket_identities(scenario: Scenario) -> Iterator[ScenarioProblem]:
    codes: dict[str, str] = {}
    names: dict[str, str] = {}
    for index, match in enumerate(scenario.cricket):
        path = f"cricket[{index}]"
        if match.code in codes:
            yield ScenarioProblem(f"{path}.code", match.code, f"a code of its own; {codes[match.code]} has it already")
        codes.setdefault(match.code, path)
        if match.home.key == match.away.key:
            yield ScenarioProblem(f"{path}.away.key", match.away.key, "another team than the home side")
        for side, team in (("home", match.home), ("away", match.away)):
            known = names.setdefault(team.key, team.name)
            if known != team.name:
                yield ScenarioProblem(
                    f"{path}.{side}.name", team.name, f"{known!r}, as team {team.key} is called before"
                )
