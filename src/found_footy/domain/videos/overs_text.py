"""Overs as scoreboards write them, counted in balls: 12.3 is the third ball after twelve overs, the 75th of all."""

from __future__ import annotations

import re

BALLS_AN_OVER = 6
MOST_OVERS = 250
"""No innings lasts longer; a larger number is something else."""

_OVERS = re.compile(r"([0-9]{1,3})(?:\.([0-6]))?")


def balls_bowled(over: int, ball: int) -> int:
    """11.6 and 12.0 are the same moment."""
    return over * BALLS_AN_OVER + ball


def parse_overs(text: str) -> int | None:
    """The balls that have been bowled; None where the text is no number of overs."""
    found = _OVERS.fullmatch(text.strip())
    if found is None or int(found[1]) > MOST_OVERS:
        return None
    return balls_bowled(int(found[1]), int(found[2] or 0))
