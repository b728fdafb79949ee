"""What Wikidata is asked: the spellings that a team is looked up by, and one SPARQL query for all that was found.

A team's name comes from a feed and goes into the search only, as a parameter. Into SPARQL go ids alone, each checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from found_footy.domain.discovery.club_words import core
from found_footy.domain.discovery.national_teams import country_names
from found_footy.domain.discovery.query import unique
from found_footy.domain.discovery.squads import Squad, squad_of, without_squad

MOST_ROWS = 5000
MOST_SEARCHES = 4
QID = re.compile(r"Q[1-9][0-9]{0,9}")

CLUB, TEAM, NATIONAL_TEAM, SPORTS_CLUB, FOOTBALL = "Q476028", "Q15944511", "Q6979593", "Q847017", "Q2736"
"""Wikidata files Barcelona under men's teams, which are clubs by way of their classes; clubs of many sports count
where football is one of them. National teams are marked on their own, as some of their classes are clubs, too."""

LANGUAGES = (
    "en mul de es ca eu gl fr it pt pt-br nl da sv nb nn fi is pl cs sk hu ro hr sl bs sr-latn tr sq et lv lt ga cy mt "
    "az vi id"
)
"""Those of Latin script that are spoken where clubs play. Which of them are a club's own, the answer tells."""


def searches(team: str, *, national: bool) -> tuple[str, ...]:
    """What the search is asked for, one after the other. It finds labels and aliases that begin so."""
    squad, name = squad_of(team), without_squad(team)
    if national:
        names = country_names(team) or (name,)
        wanted = [f"{country} {kind}" for country in names[:2] for kind in _NATIONAL_KINDS.get(squad, ("national",))]
    elif squad is Squad.WOMEN:
        wanted = [f"{core(name)} Women", f"{core(name)} W.F.C.", team, name]
    elif squad is Squad.FIRST:
        # A name of three words may have a hyphen at its end that the feed leaves out: Paris Saint Germain.
        start = [" ".join(name.split()[:-1])] if len(name.split()) > 2 else []
        wanted = [team, f"{core(name)} F.C.", f"FC {core(name)}", *start, core(name)]
    else:
        wanted = [team, name]
    return unique(wanted)[:MOST_SEARCHES]


_NATIONAL_KINDS = {
    Squad.FIRST: ("national football team", "men's national"),
    Squad.WOMEN: ("women's national",),
    Squad.YOUTH: ("national under-", "men's national under-"),
}


def sparql(ids: Sequence[str]) -> str:
    """Everything about those of the items that are football teams, one fact a row."""
    wrong = [item for item in ids if not QID.fullmatch(item)]
    if wrong or not ids:
        raise ValueError(f"no ids of Wikidata: {wrong[:3]}")
    items = " ".join(f"wd:{item}" for item in ids)
    spoken = ", ".join(f'"{language}"' for language in LANGUAGES.split())
    return _QUERY.format(
        items=items,
        spoken=spoken,
        club=CLUB,
        team=TEAM,
        national=NATIONAL_TEAM,
        sports_club=SPORTS_CLUB,
        football=FOOTBALL,
        rows=MOST_ROWS,
    )


_QUERY = """
SELECT DISTINCT ?item ?what ?value WHERE {{
  {{ SELECT DISTINCT ?item WHERE {{
    VALUES ?item {{ {items} }}
    {{ VALUES ?class {{ wd:{club} wd:{team} wd:{national} }} ?item wdt:P31/wdt:P279* ?class . }}
    UNION
    {{ ?item wdt:P31/wdt:P279* wd:{sports_club} ; wdt:P641 wd:{football} . }}
  }} }}
  {{ ?item rdfs:label ?value . BIND("label" AS ?what) FILTER(LANG(?value) IN ({spoken})) }}
  UNION {{ ?item skos:altLabel ?value . BIND("alias" AS ?what) FILTER(LANG(?value) IN ({spoken})) }}
  UNION {{ ?item wdt:P1449 ?value . BIND("nickname" AS ?what) FILTER(LANG(?value) IN ({spoken})) }}
  UNION {{ ?item wdt:P1813 ?value . BIND("short" AS ?what) FILTER(LANG(?value) IN ({spoken})) }}
  UNION {{ ?item wdt:P31/rdfs:label ?value . BIND("type" AS ?what) FILTER(LANG(?value) = "en") }}
  UNION {{ ?item wdt:P31/wdt:P279* wd:{national} . BIND("national" AS ?what) BIND("yes" AS ?value) }}
  UNION {{ ?item wdt:P17/rdfs:label ?value . BIND("country" AS ?what) FILTER(LANG(?value) = "en") }}
  UNION {{ ?item wdt:P17/wdt:P37/wdt:P218 ?value . BIND("language" AS ?what) }}
  UNION {{ ?item wikibase:sitelinks ?value . BIND("sitelinks" AS ?what) }}
}} LIMIT {rows}
"""
