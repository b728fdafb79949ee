"""The filters of the library's page: what people chose, and nothing that cannot be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from found_footy.domain.discovery.posts import clean_text
from found_footy.web.library.words import KIND_WORDS, SOURCE_GROUPS

LONGEST_WORDS = 100


@dataclass(frozen=True, slots=True)
class Filters:
    state: str = ""
    kind: str = ""
    q: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.state or self.kind or self.q)

    @property
    def wanted(self) -> dict[str, Any]:
        """As the list takes them."""
        states = SOURCE_GROUPS.get(self.state)
        return {
            "states": [str(state) for state in states] if states else None,
            "kind": self.kind or None,
            "q": self.q or None,
        }

    def address(self, **more: str) -> str:
        given = {"q": self.q, "state": self.state, "kind": self.kind, **more}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"/library?{query}" if query else "/library"


def filters_of(query: Mapping[str, str]) -> Filters:
    """What is not one of the choices is taken for no choice."""
    state, kind = query.get("state", ""), query.get("kind", "")
    return Filters(
        state if state in SOURCE_GROUPS else "",
        kind if kind in KIND_WORDS else "",
        clean_text(query.get("q", ""), LONGEST_WORDS),
    )
