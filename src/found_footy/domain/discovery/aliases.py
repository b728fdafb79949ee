"""What a team is searched by: of all the names that the world has for it, the few that find its goals."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from found_footy.domain.discovery.club_words import core, tells_a_team
from found_footy.domain.discovery.national_teams import country_code, is_national
from found_footy.domain.discovery.players import search_names
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.discovery.query import SearchQuery, folded, unaccented
from found_footy.domain.discovery.squads import without_squad
from found_footy.domain.discovery.team_names import NameKind, TeamName

__all__ = ["choose_aliases", "is_national", "query_for"]

SHORTEST, LONGEST = 2, 30
"""Signs of an alias. Nobody writes more in a post."""
LONGEST_QUERY = 400
"""Signs of a query's text; X takes about 500."""

_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{1,4}")
_HANDY = 14
"""Signs up to which an alias is one that people write for short: Man City, Spurs."""
_EVERYWHERE = ("en", "mul")
"""The languages that a name of any team counts in; names in others are its own country's."""


def choose_aliases(team: str, names: Sequence[TeamName], *, most: int = 8) -> tuple[str, ...]:
    """The feed's own name first, then it without the kind of club, then the best of the others.

    A name that contains a chosen one is left out, as a search by the shorter one finds it too.
    """
    chosen = list(_own(team))
    # The text decides last, as Wikidata's answers come in any order.
    ranked = sorted(_worth_asking(team, names), key=lambda found: (_rank(found), len(found.text), found.text))
    for name in ranked:
        if not any(_contains(name.text, other) for other in chosen):
            chosen.append(name.text)
    return tuple(chosen[:most])


def _own(team: str) -> tuple[str, ...]:
    """As the feed has it, without the kind of club, and the shorter of the two in plain letters."""
    name = _tidied(without_squad(team))
    shorter = core(name) if _usable(core(name)) else name
    return tuple(dict.fromkeys([name, shorter, unaccented(shorter)])) if folded(name) else ()


def _worth_asking(team: str, names: Sequence[TeamName]) -> Iterator[TeamName]:
    code = country_code(team)
    known = [TeamName(code, "mul", NameKind.SHORT)] if code else []
    for name in [*known, *names]:
        text = core(_tidied(name.text))
        if _usable(text):
            yield TeamName(text, name.language, name.kind)


def _tidied(text: str) -> str:
    """One line without what stands in brackets, and without signs that a search takes for commands."""
    shown = re.sub(r"\([^)]*\)|[\"“”„«»()\[\]{}:;,<>|*~^\\]", " ", clean_text(text, 3 * LONGEST))
    return " ".join(shown.split()).strip("-–— ")


def _usable(text: str) -> bool:
    if not SHORTEST <= len(text) <= LONGEST or not all(map(_latin, text)):
        return False
    if re.search(r"\b\w\.", text):
        return False  # `Crystal P.` stands in tables only
    # Two letters tell something only as an abbreviation: OM, OL.
    return tells_a_team(text) and (len(text) > 2 or text.isupper())


def _latin(sign: str) -> bool:
    return not sign.isalpha() or unicodedata.name(sign, "").startswith("LATIN")


def _rank(name: TeamName) -> tuple[bool, int]:
    """Short forms before long ones, and names for everybody before those of one language."""
    if _ABBREVIATION.fullmatch(name.text):
        order = 0
    elif name.kind is NameKind.SHORT:
        order = 1
    elif name.kind is NameKind.LABEL:
        order = 2
    elif name.kind is NameKind.ALIAS and len(name.text) <= _HANDY:
        order = 3
    elif name.kind is NameKind.NICKNAME:
        order = 4
    else:
        order = 5
    return name.language.partition("-")[0] not in _EVERYWHERE and order > 0, order


def _contains(text: str, other: str) -> bool:
    return f" {folded(other)} " in f" {folded(text)} "


def query_for(player: str | None, aliases: Sequence[str], other: Sequence[str] = ()) -> SearchQuery:
    """One query for a goal; an unknown scorer leaves the teams alone.

    `aliases` are those of the team that the goal counts for. The scorer of an own goal plays for the `other` team,
    and posts name either: with its aliases given, too, both are asked for, in turns.
    """
    players = search_names(player)
    teams = tuple(dict.fromkeys(_in_turns(aliases, other)))
    while len(teams) > 1 and len(SearchQuery(players, teams).text) > LONGEST_QUERY:
        teams = teams[:-1]
    return SearchQuery(players, teams)


def _in_turns(aliases: Iterable[str], other: Iterable[str]) -> Iterator[str]:
    for pair in itertools.zip_longest(aliases, other):
        yield from (name for name in pair if name is not None)
