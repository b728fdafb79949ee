"""What is searched for: one query for all sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A post must name the scorer, where known, and a team. Words are as a person writes them."""

    players: tuple[str, ...]
    teams: tuple[str, ...]

    @property
    def text(self) -> str:
        """`(Florian OR Wirtz) (LFC OR Liverpool)`: what X and Bluesky understand."""
        return " ".join(_group(words) for words in (self.players, self.teams) if words)

    def matches(self, text: str) -> bool:
        """For sources that cannot search: whether a title says what the query asks for."""
        plain = f" {folded(text)} "
        return all(any(f" {folded(word)} " in plain for word in words) for words in (self.players, self.teams) if words)


def _group(words: tuple[str, ...]) -> str:
    quoted = [f'"{word}"' if " " in word else word for word in words]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def folded(text: str) -> str:
    """Lower-case letters and digits in single spaces; accents and what NFKD cannot take apart are spelt plainly."""
    spelt = "".join(_SPELLINGS.get(letter, letter) for letter in text.casefold())
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", plain.replace("_", " ")))


_SPELLINGS = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h"}


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """The first spelling of each word, in order."""
    kept: dict[str, str] = {}
    for word in words:
        kept.setdefault(folded(word), word)
    kept.pop("", None)
    return tuple(kept.values())
