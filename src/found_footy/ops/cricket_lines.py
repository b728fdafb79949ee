"""Cricket as people read it in a terminal: runs and wickets, overs and balls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def is_cricket(document: Document) -> bool:
    return document.get("sport") == "cricket"


def runs(document: Document) -> str:
    """187/3 – 95/3; a side that has not batted shows a dash."""
    sides = {"home": "", "away": ""}
    for innings in document["innings"]:
        line = f"{innings['runs']}/{innings['wickets']}"
        earlier = sides[innings["batting"]]
        sides[innings["batting"]] = f"{earlier} & {line}" if earlier else line
    return f"{sides['home'] or '–'} – {sides['away'] or '–'}" if any(sides.values()) else "–"


def overs(time: Document) -> str:
    """12.3: twelve overs, and three balls of the next."""
    return f"{time['elapsed']}.{time.get('extra') or 0}"
