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
                raise WikidataError(f"{response.where}: HTTP {response.status}")
            until = self._not_before[host] = self._now() + pause
            raise WikidataError(
                f"{response.where}: HTTP {response.status}; next request at {until:%H:%M:%S} UTC",
                retry_after=pause.total_seconds(),
            )
        return response.json()

    def _check_pause(self, host: str) -> None:
        until = self._not_before.get(host)
        if until is not None and (left := until - self._now()) > timedelta(0):
            raise WikidataError(
                f"{host}: no request sent before {until:%H:%M:%S} UTC, as its last response asked for",
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


def searches(team: str, *, national: bool) -> tuple[str, ...]:
    """Return the search terms in order. The search matches labels and aliases by prefix."""
    squad, name = squad_of(team), without_squad(team)
    if national:
        names = country_names(team) or (name,)
        wanted = [f"{country} {kind}" for country in names[:2] for kind in _NATIONAL_KINDS.get(squad, ("national",))]
    elif squad is Squad.WOMEN:
        wanted = [f"{core(name)} Women", f"{core(name)} W.F.C.", team, name]
    elif squad is Squad.FIRST:
        # Without the last word, a hyphen that the feed omits does not matter: Paris Saint Germain.
        start = [" ".join(name.split()[:-1])] if len(name.split()) > 2 else []
        wanted = [team, f"{core(name)} F.C.", f"FC {core(name)}", *start, core(name)]
    else:
        wanted = [team, name]
    return unique(wanted)[:MAX_SEARCHES]


_NATIONAL_KINDS = {
    Squad.FIRST: ("national football team", "men's national"),
    Squad.WOMEN: ("women's national",),
    Squad.YOUTH: ("national under-", "men's national under-"),
}


def sparql(ids: Sequence[str]) -> str:
    """Build the query for all facts about those items that are football teams, one fact per row."""
    wrong = [item for item in ids if not QID.fullmatch(item)]
    if wrong or not ids:
        raise ValueError(f"invalid Wikidata ids: {wrong[:3]}")
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


def found_ids(answer: Any) -> list[str]:
    """Return the ids of a search, best first. Wikidata sends errors with HTTP 200."""
    if isinstance(answer, dict) and "error" in answer:
        error = answer["error"]
        code = error.get("code") if isinstance(error, dict) else error
        raise WikidataError(f"Wikidata refused the search: {clean_text(str(code), 80)}")
    found = answer.get("search") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise WikidataError("Wikidata's search sent no list of items")
    ids = [item.get("id") for item in found if isinstance(item, dict)]
    return [item for item in ids if isinstance(item, str) and QID.fullmatch(item)]


def entities(answer: Any) -> dict[str, Entity]:
    """Return the teams by id."""
    results = answer.get("results") if isinstance(answer, dict) else None
    rows = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(rows, list):
        raise WikidataError("Wikidata's query service sent no list of bindings")
    if len(rows) >= MAX_ROWS:
        # The truncated part may contain the team, so the rest would only allow a guess.
        raise WikidataError(f"Wikidata's query service sent {len(rows)} rows, more than a search can need")
    known: dict[str, Entity] = {}
    for item, what, value, language in _facts(rows):
        entity = known.setdefault(item, Entity(item))
        _note(entity, what, value, language)
    return known


def _facts(rows: list[Any]) -> Iterator[tuple[str, str, str, str]]:
    for row in rows:
        if not isinstance(row, dict):
            continue
        item, what, value = (_text(row.get(name)) for name in ("item", "what", "value"))
        entity = _ENTITY.fullmatch(item)
        if entity:
            yield entity[1], what, value, _language(row["value"]) if "value" in row else ""


def _text(term: Any) -> str:
    value = term.get("value") if isinstance(term, Mapping) else None
    return value if isinstance(value, str) else ""


def _language(term: Any) -> str:
    value = term.get("xml:lang") if isinstance(term, Mapping) else None
    return value.lower() if isinstance(value, str) else ""


def _note(entity: Entity, what: str, value: str, language: str) -> None:
    if what in _KINDS:
        text = clean_text(value, MAX_NAME_LENGTH + 1)
        if folded(text) and len(text) <= MAX_NAME_LENGTH and _LANGUAGE.fullmatch(language):
            entity.names.append(TeamName(text, language, _KINDS[what]))
    elif what == "type":
        entity.types.add(clean_text(value))
    elif what == "country":
        entity.countries.add(folded(value[:MAX_NAME_LENGTH]))
    elif what == "language":
        entity.languages.add(value[:10])
    elif what == "national":
        entity.national = True
    elif what == "sitelinks" and re.fullmatch(r"[0-9]{1,6}", value):
        entity.sitelinks = int(value)


# --- Selecting the team that the feed means.


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
    """The label contains all words of the name: Newcastle in Newcastle United."""
    SAME = 2


def choose(team: str, found: Iterable[Entity], *, country: str | None, national: bool) -> Entity | None:
    """Return the best entity of the same squad and a similar name, by country, likeness and prominence."""
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
    # Ties go to the first, which the search ranked higher.
    best = max(fitting, key=lambda pair: (where in pair[0].countries, pair[1], pair[0].sitelinks), default=None)
    return best[0] if best else None


def own_names(entity: Entity) -> list[TeamName]:
    """Return the international names and those in the languages of the team's country."""
    spoken = {*_EVERYBODYS, *entity.languages}
    kept = [name for name in entity.names if name.language in spoken or name.language.partition("-")[0] in spoken]
    return list(dict.fromkeys(kept))


def _squad(entity: Entity) -> Squad:
    """Derive the squad from label or class: women's association football club, reserve team."""
    labels = [name.text for name in entity.names if name.kind is NameKind.LABEL and name.language in _EVERYBODYS]
    squads = [squad_of(text) for text in (*labels, *sorted(entity.types))]
    return next((squad for squad in squads if squad is not Squad.FIRST), Squad.FIRST)


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


# --- Client: a search for the team's item, then one query for all its names.


MAX_RESULTS = 20
"""Maximum items per search."""
MAX_CANDIDATES = 40
"""Maximum items per query."""
PATIENCE = 2
"""Time limit of a whole lookup, as a multiple of one request's timeout."""
_LONGEST_TEAM = 100
_CONTACT = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+|User:\S.*", re.IGNORECASE)
"""An email address, a web page, or a Wikimedia user."""


def is_contact(text: str | None) -> bool:
    return text is not None and _CONTACT.search(text) is not None


def user_agent(contact: str | None) -> str:
    """Return the project's User-Agent with the operator's contact, as Wikimedia's User-Agent policy requires."""
    return f"{USER_AGENT[:-1]}; {contact})" if contact else USER_AGENT


class Wikidata:
    """Requests are sent one at a time, as Wikimedia asks of its clients.

    `contact` is the operator's address or page, which Wikimedia uses before it blocks a client.
    """

    def __init__(self, base_url: str, sparql_url: str, *, timeout: float = 20, contact: str | None = None) -> None:
        agent = user_agent(contact)
        self._max_seconds = PATIENCE * timeout
        self._search_url = f"{base_url.rstrip('/')}/w/api.php"
        self._query_url = f"{sparql_url.rstrip('/')}/sparql"
        self._http = KnowledgeHttp(timeout=timeout, user_agent=agent)

    async def team_names(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        """Return labels, aliases, nicknames and short names; empty if the team is unknown. Raises WikidataError."""
        name = clean_text(team, _LONGEST_TEAM)
        if not folded(name):
            return []
        try:
            async with asyncio.timeout(self._max_seconds):
                return await self._look_up(name, country, national)
        except TimeoutError:
            raise WikidataError(f"Wikidata took longer than {self._max_seconds:g} s to describe a team") from None

    async def _look_up(self, name: str, country: str | None, national: bool) -> Sequence[TeamName]:
        found = [await self._ids(text) for text in searches(name, national=national)]
        # Interleave the searches, best results first.
        mixed = [item for row in itertools.zip_longest(*found) for item in row if item]
        ids = list(dict.fromkeys(mixed))[:MAX_CANDIDATES]
        if not ids:
            return []
        teams = entities(await self._http.get(self._query_url, {"query": sparql(ids), "format": "json"}))
        # Keep only requested items, in the order of the search.
        known = [teams[item] for item in ids if item in teams]
        chosen = choose(name, known, country=country, national=national)
        return own_names(chosen) if chosen else []

    async def _ids(self, text: str) -> list[str]:
        params = {
            "action": "wbsearchentities",
            "search": text,
            "language": "en",
            "uselang": "en",
            "type": "item",
            "limit": str(MAX_RESULTS),
            "format": "json",
        }
        return found_ids(await self._http.get(self._search_url, params))[:MAX_RESULTS]

    async def check(self) -> str:
        """Check that the search works, with one cheap request."""
        found = await self._ids("association football")
        return f"Wikidata's search answers ({len(found)} items for a trial)"

    async def aclose(self) -> None:
        await self._http.aclose()
