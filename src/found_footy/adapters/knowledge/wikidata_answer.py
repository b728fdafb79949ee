"""Wikidata's two answers as values. Whatever does not fit is a KnowledgeError or, within a list, left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from found_footy.adapters.knowledge.wikidata_query import MOST_ROWS, QID
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.discovery.query import folded
from found_footy.domain.discovery.team_names import NameKind, TeamName
from found_footy.domain.errors import KnowledgeError

LONGEST_NAME = 80
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8}){0,2}")
_ENTITY = re.compile(rf"https?://www\.wikidata\.org/entity/({QID.pattern})")
_KINDS = {kind.value: kind for kind in NameKind}


@dataclass(slots=True)
class Entity:
    """A football team as Wikidata has it, while its facts are gathered."""

    id: str
    names: list[TeamName] = field(default_factory=list)
    types: set[str] = field(default_factory=set)
    countries: set[str] = field(default_factory=set)
    """Folded."""
    languages: set[str] = field(default_factory=set)
    """Of its country."""
    national: bool = False
    sitelinks: int = 0
    """Articles about it in all the Wikipedias: how well known it is."""


def found_ids(answer: Any) -> list[str]:
    """The ids of a search, the best first. Wikidata tells errors inside an HTTP 200 answer."""
    if isinstance(answer, dict) and "error" in answer:
        error = answer["error"]
        code = error.get("code") if isinstance(error, dict) else error
        raise KnowledgeError(f"Wikidata refused the search: {clean_text(str(code), 80)}")
    found = answer.get("search") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise KnowledgeError("Wikidata's search sent no list of items")
    ids = [item.get("id") for item in found if isinstance(item, dict)]
    return [item for item in ids if isinstance(item, str) and QID.fullmatch(item)]


def entities(answer: Any) -> dict[str, Entity]:
    """The teams by id, with all facts."""
    results = answer.get("results") if isinstance(answer, dict) else None
    rows = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(rows, list):
        raise KnowledgeError("Wikidata's query service sent no list of bindings")
    if len(rows) >= MOST_ROWS:
        # What was cut off may have been the team; an answer from the rest would be a guess.
        raise KnowledgeError(f"Wikidata's query service sent {len(rows)} rows, more than a search can need")
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
        text = clean_text(value, LONGEST_NAME + 1)
        if folded(text) and len(text) <= LONGEST_NAME and _LANGUAGE.fullmatch(language):
            entity.names.append(TeamName(text, language, _KINDS[what]))
    elif what == "type":
        entity.types.add(clean_text(value))
    elif what == "country":
        entity.countries.add(folded(value[:LONGEST_NAME]))
    elif what == "language":
        entity.languages.add(value[:10])
    elif what == "national":
        entity.national = True
    elif what == "sitelinks" and re.fullmatch(r"[0-9]{1,6}", value):
        entity.sitelinks = int(value)
