"""Words in team names that do not tell a team from others: kinds of club, and names that many share."""

from __future__ import annotations

import re

from found_footy.domain.discovery.query import folded, word_set

KINDS = word_set(
    "1 1fc ac acf ad afc as asd bc bk bsc bv ca cd cf cfc cfr club clube csd ec fbc fc fcc fk fsv gd hnk hsc if ifk jk "
    "kf ks kv kvc mfk mks nk ogc osc pfc rc rcd sa sad sc sd se sfc sg sk ss ssc ssd sv svv tsg tsv ud us usl vfb vfl "
    "vfr football futbol futebol fotboll fussball fussballclub calcio associazione sportiva societa associacao "
    "asociacion association stade verein spvgg spielvereinigung"
)
"""For the kind of club, at either end of a name. Posts leave them out."""

_NATIONAL = word_set("national men mens women womens association football soccer team side squad")
"""Stripped from the end of `Germany men's national football team`."""

_LINKS = word_set("the of de del della do da di and")
"""They fall with the word that they hung on: Club de Fútbol …"""
_ARTICLES = word_set("the die der das des los las el les gli os y e")

_SHARED = word_set(
    # Parts of the names of many clubs.
    "man united utd city town county rovers rangers wanderers athletic albion palace forest real racing olympique "
    "atletico athletico atletic deportivo deportes dynamo dinamo lokomotiv spartak torpedo cska partizan union "
    "unione borussia eintracht fortuna viktoria victoria germania preussen nacional national "
    "independiente universidad universitario sport sports sporting star young boys "
    # Colours and beasts: every league has some.
    "red white blue black green yellow sky reds blues whites greens blacks yellows oranges rojos azules verdes roten "
    "blauen lions tigers eagles foxes bears bulls rams robins owls bees hornets saints kings royals devils warriors "
    # Cities of several clubs: a post about a city is not one about a team.
    "london manchester sheffield bristol birmingham nottingham glasgow dundee edinburgh belfast dublin madrid "
    "seville paris berlin munich munchen muenchen vienna wien milano turin rome lisbon lisboa moscow "
    "moskva istanbul athens belgrade beograd prague praha bucharest bucuresti budapest sofia zagreb warsaw copenhagen "
    "kobenhavn stockholm oslo zurich brussels bruxelles amsterdam rotterdam rio sao paulo buenos aires montevideo "
    "santiago lima bogota cairo riyadh tehran tokyo seoul"
)
"""One of them alone names no team in particular; two together do: Manchester City, Red Star, Young Boys."""

_EVERYDAY = word_set(
    "am an as at be by can do en es fa go he if in is it la le me mr my no of ok on or pm so to tv uk un up us we "
    "and ban bar ben bot cam car com con cut den dos est fin for gab gam gum hon her ham han his hun lie les mac mad "
    "mar mas max men met nig nor not one out pan par per pol ram ran rom sam see set she sin sol som son tan the "
    "tog top van was web who win won you goal home away draw match club team fans army boys girls side squad "
    "champions league cup final live hamburger"
)
"""Short names and codes that are everyday words: CAN, NOR, PER. A search by them finds all the world."""

_TELL_LITTLE = (KINDS | _SHARED | _LINKS | _ARTICLES | _EVERYDAY) - {"cfc"}
"""CFC is a kind of club, too, but alone it is Chelsea."""


def core(name: str) -> str:
    """The name without the kind of club, and without `national football team`: `1. FC Köln` is Köln.

    The whole name comes back where nothing would be left.
    """
    words = re.sub(r"^1\.\s*(?=FC\b)", "", name).split()
    if any(_plain(word) == "national" for word in words):
        words = _without_end(words, _NATIONAL)
    if words and _plain(words[-1]) in KINDS:
        words = _without_end(words, KINDS | _LINKS)
    # The same from the other end: Club de Fútbol …, Stade de …, The …
    if words and _plain(words[0]) in KINDS | {"the"}:
        words = _without_end(words[::-1], KINDS | _LINKS)[::-1]
    # Schalke 04 and Mainz 05, but not 1860 München.
    if len(words) > 1 and re.fullmatch(r"\d\d", words[-1]):
        words = words[:-1]
    return " ".join(words)


def _without_end(words: list[str], unwanted: frozenset[str]) -> list[str]:
    kept = list(words)
    while len(kept) > 1 and _plain(kept[-1]) in unwanted:
        kept.pop()
    return kept


def _plain(word: str) -> str:
    """`F.C.` as fc, `men's` as mens."""
    return folded(word).replace(" ", "")


def tells_a_team(name: str) -> bool:
    """Whether the name points to one team, or to few: not `City`, `The Reds`, `FC` or `CAN`."""
    words = [word for word in map(_plain, name.split()) if len(word) > 1]
    telling = [word for word in words if word not in _TELL_LITTLE and not word.isdigit()]
    # A year is as good as a shared word: 1860 München.
    return bool(telling) or sum(word in _SHARED or (len(word) == 4 and word.isdigit()) for word in words) >= 2
