"""Wikidata: a search for the team's item, then one query for all its names."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Sequence

from found_footy.adapters.knowledge.choosing import choose, own_names
from found_footy.adapters.knowledge.http import KnowledgeHttp
from found_footy.adapters.knowledge.wikidata_answer import entities, found_ids
from found_footy.adapters.knowledge.wikidata_query import searches, sparql
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.discovery.query import folded
from found_footy.domain.discovery.team_names import TeamName
from found_footy.domain.errors import KnowledgeError
from found_footy.user_agent import USER_AGENT

MOST_RESULTS = 20
"""Items of one search."""
MOST_CANDIDATES = 40
"""Items that the query is asked about."""
PATIENCE = 2
"""A whole look-up, of some searches and a query, may take so many times as long as one answer."""
_LONGEST_TEAM = 100
_CONTACT = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+|User:\S.*", re.IGNORECASE)
"""An e-mail address, a page, or a Wikimedia user."""


def is_contact(text: str | None) -> bool:
    return text is not None and _CONTACT.search(text) is not None


def user_agent(contact: str | None) -> str:
    """The project's User-Agent with the operator's contact, as Wikimedia's User-Agent policy asks for."""
    return f"{USER_AGENT[:-1]}; {contact})" if contact else USER_AGENT


class Wikidata:
    """Fills the port `Knowledge`. Requests go out one after the other, as Wikimedia asks its clients to do.

    `contact` is the operator's address or page: Wikimedia writes there before it blocks a client.
    """

    def __init__(self, base_url: str, sparql_url: str, *, timeout: float = 20, contact: str | None = None) -> None:
        agent = user_agent(contact)
        self._most_seconds = PATIENCE * timeout
        self._search_url = f"{base_url.rstrip('/')}/w/api.php"
        self._query_url = f"{sparql_url.rstrip('/')}/sparql"
        self._http = KnowledgeHttp(timeout=timeout, user_agent=agent)

    async def names_of(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        """Labels, aliases, nicknames and short names; nothing where the team is unknown. Raises KnowledgeError."""
        name = clean_text(team, _LONGEST_TEAM)
        if not folded(name):
            return []
        try:
            async with asyncio.timeout(self._most_seconds):
                return await self._look_up(name, country, national)
        except TimeoutError:
            raise KnowledgeError(f"Wikidata took longer than {self._most_seconds:g} s to tell about a team") from None

    async def _look_up(self, name: str, country: str | None, national: bool) -> Sequence[TeamName]:
        found = [await self._ids(text) for text in searches(name, national=national)]
        # The best of each search first.
        mixed = [item for row in itertools.zip_longest(*found) for item in row if item]
        ids = list(dict.fromkeys(mixed))[:MOST_CANDIDATES]
        if not ids:
            return []
        teams = entities(await self._http.get(self._query_url, {"query": sparql(ids), "format": "json"}))
        # Only what was asked about counts, in the search's order.
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
            "limit": str(MOST_RESULTS),
            "format": "json",
        }
        return found_ids(await self._http.get(self._search_url, params))[:MOST_RESULTS]

    async def check(self) -> str:
        """One cheap call that proves that the search answers."""
        found = await self._ids("association football")
        return f"Wikidata's search answers ({len(found)} items for a trial)"

    async def aclose(self) -> None:
        await self._http.aclose()
