"""From a scenario to footage of cricket: the broadcast around a wicket, another over, or another match. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from found_footy.domain.fixtures.model import Side
from found_footy.simulator.clips.codes import codes_of
from found_footy.simulator.clips.kinds import CRICKET_STYLES, CricketStyle, Scene
from found_footy.simulator.clips.spec import Footage
from found_footy.simulator.cricket_now import runs_after, wickets_in_order
from found_footy.simulator.cricket_script import BALLS_AN_OVER, WICKETS_AN_INNINGS, CricketMatch, Innings, Wicket
from found_footy.simulator.script import Scenario

FAR_ENOUGH = 3 * BALLS_AN_OVER
"""Balls from the wicket to a wrong over: well beyond any tolerance."""

_UNKNOWN_TEAMS = ("Harbour Lions", "Valley Kings")
_MORE_WICKETS, _MORE_RUNS = 3, 40
"""By which last season's score differs, so that neither the score before nor the one after is the same."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A wicket with its place in the match."""

    wicket: Wicket
    innings: Innings
    place: int
    """Of the innings in the script."""
    number: int
    """Of the wicket in its innings, from 1."""


def fallen_of(match: CricketMatch) -> list[Fallen]:
    """All wickets of a match in the order in which they fall."""
    return [
        Fallen(wicket, innings, place, number)
        for place, innings in enumerate(match.innings)
        for number, wicket in enumerate(wickets_in_order(innings), start=1)
    ]


def wicket_footage(match: CricketMatch, index: int) -> Footage:
    fallen = fallen_of(match)[index]
    ball = fallen.wicket.ball.count
    runs = runs_after(fallen.innings, ball)
    return Footage(
        scene="cricket",
        venue=str(match.id),
        moment=f"{match.id} wicket {index}",
        teams=(match.home.name, match.away.name),
        codes=_codes(match),
        style=_style(match),
        before=(runs, fallen.number - 1),
        after=(runs, fallen.number),
        side=0 if fallen.innings.batting is Side.HOME else 1,
        penalty=False,
        goal_clock=0,
        half_ends=0,
        added=0,
        balls=(ball - 1, ball),
    )


def wrong_over_footage(match: CricketMatch, index: int) -> Footage:
    """The same innings, overs away, and nobody is out."""
    fallen, footage = fallen_of(match)[index], wicket_footage(match, index)
    chance = random.Random(f"wrong over {footage.moment}")
    ball = chance.choice(wrong_balls(fallen))
    score = runs_after(fallen.innings, ball), sum(each.ball.count <= ball for each in fallen.innings.wickets)
    return replace(footage, moment=f"{footage.moment} but {ball}", before=score, after=score, balls=(ball - 1, ball))


def wrong_balls(fallen: Fallen) -> list[int]:
    """Balls of the innings that are far enough from the wicket, and on which no other one falls."""
    others = {wicket.ball.count for wicket in fallen.innings.wickets}
    ball = fallen.wicket.ball.count
    balls = range(2, fallen.innings.overs.count + 1)
    return [each for each in balls if abs(each - ball) >= FAR_ENOUGH and each not in others]


def other_cricket_footage(scenario: Scenario, match: CricketMatch, index: int) -> Footage:
    """A wicket of another match on the day, or of teams that nobody knows, at the very same ball."""
    footage = wicket_footage(match, index)
    others = [other for other in scenario.cricket if not set(_codes(other)) & set(footage.codes)]
    chance = random.Random(f"other match {footage.moment}")
    other = chance.choice(others) if others else None
    return replace(
        footage,
        venue=str(other.id) if other else "another ground",
        moment=f"{footage.moment} but elsewhere",
        teams=(other.home.name, other.away.name) if other else _UNKNOWN_TEAMS,
        codes=_codes(other) if other else codes_of(*_UNKNOWN_TEAMS),
        style=_style(other) if other else "bar",
        side=chance.randrange(2),
    )


def last_season_wicket(match: CricketMatch, index: int) -> Footage:
    """The same teams at the same ball, a year ago: only the score gives it away."""
    footage = wicket_footage(match, index)
    runs, wickets = footage.after
    more = _MORE_WICKETS if wickets + _MORE_WICKETS <= WICKETS_AN_INNINGS else -_MORE_WICKETS
    after = (runs + _MORE_RUNS, wickets + more)
    return replace(
        footage,
        venue=f"{match.id} last season",
        moment=f"{footage.moment} last season",
        style="bar" if footage.style != "bar" else "southern",
        before=(after[0], after[1] - 1),
        after=after,
    )


def other_scene_of_wicket(match: CricketMatch, index: int, scene: Scene) -> Footage:
    """No cricket at all."""
    footage = wicket_footage(match, index)
    moment = f"{footage.moment} {scene}"
    return replace(footage, scene=scene, venue=scene, moment=moment, after=footage.before, balls=None)


def _codes(match: CricketMatch) -> tuple[str, str]:
    return match.home.short, match.away.short


def _style(match: CricketMatch) -> CricketStyle:
    chosen = match.style
    return chosen if chosen is not None else random.Random(f"style {match.series}").choice(CRICKET_STYLES)
