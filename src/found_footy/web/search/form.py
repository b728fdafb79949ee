"""What the search page is asked for. Half-typed filters are told of, not refused: one is still typing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import get_args
from urllib.parse import urlencode

from found_footy.web.api.parameters import MINUTE, YEARS, SportName
from found_footy.web.api.search import Kind, Wishes

FIELDS = ("q", "kind", "competition", "from", "to", "minute", "verified", "clips", "sport")
LONGEST = 100

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The fields as they were filled in, what they mean, and what cannot be understood of them."""

    fields: Mapping[str, str]
    wishes: Wishes
    problems: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in self.fields.items() if name != "kind")

    @property
    def has_filters(self) -> bool:
        return any(value for name, value in self.fields.items() if name not in ("kind", "q"))

    def address(self, page: str = "/search", **more: str) -> str:
        given = {name: value for name, value in {**self.fields, **more}.items() if value}
        if given.get("kind") == "goals":
            del given["kind"]
        return f"{page}?{urlencode(given)}" if given else page


def search_form(given: Mapping[str, str]) -> SearchForm:
    fields = {name: _CONTROL.sub("", given.get(name, ""))[:LONGEST].strip() for name in FIELDS}
    problems: list[str] = []
    kind: Kind = next((each for each in get_args(Kind) if each == fields["kind"]), "goals")
    fields["kind"] = kind
    first = _day(fields["from"], problems)
    last = _day(fields["to"], problems)
    if first and last and first > last:
        problems.append("The first day comes after the last one.")
    minute = fields["minute"].removesuffix("'") or None
    if minute is not None and not re.fullmatch(MINUTE, minute):
        problems.append("A minute is a number such as 23, or 45+2.")
        minute = None
    wishes = Wishes(
        kind=kind,
        q=fields["q"] or None,
        competition=fields["competition"] or None,
        first=first,
        last=last,
        minute=minute,
        verified={"yes": True, "no": False}.get(fields["verified"]),
        has_clip=True if fields["clips"] == "yes" else None,
        sport=next((each for each in get_args(SportName) if each == fields["sport"]), None),
    )
    return SearchForm(fields, wishes, tuple(problems))


def _day(text: str, problems: list[str]) -> date | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.year not in YEARS:
        problems.append("A day is written like 2026-08-22.")
        return None
    return day
