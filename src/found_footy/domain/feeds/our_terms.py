"""A feed's word on a match in our terms: our teams and ids, and our side as the home side."""

from __future__ import annotations

from dataclasses import replace

from found_footy.domain.feeds.reconciled import Heard, Match
from found_footy.domain.fixtures.model import Innings, LiveFixture, LiveGoal, Person, Score, Side, Toss

OTHER = {Side.HOME: Side.AWAY, Side.AWAY: Side.HOME}


def in_our_terms(match: Match, heard: Heard) -> LiveFixture:
    live = heard.live
    home, away = (live.away, live.home) if heard.swapped else (live.home, live.away)
    return replace(
        live,
        id=match.id,
        home=replace(match.home, short=match.home.short or home.short),
        away=replace(match.away, short=match.away.short or away.short),
        score=_score(live.score, swapped=heard.swapped),
        penalties=_score(live.penalties, swapped=heard.swapped),
        goals=tuple(_goal(goal, heard) for goal in live.goals),
        innings=tuple(_innings(innings, swapped=heard.swapped) for innings in live.innings),
        toss=_toss(live.toss, swapped=heard.swapped),
    )


def _side(side: Side, *, swapped: bool) -> Side:
    return OTHER[side] if swapped else side


def _score(score: Score | None, *, swapped: bool) -> Score | None:
    return Score(score.away, score.home) if swapped and score is not None else score


def _innings(innings: Innings, *, swapped: bool) -> Innings:
    return replace(innings, batting=_side(innings.batting, swapped=swapped))


def _toss(toss: Toss | None, *, swapped: bool) -> Toss | None:
    return None if toss is None else replace(toss, winner=_side(toss.winner, swapped=swapped))


def _goal(goal: LiveGoal, heard: Heard) -> LiveGoal:
    side = _side(goal.side, swapped=heard.swapped)
    if heard.founding:
        return replace(goal, side=side)
    return replace(goal, side=side, player=_unnumbered(goal.player), assist=_unnumbered(goal.assist))


def _unnumbered(person: Person) -> Person:
    """Numbers of persons are ours only where they are those of the feed that founded the match."""
    return Person(None, person.name)
