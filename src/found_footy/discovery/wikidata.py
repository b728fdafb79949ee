"""Names of teams from Wikidata. Every failure is a WikidataError.

After a 429, or a 503 with Retry-After, no request is sent until that time: Wikimedia bans clients that ignore it.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

from found_footy.discovery.models import NameKind, TeamName
from found_footy.errors import WikidataError
from found_footy.fixtures.team_names import Squad, core, country_names, squad_of, without_squad
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http import USER_AGENT, HttpClient, HttpLimits, HttpResponse
from found_footy.text import clean_text, folded, unique

MAX_BYTES = 4 * 1024 * 1024
DEFAULT_PAUSE = timedelta(minutes=1)
"""Pause after a 429 without a time, as required by the Wikidata Query Service."""
MAX_PAUSE = timedelta(hours=1)


class KnowledgeHttp:
    def __init__(self, *, timeout: float, user_agent: str, now: Callable[[], datetime] = utc_now) -> None:
        self._client = HttpClient(
            HttpLimits(timeout, max_bytes=MAX_BYTES),
            headers={"user-agent": user_agent, "accept": "application/sparql-results+json, application/json"},
            translate=lambda error: WikidataError(str(error)),
        )
        self._now = now
        self._not_before: dict[str, datetime] = {}
        """Earliest time of the next request, by host."""

    async def get(self, url: str, params: Mapping[str, str]) -> Any:
        host = urlsplit(url).hostname or ""
        self._check_pause(host)
        response = await self._client.get(url, params)
        if not response.ok:
            pause = self._pause(response)
            if pause is None:
                raise WikidataError(f"{response.endpoint}: HTTP {response.status}")
            until = self._not_before[host] = self._now() + pause
            raise WikidataError(
                f"{response.endpoint}: HTTP {response.status}; next request at {until:%H:%M:%S} UTC",
                retry_after=pause.total_seconds(),
            )
        return response.json()

    def _check_pause(self, host: str) -> None:
        until = self._not_before.get(host)
        if until is not None and (left := until - self._now()) > timedelta(0):
            raise WikidataError(
                f"{host}: no request before {until:%H:%M:%S} UTC, as its last response requires",
                retry_after=left.total_seconds(),
            )

    def _pause(self, response: HttpResponse) -> timedelta | None:
        pause = response.retry_after(self._now())
        if response.status == 429:
            pause = pause or DEFAULT_PAUSE
        return None if pause is None or response.status not in (429, 503) else min(pause, MAX_PAUSE)

    async def aclose(self) -> None:
        await self._client.aclose()


# --- Requests: search terms for a team, and one SPARQL query for all candidates.


MAX_ROWS = 5000
MAX_SEARCHES = 4
QID = re.compile(r"Q[1-9][0-9]{0,9}")

CLUB, TEAM, NATIONAL_TEAM, SPORTS_CLUB, FOOTBALL = "Q476028", "Q15944511", "Q6979593", "Q847017", "Q2736"
"""Wikidata classes. Barcelona is filed under men's teams, a subclass of clubs; multi-sport clubs count if football is
one of their sports. National teams are marked separately, because some of their classes are also clubs.
"""

LANGUAGES = (
    "en mul de es ca eu gl fr it pt pt-br nl da sv nb nn fi is pl cs sk hu ro hr sl bs sr-latn tr sq et lv lt ga cy mt "
    "az vi id"
)
"""Languages in Latin script spoken where clubs play. The response names those that belong to a club's country."""


def search_texts(team: str, *, national: bool) -> tuple[str, ...]:
    """Return the texts to search for, in order. Wikidata matches labels and aliases by prefix."""
    squad, name = squad_of(team), without_squad(team)
    if national:
        names = country_names(team) or (name,)
        texts = [f"{country} {kind}" for country in names[:2] for kind in _NATIONAL_KINDS.get(squad, ("national",))]
    elif squad is Squad.WOMEN:
        texts = [f"{core(name)} Women", f"{core(name)} W.F.C.", team, name]
    elif squad is Squad.FIRST:
        # Without the last word, a missing hyphen does not matter: Paris Saint Germain.
        without_last_word = [" ".join(name.split()[:-1])] if len(name.split()) > 2 else []
        texts = [team, f"{core(name)} F.C.", f"FC {core(name)}", *without_last_word, core(name)]
    else:
        texts = [team, name]
    return unique(texts)[:MAX_SEARCHES]


_NATIONAL_KINDS = {
    Squad.FIRST: ("national football team", "men's national"),
    Squad.WOMEN: ("women's national",),
    Squad.YOUTH: ("national under-", "men's national under-"),
}


