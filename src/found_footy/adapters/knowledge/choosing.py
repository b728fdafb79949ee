"""Which of the teams that Wikidata found is the one that the feed means. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from found_footy.adapters.knowledge.wikidata_answer import Entity
from found_footy.domain.discovery.club_words import core
from found_footy.domain.discovery.national_teams import country_names
from found_footy.domain.discovery.query import folded
from found_footy.domain.discovery.squads import Squad, squad_of, without_squad
from found_footy.domain.discovery.team_names import NameKind, TeamName

_EVERYBODYS = ("en", "mul")
_UNITED_KINGDOM = ("england", "scotland", "wales", "northern ireland")
_COUNTRY_AS_WIKIDATA_HAS_IT = {
    **dict.fromkeys(_UNITED_KINGDOM, "united kingdom"),
    "usa": "united states",
    "china": "people s republic of china",
    "turkiye": "turkey",
}
_NO_COUNTRY = ("", "world", "international")


class Likeness(IntEnum):
    NO = 0
    PART = 1
    """Its label has all the words of the name: Newcastle in Newcastle United."""
    SAME = 2


def choose(team: str, found: Iterable[Entity], *, country: str | None, national: bool) -> Entity | None:
    """The right squad of the right name; then by country, likeness, and how well it is known."""
    where = folded(country or "")
    where = "" if national or where in _NO_COUNTRY else _COUNTRY_AS_WIKIDATA_HAS_IT.get(where, where)
    fitting = [
        (entity, alike)
        for entity in found
        if entity.national is national
        and _squad(entity) is squad_of(team)
        and (alike := likeness(team, entity))
        and not (alike is Likeness.PART and _elsewhere(entity, where))
    ]
    # Of equals the first, which the search put first.
    best = max(fitting, key=lambda pair: (where in pair[0].countries, pair[1], pair[0].sitelinks), default=None)
    return best[0] if best else None


def own_names(entity: Entity) -> list[TeamName]:
    """Its names for everybody, and those in the languages of its country."""
    spoken = {*_EVERYBODYS, *entity.languages}
    kept = [name for name in entity.names if name.language in spoken or name.language.partition("-")[0] in spoken]
    return list(dict.fromkeys(kept))


def _squad(entity: Entity) -> Squad:
    """Its label tells, or its class: women's association football club, reserve team."""
    labels = [name.text for name in entity.names if name.kind is NameKind.LABEL and name.language in _EVERYBODYS]
    told = [squad_of(text) for text in (*labels, *sorted(entity.types))]
    return next((squad for squad in told if squad is not Squad.FIRST), Squad.FIRST)


def likeness(team: str, entity: Entity) -> Likeness:
    name = without_squad(team)
    wanted = {folded(core(spelling)) for spelling in (name, *country_names(team))}
    if any(folded(core(without_squad(known.text))) in wanted for known in entity.names):
        return Likeness.SAME
    words = set(folded(core(name)).split())
    labels = [known.text for known in entity.names if known.kind is NameKind.LABEL]
    return Likeness.PART if any(words <= set(folded(label).split()) for label in labels) else Likeness.NO


def _elsewhere(entity: Entity, where: str) -> bool:
    return bool(where and entity.countries) and where not in entity.countries
