"""A scripted cricket match at a moment: its state and its timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from footy_simulator.football import LONG_AGO
from footy_simulator.scenario import (
    BALLS_PER_OVER,
    DismissalName,
    ScriptedCricketer,
    ScriptedCricketMatch,
    ScriptedCricketTeam,
    ScriptedInnings,
    ScriptedWicket,
)
from found_footy.fixtures.models import Side, WicketKind


@dataclass(frozen=True, slots=True)
class CricketSide:
    key: str
    """CREX id: a few letters and digits, such as `1F`."""
    name: str
    short: str
    """Such as IND or AUS."""


@dataclass(frozen=True, slots=True)
class CricketPlayer:
    key: str
    """CREX id, such as `6BS`."""
    name: str


@dataclass(frozen=True, slots=True)
class CricketWicket:
    """The `number`th wicket of its innings, which fell at this ball with this total."""

    number: int
    over: int
    ball: int
    runs: int
    batter: CricketPlayer
    bowler: CricketPlayer | None = None
    """None for a run out."""
    kind: WicketKind = WicketKind.CAUGHT
    fielder: CricketPlayer | None = None
    batter_runs: int = 0
    batter_balls: int = 0


@dataclass(frozen=True, slots=True)
class CricketInnings:
    """The part of an innings that has been played; an innings that has not begun is absent."""

    number: int
    """Counted from 1 over the whole match."""
    batting: Side
    runs: int
    overs: int
    balls: int
    wickets: tuple[CricketWicket, ...] = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class CricketState:
    code: str
    """CREX id of the match: lower-case letters and digits, such as `sim1` (no leading zero)."""
    home: CricketSide
    away: CricketSide
    start: datetime
    series: str
    match_type: str
    """T20, ODI or Test."""
    venue: str
    status: str
    """NS LIVE INNBRK DRINKS LUNCH TEA DINNER RAIN STUMPS RESULT DRAW TIE NR ABD; see found_footy.fixtures.lifecycle."""
    match_number: str = "1st"
    """Number in the series, such as `3rd`."""
    toss_winner: Side | None = None
    toss_decision: str = "bat"
    """bat or field."""
    innings: tuple[CricketInnings, ...] = ()
    last_ball: str = ""
    """Result of the last ball: 0 1 2 3 4 6 W wd nb …; empty before the first."""
    result: str = ""
    """Such as `Harbour Lions won by 12 runs`; empty before the end."""
    day: int = 1
    """Test matches only."""


# --- The timeline of a match: its status over time, and which ball is bowled when.


@dataclass(frozen=True, slots=True)
class CricketSpan:
    """A span with one status, which lasts until the next span starts.

    In a span of play the balls after `since`, up to `until`, are bowled one every `pace` seconds.
    """

    status: str
    start: float
    innings: int
    """Index of the innings in the script; -1 before the first."""
    since: int = 0
    until: int = 0
    pace: float = 0.0
    day: int = 1

    def balls(self, offset: float) -> int:
        """Balls of the innings bowled so far. The first ball is bowled after one `pace`, not at the start."""
        if not self.pace:
            return self.since
        # Floating-point division may end just below a whole number.
        return min(self.since + int((offset - self.start) / self.pace + 1e-9), self.until)

    def moment_of(self, ball: int) -> float | None:
        if not self.pace or not self.since < ball <= self.until:
            return None
        return self.start + (ball - self.since) * self.pace


@dataclass(frozen=True, slots=True)
class CricketTimeline:
    stretches: tuple[CricketSpan, ...]

    @property
    def final(self) -> CricketSpan:
        return self.stretches[-1]

    def at(self, offset: float) -> CricketSpan:
        return [stretch for stretch in self.stretches if stretch.start <= offset][-1]

    def moment_of(self, innings: int, ball: int) -> float | None:
        """The matchday second at which a ball is bowled; None if it never is."""
        moments = (stretch.moment_of(ball) for stretch in self.stretches if stretch.innings == innings)
        return next((moment for moment in moments if moment is not None), None)


def cricket_timeline(match: ScriptedCricketMatch) -> CricketTimeline:
    stretches = [CricketSpan("NS", LONG_AGO, -1)]
    clock, day, last = float(match.start), 1, len(match.innings) - 1
    for place, innings in enumerate(match.innings):
        clock, day = _play(stretches, place, innings, clock, day)
        if place < last:
            stretches.append(_still(innings.then.status, clock, place, innings, day))
            clock += innings.then.lasts * 60
            day += innings.then.status == "STUMPS"
    stretches.append(_still(match.ends, clock, last, match.innings[last], day))
    return CricketTimeline(tuple(stretches))


def _play(
    stretches: list[CricketSpan], place: int, innings: ScriptedInnings, clock: float, day: int
) -> tuple[float, int]:
    """Append one innings with its breaks; returns when it ends, and on which day."""
    total, since = innings.overs.count, 0
    pace = innings.lasts * 60 / total
    for pause in sorted(innings.breaks, key=lambda pause: pause.after.count):
        until = pause.after.count
        if until > since:
            stretches.append(CricketSpan("LIVE", clock, place, since, until, pace, day))
            clock += (until - since) * pace
        stretches.append(CricketSpan(pause.status, clock, place, until, until, day=day))
        clock += pause.lasts * 60
        day += pause.status == "STUMPS"
        since = until
    stretches.append(CricketSpan("LIVE", clock, place, since, total, pace, day))
    return clock + (total - since) * pace, day


def _still(status: str, start: float, place: int, innings: ScriptedInnings, day: int) -> CricketSpan:
    total = innings.overs.count
    return CricketSpan(status, start, place, total, total, day=day)


# --- The state at a moment of the matchday.


KINDS: dict[DismissalName, WicketKind] = {
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


def cricket_state_at(match: ScriptedCricketMatch, start: datetime, offset: float) -> CricketState:
    """The match `offset` seconds after the matchday's `start`."""
    course = cricket_timeline(match)
    stretch = course.at(offset)
    played = _played(match, course, offset)
    over = stretch is course.final
    return CricketState(
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


def cricket_status(match: ScriptedCricketMatch, offset: float) -> str:
    return cricket_timeline(match).at(offset).status


def cricket_settled_from(match: ScriptedCricketMatch) -> float:
    """The matchday second from which the match is in its final state."""
    return cricket_timeline(match).final.start


def runs_after(innings: ScriptedInnings, ball: int) -> int:
    """The total after this many balls, interpolated between scripted totals."""
    known = [(0, 0), *((w.ball.count, w.runs) for w in wickets_in_order(innings) if w.runs is not None)]
    known.append((innings.overs.count, innings.runs))
    earlier = max((point for point in known if point[0] <= ball), key=lambda point: point[0])
    later = min((point for point in known if point[0] >= ball), key=lambda point: point[0])
    if later[0] == earlier[0]:
        return later[1]
    return earlier[1] + (later[1] - earlier[1]) * (ball - earlier[0]) // (later[0] - earlier[0])


def _played(match: ScriptedCricketMatch, course: CricketTimeline, offset: float) -> list[int]:
    """Balls of each innings that has begun. During a break the next innings has not."""
    stretch: CricketSpan = course.at(offset)
    earlier = [innings.overs.count for innings in match.innings[: max(stretch.innings, 0)]]
    return [] if stretch.innings < 0 else [*earlier, stretch.balls(offset)]


def _innings(number: int, innings: ScriptedInnings, balls: int, over: bool) -> CricketInnings:
    wickets = [wicket for wicket in wickets_in_order(innings) if wicket.ball.count <= balls]
    return CricketInnings(
        number=number,
        batting=innings.batting,
        runs=runs_after(innings, balls),
        overs=balls // BALLS_PER_OVER,
        balls=balls % BALLS_PER_OVER,
        wickets=tuple(_wicket(place, innings, wicket) for place, wicket in enumerate(wickets, start=1)),
        over=over or balls >= innings.overs.count,
    )


def _wicket(number: int, innings: ScriptedInnings, wicket: ScriptedWicket) -> CricketWicket:
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


def _last_ball(innings: ScriptedInnings, balls: int) -> str:
    if balls == 0:
        return ""
    if any(wicket.ball.count == balls for wicket in innings.wickets):
        return "W"
    return str(runs_after(innings, balls) - runs_after(innings, balls - 1))


def wickets_in_order(innings: ScriptedInnings) -> list[ScriptedWicket]:
    return sorted(innings.wickets, key=lambda wicket: wicket.ball.count)


def _side(team: ScriptedCricketTeam) -> CricketSide:
    return CricketSide(team.key, team.name, team.short)


def _player(player: ScriptedCricketer | None) -> CricketPlayer | None:
    return None if player is None else CricketPlayer(player.key, player.name)
