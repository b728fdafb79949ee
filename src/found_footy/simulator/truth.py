"""The ground truth of a scenario."""

from __future__ import annotations

from found_footy.simulator.course import course_of
from found_footy.simulator.espn_recording import Recording
from found_footy.simulator.ground_truth import GroundTruth, Pair, TrueGoal, TrueMatch, count, stage_of
from found_footy.simulator.incidents import GOAL_DETAILS, goal_views
from found_footy.simulator.script import Match, Scenario

_FOREVER = 10.0**9


def truth(scenario: Scenario) -> GroundTruth:
    """What a consumer must know in the end, from the script or from the recording's last answer."""
    if scenario.recording is not None:
        return Recording.load(scenario.recording.espn).truth
    return GroundTruth(tuple(_match_truth(match) for match in scenario.matches))


def _match_truth(match: Match) -> TrueMatch:
    course = course_of(match)
    running: Pair = (0, 0)
    goals = []
    for view in goal_views(match, course, _FOREVER):
        if view.counted:
            running = count(running, view.goal.side)
        goals.append(
            TrueGoal(
                side=view.goal.side,
                player=view.player.name if view.player else None,
                kind=GOAL_DETAILS[view.kind],
                elapsed=view.minute.elapsed,
                extra=view.minute.extra,
                state="stable" if view.counted else "withdrawn",
                score_after=running if view.counted else None,
            )
        )
    status = course.final.status
    return TrueMatch(
        id=match.id,
        home=match.home.name,
        away=match.away.name,
        status=status,
        stage=stage_of(status),
        score=running if match.starts else None,
        penalties=_shootout(match),
        goals=tuple(goals),
    )


def _shootout(match: Match) -> Pair | None:
    if not match.shootout:
        return None
    scored: Pair = (0, 0)
    for kick in match.shootout:
        scored = count(scored, kick.side) if kick.scored else scored
    return scored
