"""A scripted football match: its timeline, its events at a moment, and its `/fixtures` item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from footy_simulator.scenario import (
    GoalKind,
    IncidentKind,
    ScriptedGoal,
    ScriptedIncident,
    ScriptedInterruption,
    ScriptedKick,
    ScriptedLeague,
    ScriptedMatch,
    ScriptedMinute,
    ScriptedPlayer,
    ScriptedTeam,
    SideName,
)

LONG_AGO = -(10**9)
"""Before any kick-off, in seconds from the start of the matchday."""


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """A span with one status, which lasts until the next span starts.

    In a span of play the clock runs from `since` to `until` (stoppage time included) and never shows more than `full`;
    the rest is `extra`. Otherwise it is frozen at `stands`.
    """

    status: str
    start: int
    stands: ScriptedMinute | None = None
    base: int = 0
    full: int = 0
    since: int = 0
    until: int = 0

    @property
    def in_play(self) -> bool:
        return self.full > 0

    def clock(self, offset: float) -> ScriptedMinute | None:
        if not self.in_play:
            return self.stands
        return _minute(self.since + int(offset - self.start) // 60, self.full)

    def moment_of(self, minute: ScriptedMinute) -> int | None:
        """The matchday second at which this minute is played, if it is in this span."""
        regular = minute.extra is None or minute.elapsed == self.full
        if not (self.in_play and regular and self.base < minute.elapsed <= self.full):
            return None
        if not self.since <= minute.played <= self.until:
            return None
        return self.start + (minute.played - self.since) * 60


@dataclass(frozen=True, slots=True)
class MatchTimeline:
    """The spans of a match, in order; the last one never ends."""

    spans: tuple[TimelineSpan, ...]
    full_time: int | None = None
    """End of the second half, even if extra time follows; None if the match does not get there."""
    extra_time: int | None = None
    shootout: int | None = None

    @property
    def final(self) -> TimelineSpan:
        return self.spans[-1]

    def at(self, offset: float) -> TimelineSpan:
        return [span for span in self.spans if span.start <= offset][-1]

    def moment_of(self, minute: ScriptedMinute) -> int | None:
        """The matchday second at which a minute is played; None if it never is."""
        moments = (span.moment_of(minute) for span in self.spans)
        return next((moment for moment in moments if moment is not None), None)

    def start_of(self, status: str) -> int | None:
        return next((span.start for span in self.spans if span.status == status), None)


def match_timeline(match: ScriptedMatch) -> MatchTimeline:
    if not match.starts:
        return MatchTimeline(tuple(_not_played(match)))
    spans = [TimelineSpan("NS", LONG_AGO)]
    half = match.half_length
    stoppage = (*match.stoppage, 0, 0, 0, 0)
    clock = match.kickoff
    clock = _play(spans, match, "1H", clock, 0, half, stoppage[0])
    if match.abandoned_at is not None and match.abandoned_at.elapsed <= half:
        return MatchTimeline(tuple(spans))
    spans.append(TimelineSpan("HT", clock, ScriptedMinute(half)))
    clock = _play(spans, match, "2H", clock + match.half_time * 60, half, 2 * half, stoppage[1])
    if match.abandoned_at is not None:
        return MatchTimeline(tuple(spans))
    full_time = clock
    if match.ends == "FT":
        spans.append(TimelineSpan("FT", clock, ScriptedMinute(2 * half, stoppage[1] or None)))
        return MatchTimeline(tuple(spans), full_time=full_time)

    middle, end = 2 * half + match.extra_half_length, 2 * half + 2 * match.extra_half_length
    spans.append(TimelineSpan("BT", clock, ScriptedMinute(2 * half)))
    extra_time = clock + match.break_length * 60
    clock = _play(spans, match, "ET", extra_time, 2 * half, middle, stoppage[2])
    spans.append(TimelineSpan("BT", clock, ScriptedMinute(middle)))
    clock = _play(spans, match, "ET", clock + match.break_length * 60, middle, end, stoppage[3])
    shootout = None
    if match.ends == "PEN":
        shootout = clock
        spans.append(TimelineSpan("P", clock, ScriptedMinute(end)))
        clock += (len(match.shootout) + 1) * 60
    spans.append(TimelineSpan(match.ends, clock, ScriptedMinute(end)))
    return MatchTimeline(tuple(spans), full_time=full_time, extra_time=extra_time, shootout=shootout)


def _not_played(match: ScriptedMatch) -> Iterator[TimelineSpan]:
    yield TimelineSpan("NS", LONG_AGO)
    if match.called_off_at is not None:
        yield TimelineSpan(match.ends, match.called_off_at)


def _play(
    spans: list[TimelineSpan], match: ScriptedMatch, status: str, start: int, base: int, full: int, stoppage: int
) -> int:
    """Append one half with its interruptions, up to where the match is abandoned; returns its end."""
    since, until = base, full + stoppage
    abandoned = match.abandoned_at
    if abandoned is not None and _within(abandoned, base, full):
        until = min(until, abandoned.played)
    for stop in _stops(match, base, full):
        if not since < stop.minute.played < until:
            continue
        spans.append(TimelineSpan(status, start, None, base, full, since, stop.minute.played))
        start += (stop.minute.played - since) * 60
        spans.append(TimelineSpan(stop.status, start, stop.minute))
        start += stop.lasts * 60
        since = stop.minute.played
    spans.append(TimelineSpan(status, start, None, base, full, since, until))
    start += (until - since) * 60
    if abandoned is not None and _within(abandoned, base, full):
        spans.append(TimelineSpan("ABD", start, abandoned))
    return start


def _stops(match: ScriptedMatch, base: int, full: int) -> list[ScriptedInterruption]:
    inside = [stop for stop in match.interruptions if _within(stop.minute, base, full)]
    return sorted(inside, key=lambda stop: stop.minute.order)


def _within(minute: ScriptedMinute, base: int, full: int) -> bool:
    return base < minute.elapsed <= full


def _minute(played: int, full: int) -> ScriptedMinute:
    return ScriptedMinute(played) if played <= full else ScriptedMinute(full, played - full)


# --- Events at a moment, in the form and order of API-Football.


GOAL_DETAILS: dict[GoalKind, str] = {"normal": "Normal Goal", "penalty": "Penalty", "own_goal": "Own Goal"}
INCIDENTS: dict[IncidentKind, tuple[str, str]] = {
    "yellow_card": ("Card", "Yellow Card"),
    "red_card": ("Card", "Red Card"),
    "substitution": ("subst", "Substitution"),
    "missed_penalty": ("Goal", "Missed Penalty"),
    "var_goal_confirmed": ("Var", "Goal confirmed"),
    "var_penalty_confirmed": ("Var", "Penalty confirmed"),
}
SHOOTOUT_COMMENT = "Penalty Shootout"


@dataclass(frozen=True, slots=True)
class GoalView:
    """A goal as reported at a moment. `counted`: part of the score; `listed`: among the events."""

    goal: ScriptedGoal
    minute: ScriptedMinute
    kind: GoalKind
    player: ScriptedPlayer | None
    cancelled_at: int | None
    listed: bool

    @property
    def counted(self) -> bool:
        return self.cancelled_at is None


def goal_view(goal: ScriptedGoal, shown: int, offset: float) -> GoalView | None:
    """None before it first appears at `shown`."""
    age = offset - shown
    if age < 0:
        return None
    minute, kind, player = goal.minute, goal.kind, goal.player
    for change in goal.changes:
        if age >= change.after * 60:
            minute, kind = change.minute or minute, change.kind or kind
            player = change.player or player
    cancelled_at = None
    if goal.cancelled_after is not None and age >= goal.cancelled_after * 60:
        cancelled_at = shown + goal.cancelled_after * 60
    gone = any(at * 60 <= age < (at + 1) * 60 for at in goal.flickers)
    return GoalView(goal, minute, kind, player, cancelled_at, listed=cancelled_at is None and not gone)


def goal_views(match: ScriptedMatch, course: MatchTimeline, offset: float) -> list[GoalView]:
    """Every goal that has appeared so far, including cancelled ones, by minute."""
    views = []
    for goal in match.goals:
        shown = course.moment_of(goal.minute)
        view = None if shown is None else goal_view(goal, shown, offset)
        if view is not None:
            views.append(view)
    return sorted(views, key=lambda view: view.minute.order)


def shown_kicks(match: ScriptedMatch, course: MatchTimeline, offset: float) -> tuple[ScriptedKick, ...]:
    if course.shootout is None:
        return ()
    return match.shootout[: max(0, int(offset - course.shootout) // 60)]


def events_at(match: ScriptedMatch, course: MatchTimeline, offset: float) -> list[dict[str, Any]]:
    timed: list[tuple[ScriptedMinute, dict[str, Any]]] = []
    for view in goal_views(match, course, offset):
        if view.listed:
            timed.append((view.minute, _goal_event(match, view)))
        elif view.cancelled_at is not None:
            decided = course.at(view.cancelled_at).clock(view.cancelled_at) or view.minute
            timed.append((decided, _cancellation(match, view, decided)))
    timed += _incident_events(match, course, offset)
    timed.sort(key=lambda item: item[0].order)
    kicks = shown_kicks(match, course, offset)
    shootout = [_kick_event(match, number, kick) for number, kick in enumerate(kicks, start=1)]
    # The service lists the shoot-out last, its last kick first.
    return [event for _, event in timed] + shootout[::-1]


def team_reference(team: ScriptedTeam) -> dict[str, Any]:
    return {
        "id": team.id,
        "name": team.name,
        "logo": f"https://media.api-sports.io/football/teams/{team.id}.png",
    }


def _goal_event(match: ScriptedMatch, view: GoalView) -> dict[str, Any]:
    # The service credits an own goal to the side that benefits, with a scorer of the other side.
    team = match.team(view.goal.side)
    return _event(view.minute, team, view.player, "Goal", GOAL_DETAILS[view.kind], assist=view.goal.assist)


def _cancellation(match: ScriptedMatch, view: GoalView, decided: ScriptedMinute) -> dict[str, Any]:
    return _event(decided, match.team(view.goal.side), view.player, "Var", "Goal cancelled")


def _incident_events(
    match: ScriptedMatch, course: MatchTimeline, offset: float
) -> list[tuple[ScriptedMinute, dict[str, Any]]]:
    events = []
    substitutions = {"home": 0, "away": 0}
    for incident in sorted(match.incidents, key=lambda incident: incident.minute.order):
        shown = course.moment_of(incident.minute)
        if shown is None or shown > offset:
            continue
        type_, detail = INCIDENTS[incident.kind]
        if incident.kind == "substitution":
            substitutions[incident.side] += 1
            detail = f"{detail} {substitutions[incident.side]}"
        events.append((incident.minute, _incident_event(match, incident, type_, detail)))
    return events


def _incident_event(match: ScriptedMatch, incident: ScriptedIncident, type_: str, detail: str) -> dict[str, Any]:
    return _event(incident.minute, match.team(incident.side), incident.player, type_, detail, assist=incident.other)


def _kick_event(match: ScriptedMatch, number: int, kick: ScriptedKick) -> dict[str, Any]:
    detail = "Penalty" if kick.scored else "Missed Penalty"
    minute = ScriptedMinute(2 * (match.half_length + match.extra_half_length), number)
    return _event(minute, match.team(kick.side), kick.player, "Goal", detail, comments=SHOOTOUT_COMMENT)


def _event(
    minute: ScriptedMinute,
    team: ScriptedTeam,
    player: ScriptedPlayer | None,
    type_: str,
    detail: str,
    *,
    assist: ScriptedPlayer | None = None,
    comments: str | None = None,
) -> dict[str, Any]:
    return {
        "time": {"elapsed": minute.elapsed, "extra": minute.extra},
        "team": team_reference(team),
        "player": _person(player),
        "assist": _person(assist),
        "type": type_,
        "detail": detail,
        "comments": comments,
    }


def _person(player: ScriptedPlayer | None) -> dict[str, Any]:
    return {"id": player.id, "name": player.name} if player else {"id": None, "name": None}


# --- The `/fixtures` item at a moment.


LONG_STATUS = {
    "NS": "Not Started",
    "1H": "First Half",
    "HT": "Halftime",
    "2H": "Second Half",
    "BT": "Break Time",
    "ET": "Extra Time",
    "P": "Penalty In Progress",
    "SUSP": "Match Suspended",
    "INT": "Match Interrupted",
    "FT": "Match Finished",
    "AET": "Match Finished",
    "PEN": "Match Finished",
    "ABD": "Match Abandoned",
    "PST": "Match Postponed",
    "CANC": "Match Cancelled",
}

Pair = dict[str, int | None]
NOTHING: Pair = {"home": None, "away": None}


def fixture_at(match: ScriptedMatch, league: ScriptedLeague, start: datetime, offset: float) -> dict[str, Any]:
    """The match `offset` seconds after the matchday's `start`, with its events."""
    course = match_timeline(match)
    goals, score = _score(match, course, offset)
    return {
        "fixture": _fixture(match, course, start, offset),
        "league": _league(league),
        "teams": _teams(match, goals, score["penalty"]),
        "goals": goals,
        "score": score,
        "events": events_at(match, course, offset),
    }


