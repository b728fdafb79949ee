"""Wikidata's search and its query service, as far as they know the teams of a scenario.

Beside each team stand those that a careless client takes for it: the city, the women, the reserves. Ids are made up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from footy_simulator.scenario import Scenario, ScriptedTeam
from footy_simulator.team_facts import TeamFacts, facts_of

_FIRST_ID = 700_000_000
_MAX_RESULTS = 50
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"

Fact = tuple[str, str, str]
"""What it is, its text, and the language of the text, if any."""


@dataclass(frozen=True, slots=True)
class WikidataItem:
    id: str
    label: str
    description: str
    aliases: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = field(default=())
    """What the query service tells; nothing of an item that is no football team."""


def wikidata_routes(scenario: Scenario) -> list[Route]:
    """`/w/api.php` and `/sparql` over the teams of the scenario."""
    items = {item.id: item for item in _items(scenario)}

    pause = scenario.services.wikidata.retry_after

    def refused() -> Response | None:
        if pause is None:
            return None
        return PlainTextResponse("Too many requests", status_code=429, headers={"retry-after": str(pause)})

    async def search(request: Request) -> Response:
        if (refusal := refused()) is not None:
            return refusal
        params = request.query_params
        if params.get("action") != "wbsearchentities":
            return JSONResponse(_error("badvalue", 'Unrecognized value for parameter "action".'))
        if not params.get("search") or not params.get("language"):
            return JSONResponse(_error("missingparam", 'The "search" and "language" parameters must be set.'))
        asked, limit = params["search"], params.get("limit", "7")
        count = min(int(limit), _MAX_RESULTS) if limit.isdecimal() else 7
        hits = [_result(item, match) for item in items.values() if (match := _match(item, asked))]
        return JSONResponse({"searchinfo": {"search": asked}, "search": hits[:count], "success": 1})

    async def query(request: Request) -> Response:
        if (refusal := refused()) is not None:
            return refusal
        values = re.search(r"VALUES\s+\?item\s*\{([^}]*)\}", request.query_params.get("query", ""))
        if values is None:
            return PlainTextResponse("MalformedQueryException: no VALUES clause", status_code=400)
        asked = [items[found] for found in re.findall(r"wd:(Q\d+)", values[1]) if found in items]
        rows = [_binding(item, fact) for item in asked for fact in item.facts]
        body = {"head": {"vars": ["item", "what", "value"]}, "results": {"bindings": rows}}
        return JSONResponse(body, media_type="application/sparql-results+json")

    return [Route("/w/api.php", search), Route("/sparql", query)]


def names_for(team_name: str) -> tuple[str, ...]:
    """What a fan may write for the team: the feed's name first, then a short name, a nickname or an abbreviation."""
    return tuple(dict.fromkeys([team_name, *facts_of(team_name).posted]))


def _items(scenario: Scenario) -> Iterator[WikidataItem]:
    """Each team once, after its city, as the better known of the two comes first in a real search."""
    teams = {team.id: team for match in scenario.matches for team in (match.home, match.away)}
    for team in teams.values():
        facts = facts_of(team.name)
        national = "national football team" in facts.label
        yield from () if national else [_city(team)]
        yield _first_team(team, facts, national)
        yield _women(team, facts, national)
        yield from () if national else [_reserves(team, facts)]


def _id(team: ScriptedTeam, place: int) -> str:
    return f"Q{_FIRST_ID + 10 * team.id + place}"


def _city(team: ScriptedTeam) -> WikidataItem:
    return WikidataItem(_id(team, 0), team.name, "city and its surroundings", (f"City of {team.name}",))


def _first_team(team: ScriptedTeam, facts: TeamFacts, national: bool) -> WikidataItem:
    names = [
        ("label", facts.label, "en"),
        *(("alias", name, "en") for name in facts.aliases),
        *(("nickname", name, "en") for name in facts.nicknames),
        *(("short", name, "mul") for name in facts.short),
        *(("alias", name, facts.language) for name in facts.own),
        # In a script, and in a language, that are not the team's own.
        ("label", "Футбольный клуб", "ru"),
        ("alias", f"Klub {facts.label}", "pl"),
    ]
    kind = "men's national association football team" if national else "association football club"
    marks: list[Fact] = [("national", "yes", "")] if national else []
    about = "national team" if national else "association football club"
    rest = _about(kind, facts, facts.sitelinks)
    return WikidataItem(_id(team, 1), facts.label, about, facts.aliases, (*names, *rest, *marks))


def _women(team: ScriptedTeam, facts: TeamFacts, national: bool) -> WikidataItem:
    """Nearly the same names, which is what makes it a trap."""
    label = f"{team.name} women's national football team" if national else f"{team.name} Women F.C."
    kind = "women's national association football team" if national else "women's association football club"
    names = [("label", label, "en"), ("alias", team.name, "en"), ("nickname", "The Lionesses of the Lane", "en")]
    marks: list[Fact] = [("national", "yes", "")] if national else []
    return WikidataItem(_id(team, 2), label, kind, (team.name,), (*names, *_about(kind, facts, 200), *marks))


def _reserves(team: ScriptedTeam, facts: TeamFacts) -> WikidataItem:
    label = f"{team.name} II"
    names = [("label", label, "en"), ("alias", team.name, "en")]
    return WikidataItem(_id(team, 3), label, "reserve team", (), (*names, *_about("reserve team", facts, 190)))


def _about(kind: str, facts: TeamFacts, sitelinks: int) -> list[Fact]:
    """What distinguishes teams of one name. The impostors are better known than the team itself."""
    known = [("country", facts.country, "en"), ("language", facts.language, "")] if facts.country else []
    return [("type", kind, "en"), *known, ("sitelinks", str(sitelinks), "")]


def _match(item: WikidataItem, asked: str) -> tuple[str, str] | None:
    """The real search compares beginnings, and does not mind case and accents."""
    texts = [("label", item.label), *(("alias", alias) for alias in item.aliases)]
    return next(((kind, text) for kind, text in texts if _plain(text).startswith(_plain(asked))), None)


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(sign for sign in apart if not unicodedata.combining(sign)).split())


def _result(item: WikidataItem, match: tuple[str, str]) -> dict[str, Any]:
    kind, text = match
    return {
        "id": item.id,
        "title": item.id,
        "pageid": int(item.id[1:]),
        "concepturi": f"http://www.wikidata.org/entity/{item.id}",
        "repository": "wikidata",
        "url": f"//www.wikidata.org/wiki/{item.id}",
        "display": {
            "label": {"value": item.label, "language": "en"},
            "description": {"value": item.description, "language": "en"},
        },
        "label": item.label,
        "description": item.description,
        "match": {"type": kind, "language": "en", "text": text},
        **({"aliases": [text]} if kind == "alias" else {}),
    }


def _binding(item: WikidataItem, fact: Fact) -> dict[str, Any]:
    what, text, language = fact
    value: dict[str, str] = {"type": "literal", "value": text}
    if language:
        value["xml:lang"] = language
    if what == "sitelinks":
        value["datatype"] = _INTEGER
    return {
        "item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{item.id}"},
        "what": {"type": "literal", "value": what},
        "value": value,
    }


def _error(code: str, info: str) -> dict[str, Any]:
    """Wikidata tells its errors with HTTP 200."""
    return {"error": {"code": code, "info": info}, "servedby": "simulator"}
