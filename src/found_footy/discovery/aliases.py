"""Selects the few team names that find posts about a team's goals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from found_footy.discovery.models import NameKind, TeamName
from found_footy.fixtures.team_names import core, country_code, is_distinctive, without_squad
from found_footy.text import clean_text, folded, unaccented

MIN_LENGTH, MAX_LENGTH = 2, 30
"""Limits in characters; posts do not use longer names."""


_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{1,4}")
MAX_SHORT_FORM_LENGTH = 14
"""Maximum length in characters of an alias that people use as a short form, such as Man City or Spurs."""
_INTERNATIONAL_LANGUAGES = ("en", "mul")
"""Languages whose names count for every team; other languages count for teams of that country."""


def select_aliases(team: str, names: Sequence[TeamName], *, max_names: int = 8) -> tuple[str, ...]:
    """Return the feed's name, the name without its club type, then the best of `names`.

    A name that contains an already chosen one is left out, because a search for the shorter name finds it too.
    """
    chosen = list(_own_names(team))
    # The text is the final tie-breaker, because Wikidata returns names in no particular order.
    ranked = sorted(_usable_names(team, names), key=lambda name: (_rank(name), len(name.text), name.text))
    for candidate in ranked:
        if not any(_contains(candidate.text, other) for other in chosen):
            chosen.append(candidate.text)
    return tuple(chosen[:max_names])


def _own_names(team: str) -> tuple[str, ...]:
    """Return the feed's name, the name without its club type, and the shorter of the two without accents."""
    name = _clean_name(without_squad(team))
    shorter = core(name) if _is_usable(core(name)) else name
    return tuple(dict.fromkeys([name, shorter, unaccented(shorter)])) if folded(name) else ()


def _usable_names(team: str, names: Sequence[TeamName]) -> Iterator[TeamName]:
    code = country_code(team)
    short_codes = [TeamName(code, "mul", NameKind.SHORT)] if code else []
    for name in [*short_codes, *names]:
        text = core(_clean_name(name.text))
        if _is_usable(text):
            yield TeamName(text, name.language, name.kind)


def _clean_name(text: str) -> str:
    """Return one line without bracketed parts and without characters that search engines treat as syntax."""
    cleaned = re.sub(r"\([^)]*\)|[\"“”„«»()\[\]{}:;,<>|*~^\\]", " ", clean_text(text, 3 * MAX_LENGTH))
    return " ".join(cleaned.split()).strip("-–— ")


def _is_usable(text: str) -> bool:
    if not MIN_LENGTH <= len(text) <= MAX_LENGTH or not all(map(_is_latin, text)):
        return False
    if re.search(r"\b\w\.", text):
        return False  # `Crystal P.` occurs only in tables
    # Two letters identify a team only as an abbreviation: OM, OL.
    return is_distinctive(text) and (len(text) > 2 or text.isupper())


def _is_latin(character: str) -> bool:
    return not character.isalpha() or unicodedata.name(character, "").startswith("LATIN")


def _rank(name: TeamName) -> tuple[bool, int]:
    """Sort key: short forms before long ones, and international names before those of one language."""
    if _ABBREVIATION.fullmatch(name.text):
        order = 0
    elif name.kind is NameKind.SHORT:
        order = 1
    elif name.kind is NameKind.LABEL:
        order = 2
    elif name.kind is NameKind.ALIAS and len(name.text) <= MAX_SHORT_FORM_LENGTH:
        order = 3
    elif name.kind is NameKind.NICKNAME:
        order = 4
    else:
        order = 5
    return name.language.partition("-")[0] not in _INTERNATIONAL_LANGUAGES and order > 0, order


def _contains(text: str, other: str) -> bool:
    return f" {folded(other)} " in f" {folded(text)} "