def build_sparql(ids: Sequence[str]) -> str:
    """Build the query for all facts about those items that are football teams, one fact per row."""
    invalid = [item for item in ids if not QID.fullmatch(item)]
    if invalid or not ids:
        raise ValueError(f"invalid Wikidata ids: {invalid[:3]}")
    items = " ".join(f"wd:{item}" for item in ids)
    languages = ", ".join(f'"{language}"' for language in LANGUAGES.split())
    return _QUERY.format(
        items=items,
        spoken=languages,
        club=CLUB,
        team=TEAM,
        national=NATIONAL_TEAM,
        sports_club=SPORTS_CLUB,
        football=FOOTBALL,
        rows=MAX_ROWS,
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


# --- Responses. Invalid documents raise WikidataError; invalid list entries are left out.


MAX_NAME_LENGTH = 80
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8}){0,2}")
_ENTITY = re.compile(rf"https?://www\.wikidata\.org/entity/({QID.pattern})")
_KINDS = {kind.value: kind for kind in NameKind}


@dataclass(slots=True)
class Entity:
    """A football team in Wikidata."""

    id: str
    names: list[TeamName] = field(default_factory=list)
    types: set[str] = field(default_factory=set)
    countries: set[str] = field(default_factory=set)
    """Folded names."""
    languages: set[str] = field(default_factory=set)
    """Official languages of its country."""
    national: bool = False
    sitelinks: int = 0
    """Number of Wikipedia articles, as a measure of prominence."""


def parse_search_ids(body: Any) -> list[str]:
    """Return the ids of a search, best first. Wikidata sends errors with HTTP 200."""
    if isinstance(body, dict) and "error" in body:
        error = body["error"]
        code = error.get("code") if isinstance(error, dict) else error
        raise WikidataError(f"Wikidata refused the search: {clean_text(str(code), 80)}")
    found = body.get("search") if isinstance(body, dict) else None
    if not isinstance(found, list):
        raise WikidataError("Wikidata's search returned no list of items")
    ids = [item.get("id") for item in found if isinstance(item, dict)]
    return [item for item in ids if isinstance(item, str) and QID.fullmatch(item)]


def parse_entities(body: Any) -> dict[str, Entity]:
    """Return the teams by id."""
    results = body.get("results") if isinstance(body, dict) else None
    rows = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(rows, list):
        raise WikidataError("Wikidata's query service returned no list of bindings")
    if len(rows) >= MAX_ROWS:
        # The missing rows may contain the team.
        raise WikidataError(
            f"Wikidata's query service returned {len(rows)} rows, the maximum; the result may be truncated"
        )
    by_id: dict[str, Entity] = {}
    for item, fact, value, language in _facts(rows):
        entity = by_id.setdefault(item, Entity(item))
        _add_fact(entity, fact, value, language)
    return by_id


def _facts(rows: list[Any]) -> Iterator[tuple[str, str, str, str]]:
    for row in rows:
        if not isinstance(row, dict):
            continue
        item, fact, value = (_text(row.get(name)) for name in ("item", "what", "value"))
        entity = _ENTITY.fullmatch(item)
        if entity:
            yield entity[1], fact, value, _language(row["value"]) if "value" in row else ""


def _text(term: Any) -> str:
    value = term.get("value") if isinstance(term, Mapping) else None
    return value if isinstance(value, str) else ""


def _language(term: Any) -> str:
    value = term.get("xml:lang") if isinstance(term, Mapping) else None
    return value.lower() if isinstance(value, str) else ""


def _add_fact(entity: Entity, fact: str, value: str, language: str) -> None:
    if fact in _KINDS:
        text = clean_text(value, MAX_NAME_LENGTH + 1)
        if folded(text) and len(text) <= MAX_NAME_LENGTH and _LANGUAGE.fullmatch(language):
            entity.names.append(TeamName(text, language, _KINDS[fact]))
    elif fact == "type":
        entity.types.add(clean_text(value))
    elif fact == "country":
        entity.countries.add(folded(value[:MAX_NAME_LENGTH]))
    elif fact == "language":
        entity.languages.add(value[:10])
    elif fact == "national":
        entity.national = True
    elif fact == "sitelinks" and re.fullmatch(r"[0-9]{1,6}", value):
        entity.sitelinks = int(value)


# --- Choosing the feed's team among the entities.


_INTERNATIONAL_LANGUAGES = ("en", "mul")
_UNITED_KINGDOM = ("england", "scotland", "wales", "northern ireland")
_WIKIDATA_COUNTRY = {
    **dict.fromkeys(_UNITED_KINGDOM, "united kingdom"),
    "usa": "united states",
    "china": "people s republic of china",
    "turkiye": "turkey",
}
_WITHOUT_COUNTRY = ("", "world", "international")


class NameMatch(IntEnum):
    NO = 0
    PART = 1
    """The label contains all words of the name: Newcastle in Newcastle United."""
    SAME = 2


def choose_entity(team: str, found: Iterable[Entity], *, country: str | None, national: bool) -> Entity | None:
    """Return the best entity with the same squad and a similar name, by country, name and prominence."""
    wanted_country = folded(country or "")
    wanted_country = (
        "" if national or wanted_country in _WITHOUT_COUNTRY else _WIKIDATA_COUNTRY.get(wanted_country, wanted_country)
    )
    matching = [
        (entity, name_match)
        for entity in found
        if entity.national is national
        and _squad(entity) is squad_of(team)
        and (name_match := match_name(team, entity))
        and not (name_match is NameMatch.PART and _is_in_another_country(entity, wanted_country))
    ]
    # On a tie, the first wins: the search ranked it higher.
    best = max(
        matching, key=lambda pair: (wanted_country in pair[0].countries, pair[1], pair[0].sitelinks), default=None
    )
    return best[0] if best else None


