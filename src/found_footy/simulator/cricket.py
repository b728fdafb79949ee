"""A cricket match at one moment, as the script has it: what the pages of a feed show of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.domain.fixtures.model import Side, WicketKind


@dataclass(frozen=True, slots=True)
class CricketSide:
    key: str
    """Its id at CREX: a few letters and digits, such as `1F`."""
    name: str
    short: str
    """IND, AUS, …"""


@dataclass(frozen=True, slots=True)
class CricketPlayer:
    key: str
    """His id at CREX, such as `6BS`."""
    name: str


@dataclass(frozen=True, slots=True)
class CricketWicket:
    """The `number`th of its innings fell at this ball, with so many runs on the board."""

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
    """What has been played of it. One that has not begun is not there."""

    number: int
    """Counted from 1 over the whole match."""
    batting: Side
    runs: int
    overs: int
    balls: int
    wickets: tuple[CricketWicket, ...] = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class CricketNow:
    code: str
    """The match's id at CREX: lower-case letters and digits, such as `sim1` (no leading zero)."""
    home: CricketSide
    away: CricketSide
    start: datetime
    series: str
    match_type: str
    """T20, ODI or Test."""
    venue: str
    status: str
    """One of domain/fixtures/statuses.py: NS LIVE INNBRK DRINKS LUNCH TEA DINNER RAIN STUMPS RESULT DRAW TIE NR ABD."""
    match_number: str = "1st"
    """Its place in the series, as in `3rd`."""
    toss_winner: Side | None = None
    toss_decision: str = "bat"
    """bat or field."""
    innings: tuple[CricketInnings, ...] = ()
    last_ball: str = ""
    """What the last ball brought: 0 1 2 3 4 6 W wd nb …; nothing before the first."""
    result: str = ""
    """`Harbour Lions won by 12 runs`; nothing before the end."""
    day: int = 1
    """Of a Test."""