def status_at(match: ScriptedMatch, offset: float) -> str:
    return match_timeline(match).at(offset).status


def settled_from(match: ScriptedMatch) -> int:
    """The matchday second from which the match is in its final state."""
    return match_timeline(match).final.start


def kickoff_time(match: ScriptedMatch, start: datetime) -> datetime:
    return start + timedelta(seconds=match.kickoff)


def _fixture(match: ScriptedMatch, course: MatchTimeline, start: datetime, offset: float) -> dict[str, Any]:
    span = course.at(offset)
    minute = span.clock(offset)
    kickoff = kickoff_time(match, start)
    return {
        "id": match.id,
        "referee": None,
        "timezone": "UTC",
        "date": kickoff.isoformat(),
        "timestamp": int(kickoff.timestamp()),
        "periods": {
            "first": _begun(course.start_of("1H"), start, offset),
            "second": _begun(course.start_of("2H"), start, offset),
        },
        "venue": {"id": None, "name": None, "city": None},
        "status": {
            "long": LONG_STATUS[span.status],
            "short": span.status,
            "elapsed": minute.elapsed if minute else None,
            "extra": minute.extra if minute else None,
        },
    }


def _begun(moment: int | None, start: datetime, offset: float) -> int | None:
    return None if moment is None or moment > offset else int(start.timestamp()) + moment


