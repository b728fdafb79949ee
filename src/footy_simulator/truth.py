"""Compute the expected outcome of a scenario."""

from __future__ import annotations

from footy_simulator.cricket import KINDS, wickets_in_order
from footy_simulator.espn_recording import EspnRecording
from footy_simulator.expectations import ExpectedEvent, ExpectedMatch, ExpectedOutcome, Pair, count, stage_of
from footy_simulator.football import GOAL_DETAILS, goal_views, match_timeline
from footy_simulator.scenario import (
    Scenario,
    ScriptedCricketMatch,
    ScriptedMatch,
    ScriptedPlayer,
    ScriptedTeam,
    SideName,
)
from footy_simulator.team_facts import espn_player, espn_team
from found_footy.fixtures.models import WICKET, Side, Sport

_FOREVER = 10.0**9


def expected_outcome(scenario: Scenario) -> ExpectedOutcome:
    """What a consumer must have stored at the end, from the script or from the recording's last response."""
    if scenario.recording is not None:
        return EspnRecording.load(scenario.recording.espn).truth
    football = (_match_truth(match) for match in scenario.matches)
    return ExpectedOutcome((*football, *(_cricket_truth(match) for match in scenario.cricket)))


def _match_truth(match: ScriptedMatch) -> ExpectedMatch:
    course = match_timeline(match)
    running: Pair = (0, 0)
    goals = []
    for view in goal_views(match, course, _FOREVER):
        if view.counted:
            running = count(running, view.goal.side)
        goals.append(
            ExpectedEvent(
                side=view.goal.side,
                player=view.player.name if view.player else None,
                kind=GOAL_DETAILS[view.kind],
                elapsed=view.minute.elapsed,
                extra=view.minute.extra,
                state="stable" if view.counted else "withdrawn",
                score_after=running if view.counted else None,
                also=_player_also(view.player),
            )
        )
    status = course.final.status
    return ExpectedMatch(
        id=match.id,
        home=match.home.name,
        away=match.away.name,
        status=status,
        stage=stage_of(status),
        score=running if match.starts else None,
        penalties=_shootout(match),
        goals=tuple(goals),
        home_also=_team_also(match.home),
        away_also=_team_also(match.away),
    )


def _cricket_truth(match: ScriptedCricketMatch) -> ExpectedMatch:
    running: Pair = (0, 0)
    wickets = []
    for number, innings in enumerate(match.innings, start=1):
        # A wicket counts for the side in the field.
        side: SideName = "away" if innings.batting is Side.HOME else "home"
        for wicket in wickets_in_order(innings):
            running = count(running, side)
            over, ball = wicket.ball.over, wicket.ball.ball
            kind = KINDS[wicket.kind].value
            wickets.append(
                ExpectedEvent(
                    side, wicket.batter.name, kind, over, ball, "stable", running, type=WICKET, innings=number
                )
            )
    return ExpectedMatch(
        id=match.id,
        home=match.home.name,
        away=match.away.name,
        status=match.ends,
        stage=stage_of(match.ends),
        score=running,
        penalties=None,
        goals=tuple(wickets),
        sport=Sport.CRICKET.value,
        home_also=(match.home.short,),
        away_also=(match.away.short,),
    )


def _team_also(team: ScriptedTeam) -> tuple[str, ...]:
    named = espn_team(team)
    return tuple(name for name in dict.fromkeys((named.name, named.short)) if name != team.name)


def _player_also(player: ScriptedPlayer | None) -> tuple[str, ...]:
    name = espn_player(player)[1] if player else None
    return () if player is None or name is None or name == player.name else (name,)


def _shootout(match: ScriptedMatch) -> Pair | None:
    if not match.shootout:
        return None
    scored: Pair = (0, 0)
    for kick in match.shootout:
        scored = count(scored, kick.side) if kick.scored else scored
    return scored
