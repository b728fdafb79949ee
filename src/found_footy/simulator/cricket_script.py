"""The cricket part of the scenario format.

An innings is a number of balls that are spread evenly over `lasts` minutes of matchday time; a break stops it at a
ball. So a match of three hours can be played in a few minutes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt, PositiveInt

from found_footy.domain.fixtures.model import Side
from found_footy.simulator.clip_script import PostedClip
from found_footy.simulator.clips.kinds import CricketStyle
from found_footy.simulator.notation import Moment
from found_footy.simulator.script_model import Model

BALLS_AN_OVER = 6
WICKETS_AN_INNINGS = 10

Break = Literal["DRINKS", "LUNCH", "TEA", "DINNER", "RAIN", "STUMPS", "INNBRK"]
CricketEnding = Literal["RESULT", "DRAW", "TIE", "NR", "ABD"]
WicketWord = Literal["bowled", "caught", "lbw", "run_out", "stumped", "hit_wicket", "other"]

_BALL = re.compile(r"(\d{1,3})\.([0-6])")
_KEY = re.compile(r"[0-9A-Z]{1,6}")
_CODE = re.compile(r"[1-9a-z][0-9a-z]{0,7}")


@dataclass(frozen=True, slots=True)
class Ball:
    """So many overs, and balls of the next one: 3.2 is the twentieth ball, and 3.6 the last one of the fourth over."""

    over: int
    ball: int

    @property
    def count(self) -> int:
        """Which ball of the innings it is, from 1; 0 before the first."""
        return self.over * BALLS_AN_OVER + self.ball

    def __str__(self) -> str:
        return f"{self.over}.{self.ball}"


def parse_ball(value: object) -> Ball:
    """`3.2`, or `20` for twenty whole overs; anything else is a ValueError that says what is allowed."""
    if isinstance(value, Ball):
        return value
    text = "" if isinstance(value, bool) else str(value)
    found = _BALL.fullmatch(text if "." in text else f"{text}.0")
    if found is None:
        raise ValueError("overs and balls, such as 3.2 or 20")
    return Ball(int(found[1]), int(found[2]))


def _key(text: str) -> str:
    if _KEY.fullmatch(text) is None:
        raise ValueError("one to six capital letters and digits, such as 1F")
    return text


def _code(text: str) -> str:
    if _CODE.fullmatch(text) is None:
        raise ValueError("one to eight small letters and digits that do not begin with 0, such as sim1")
    return text


BallOfInnings = Annotated[Ball, BeforeValidator(parse_ball)]
Key = Annotated[str, AfterValidator(_key)]
"""An id as CREX writes it."""
Code = Annotated[str, AfterValidator(_code)]


class CricketTeam(Model):
    key: Key
    name: str
    short: str


class Cricketer(Model):
    key: Key
    name: str


class Wicket(Model):
    ball: BallOfInnings
    batter: Cricketer
    bowler: Cricketer | None = None
    """None for a run out."""
    kind: WicketWord = "caught"
    fielder: Cricketer | None = None
    runs: NonNegativeInt | None = None
    """On the board when it fell; by the ball, where it is not told."""
    batter_runs: NonNegativeInt = 0
    batter_balls: NonNegativeInt = 0
    clips: tuple[PostedClip, ...] | None = None
    """What is posted of it; None for a usual choice."""


class Pause(Model):
    """Play stops after a ball, and goes on after `lasts` minutes."""

    after: BallOfInnings
    status: Break
    lasts: PositiveInt


class InningsBreak(Model):
    status: Break = "INNBRK"
    lasts: PositiveInt = 4


class Innings(Model):
    batting: Side
    lasts: PositiveInt
    """Minutes of matchday time that its balls take, without its breaks."""
    overs: BallOfInnings
    """All that are bowled."""
    runs: NonNegativeInt
    wickets: tuple[Wicket, ...] = ()
    breaks: tuple[Pause, ...] = ()
    then: InningsBreak = InningsBreak()
    """What comes after it, if another innings does."""


class TossScript(Model):
    winner: Side
    decision: Literal["bat", "field"] = "bat"


class CricketMatch(Model):
    code: Code
    """Its id at CREX; ours is this number in base 36."""
    home: CricketTeam
    away: CricketTeam
    start: Moment
    series: str
    match_number: str = "1st"
    match_type: Literal["T20", "ODI", "Test"] = "T20"
    venue: str
    toss: TossScript
    innings: tuple[Innings, ...] = Field(min_length=1, max_length=4)
    ends: CricketEnding = "RESULT"
    result: str = ""
    """In words, once it is over."""
    style: CricketStyle | None = None
    """How its scoreboard looks; what is left out follows from the series."""

    @property
    def id(self) -> int:
        return int(self.code, 36)

    def team(self, side: Side) -> CricketTeam:
        return self.home if side is Side.HOME else self.away
