"""What in one match's script must fit together."""

from __future__ import annotations

from collections.abc import Iterator

from found_footy.simulator.clips.checks import clip_problems
from found_footy.simulator.course import Course, course_of
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import Goal, Match


def match_problems(path: str, match: Match) -> Iterator[Problem]:
    yield from _ending(path, match)
    yield from _shootout(path, match)
    codes = match.broadcast.codes
    if codes is not None and codes[0] == codes[1]:
        yield Problem(f"{path}.broadcast.codes", list(codes), "two different ones")
    halves = 4 if match.ends in ("AET", "PEN") else 2
    if len(match.stoppage) not in (2, halves):
        numbers = "two numbers" if halves == 2 else "two numbers, or four"
        yield Problem(f"{path}.stoppage", list(match.stoppage), f"{numbers} with ends: {match.ends}")
    if not match.starts:
        for field in ("goals", "incidents", "interruptions"):
            if getattr(match, field):
                yield Problem(f"{path}.{field}", "a list", "nothing in a match that does not kick off")
        return
    course = course_of(match)
    stops = [span.stands for span in course.spans if span.status in ("SUSP", "INT")]
    for index, stop in enumerate(match.interruptions):
        if stop.minute in stops:
            stops.remove(stop.minute)
        else:
            allowed = "a minute inside a half, where no other one is"
            yield Problem(f"{path}.interruptions[{index}].minute", str(stop.minute), allowed)
    for index, incident in enumerate(match.incidents):
        if course.moment_of(incident.minute) is None:
            yield Problem(f"{path}.incidents[{index}].minute", str(incident.minute), _played(match, course))
        if (incident.kind == "substitution") != (incident.other is not None):
            allowed = "the player who goes off" if incident.other is None else "nothing but in a substitution"
            yield Problem(f"{path}.incidents[{index}].other", incident.other, allowed)
    for index, goal in enumerate(match.goals):
        yield from _goal(f"{path}.goals[{index}]", match, course, goal)


def _ending(path: str, match: Match) -> Iterator[Problem]:
    if (match.ends == "ABD") != (match.abandoned_at is not None):
        allowed = "the minute of the end" if match.ends == "ABD" else f"nothing with ends: {match.ends}"
        yield Problem(f"{path}.abandoned_at", match.abandoned_at and str(match.abandoned_at), allowed)
    elif match.abandoned_at is not None and match.starts:
        course = course_of(match)
        if course.moment_of(match.abandoned_at) != course.final.start:
            allowed = f"a minute of the two halves, of {match.half_length} minutes and their stoppage time"
            yield Problem(f"{path}.abandoned_at", str(match.abandoned_at), allowed)
    called_off = match.ends in ("PST", "CANC")
    if called_off != (match.called_off_at is not None):
        allowed = "the time of the news" if called_off else f"nothing with ends: {match.ends}"
        yield Problem(f"{path}.called_off_at", match.called_off_at, allowed)
    elif match.called_off_at is not None and match.called_off_at >= match.kickoff:
        yield Problem(f"{path}.called_off_at", f"{match.called_off_at} s", "a time before kick-off")


def _shootout(path: str, match: Match) -> Iterator[Problem]:
    if match.ends != "PEN":
        if match.shootout:
            yield Problem(f"{path}.shootout", "a list", f"nothing with ends: {match.ends}")
        return
    scored = [kick.side for kick in match.shootout if kick.scored]
    if scored.count("home") == scored.count("away"):
        level = f"{scored.count('home')}-{scored.count('away')}"
        yield Problem(f"{path}.shootout", level, "kicks that give a winner, with ends: PEN")


def _goal(path: str, match: Match, course: Course, goal: Goal) -> Iterator[Problem]:
    shown = course.moment_of(goal.minute)
    if shown is None:
        yield Problem(f"{path}.minute", str(goal.minute), _played(match, course))
        return
    # Once the match is over nothing may happen to the goal: a consumer need not look at it any more.
    left = (course.final.start - shown) // 60
    if goal.cancelled_after is not None:
        if goal.cancelled_after > left:
            yield Problem(f"{path}.cancelled_after", goal.cancelled_after, _before_the_end(left))
        left = min(left, goal.cancelled_after)
    yield from clip_problems(path, match, goal)
    yield from _changes(path, course, goal, shown, left)
    for index, at in enumerate(goal.flickers):
        since = goal.flickers[index - 1] + 2 if index else 1
        if not since <= at < left:
            # It has to come back for a minute at least, or two flickers would be one long absence.
            yield Problem(f"{path}.flickers[{index}]", at, f"{since} to {left - 1}, in rising order")


def _changes(path: str, course: Course, goal: Goal, shown: int, left: int) -> Iterator[Problem]:
    previous = 0
    for index, change in enumerate(goal.changes):
        here = f"{path}.changes[{index}]"
        if not previous < change.after <= left:
            yield Problem(f"{here}.after", change.after, f"{previous + 1} to {left}, in rising order")
        previous = change.after
        if change.player is None and change.kind is None and change.minute is None:
            yield Problem(here, "no change", "a player, a kind or a minute")
        if change.minute is not None:
            moment = course.moment_of(change.minute)
            if moment is None or moment > shown + change.after * 60:
                yield Problem(f"{here}.minute", str(change.minute), "a minute that is played by then")


def _before_the_end(left: int) -> str:
    return f"up to {left} minutes, while the match is on"


def _played(match: Match, course: Course) -> str:
    stoppage = ", ".join(str(minutes) for minutes in match.stoppage)
    return f"a minute that is played, up to {course.final.stands} (stoppage: {stoppage})"
