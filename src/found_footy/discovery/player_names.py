"""Search terms for a scorer, derived from the feed's player name.

Accents: both the feed's spelling and the unaccented one are used (`Højbjerg`, `Hojbjerg`), because people write both
and not every search matches one with the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from found_footy.discovery.models import OPERATORS
from found_footy.text import folded, unaccented, word_set

MAX_TERMS = 4
MIN_TERM_LENGTH = 3
"""Minimum letters of a search term, because shorter words match everything. A name without a longer word is searched as
a whole.
"""
MAX_TERM_LENGTH = 30
"""Maximum characters of a word; particles may add ten."""
MAX_NAME_LENGTH = 120

_PARTICLES = word_set(
    "af al as bin da das de del della den der di do dos du el ibn la le st ten ter van vom von zu zur"
)
"""Particles attached to the following word: `van Dijk`, not `Dijk`."""
_NON_INITIAL_PARTICLES = word_set("abu ait ben bou mac saint san santa")
"""Particles unless they come first: Wissam Ben Yedder, but Ben White."""

_SUFFIXES = word_set("filho ii iii iv jnr jr junior sr")
"""Generational suffixes, which are never used as a name alone."""

_COMMON_FIRST_NAMES = word_set(
    # Common in every squad, so they do not identify a scorer.
    "mohamed mohammed mohammad mohamad muhammad muhammed ahmed ahmad ali abdul abdullah hassan ibrahim mamadou moussa "
    "jose juan luis carlos antonio francisco joao david daniel james john michael paul thomas peter ryan adam "
    "harry ben tom sam dan joe alex chris josh jack "
    # Everyday words that occur in many posts.
    "will mark christian angel grant chase may rob art king prince"
)
"""First names that are dropped if the name has a more distinctive word."""

_PLACEHOLDER_NAMES = frozenset(
    ["unknown", "unknown player", "own goal", "tbd", "tba", "n a", "none", "null", "player", "nan"]
)
_PLAIN_PUNCTUATION = {**dict.fromkeys(map(ord, "’‘ʼ`´"), "'"), **dict.fromkeys(map(ord, "‐‑‒–"), "-")}


def player_search_names(name: str | None) -> tuple[str, ...]:
    """Return at most four words or short phrases in the order of the name; none if the scorer is unknown."""
    found = [word for word in _join_particles(_tokens(name or "")) if len(word) <= MAX_TERM_LENGTH + 10]
    whole = " ".join(found)
    if not whole or folded(whole) in _PLACEHOLDER_NAMES:
        return ()
    words = [word for word in found if _count_letters(word) >= MIN_TERM_LENGTH]
    if not words:
        return _spellings(whole) if len(whole) <= MAX_TERM_LENGTH else ()
    *first, last = words
    return _limit_terms([word for word in first if folded(word) not in _COMMON_FIRST_NAMES], last)


def _tokens(name: str) -> list[str]:
    """Split the name into words of letters, hyphens and apostrophes. Numbers and suffixes are dropped."""
    text = unicodedata.normalize("NFKC", name[:MAX_NAME_LENGTH].translate(_PLAIN_PUNCTUATION))
    text = re.sub(r"\([^)]*\)?|\[[^\]]*\]?", " ", text)
    if "," in text:
        last_name, _, first_name = text.partition(",")
        text = f"{first_name} {last_name}"
    # Some feeds write names in capitals (MÜLLER); posts do not.
    plain = "".join(map(_letter_or_space, text.title() if text.isupper() else text))
    found = [token.strip("-'") for token in plain.split()]
    kept = [token for token in found if 0 < _count_letters(token) <= len(token) <= MAX_TERM_LENGTH]
    kept = [token for token in kept if folded(token) not in OPERATORS]
    return [token for token in kept if folded(token) not in _SUFFIXES] or kept


def _letter_or_space(character: str) -> str:
    category = unicodedata.category(character)
    # Zero-width characters are removed; every other non-letter separates words.
    if category[0] in "LM" or character in "-'":
        return character
    return "" if category == "Cf" else " "


def _join_particles(tokens: Sequence[str]) -> Iterator[str]:
    """Yield each token with the particles before it. Initials are dropped: a single letter matches everything."""
    pending: list[str] = []
    for index, token in enumerate(tokens):
        pending += [token] if _count_letters(token) > 1 else []
        normalized = folded(token)
        attached = normalized in _PARTICLES or (normalized in _NON_INITIAL_PARTICLES and index > 0)
        if pending and (not attached or index == len(tokens) - 1):
            yield " ".join(pending)
            pending = []


def _count_letters(word: str) -> int:
    return sum(unicodedata.category(character)[0] == "L" for character in word)


def _spellings(word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([word, unaccented(word)]))


def _limit_terms(first: Sequence[str], last: str) -> tuple[str, ...]:
    """Keep at most `MAX_TERMS` terms: the last word, the first, their unaccented spellings, then the words between."""
    ranked = [last, *first]
    best = ranked[:2]
    candidates = dict.fromkeys([*best, *(unaccented(word) for word in best), *ranked[2:]])
    kept = set(list(candidates)[:MAX_TERMS])
    in_order = [spelling for word in [*first, last] for spelling in _spellings(word)]
    return tuple(spelling for spelling in dict.fromkeys(in_order) if spelling in kept)
