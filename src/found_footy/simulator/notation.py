"""How scenario files write minutes of play (`67`, `90+3`) and moments of the matchday (`+2m`, `-55m`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

_MINUTE = re.compile(r"(\d{1,3})(?:\+(\d{1,2}))?")
_MOMENT = re.compile(r"([+-])(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of play: 67, or 90+3 in stoppage time."""

    elapsed: int
    extra: int | None = None

    @property
    def played(self) -> int:
        """Minutes of play in its half's own count: 90+3 is 93."""
        return self.elapsed + (self.extra or 0)

    @property
    def order(self) -> tuple[int, int]:
        """45+2 comes before 46."""
        return (self.elapsed, self.extra or 0)

    def __str__(self) -> str:
        return f"{self.elapsed}+{self.extra}" if self.extra else str(self.elapsed)


def parse_minute(value: object) -> Minute:
    """`67` or `90+3`; anything else is a ValueError that says what is allowed."""
    if isinstance(value, Minute):
        return value
    found = None if isinstance(value, bool) else _MINUTE.fullmatch(str(value))
    if found is None or int(found[1]) < 1 or found[2] == "0":
        raise ValueError("a minute of play from 1, such as 67 or 90+3")
    return Minute(int(found[1]), int(found[2]) if found[2] else None)


def parse_moment(value: object) -> int:
    """`+2m`, `-55m`, `+90s`, `+1d`: seconds from the matchday's start."""
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a time from the matchday's start with a sign and a unit (s, m, h, d), such as +2m")
    seconds = int(found[2]) * _SECONDS[found[3]]
    return -seconds if found[1] == "-" else seconds


MinuteOfPlay = Annotated[Minute, BeforeValidator(parse_minute)]
Moment = Annotated[int, BeforeValidator(parse_moment)]