def names_for_team(entity: Entity) -> list[TeamName]:
    """Return the international names and those in the languages of the team's country."""
    languages = {*_INTERNATIONAL_LANGUAGES, *entity.languages}
    names = [
        name for name in entity.names if name.language in languages or name.language.partition("-")[0] in languages
    ]
    return list(dict.fromkeys(names))


def _squad(entity: Entity) -> Squad:
    """Derive the squad from label or class: women's association football club, reserve team."""
    labels = [
        name.text for name in entity.names if name.kind is NameKind.LABEL and name.language in _INTERNATIONAL_LANGUAGES
    ]
    squads = [squad_of(text) for text in (*labels, *sorted(entity.types))]
    return next((squad for squad in squads if squad is not Squad.FIRST), Squad.FIRST)


def match_name(team: str, entity: Entity) -> NameMatch:
    name = without_squad(team)
    names = {folded(core(spelling)) for spelling in (name, *country_names(team))}
    if any(folded(core(without_squad(other.text))) in names for other in entity.names):
        return NameMatch.SAME
    words = set(folded(core(name)).split())
    labels = [other.text for other in entity.names if other.kind is NameKind.LABEL]
    return NameMatch.PART if any(words <= set(folded(label).split()) for label in labels) else NameMatch.NO


def _is_in_another_country(entity: Entity, country: str) -> bool:
    return bool(country and entity.countries) and country not in entity.countries


# --- Client: a search for the team's item, then one query for all its names.


MAX_RESULTS = 20
"""Maximum items per search."""
MAX_CANDIDATES = 40
"""Maximum items per query."""
LOOKUP_TIMEOUT_FACTOR = 2
"""Time limit of a lookup, as a multiple of one request's timeout."""
MAX_TEAM_LENGTH = 100
_CONTACT = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+|User:\S.*", re.IGNORECASE)
"""An email address, a web page, or a Wikimedia user."""


def is_contact(text: str | None) -> bool:
    return text is not None and _CONTACT.search(text) is not None


def user_agent(contact: str | None) -> str:
    """Return the project's User-Agent with the operator's contact, as Wikimedia's User-Agent policy requires."""
    return f"{USER_AGENT[:-1]}; {contact})" if contact else USER_AGENT


class Wikidata:
    """Looks up team names. Requests are sent one at a time, as Wikimedia requires.

    `contact` is the operator's address or page, which Wikimedia contacts before it blocks a client.
    """

    def __init__(self, base_url: str, sparql_url: str, *, timeout: float = 20, contact: str | None = None) -> None:
        agent = user_agent(contact)
        self._max_seconds = LOOKUP_TIMEOUT_FACTOR * timeout
        self._search_url = f"{base_url.rstrip('/')}/w/api.php"
        self._query_url = f"{sparql_url.rstrip('/')}/sparql"
        self._http = KnowledgeHttp(timeout=timeout, user_agent=agent)

    async def team_names(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        """Return labels, aliases, nicknames and short names; empty if the team is unknown. Raises WikidataError."""
        name = clean_text(team, MAX_TEAM_LENGTH)
        if not folded(name):
            return []
        try:
            async with asyncio.timeout(self._max_seconds):
                return await self._look_up(name, country, national)
        except TimeoutError:
            raise WikidataError(f"Wikidata took longer than {self._max_seconds:g} s to describe a team") from None

    async def _look_up(self, name: str, country: str | None, national: bool) -> Sequence[TeamName]:
        results = [await self._search_ids(text) for text in search_texts(name, national=national)]
        # Interleave the searches, best results first.
        ranked = [item for row in itertools.zip_longest(*results) for item in row if item]
        ids = list(dict.fromkeys(ranked))[:MAX_CANDIDATES]
        if not ids:
            return []
        teams = parse_entities(await self._http.get(self._query_url, {"query": build_sparql(ids), "format": "json"}))
        # Keep only requested items, in the order of the search.
        candidates = [teams[item] for item in ids if item in teams]
        entity = choose_entity(name, candidates, country=country, national=national)
        return names_for_team(entity) if entity else []

    async def _search_ids(self, text: str) -> list[str]:
        params = {
            "action": "wbsearchentities",
            "search": text,
            "language": "en",
            "uselang": "en",
            "type": "item",
            "limit": str(MAX_RESULTS),
            "format": "json",
        }
        return parse_search_ids(await self._http.get(self._search_url, params))[:MAX_RESULTS]

    async def check(self) -> str:
        """Verify with one cheap request that the search works; return a description."""
        found = await self._search_ids("association football")
        return f"Wikidata's search works ({len(found)} results for a test query)"

    async def aclose(self) -> None:
        await self._http.aclose()
