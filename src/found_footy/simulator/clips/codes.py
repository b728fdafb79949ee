"""Three letters and a kit for a team's name."""

from __future__ import annotations

import math
import random
import unicodedata
from dataclasses import dataclass

Colour = tuple[int, int, int]
"""Blue, green, red: 0 to 255."""

_USUAL = {
    "Manchester City": "MCI",
    "Manchester United": "MUN",
    "Bayern München": "FCB",
    "Borussia Dortmund": "BVB",
    "Real Madrid": "RMA",
    "Paris Saint Germain": "PSG",
    "Atletico Madrid": "ATM",
    "Aston Villa": "AVL",
    "West Ham": "WHU",
    "AS Roma": "ROM",
    "AC Milan": "MIL",
}

# Nothing near the green of the grass.
_KITS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((40, 30, 200), (40, 30, 200), (40, 30, 200)),
    ((235, 235, 235), (235, 235, 235), (230, 230, 230)),
    ((190, 110, 40), (240, 240, 240), (190, 110, 40)),
    ((30, 30, 30), (30, 30, 30), (60, 60, 60)),
    ((40, 200, 240), (30, 30, 30), (40, 200, 240)),
    ((90, 20, 120), (235, 235, 235), (90, 20, 120)),
    ((230, 190, 120), (235, 235, 235), (230, 190, 120)),
    ((60, 110, 235), (40, 40, 40), (60, 110, 235)),
    ((120, 40, 30), (110, 35, 25), (40, 30, 190)),
)


@dataclass(frozen=True, slots=True)
class Kit:
    shirt: Colour
    shorts: Colour
    socks: Colour


def codes_of(home: str, away: str) -> tuple[str, str]:
    """Two different codes, as scoreboards abbreviate the names."""
    first, second = code_of(home), code_of(away)
    if first == second:
        second = first[:2] + ("X" if first[2] != "X" else "Y")
    return first, second


def code_of(name: str) -> str:
    """`Liverpool` is LIV, `Paris Saint Germain` PSG; always three capital letters."""
    if name in _USUAL:
        return _USUAL[name]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = ["".join(letter for letter in word if letter.isalpha()).upper() for word in plain.split()]
    words = [word for word in words if word]
    if len(words) >= 3:
        return "".join(word[0] for word in words[:3])
    return ("".join(words) + "FCX")[:3]


def kits_of(venue: str, home: str, away: str) -> tuple[Kit, Kit]:
    """Kits that cannot be taken for each other."""
    first = random.Random(f"kit {home}").randrange(len(_KITS))
    others = [kit for kit in _KITS if _distance(kit[0], _KITS[first][0]) > 170]
    second = random.Random(f"kit {venue} {away}").choice(others)
    return Kit(*_KITS[first]), Kit(*second)


def _distance(one: Colour, other: Colour) -> float:
    return math.dist(one, other)
