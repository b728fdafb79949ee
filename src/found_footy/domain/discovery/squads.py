"""Which of a club's or a country's teams a name means: the men's first one, the women, a youth team, the reserves."""

from __future__ import annotations

import re
from enum import StrEnum

from found_footy.domain.discovery.query import folded


class Squad(StrEnum):
    FIRST = "first"
    WOMEN = "women"
    YOUTH = "youth"
    RESERVES = "reserves"
    OTHER_GAME = "other game"
    """Futsal, beach soccer, or another sport of the same club."""


_SIGNS = (
    (Squad.OTHER_GAME, r"\b(futsal|futsala|beach|esports?|handball|basketball|basket|rugby|volleyball|hockey)\b"),
    (
        Squad.WOMEN,
        r"\b(women|womens|woman|ladies|femenino|femenina|femeni|feminino|feminine|feminines|feminin|femminile|"
        r"frauen|damen|vrouwen|kvinner|wfc)\b|\bw f c\b|\bw$",
    ),
    (
        Squad.YOUTH,
        r"\b(u ?(1\d|2[0-3])|under (1\d|2[0-3])|sub (1\d|2[0-3])|youth|academy|primavera|olympic (football|team))\b",
    ),
    (Squad.RESERVES, r"\b(reserves?|res|castilla|amateure|ii)$|\b(reserve team|reserves)\b|.\bb$|^jong\b"),
)
"""In the words of Wikidata's labels and of the feeds' marks: `Colombia W`, `Curaçao U20`, `Boca Juniors Res.`"""

_MARK = re.compile(r"[\s(]+(W|Women|Ladies|Res\.?|Reserves|II|B|U-?\d\d)\)?$")


def squad_of(text: str) -> Squad:
    """What a team's name, or the name of its kind, says; without a sign it is the men's first team."""
    plain = folded(text)
    return next((squad for squad, sign in _SIGNS if re.search(sign, plain)), Squad.FIRST)


def without_squad(team: str) -> str:
    """The club or the country alone: people write `Colombia`, not `Colombia W`."""
    name = team.strip()
    while (shorter := _MARK.sub("", name).strip()) not in ("", name):
        name = shorter
    return name
