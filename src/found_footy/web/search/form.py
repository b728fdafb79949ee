"""What the search page is asked for. Half-typed filters are told of, not refused: one is still typing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import get_args
from urllib.parse import urlencode

from found_footy.domain.clips.searching import PLACES, Wanted, wanted_of
from found_footy.web.api.parameters import MINUTE, YEARS, SportName
from found_footy.web.api.search import Kind, Wishes

FIELDS = (
    "q", "kind", "competition", "from", "to", "minute", "verified", "clips", "sport", "team", "goal", "place", "like",
)  # fmt: skip
LONGEST = 100
LIBRARY = "library"
"""The fourth kind: clips of the library, which are asked elsewhere than the other three."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LibraryWishes:
    wanted: Wanted
    like: int | None = None


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The fields as they were filled in, what they mean, and what cannot be understood of them."""

    fields: Mapping[str, str]
    wishes: Wishes
    problems: tuple[str, ...]
    library: LibraryWishes | None = None
    """Where the library is asked."""

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in self.fields.items() if name != "kind")

    @property
    def has_filters(self) -> bool:
        return any(value for name, value in self.fields.items() if name not in ("kind", "q", "like"))

    def address(self, page: str = "/search", **more: str) -> str:
        given = {name: value for name, value in {**self.fields, **more}.items() if value}
        if given.get("kind") == "goals":
            del given["kind"]
        return f"{page}?{urlencode(given)}" if given else page


def search_form(given: Mapping[str, str]) -> SearchForm:
    fields = {name: _CONTROL.sub("", given.get(name, ""))[:LONGEST].strip() for name in FIELDS}
    problems: list[str] = []
    kind: Kind = next((each for each in get_args(Kind) if each == fields["kind"]), "goals")
    # A link with a clip alone means the library; who chose something else in the form means that.
    asks_library = fields["kind"] == LIBRARY or (bool(fields["like"]) and not fields["kind"])
    fields["kind"] = LIBRARY if asks_library else kind
    if not asks_library:
        fields |= dict.fromkeys(("team", "goal", "place", "like"), "")
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
    library = _library(fields, wishes, problems) if asks_library else None
    return SearchForm(fields, wishes, tuple(problems), library)


def _library(fields: Mapping[str, str], wishes: Wishes, problems: list[str]) -> LibraryWishes:
    like = int(fields["like"]) if re.fullmatch(r"[1-9][0-9]{0,17}", fields["like"]) else None
    if fields["like"] and like is None:
        problems.append("A clip is named by its number.")
    minute = (wishes.minute or "").replace(" ", "+")
    return LibraryWishes(
        wanted_of(
            f"{fields['q']} {minute}",
            first=wishes.first,
            last=wishes.last,
            competition=wishes.competition,
            team=fields["team"],
            kind=fields["goal"],
            verified=wishes.verified,
            sport=wishes.sport,
            place=fields["place"] if fields["place"] in PLACES else None,
        ),
        like,
    )


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
