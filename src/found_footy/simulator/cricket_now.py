"""A scripted cricket match at a moment of the matchday. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from found_footy.domain.fixtures.model import WicketKind
from found_footy.simulator.cricket import CricketInnings, CricketNow, CricketPlayer, CricketSide, CricketWicket
from found_footy.simulator.cricket_course import CricketCourse, Stretch, cricket_course
from found_footy.simulator.cricket_script import (
    BALLS_AN_OVER,
    Cricketer,
    CricketMatch,
    CricketTeam,
    Innings,
    Wicket,
    WicketWord,
)

KINDS: dict[WicketWord, WicketKind] = {
    "bowled": WicketKind.BOWLED,
    "caught": WicketKind.CAUGHT,
    "lbw": WicketKind.LBW,
    "run_out": WicketKind.RUN_OUT,
    "stumped": WicketKind.STUMPED,
    "hit_wicket": WicketKind.HIT_WICKET,
    "other": WicketKind.OTHER,
}
TOSS_BEFORE = 60
"""Seconds of matchday time before the first ball at which the toss is known."""


def cricket_at(match: CricketMatch, start: datetime, offset: float) -> CricketNow:
    """The match `offset` seconds after the matchday's `start`."""
    course = cricket_course(match)
    stretch = course.at(offset)
    played = _played(match, course, offset)
    over = stretch is course.final
    return CricketNow(
        code=match.code,
        home=_side(match.home),
        away=_side(match.away),
        start=start + timedelta(seconds=match.start),
        series=match.series,
        match_type=match.match_type,
        venue=match.venue,
        status=stretch.status,
        match_number=match.match_number,
        toss_winner=match.toss.winner if offset >= match.start - TOSS_BEFORE else None,
        toss_decision=match.toss.decision,
        innings=tuple(
            _innings(number, match.innings[number - 1], balls, number < len(played) or over)
            for number, balls in enumerate(played, start=1)
        ),
        last_ball=_last_ball(match.innings[len(played) - 1], played[-1]) if played else "",
        result=match.result if over else "",
        day=stretch.day,
    )


def cricket_status(match: CricketMatch, offset: float) -> str:
    return cricket_course(match).at(offset).status


def cricket_settled_from(match: CricketMatch) -> float:
    """The matchday second from which the match is in its final state."""
    return cricket_course(match).final.start


def runs_after(innings: Innings, ball: int) -> int:
    """On the board after so many balls: even between what the script tells."""
    known = [(0, 0), *((w.ball.count, w.runs) for w in wickets_in_order(innings) if w.runs is not None)]
    known.append((innings.overs.count, innings.runs))
    earlier = max((point for point in known if point[0] <= ball), key=lambda point: point[0])
    later = min((point for point in known if point[0] >= ball), key=lambda point: point[0])
    if later[0] == earlier[0]:
        return later[1]
    return earlier[1] + (later[1] - earlier[1]) * (ball - earlier[0]) // (later[0] - earlier[0])


def _played(match: CricketMatch, course: CricketCourse, offset: float) -> list[int]:
    """Balls of each innings that has begun. Where play has not resumed, the next one has not."""
    stretch: Stretch = course.at(offset)
    earlier = [innings.overs.count for innings in match.innings[: max(stretch.innings, 0)]]
    return [] if stretch.innings < 0 else [*earlier, stretch.balls(offset)]


def _innings(number: int, innings: Innings, balls: int, over: bool) -> CricketInnings:
    wickets = [wicket for wicket in wickets_in_order(innings) if wicket.ball.count <= balls]
    return CricketInnings(
        number=number,
        batting=innings.batting,
        runs=runs_after(innings, balls),
        overs=balls // BALLS_AN_OVER,
        balls=balls % BALLS_AN_OVER,
        wickets=tuple(_wicket(place, innings, wicket) for place, wicket in enumerate(wickets, start=1)),
        over=over or balls >= innings.overs.count,
    )


def _wicket(number: int, innings: Innings, wicket: Wicket) -> CricketWicket:
    return CricketWicket(
        number=number,
        over=wicket.ball.over,
        ball=wicket.ball.ball,
        runs=runs_after(innings, wicket.ball.count),
        batter=CricketPlayer(wicket.batter.key, wicket.batter.name),
        bowler=_player(wicket.bowler),
        kind=KINDS[wicket.kind],
        fielder=_player(wicket.fielder),
        batter_runs=wicket.batter_runs,
        batter_balls=wicket.batter_balls,
    )


def _last_ball(innings: Innings, balls: int) -> str:
    if balls == 0:
        return ""
    if any(wicket.ball.count == balls for wicket in innings.wickets):
        return "W"
    return str(runs_after(innings, balls) - runs_after(innings, balls - 1))


def wickets_in_order(innings: Innings) -> list[Wicket]:
    return sorted(innings.wickets, key=lambda wicket: wicket.ball.count)


def _side(team: CricketTeam) -> CricketSide:
    return CricketSide(team.key, team.name, team.short)


def _player(player: Cricketer | None) -> CricketPlayer | None:
    return None if player is None else CricketPlayer(player.key, player.name)
