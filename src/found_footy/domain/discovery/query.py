"""What is searched for: one query for all sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from found_footy.domain.fixtures.model import Sport

OPERATORS = frozenset(["or", "and", "not"])
"""Words that search engines take for a command."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A post must name the scorer, where known, and a team. Words are as a person writes them."""

    players: tuple[str, ...]
    teams: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Where given, a post must have one of them, too."""
    sport: Sport = Sport.FOOTBALL
    """For sources that have a place for each."""

    @property
    def text(self) -> str:
        """`(Florian OR Wirtz) (LFC OR Liverpool)`: what X and Bluesky understand."""
        return " ".join(group for words in self._groups if (group := _group(words)))

    def texts(self, longest: int, most: int = 2) -> list[str]:
        """The query as at most `most` texts of at most `longest` characters, which together name as much as fits.

        Names are ordered by use. Where one text is too long, the teams are spread over several; names that fit
        nowhere are dropped, players last.
        """
        if length(self.text) <= longest:
            return [self.text]
        for players in range(len(self.players), -1, -1):
            kept = replace(self, players=self.players[:players])
            groups: list[tuple[str, ...]] = []
            for team in self.teams:
                if groups and length(replace(kept, teams=(*groups[-1], team)).text) <= longest:
                    groups[-1] = (*groups[-1], team)
                elif length(replace(kept, teams=(team,)).text) <= longest and len(groups) < most:
                    groups.append((team,))
            if groups or (not self.teams and length(kept.text) <= longest):
                return [replace(kept, teams=group).text for group in groups or [()] if kept.players or group]
        return []

    def matches(self, text: str) -> bool:
        """For sources that cannot search: whether a title says what the query asks for."""
        plain = f" {folded(text)} "
        return all(any(_sought(word) in plain for word in words) for words in self._groups if words)

    @property
    def _groups(self) -> tuple[tuple[str, ...], ...]:
        return self.players, self.teams, self.words


def length(text: str) -> int:
    """As JavaScript counts, and so X: most emoji are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=1024)
def _sought(word: str) -> str:
    """The same few words are looked for in many titles."""
    return f" {folded(word)} "


def _group(words: tuple[str, ...]) -> str:
    terms = [term for word in words if (term := _term(word))]
    return f"({' OR '.join(terms)})" if len(terms) > 1 else "".join(terms)


def _term(word: str) -> str:
    """One word bare, everything else in quotes: a hyphen, a colon or a command is then only text."""
    shown = " ".join(_QUOTES.sub(" ", word).split())
    bare = re.fullmatch(r"\w+", shown) and shown.casefold() not in OPERATORS
    return shown if bare or not shown else f'"{shown}"'


_QUOTES = re.compile('["“”„‟«»＂\x00-\x1f\x7f]')
"""What would end a quoted text, and what no query may hold."""


def folded(text: str) -> str:
    """Lower-case letters and digits in single spaces; accents and what NFKD cannot take apart are spelt plainly."""
    spelt = "".join(_SPELLINGS.get(letter, letter) for letter in text.casefold())
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", plain.replace("_", " ")))


def unaccented(text: str) -> str:
    """The same words in plain Latin letters, with their case and their hyphens; other scripts stay as they are."""
    return "".join(map(_without_accent, unicodedata.normalize("NFC", text)))


def _without_accent(letter: str) -> str:
    if letter.isascii():
        return letter
    if spelt := _SPELLINGS.get(letter.lower()):
        return spelt.capitalize() if letter.isupper() else spelt
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


_SPELLINGS = {
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "ł": "l",
    "ı": "i",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ħ": "h",
    "ß": "ss",
    "ə": "a",
}


def word_set(text: str) -> frozenset[str]:
    """A list of words, as it is written down in the modules that know some."""
    return frozenset(text.split())


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """The first spelling of each word, in order."""
    kept: dict[str, str] = {}
    for word in words:
        kept.setdefault(folded(word), word)
    kept.pop("", None)
    return tuple(kept.values())
