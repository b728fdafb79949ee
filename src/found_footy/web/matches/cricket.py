"""Cricket in its own words: scores by innings, how somebody got out, and where a wicket stands on the line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from found_footy.domain.fixtures.model import WicketKind

ALL_OUT = 10
LENGTHS = {"t10": 10, "hundred": 20, "t20": 20, "odi": 50, "list a": 50, "one-day": 50, "one day": 50}
"""Overs of an innings, by what the kind of match begins with or holds."""
LONG_INNINGS = 90
"""Room for an innings that has no end in overs."""

_HOW = {
    WicketKind.BOWLED: "b",
    WicketKind.CAUGHT: "caught, b",
    WicketKind.LBW: "lbw b",
    WicketKind.STUMPED: "stumped, b",
    WicketKind.HIT_WICKET: "hit wicket b",
}
_PLAIN = {
    WicketKind.BOWLED: "bowled",
    WicketKind.CAUGHT: "caught",
    WicketKind.LBW: "lbw",
    WicketKind.RUN_OUT: "run out",
    WicketKind.STUMPED: "stumped",
    WicketKind.HIT_WICKET: "hit wicket",
    WicketKind.OTHER: "out",
}

Innings = Mapping[str, Any]


def score_words(innings: Sequence[Innings], side: str) -> tuple[str, str]:
    """`187/5` and `(20 ov)`; the innings before it stand first, as `245 & 31/2`. Empty before the side bats."""
    batted = [each for each in innings if each["batting"] == side]
    if not batted:
        return "", ""
    runs = " & ".join(_runs(each) for each in batted)
    last = batted[-1]
    overs = f"{last['overs']}.{last['balls']}" if last["balls"] else str(last["overs"])
    return runs, f"({overs} ov)"


def _runs(innings: Innings) -> str:
    return str(innings["runs"]) if innings["wickets"] >= ALL_OUT else f"{innings['runs']}/{innings['wickets']}"


def batting(innings: Sequence[Innings]) -> str | None:
    """The side that bats; None between two innings."""
    return innings[-1]["batting"] if innings and not innings[-1]["over"] else None


def how_out(kind: str, bowler: str | None) -> str:
    """`b Bumrah`, `caught, b Bumrah`, `run out`."""
    known = WicketKind(kind) if kind in set(WicketKind) else WicketKind.OTHER
    if bowler and known in _HOW:
        return f"{_HOW[known]} {bowler}"
    return _PLAIN[known]


def ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def innings_overs(details: Mapping[str, Any], innings: Sequence[Innings]) -> int:
    """How many overs an innings has room for on the line."""
    kind = f"{details.get('match_type', '')} {details.get('series', '')}".casefold()
    known = next((overs for word, overs in LENGTHS.items() if word in kind), None)
    longest = max((each["overs"] + bool(each["balls"]) for each in innings), default=0)
    return max(known or (LONG_INNINGS if len(innings) > 2 or "test" in kind else 20), longest)


def place(innings: int, over: int, ball: int | None, *, count: int, overs: int) -> float:
    """In percent of a line that has one stretch for each of `count` innings."""
    part = min(1.0, (over + (ball or 0) / 6) / overs)
    return round(100 * (min(innings, count) - 1 + part) / count, 1)
