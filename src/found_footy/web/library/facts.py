"""What the pages of sources and of clips say alike: facts, failures, and what is kept from who wants no spoilers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from found_footy.web.library.words import advice_for

Document = Mapping[str, Any]
Hides = Callable[[int], bool]
"""Whether the result of a match is to be kept from this reader."""

FACT_WORDS = {
    "player": "Player", "assist": "Assist", "team": "Team", "kind": "Kind", "minute": "Minute", "score": "Score",
    "competition": "Competition",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trouble:
    kind: str
    message: str
    advice: str
    failures: int
    retry_at: str | None


def fixture_of(document: Document) -> int | None:
    """The match that it tells the result of."""
    found = document["facts"].get("fixture_id")
    return int(found) if isinstance(found, int) or (isinstance(found, str) and found.isdecimal()) else None


def shown_facts(facts: Document) -> tuple[tuple[str, str], ...]:
    told = [(words, str(facts[name])) for name, words in FACT_WORDS.items() if facts.get(name)]
    if facts.get("home") and facts.get("away"):
        told.insert(0, ("Match", f"{facts['home']} v {facts['away']}"))
    if facts.get("withdrawn"):
        told.append(("Goal", "withdrawn after it was found"))
    if facts.get("verified") is not None:
        told.append(("Clock", "verified" if facts["verified"] else "not verified"))
    return tuple(told)


def veiled_title(facts: Document) -> str:
    return f"{facts.get('home') or 'A match'} v {facts.get('away') or 'another team'}"


def trouble_of(error: Document | None) -> Trouble | None:
    if error is None:
        return None
    kind = error["class"]
    return Trouble(kind, error["message"] or "", advice_for(kind), error["failures"], error["retry_at"])