def _league(league: ScriptedLeague) -> dict[str, Any]:
    return {
        "id": league.id,
        "name": league.name,
        "country": league.country,
        "logo": f"https://media.api-sports.io/football/leagues/{league.id}.png",
        "flag": None,
        "season": league.season,
        "round": league.round,
    }


def _score(match: ScriptedMatch, course: MatchTimeline, offset: float) -> tuple[Pair, dict[str, Pair]]:
    """Goals by period; during the first half the half-time score is the current one."""
    if not match.starts or offset < match.kickoff:
        return NOTHING, dict.fromkeys(("halftime", "fulltime", "extratime", "penalty"), NOTHING)
    counted = [view for view in goal_views(match, course, offset) if view.counted]
    half, full = match.half_length, 2 * match.half_length
    parts = {
        "halftime": _pair(view.goal.side for view in counted if view.minute.elapsed <= half),
        "fulltime": NOTHING,
        "extratime": NOTHING,
        "penalty": NOTHING,
    }
    if course.full_time is not None and offset >= course.full_time:
        parts["fulltime"] = _pair(view.goal.side for view in counted if view.minute.elapsed <= full)
    if course.extra_time is not None and offset >= course.extra_time:
        parts["extratime"] = _pair(view.goal.side for view in counted if view.minute.elapsed > full)
    if course.shootout is not None and offset >= course.shootout:
        parts["penalty"] = _pair(kick.side for kick in shown_kicks(match, course, offset) if kick.scored)
    return _pair(view.goal.side for view in counted), parts


def _pair(sides: Iterable[SideName]) -> Pair:
    listed = list(sides)
    return {"home": listed.count("home"), "away": listed.count("away")}


def _teams(match: ScriptedMatch, goals: Pair, penalty: Pair) -> dict[str, Any]:
    """The service names a winner as soon as one side leads; a shoot-out decides a draw."""
    lead = _lead(penalty) or _lead(goals)
    return {
        "home": _team(match.home, None if lead == 0 else lead > 0),
        "away": _team(match.away, None if lead == 0 else lead < 0),
    }


def _lead(pair: Pair) -> int:
    return (pair["home"] or 0) - (pair["away"] or 0)


def _team(team: ScriptedTeam, winner: bool | None) -> dict[str, Any]:
    return {**team_reference(team), "winner": winner}
