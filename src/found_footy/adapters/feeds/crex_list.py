"""CREX's list of matches: what is played on which day, and where each match has its pages."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from found_footy.adapters.feeds.crex_links import base_of
from found_footy.adapters.feeds.crex_names import Names, without_names
from found_footy.adapters.feeds.crex_words import match_type_of, parts_of
from found_footy.adapters.feeds.cricket_words import cricket_status
from found_footy.adapters.feeds.limits import storable
from found_footy.adapters.feeds.telling import told
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import League, LiveFixture, Sport

_DATES = ("%a, %d %b %Y", "%a %d %b %Y", "%A, %d %B %Y", "%d %b %Y", "%d %B %Y", "%a, %b %d %Y", "%b %d, %Y")


@dataclass(frozen=True, slots=True)
class CrexList:
    fixtures: tuple[LiveFixture, ...] = ()
    failures: Mapping[int, FeedSchemaError] = field(default_factory=dict)
    bases: Mapping[int, str] = field(default_factory=dict)
    """Match to the address of its pages, also of those that failed."""


def parse_list(raw: Any, feed: str) -> CrexList:
    """One match that does not fit never costs the others. Raises FeedSchemaError where nothing fits at all."""
    data = Reader(raw)
    events = {base: event for event in data["events"].items() if (base := _base(event.said("url")))}
    names = Names(data.get("names"))
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FeedSchemaError] = {}
    bases: dict[int, str] = {}
    for card in data["cards"].items():
        try:
            base, id_ = base_of(card["link"].text())
        except FeedSchemaError:
            continue  # a link to a series, or an advertisement
        if id_ in bases:
            continue  # what goes on is shown twice: on top, and under its day
        bases[id_] = base
        try:
            fixtures[id_] = _fixture(card, events.get(base), names, id_, feed)
        except FeedSchemaError as error:
            failures[id_] = error
    if not bases and data["cards"].items():
        raise FeedSchemaError("cards", len(data["cards"].items()), "links to matches")
    return CrexList(tuple(fixtures.values()), failures, bases)


def _base(link: str | None) -> str | None:
    try:
        return base_of(link or "")[0]
    except FeedSchemaError:
        return None


def _fixture(card: Reader, event: Reader | None, names: Names, id_: int, feed: str) -> LiveFixture:
    title = (event.said("name") if event else None) or ""
    sides, what, series = parts_of(title)
    if len(sides) != 2:
        sides = [each.text() for each in card["teams"].items(4)[:2]]
    if not series:
        what, _, series = (card.said("what") or "").partition(",")
    if len(sides) != 2:
        raise FeedSchemaError(f"{card.path}.teams", sides, "two sides")
    home, away = (names.team(name, f"{card.path}.teams") for name in sides)
    words = [without_names(text, (home, away)) for key in ("result", "reason") if (text := card.said(key))]
    state = "in" if card.get("live") is True else "post" if card.said("result") else "pre"
    league = series.strip() or "Cricket"
    year = re.search(r"\b(20\d\d)\b", league)
    return LiveFixture(
        id=id_,
        feed=feed,
        status=cricket_status(state, words),
        kickoff=_kickoff(card, event),
        league=League(
            zlib.crc32(league.encode()), league, season=int(year[1]) if year else None, round=what.strip() or None
        ),
        home=home,
        away=away,
        raw=storable({"card": card.value}),
        sport=Sport.CRICKET,
        venue=event.said("venue") if event else None,
        metadata=told(title=title or None, series=series.strip() or None, match_type=match_type_of(what, series)),
    )


def _kickoff(card: Reader, event: Reader | None) -> datetime:
    """As the page tells programs, or else as it tells people, whose clock is set to UTC in our browser."""
    if event is not None and event.said("start"):
        return event["start"].moment()
    date, clock = card.said("date") or "", card.said("start") or ""
    found = re.search(r"\b(\d{1,2}:\d{2})\s*([AP]M)\b", clock, re.IGNORECASE)
    shown = f"{date} {found[1]} {found[2].upper()} +0000" if found else ""
    for pattern in _DATES:
        try:
            return datetime.strptime(shown, f"{pattern} %I:%M %p %z")
        except ValueError:
            continue
    raise FeedSchemaError(f"{card.path}.start", f"{date} {clock}".strip(), "the time at which the match begins")
