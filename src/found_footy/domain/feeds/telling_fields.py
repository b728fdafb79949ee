"""What feeds said of a match's larger fields, as short texts that people can compare at a glance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from found_footy.domain.feeds.reconciled import Match
from found_footy.domain.fixtures.model import Innings, League, LiveGoal, Score, Side, Toss

MOST = 60
"""Goals that are told of; more are a feed's mistake."""


def league_told(league: League) -> str:
    return " · ".join(part for part in (league.country, league.name, league.round) if part)


def toss_told(match: Match) -> Callable[[Toss], str]:
    return lambda toss: f"{_team(match, toss.winner)}: {toss.decision}"


def innings_told(match: Match) -> Callable[[Sequence[Innings]], list[str]]:
    return lambda played: [
        f"{_team(match, each.batting)} {each.runs}/{each.wickets} ({each.overs}.{each.balls} ov)" for each in played
    ]


def goals_told(goals: Sequence[LiveGoal]) -> list[str]:
    score = Score(0, 0)
    told = []
    for goal in goals[:MOST]:
        score = score.plus(goal.side)
        told.append(" ".join(part for part in (str(score), str(goal.minute), goal.player.name) if part))
    return told


def _team(match: Match, side: Side) -> str:
    return match.home.name if side is Side.HOME else match.away.name
