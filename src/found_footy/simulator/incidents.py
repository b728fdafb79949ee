"""Which events a match shows at a moment, in the service's own shape and order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from found_footy.simulator.course import Course
from found_footy.simulator.notation import Minute
from found_footy.simulator.script import Goal, GoalKind, Incident, IncidentKind, Kick, Match, Player, Team

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
    """A goal as the feed sees it at a moment. `counted`: in the score; `listed`: among the events."""

    goal: Goal
    minute: Minute
    kind: GoalKind
    player: Player | None
    cancelled_at: int | None
    listed: bool

    @property
    def counted(self) -> bool:
        return self.cancelled_at is None


def goal_view(goal: Goal, shown: int, offset: float) -> GoalView | None:
    """None before it shows at `shown`."""
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


def goal_views(match: Match, course: Course, offset: float) -> list[GoalView]:
    """Every goal that has shown by now, cancelled ones too, in the order of their minutes."""
    views = []
    for goal in match.goals:
        shown = course.moment_of(goal.minute)
        view = None if shown is None else goal_view(goal, shown, offset)
        if view is not None:
            views.append(view)
    return sorted(views, key=lambda view: view.minute.order)


def shown_kicks(match: Match, course: Course, offset: float) -> tuple[Kick, ...]:
    if course.shootout is None:
        return ()
    return match.shootout[: max(0, int(offset - course.shootout) // 60)]


def events_at(match: Match, course: Course, offset: float) -> list[dict[str, Any]]:
    timed: list[tuple[Minute, dict[str, Any]]] = []
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
    # The service lists the shoot-out after everything else, its last kick first.
    return [event for _, event in timed] + shootout[::-1]


def team_reference(team: Team) -> dict[str, Any]:
    return {
        "id": team.id,
        "name": team.name,
        "logo": f"https://media.api-sports.io/football/teams/{team.id}.png",
    }


def _goal_event(match: Match, view: GoalView) -> dict[str, Any]:
    # The service gives the side that benefits as the team of an own goal, and the scorer from the other side.
    team = match.team(view.goal.side)
    return _event(view.minute, team, view.player, "Goal", GOAL_DETAILS[view.kind], assist=view.goal.assist)


def _cancellation(match: Match, view: GoalView, decided: Minute) -> dict[str, Any]:
    return _event(decided, match.team(view.goal.side), view.player, "Var", "Goal cancelled")


def _incident_events(match: Match, course: Course, offset: float) -> list[tuple[Minute, dict[str, Any]]]:
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


def _incident_event(match: Match, incident: Incident, type_: str, detail: str) -> dict[str, Any]:
    return _event(incident.minute, match.team(incident.side), incident.player, type_, detail, assist=incident.other)


def _kick_event(match: Match, number: int, kick: Kick) -> dict[str, Any]:
    detail = "Penalty" if kick.scored else "Missed Penalty"
    minute = Minute(2 * (match.half_length + match.extra_half_length), number)
    return _event(minute, match.team(kick.side), kick.player, "Goal", detail, comments=SHOOTOUT_COMMENT)


def _event(
    minute: Minute,
    team: Team,
    player: Player | None,
    type_: str,
    detail: str,
    *,
    assist: Player | None = None,
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


def _person(player: Player | None) -> dict[str, Any]:
    return {"id": player.id, "name": player.name} if player else {"id": None, "name": None}
