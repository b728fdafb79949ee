"""How far two feeds' names for a side point to one team."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from found_footy.domain.discovery.club_words import KINDS, tells_a_team
from found_footy.domain.discovery.national_teams import country_code
from found_footy.domain.discovery.query import folded, word_set
from found_footy.domain.discovery.squads import without_squad
from found_footy.domain.feeds.club_names import club_of, words_of
from found_footy.domain.fixtures.person_names import one_letter_apart

MOST_NAMES = 12
_FUZZY = 6
"""Letters from which on one wrong letter still is the same word; Lecce is not Lecco."""
_ENDING = 4
"""Letters that make a place's people of it: Wuppertaler, Niortais."""
_CUT_OFF = re.compile(r"\b(\w{2,})\.")
_POLITE = word_set("real royal sporting sport olympique stade deportivo racing athletic club")
"""They stand before a place's name and hardly ever tell one of its clubs from another, as Dynamo does."""
_CODE = re.compile(r"[A-Z][A-Z0-9]{1,3}(-W)?")
_NOBODY = re.compile(
    r"\b(winners?|losers?|runners? up|qualifiers?|tb[cda]|to be (confirmed|decided|announced|determined)|"
    r"(group|grp) [a-l]|rd \d+|play ?off \w)\b|^(team [ab]|home|away|[a-l][1-4]|[1-4][a-l]|qf ?w?\d|sf ?[wl]?\d)$"
)


class Likeness(IntEnum):
    DIFFERENT = 0
    POSSIBLE = 1
    """Something speaks for it, and another team would fit as well: Manchester for Manchester United."""
    LIKELY = 2
    """A short form, or a slip of the pen: Newcastle for Newcastle United."""
    SAME = 3


@lru_cache(maxsize=4096)
def is_placeholder(name: str) -> bool:
    """Whether it stands for a team that nobody knows yet: `Round of 32 12 Winner`, `TBD`."""
    return bool(_NOBODY.search(folded(name)))


def team_likeness(ours: Sequence[str], theirs: Sequence[str]) -> Likeness:
    """By all names that are known for each side; the first is the feed's full name, short codes only support."""
    if not ours or not theirs or is_placeholder(ours[0]) or is_placeholder(theirs[0]):
        return Likeness.DIFFERENT
    if _known_to_differ(ours[0], theirs[0]):
        return Likeness.DIFFERENT
    best = max(name_likeness(a, b) for a in _full(ours) for b in _full(theirs))
    if best < Likeness.LIKELY and _codes(ours) & _codes(theirs):
        return Likeness(best + 1)
    return best


def _full(names: Sequence[str]) -> list[str]:
    first, *others = names[:MOST_NAMES]
    return [first, *(name for name in others if not _CODE.fullmatch(name))]


def _codes(names: Sequence[str]) -> set[str]:
    return {name for name in names[:MOST_NAMES] if _CODE.fullmatch(name)}


def _known_to_differ(a: str, b: str) -> bool:
    """Two countries, or two clubs of the table: no alias of theirs makes them one."""
    return _are_two(_read(a), _read(b))


@lru_cache(maxsize=16384)
def name_likeness(a: str, b: str) -> Likeness:
    one, other = _read(a), _read(b)
    if _are_two(one, other):
        return Likeness.DIFFERENT
    if (one.country is not None and one.country == other.country) or (one.club is not None and one.club == other.club):
        return Likeness.SAME
    if one.letters.isdisjoint(other.letters):
        return Likeness.DIFFERENT
    likeness = _words_likeness(one.telling, other.telling)
    if likeness is Likeness.SAME and one.kinds and other.kinds and not one.kinds & other.kinds:
        return Likeness.LIKELY  # AC Ajaccio and GFC Ajaccio; but not SSC Napoli and Napoli
    return likeness


@dataclass(frozen=True, slots=True)
class _Name:
    country: str | None
    club: str | None
    telling: tuple[str, ...]
    letters: frozenset[str]
    """That its telling words begin with: most names have nothing in common, and that is seen at once."""
    kinds: frozenset[str]


@lru_cache(maxsize=4096)
def _read(name: str) -> _Name:
    team = without_squad(name)
    words = words_of(team)
    telling = _telling(team, words)
    return _Name(
        country=country_code(team),
        club=club_of(words),
        telling=telling,
        letters=frozenset(word[0] for word in telling),
        kinds=frozenset(word for word in words if word in KINDS and len(word) <= 3),
    )


def _are_two(a: _Name, b: _Name) -> bool:
    if a.country is not None and b.country is not None:
        return a.country != b.country
    return a.club is not None and b.club is not None and a.club != b.club


def _telling(name: str, words: list[str]) -> tuple[str, ...]:
    """The words without the kind of club and its year, where what is left still tells a team: not of Paris FC.

    A word that the feed has cut off keeps its dot.
    """
    cut_off = {folded(word) for word in _CUT_OFF.findall(name)}
    for unwanted in (lambda word: word in KINDS, str.isdigit):
        fewer = [word for word in words if not unwanted(word)]
        if _tells(" ".join(fewer)):
            words = fewer
    return tuple(f"{word}." if word in cut_off else word for word in words)


@lru_cache(maxsize=4096)
def _tells(words: str) -> bool:
    return tells_a_team(words)


def _words_likeness(a: tuple[str, ...], b: tuple[str, ...]) -> Likeness:
    if not a or not b:
        return Likeness.DIFFERENT
    short, long_ = sorted((a, b), key=len)
    left = list(range(len(long_)))
    shared: list[int] = []
    exact = True
    without: list[str] = []
    for word in short:
        found = next((i for i in left if _spelt(word) == _spelt(long_[i])), None)
        if found is None:
            found = next((i for i in left if _close(word, long_[i])), None)
            exact = False
        if found is None:
            without.append(word)
        else:
            left.remove(found)
            shared.append(found)
    if without:
        # Atlético River Plate and River Plate Buenos Aires; but not Hapoel Tel Aviv and Maccabi Tel Aviv.
        several = sum(_tells(long_[i]) for i in shared) >= 2
        told_apart = any(_tells(word) for word in (*without, *(long_[i] for i in left)))
        return Likeness.POSSIBLE if several and not told_apart else Likeness.DIFFERENT
    if not _tells(" ".join(short)):
        # Racing and Racing may be anywhere; Manchester is two clubs.
        return Likeness.POSSIBLE if left else Likeness.LIKELY
    if not left:
        return Likeness.SAME if exact else Likeness.LIKELY
    begins = 0 in shared
    polite = all(long_[i] in _POLITE for i in left)
    return Likeness.LIKELY if exact and (begins or polite) else Likeness.POSSIBLE


@lru_cache(maxsize=4096)
def _spelt(word: str) -> str:
    """Broendby as Brondby; both feeds' words are treated alike, so nothing is lost by it."""
    return word.replace("oe", "o").replace("ue", "u").replace("ae", "a")


def _close(a: str, b: str) -> bool:
    if a[0] != b[0]:
        return False
    short, long_ = sorted((a, b), key=len)
    if len(short) == 1 or (short.endswith(".") and long_.startswith(short[:-1])):
        return True  # C. Palace, Gr. Fürth
    if len(short) >= _FUZZY - 1 and long_.startswith(short) and len(long_) - len(short) <= _ENDING:
        return True
    return len(short) >= _FUZZY and one_letter_apart(a, b)
