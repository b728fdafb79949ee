"""Marks that make two matches of the same names different ones: women, an age, the reserves, old heroes, a format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from found_footy.domain.discovery.query import folded
from found_footy.domain.discovery.squads import Squad, squad_of
from found_footy.domain.fixtures.model import Sport

_AGE = re.compile(r"\b(?:u|under|sub) ?(1\d|2[0-3])\b")
_WOMENS = re.compile(r"\b(womens?|nwsl|wsl|wbbl|wpl|wncl|uwcl|wwc|liga f|arkema|shebelieves)\b")
_RESERVES = re.compile(r"\b(next gen|futuro|promesas|(barcelona|barca) atletic|bilbao athletic)\b")
_GUESTS = re.compile(r".\b(legends?|masters|veterans|all ?stars?|xi|select|invitational)\b")
_SECOND_STRING = re.compile(r".\b(a|lions|emerging|development)$")
"""India A, England Lions: the team behind the first one."""
_OLYMPIC = re.compile(r"\bolympics?\b")
_LONG = re.compile(
    r"\b(tests?|first class|[345] day|four day|five day|sheffield shield|county championship|ranji|duleep|plunket)\b"
)
_FORMATS = (
    ("long", _LONG),
    ("odi", re.compile(r"\b(odis?|one day|list a|50 over)\b")),
    ("t20", re.compile(r"\b(t20is?|t20s?|twenty20|20 over|ipl|bbl|psl|cpl)\b")),
    ("t10", re.compile(r"\b(t10|ecs|ecn|european cricket)\b")),
    ("hundred", re.compile(r"\bhundred\b")),
)
_OLYMPIC_AGE = "23"


@dataclass(frozen=True, slots=True)
class Marks:
    """Of a match: `sides` has those of each team, in the order of the listing."""

    women: bool
    ages: frozenset[str]
    youth: bool
    sides: tuple[frozenset[str], frozenset[str]]
    formats: frozenset[str]

    @property
    def lasts_days(self) -> bool:
        return "long" in self.formats

    @property
    def may_be_repeated(self) -> bool:
        """Two in a day, of the same teams."""
        return "t10" in self.formats


@lru_cache(maxsize=4096)
def marks_of(home: str, away: str, competition: str, sport: Sport) -> Marks:
    texts = [folded(text) for text in (home, away, competition)]
    squads = {squad_of(text) for text in (home, away, competition)}
    ages = frozenset(age for text in texts for age in _AGE.findall(text))
    women = Squad.WOMEN in squads or any(_WOMENS.search(text) for text in texts)
    if sport is Sport.FOOTBALL and _OLYMPIC.search(texts[2]) and not women:
        ages |= {_OLYMPIC_AGE}
    league = _side_marks(competition, sport) & {Squad.RESERVES, Squad.OTHER_GAME}
    return Marks(
        women=women,
        ages=ages,
        youth=Squad.YOUTH in squads or bool(ages),
        sides=(_side_marks(home, sport) | league, _side_marks(away, sport) | league),
        formats=_formats(texts[2], sport),
    )


def _side_marks(name: str, sport: Sport) -> frozenset[str]:
    plain = folded(name)
    marks: set[str] = {str(squad) for squad in (Squad.RESERVES, Squad.OTHER_GAME) if squad_of(name) is squad}
    if _RESERVES.search(plain):
        marks.add(Squad.RESERVES)
    if _GUESTS.search(plain):
        marks.add("guests")
    if sport is Sport.CRICKET and _SECOND_STRING.search(plain):
        marks.add("second string")
    return frozenset(marks)


def _formats(competition: str, sport: Sport) -> frozenset[str]:
    if sport is not Sport.CRICKET:
        return frozenset()
    return frozenset(name for name, sign in _FORMATS if sign.search(competition))


def what_differs(a: Marks, b: Marks, *, swapped: bool) -> str | None:
    """Why they cannot be one match, in words; None where nothing speaks against it."""
    if a.women is not b.women:
        return "one is of women, the other is not"
    if a.youth is not b.youth or (a.ages and b.ages and not a.ages & b.ages):
        return "one is of another age"
    others = b.sides[::-1] if swapped else b.sides
    for ours, theirs in zip(a.sides, others, strict=True):
        if ours != theirs:
            return f"one is of {', '.join(sorted(ours ^ theirs))}, the other is not"
    if a.formats and b.formats and not a.formats & b.formats:
        return "they are of two formats"
    return None
