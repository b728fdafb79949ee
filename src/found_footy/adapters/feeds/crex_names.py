"""Who is who on a page of CREX. It keeps ids beside names in the browser's storage, and shows names only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from found_footy.adapters.feeds.crex_links import id_of
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import Person, Team

_KEY = re.compile(r"([tp])_(\w{1,7})_(name|short)", re.ASCII)


class Names:
    def __init__(self, raw: Any) -> None:
        self._teams: dict[str, dict[str, str]] = {}
        self._players: dict[str, str] = {}
        document = Reader(raw, "names")
        for key in raw if isinstance(raw, dict) else ():
            found, name = _KEY.fullmatch(key), document.said(key)
            if found is None or name is None:
                continue
            kind, code, what = found.groups()
            if kind == "t":
                self._teams.setdefault(code, {})[what] = name
            elif what == "name":
                self._players[code] = name

    def team(self, shown: str, field: str) -> Team:
        """By its full or its short name. Raises FeedSchemaError where no id, or more than one, goes with it."""
        wanted = _plain(shown)
        codes = [code for code, names in self._teams.items() if wanted in map(_plain, names.values())]
        if not wanted or len(codes) != 1:
            raise FeedSchemaError(field, shown, "a team whose id the page knows")
        names = self._teams[codes[0]]
        return Team(id_of(codes[0], field), names.get("name") or shown, names.get("short"))

    def person(self, shown: str) -> Person:
        """With an id where exactly one player of the page can be meant: `V Kohli` is Virat Kohli if nobody else is."""
        name = re.sub(r"\s*(?:\((?:c|wk|c & wk|sub)\)|[†*])", "", shown).strip()
        if not name:
            return Person()
        codes = [code for code, each in self._players.items() if _plain(each) == _plain(name)]
        codes = codes or [code for code, each in self._players.items() if _short_for(name, each)]
        if len(codes) != 1:
            return Person(name=name)
        return Person(id_of(codes[0], "names"), self._players[codes[0]])


def without_names(text: str, teams: Iterable[Team]) -> str:
    """The text without the teams' names: a side may be called Rain City."""
    names = sorted({name for team in teams for name in (team.name, team.short) if name}, key=len, reverse=True)
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _short_for(short: str, full: str) -> bool:
    a, b = _plain(short).replace(".", " ").split(), _plain(full).split()
    return len(a) > 1 and len(b) > 1 and a[-1] == b[-1] and len(a[0]) == 1 and b[0].startswith(a[0])
